#include "emulator/memory/race.hpp"

#include <algorithm>
#include <iterator>

namespace stator::emulator::memory {
namespace {

constexpr uint32_t lanes = 32;

bool ordered(const BlockClock& clock, const Touch& before, const Touch& now) {
  if (before.block == now.block)
    return before.thread == now.thread || clock.lane_saw(now.thread, before.thread, before.time);
  const auto place = clock.seen_blocks.find(before.block);
  return place != clock.seen_blocks.end() && place->second >= before.block_time;
}

bool conflicts(const BlockClock& clock, const Touch& before, const Touch& now) {
  return before.valid && before.serial != now.serial && !(before.strong && now.strong) && !ordered(clock, before, now);
}

void take(const std::unordered_map<uint64_t, uint32_t>& times, std::unordered_map<uint64_t, uint32_t>& into) {
  for (const auto& [block, time] : times) {
    uint32_t& seen = into[block];
    seen = std::max(seen, time);
  }
}

}  // namespace

BlockClock::BlockClock(uint64_t number, uint32_t warps)
    : block(number),
      warps_(warps),
      now_(warps, 1),
      seen_warps_(warps * warps),
      seen_lanes_(warps * lanes * lanes),
      joined_(warps) {}

void BlockClock::join_warps(const std::vector<uint32_t>& joined) {
  std::vector<uint32_t> latest(warps_);
  for (const uint32_t warp : joined) {
    for (uint32_t other = 0; other < warps_; ++other)
      latest[other] = std::max(latest[other], seen_warps_[warp * warps_ + other]);
    latest[warp] = std::max(latest[warp], now_[warp]);
  }
  for (const uint32_t warp : joined) {
    std::copy(latest.begin(), latest.end(), seen_warps_.begin() + warp * warps_);
    joined_[warp] = now_[warp]++;
  }
}

void BlockClock::join_lanes(uint32_t warp, uint32_t mask) {
  for (uint32_t lane = 0; lane < lanes; ++lane)
    for (uint32_t other = 0; other < lanes; ++other)
      if (mask >> lane & mask >> other & 1) seen_lanes_[(warp * lanes + lane) * lanes + other] = now_[warp];
  ++now_[warp];
}

bool BlockClock::lane_saw(uint32_t thread, uint32_t other, uint32_t time) const {
  const uint32_t warp = thread / lanes, before = other / lanes;
  if (warp == before)
    return time <= joined_[warp] || time <= seen_lanes_[(warp * lanes + thread % lanes) * lanes + other % lanes];
  return time <= seen_warps_[warp * warps_ + before];
}

void RaceChecker::Page::divide() {
  std::vector<Cell> each(bytes);
  for (uint64_t i = 0; i < bytes; ++i) each[i] = cells[i >> shift];
  cells = std::move(each);
  shift = 0;
}

RaceChecker::Page& RaceChecker::page(uint64_t address) {
  const uint64_t number = address / Page::bytes;
  Recent& r = recent_[number % std::size(recent_)];
  if (r.number != number) r = {number, &pages_[number]};
  return *r.page;
}

Conflict RaceChecker::access(const BlockClock& clock, uint64_t address, unsigned bytes, const Touch& touch, bool shared,
                             bool write) {
  Conflict conflict;
  Page& p = page(address);
  if (p.shift != 0 && bytes < 4) p.divide();
  const uint64_t first = address % Page::bytes >> p.shift, last = (address + bytes - 1) % Page::bytes >> p.shift;
  for (uint64_t i = first; i <= last; ++i) {
    Cell& c = p.cells[i];
    const auto meet = [&](const Touch& before, bool wrote) {
      if (conflict.found || (shared && before.block != touch.block) || !conflicts(clock, before, touch)) return;
      conflict = {true, before, wrote, address + ((i - first) << p.shift)};
    };
    meet(c.writer, true);
    if (write) {
      meet(c.readers[0], false);
      meet(c.readers[1], false);
      c.writer = touch;
    } else if (c.readers[0].block == touch.block && c.readers[0].thread == touch.thread) {
      c.readers[0] = touch;
    } else {  // the last two readers: at least one of them is not the next writer
      c.readers[1] = c.readers[0];
      c.readers[0] = touch;
    }
  }
  return conflict;
}

void RaceChecker::publish(const BlockClock& clock, uint64_t address) {
  if (!clock.released) return;
  auto& times = published_[address];
  for (const auto& [block, time] : clock.seen_blocks) times[block] = std::max(times[block], time);
  times[clock.block] = std::max(times[clock.block], clock.released);
}

void RaceChecker::meet(BlockClock& clock, uint64_t address, bool acquires) {
  const auto place = published_.find(address);
  if (place == published_.end()) return;
  take(place->second, acquires ? clock.seen_blocks : clock.met_blocks);
}

void RaceChecker::release(BlockClock& clock) { clock.released = clock.time++; }

void RaceChecker::fence(BlockClock& clock) {
  take(clock.met_blocks, clock.seen_blocks);
  clock.met_blocks.clear();
  release(clock);
}

}  // namespace stator::emulator::memory
