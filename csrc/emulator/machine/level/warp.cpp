// The words of a warp: shuffles, votes, matches, reductions, and its barrier. Lanes wait for those that their mask
// names.
#include "emulator/machine/level/lanes.hpp"

namespace stator::emulator::machine {
namespace {

std::string hex(uint32_t v) {
  char digits[16];
  std::snprintf(digits, sizeof digits, "0x%08x", v);
  return digits;
}

uint32_t member_mask(const Warp& w, const Instruction& i, unsigned lane) {
  return w.lane_values<uint32_t>(i.op[i.count - 1])[lane];
}

// Lanes of the warp that wait for this word: at the same instruction, or for the barrier at any instruction.
template <bool Anywhere>
uint32_t waiting_here(const Warp& w, const Instruction& i) {
  uint32_t found = 0;
  for (uint32_t left = w.syncing; left; left &= left - 1) {
    const unsigned l = first_lane(left);
    const bool here = Anywhere ? w.code->instructions[w.lane_pc[l]].run == i.run : w.lane_pc[l] == w.pc;
    found |= uint32_t(here) << l;
  }
  return found;
}

// Runs the word for each set of lanes that names itself and has come together; the others wait. `run` gets the lanes.
template <bool Anywhere, class F>
Flow together(Warp& w, const Instruction& i, uint32_t mask, F run) {
  const uint32_t own = member_mask(w, i, first_lane(mask));
  bool same = true;
  for (uint32_t left = mask; left; left &= left - 1) same &= member_mask(w, i, first_lane(left)) == own;
  if (same && (own & w.alive) == mask) {
    run(mask);
    return Flow::next;
  }
  const uint32_t here = mask | waiting_here<Anywhere>(w, i);
  for (uint32_t left = w.active; left; left &= left - 1)
    w.lane_pc[first_lane(left)] = w.pc + !on(mask, first_lane(left));
  for (uint32_t left = here; left;) {
    const unsigned first = first_lane(left);
    // A lane that waits elsewhere has its mask in its own instruction's operand.
    const auto mask_of = [&](unsigned l) { return member_mask(w, w.code->instructions[w.lane_pc[l]], l); };
    const uint32_t named = mask_of(first);
    uint32_t group = 0;
    for (uint32_t rest = left; rest; rest &= rest - 1)
      group |= uint32_t(mask_of(first_lane(rest)) == named) << first_lane(rest);
    if (group & ~named)
      stop(w, i, first_lane(group & ~named), Fault::missing_lanes,
           "The lane executes the instruction with the mask " + hex(named) + ", which does not name it.");
    left &= ~group;
    if (named & w.alive & ~group) {
      w.waiting |= group;
      w.syncing |= group;
      continue;
    }
    run(group);
    w.waiting &= ~group;
    w.syncing &= ~group;
    for (uint32_t rest = group; rest; rest &= rest - 1) ++w.lane_pc[first_lane(rest)];
  }
  return Flow::regroup;
}

enum class Mode { up, down, butterfly, index };

// d|p, a, b, c, mask: the operands are d, then p if there is one.
template <Mode M>
Flow shuffle(Warp& w, const Instruction& i, uint32_t mask) {
  const unsigned at = i.op[1].output ? 2 : 1;
  return together<false>(w, i, mask, [&](uint32_t group) {
    const uint32_t* const a = w.lane_values<uint32_t>(i.op[at]);
    const uint32_t* const b = w.lane_values<uint32_t>(i.op[at + 1]);
    const uint32_t* const c = w.lane_values<uint32_t>(i.op[at + 2]);
    uint32_t result[lanes], valid = 0;
    for (uint32_t left = group; left; left &= left - 1) {
      const unsigned l = first_lane(left);
      const uint32_t clamp = c[l] & 31, segment = c[l] >> 8 & 31, by = b[l] & 31;
      const uint32_t least = l & segment, most = (l & segment) | (clamp & ~segment);
      uint32_t from = 0;
      bool inside = false;
      switch (M) {
        case Mode::up:
          from = l - by;
          inside = int(l) - int(by) >= int(most);
          break;
        case Mode::down:
          from = l + by;
          inside = from <= most;
          break;
        case Mode::butterfly:
          from = l ^ by;
          inside = from <= most;
          break;
        case Mode::index:
          from = least | (by & ~segment);
          inside = from <= most;
          break;
      }
      if (!inside) from = l;
      if (!on(group, from))
        stop(w, i, l, Fault::inactive_lane,
             "The lane reads the value of lane " + std::to_string(from) +
                 (on(w.alive, from) ? ", which its mask does not name." : ", which has ended."));
      result[l] = a[from];
      valid |= uint32_t(inside) << l;
    }
    uint32_t* const d = w.lane_values<uint32_t>(i.op[0]);
    for (uint32_t left = group; left; left &= left - 1) d[first_lane(left)] = result[first_lane(left)];
    if (at == 2) set_predicate(w.predicate(i.op[1]), group, valid);
  });
}

enum class Vote { all, any, uniform, ballot };
template <Vote V>
Flow vote(Warp& w, const Instruction& i, uint32_t mask) {
  return together<false>(w, i, mask, [&](uint32_t group) {
    const uint32_t yes = read_predicate(w, i.op[1]) & group;
    if (V == Vote::ballot) {
      assign(w.lane_values<uint32_t>(i.op[0]), group, [=](unsigned) LANE_FN { return yes; });
      return;
    }
    const bool holds = V == Vote::all ? yes == group : V == Vote::any ? yes != 0 : yes == 0 || yes == group;
    set_predicate(w.predicate(i.op[0]), group, holds ? all_lanes : 0);
  });
}

template <class T, bool All>
Flow match(Warp& w, const Instruction& i, uint32_t mask) {
  const unsigned at = i.op[1].output ? 2 : 1;
  return together<false>(w, i, mask, [&](uint32_t group) {
    const T* const a = w.lane_values<T>(i.op[at]);
    uint32_t equal[lanes];
    for (uint32_t left = group; left; left &= left - 1) {
      const unsigned l = first_lane(left);
      equal[l] = 0;
      for (uint32_t rest = group; rest; rest &= rest - 1)
        equal[l] |= uint32_t(a[first_lane(rest)] == a[l]) << first_lane(rest);
    }
    const bool same = equal[first_lane(group)] == group;
    uint32_t* const d = w.lane_values<uint32_t>(i.op[0]);
    for (uint32_t left = group; left; left &= left - 1)
      d[first_lane(left)] = !All ? equal[first_lane(left)] : same ? group : 0;
    if (at == 2) set_predicate(w.predicate(i.op[1]), group, same ? all_lanes : 0);
  });
}

enum class Fold { add, smin, smax, umin, umax, all, any, either };
template <Fold F>
Flow reduce(Warp& w, const Instruction& i, uint32_t mask) {
  return together<false>(w, i, mask, [&](uint32_t group) {
    const uint32_t* const a = w.lane_values<uint32_t>(i.op[1]);
    uint32_t v = a[first_lane(group)];
    for (uint32_t left = group & (group - 1); left; left &= left - 1) {
      const uint32_t x = a[first_lane(left)];
      switch (F) {
        case Fold::add: v += x; break;
        case Fold::smin: v = int32_t(x) < int32_t(v) ? x : v; break;
        case Fold::smax: v = int32_t(x) > int32_t(v) ? x : v; break;
        case Fold::umin: v = x < v ? x : v; break;
        case Fold::umax: v = x > v ? x : v; break;
        case Fold::all: v &= x; break;
        case Fold::any: v |= x; break;
        case Fold::either: v ^= x; break;
      }
    }
    assign(w.lane_values<uint32_t>(i.op[0]), group, [=](unsigned) LANE_FN { return v; });
  });
}

Flow barrier(Warp& w, const Instruction& i, uint32_t mask) {
  return together<true>(w, i, mask, [&](uint32_t group) { note_warp_sync(w, group); });
}

Flow elect(Warp& w, const Instruction& i, uint32_t mask) {  // d|p, mask: the first lane is it
  return together<false>(w, i, mask, [&](uint32_t group) {
    const uint32_t leader = first_lane(group);
    assign(w.lane_values<uint32_t>(i.op[0]), group, [=](unsigned) LANE_FN { return leader; });
    set_predicate(w.predicate(i.op[1]), group, uint32_t(1) << leader);
  });
}

Flow active_mask(Warp& w, const Instruction& i, uint32_t mask) {
  assign(w.lane_values<uint32_t>(i.op[0]), mask, [=](unsigned) LANE_FN { return mask; });
  return Flow::next;
}

Handler reduce_of(const Form& f) {
  const bool s = f.type() == Type::s32;
  if (f.has("add")) return reduce<Fold::add>;
  if (f.has("min")) return s ? reduce<Fold::smin> : reduce<Fold::umin>;
  if (f.has("max")) return s ? reduce<Fold::smax> : reduce<Fold::umax>;
  if (f.has("and")) return reduce<Fold::all>;
  if (f.has("or")) return reduce<Fold::any>;
  return f.has("xor") ? reduce<Fold::either> : nullptr;
}

Handler find(const Form& f) {
  if (f.base == "activemask") return active_mask;
  if (f.base == "bar" && f.has("warp")) return barrier;
  if (!f.has("sync")) return nullptr;
  if (f.base == "shfl")
    return f.has("up")     ? shuffle<Mode::up>
           : f.has("down") ? shuffle<Mode::down>
           : f.has("bfly") ? shuffle<Mode::butterfly>
                           : shuffle<Mode::index>;
  if (f.base == "vote")
    return f.has("all")   ? vote<Vote::all>
           : f.has("any") ? vote<Vote::any>
           : f.has("uni") ? vote<Vote::uniform>
                          : vote<Vote::ballot>;
  if (f.base == "match" && ptx::bytes_of(f.type()) == 8)
    return f.has("all") ? match<uint64_t, true> : match<uint64_t, false>;
  if (f.base == "match") return f.has("all") ? match<uint32_t, true> : match<uint32_t, false>;
  if (f.base == "redux" && ptx::bytes_of(f.type()) == 4 && !ptx::is_float(f.type())) return reduce_of(f);
  if (f.base == "elect") return elect;
  return nullptr;
}

}  // namespace

Choice select_warp(const Form& f) { return {find(f), Kind::warp}; }

}  // namespace stator::emulator::machine
