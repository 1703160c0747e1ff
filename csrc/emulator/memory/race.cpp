#include "emulator/memory/race.hpp"

#include <algorithm>
#include <iterator>

namespace stator::emulator::memory {
namespace {

bool block_saw(const BlockClock& clock, uint32_t block, uint32_t block_time) {
  return block_time <= time_of(clock.seen_blocks, block);
}

bool ordered(const BlockClock& clock, const Touch& before, const Touch& now) {
  if (before.block == now.block)
    return before.thread == now.thread || clock.saw(now.thread, before.thread, before.time);
  return block_saw(clock, before.block, before.block_time);
}

// Strong accesses of scopes that include each other.
bool morally_strong(const Touch& a, const Touch& b) {
  return a.strong && b.strong && (a.block == b.block || (a.wide && b.wide));
}

bool conflicts(const BlockClock& clock, const Touch& before, const Touch& now) {
  return before.valid && before.serial != now.serial && !morally_strong(before, now) && !ordered(clock, before, now);
}

}  // namespace

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

RaceChecker::Mark RaceChecker::mark_of(const Touch& t, bool write) {
  Mark m;
  m.time = t.time;
  m.block_time = t.block_time;
  m.serial = t.serial;
  m.lanes = uint32_t(1) << t.thread % warp_lanes;
  m.line = t.line;
  m.warp = uint8_t(t.thread / warp_lanes);
  m.wrote = write;
  m.strong = t.strong;
  m.wide = t.wide;
  return m;
}

// Whether it is a read like the last one, by another lane or once more.
bool RaceChecker::Cell::repeats(const Touch& t) const {
  return !wrote && last.lanes && block == t.block && last.warp == t.thread / warp_lanes && last.time == t.time &&
         last.strong == t.strong && last.wide == t.wide;
}

// Accesses of another block than those before: of these the last one is kept.
void RaceChecker::Cell::enter(uint32_t next) {
  if (block == next) return;
  if (last.lanes) {
    other = last;
    other_block = block;
  }
  last = {};
  more.clear();
  block = next;
}

void RaceChecker::Cell::add(const Mark& m) {
  wrote |= m.wrote;
  const auto join = [&](Mark& with) {
    if (!with.joins(m)) return false;
    const uint32_t both = with.lanes | m.lanes;
    with = m;
    with.lanes = both;
    return true;
  };
  if (last.lanes == 0) {
    last = m;
    return;
  }
  if (join(last)) return;
  Mark* oldest = nullptr;
  int kept = 0;
  for (Mark& each : more) {
    if (join(each)) return;
    if (each.warp != m.warp) continue;
    ++kept;
    if (!oldest || each.time < oldest->time) oldest = &each;
  }
  if (kept >= most_of_a_warp)
    *oldest = last;
  else
    more.push_back(last);
  last = m;
}

// What races with what happened before an access of its kind races with that too, or with what came after it.
void RaceChecker::Cell::drop_superseded(const BlockClock& clock, const Mark& by) {
  const auto drop = [&](Mark& m) {
    if ((by.strong && !(m.strong && (m.wide || !by.wide))) || (m.wrote && !by.wrote)) return;
    if (clock.warp_saw(by.warp, m.warp, m.time))
      m.lanes = 0;
    else if (m.warp == by.warp)
      m.lanes &= ~by.lanes;
  };
  drop(last);
  for (size_t k = 0; k < more.size();) {
    drop(more[k]);
    if (more[k].lanes) {
      ++k;
    } else {
      more[k] = more.back();
      more.pop_back();
    }
  }
}

bool RaceChecker::find(const BlockClock& clock, const Mark& m, uint32_t block, const Touch& now, Conflict& conflict) {
  const bool here = block == now.block;
  if (m.serial == now.serial || (m.strong && now.strong && (here || (m.wide && now.wide)))) return false;
  if (here ? clock.warp_saw(now.thread / warp_lanes, m.warp, m.time) : block_saw(clock, block, m.block_time))
    return false;
  for (uint32_t left = m.lanes; left; left &= left - 1) {
    const uint32_t thread = m.warp * warp_lanes + uint32_t(__builtin_ctz(left));
    if (here && (thread == now.thread || clock.saw(now.thread, thread, m.time))) continue;
    Touch before;
    before.block = block;
    before.thread = uint16_t(thread);
    before.line = m.line;
    before.strong = m.strong;
    conflict = {true, before, m.wrote, 0};
    return true;
  }
  return false;
}

bool RaceChecker::find(const BlockClock& clock, const Cell& c, const Touch& now, bool write, Conflict& conflict) {
  const Touch& w = c.writer;
  const bool after = w.block == now.block && clock.warp_saw(now.thread / warp_lanes, w.thread / warp_lanes, w.time);
  if (!after && conflicts(clock, w, now)) {
    conflict = {true, w, true, 0};
    return true;
  }
  if (!write && !c.wrote) return false;
  // An atomic came after those that it found there, and so does what is after the next fence: there, the last block
  // that adds to a counter resets it.
  const bool fenced = w.valid && w.strong && w.block == now.block && w.block_time < now.block_time &&
                      clock.fenced(now.thread, w.thread, w.time);
  const auto meets = [&](const Mark& m, uint32_t block) {
    if (!m.lanes || !(write || m.wrote)) return false;
    if (fenced && m.wrote && m.strong && (block == w.block || (m.wide && w.wide))) return false;
    return find(clock, m, block, now, conflict);
  };
  if (meets(c.last, c.block) || meets(c.other, c.other_block)) return true;
  return std::any_of(c.more.begin(), c.more.end(), [&](const Mark& m) { return meets(m, c.block); });
}

Conflict RaceChecker::access(const BlockClock& clock, uint64_t address, unsigned bytes, const Touch& touch, bool shared,
                             bool write) {
  Conflict conflict;
  Page& p = page(address);
  if (p.shift != 0 && bytes < 4) p.divide();
  const uint64_t first = address % Page::bytes >> p.shift, last = (address + bytes - 1) % Page::bytes >> p.shift;
  for (uint64_t i = first; i <= last; ++i) {
    Cell& c = p.cells[i];
    if (shared && c.block != touch.block) c = {};
    if (!conflict.found && find(clock, c, touch, write, conflict))
      conflict.address = address + ((i - first) << p.shift);
    if (!write && c.repeats(touch)) {
      c.last.lanes |= uint32_t(1) << touch.thread % warp_lanes;
      continue;
    }
    const Mark mark = mark_of(touch, write);
    c.enter(touch.block);
    c.drop_superseded(clock, mark);
    if (!write) {
      c.add(mark);
      continue;
    }
    // The last writer stays a possible partner of races where nothing puts it before this one.
    if (c.writer.valid && !ordered(clock, c.writer, touch)) {
      if (c.writer.block == touch.block) {
        c.add(mark_of(c.writer, true));
      } else {
        c.wrote = true;
        c.other = mark_of(c.writer, true);
        c.other_block = c.writer.block;
      }
    } else if (c.last.lanes == 0 && c.more.empty()) {
      c.wrote = c.other.wrote;
    }
    c.writer = touch;
  }
  return conflict;
}

void RaceChecker::publish(const BlockClock& clock, uint64_t address) {
  if (!clock.released) return;
  Times& times = published_[address];
  take_latest(times, clock.seen_blocks);
  take_latest(times, {{clock.block, clock.released}});
}

void RaceChecker::meet(BlockClock& clock, uint64_t address, bool acquires) {
  const auto entry = published_.find(address);
  if (entry == published_.end()) return;
  take_latest(acquires ? clock.seen_blocks : clock.met_blocks, entry->second);
}

void RaceChecker::release(BlockClock& clock) { clock.released = clock.time++; }

void RaceChecker::fence(BlockClock& clock) {
  take_latest(clock.seen_blocks, clock.met_blocks);
  clock.met_blocks.clear();
  release(clock);
}

}  // namespace stator::emulator::memory
