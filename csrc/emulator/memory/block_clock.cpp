// What the threads of a block know of each other.
#include "emulator/memory/race.hpp"

#include <algorithm>

namespace stator::emulator::memory {
namespace {

template <class F>
void each_lane(uint32_t mask, F f) {
  for (; mask; mask &= mask - 1) f(uint32_t(__builtin_ctz(mask)));
}

}  // namespace

uint32_t time_of(const Times& times, uint32_t number) {
  const auto entry = std::lower_bound(times.begin(), times.end(), std::pair(number, uint32_t(0)));
  return entry != times.end() && entry->first == number ? entry->second : 0;
}

void take_latest(Times& into, const Times& other) {
  auto at = into.begin();
  for (const auto& [number, time] : other) {
    while (at != into.end() && at->first < number) ++at;
    if (at == into.end() || at->first != number) {  // there are new ones
      Times both;
      both.reserve(into.size() + other.size());
      std::merge(into.begin(), into.end(), other.begin(), other.end(), std::back_inserter(both));
      into.clear();
      for (const auto& each : both)
        if (!into.empty() && into.back().first == each.first)
          into.back().second = each.second;  // the later one comes second
        else
          into.push_back(each);
      return;
    }
    at->second = std::max(at->second, time);
  }
}

bool View::covers(uint32_t thread, uint32_t time) const {
  if (!warps.empty() && time <= warps[thread / warp_lanes]) return true;
  return time <= time_of(threads, thread);
}

void View::take(const View& other) {
  if (warps.empty())
    warps = other.warps;
  else
    for (size_t k = 0; k < other.warps.size(); ++k) warps[k] = std::max(warps[k], other.warps[k]);
  take_latest(threads, other.threads);
  if (!warps.empty()) std::erase_if(threads, [&](const auto& t) { return t.second <= warps[t.first / warp_lanes]; });
}

BlockClock::BlockClock(uint32_t number, uint32_t warps)
    : block(number),
      warps_(warps),
      now_(warps, 1),
      seen_warps_(warps * warps),
      seen_lanes_(warps * warp_lanes * warp_lanes),
      joined_(warps) {}

BlockClock::Thread& BlockClock::thread(uint32_t number) {
  if (threads_.empty()) threads_.resize(warps_ * warp_lanes);
  return threads_[number];
}

void BlockClock::join_warps(const std::vector<uint32_t>& joined) {
  View all;
  all.warps.resize(warps_);
  for (const uint32_t warp : joined) {
    for (uint32_t other = 0; other < warps_; ++other)
      all.warps[other] = std::max(all.warps[other], seen_warps_[warp * warps_ + other]);
    all.warps[warp] = std::max(all.warps[warp], now_[warp]);
  }
  if (!threads_.empty())
    for (const uint32_t warp : joined)
      for (uint32_t lane = 0; lane < warp_lanes; ++lane)
        if (const View& seen = threads_[warp * warp_lanes + lane].seen; !seen.empty()) all.take(seen);
  for (const uint32_t warp : joined) {
    std::copy(all.warps.begin(), all.warps.end(), seen_warps_.begin() + warp * warps_);
    joined_[warp] = now_[warp]++;
    if (!threads_.empty())
      for (uint32_t lane = 0; lane < warp_lanes; ++lane) threads_[warp * warp_lanes + lane].seen = {{}, all.threads};
  }
}

void BlockClock::join_lanes(uint32_t warp, uint32_t mask) {
  uint32_t latest[warp_lanes] = {};
  View all;
  each_lane(mask, [&](uint32_t lane) {
    const uint32_t* const seen = &seen_lanes_[(warp * warp_lanes + lane) * warp_lanes];
    for (uint32_t other = 0; other < warp_lanes; ++other) latest[other] = std::max(latest[other], seen[other]);
    if (!threads_.empty()) all.take(threads_[warp * warp_lanes + lane].seen);
  });
  each_lane(mask, [&](uint32_t lane) { latest[lane] = now_[warp]; });
  each_lane(mask, [&](uint32_t lane) {
    std::copy(latest, latest + warp_lanes, &seen_lanes_[(warp * warp_lanes + lane) * warp_lanes]);
    if (!threads_.empty()) threads_[warp * warp_lanes + lane].seen = all;
  });
  ++now_[warp];
}

bool BlockClock::saw(uint32_t thread, uint32_t other, uint32_t time) const {
  const uint32_t warp = thread / warp_lanes, before = other / warp_lanes;
  if (warp_saw(warp, before, time)) return true;
  if (warp == before && time <= seen_lanes_[thread * warp_lanes + other % warp_lanes]) return true;
  return !threads_.empty() && threads_[thread].seen.covers(other, time);
}

View BlockClock::view_of(uint32_t thread) const {
  const uint32_t warp = thread / warp_lanes;
  View view;
  const auto row = seen_warps_.begin() + warp * warps_;
  view.warps.assign(row, row + warps_);
  view.warps[warp] = joined_[warp];
  for (uint32_t lane = 0; lane < warp_lanes; ++lane) {
    const uint32_t other = warp * warp_lanes + lane;
    const uint32_t time = other == thread ? now_[warp] : seen_lanes_[thread * warp_lanes + lane];
    if (time > joined_[warp]) view.threads.emplace_back(other, time);
  }
  if (!threads_.empty()) view.take(threads_[thread].seen);
  return view;
}

void BlockClock::fence(uint32_t warp, uint32_t mask) {
  each_lane(mask, [&](uint32_t lane) {
    const uint32_t number = warp * warp_lanes + lane;
    Thread& t = thread(number);
    t.seen.take(std::exchange(t.met, {}));
    t.released = view_of(number);
  });
  advance(warp);
}

void BlockClock::publish(uint32_t number, uint64_t address, bool releases) {
  if (releases)
    published_[address].take(view_of(number));
  else if (!threads_.empty() && !threads_[number].released.empty())
    published_[address].take(threads_[number].released);
}

void BlockClock::meet(uint32_t number, uint64_t address, bool acquires) {
  if (published_.empty()) return;
  const auto entry = published_.find(address);
  if (entry == published_.end()) return;
  Thread& t = thread(number);
  (acquires ? t.seen : t.met).take(entry->second);
}

}  // namespace stator::emulator::memory
