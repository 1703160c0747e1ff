// Moves, packing of vectors, special registers, and conversions of addresses. Names with an '@' are the decoder's own.
#include "emulator/machine/level/lanes.hpp"
#include "emulator/machine/special.hpp"

#include <chrono>

namespace stator::emulator::machine {
namespace {

struct Same {
  template <class T>
  static T of(T a) {
    return a;
  }
};

struct Wide {
  uint64_t low, high;
};

Flow move_wide(Warp& w, const Instruction& i, uint32_t mask) {
  const Wide* const a = w.lane_values<Wide>(i.op[1]);
  assign_each(w.lane_values<Wide>(i.op[0]), mask, [=](unsigned l) { return a[l]; });
  return Flow::next;
}

Flow move_predicate(Warp& w, const Instruction& i, uint32_t mask) {
  set_predicate(w.predicate(i.op[0]), mask, read_predicate(w, i.op[1]));
  return Flow::next;
}

Handler move_of(unsigned bytes) {
  switch (bytes) {
    case 0: return move_predicate;
    case 1: return unary_of<uint8_t, Same>;
    case 2: return unary_of<uint16_t, Same>;
    case 4: return unary_of<uint32_t, Same>;
    case 8: return unary_of<uint64_t, Same>;
    default: return move_wide;
  }
}

// {a, b, ...} to one value, the first in the lowest bits.
Flow pack(Warp& w, const Instruction& i, uint32_t mask) {
  alignas(64) std::byte result[16 * lanes];
  const unsigned whole = i.op[0].bytes;
  for (unsigned l = 0; l < lanes; ++l) {
    std::byte* to = result + l * whole;
    for (unsigned k = 1; k < i.count; ++k) {
      const Operand& o = i.op[k];
      std::memcpy(to, w.bank[o.bank] + o.offset + l * o.bytes, o.bytes);
      to += o.bytes;
    }
  }
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = first_lane(left);
    std::memcpy(w.bank[0] + i.op[0].offset + l * whole, result + l * whole, whole);
  }
  return Flow::next;
}

Flow unpack(Warp& w, const Instruction& i, uint32_t mask) {
  const Operand& from = i.op[i.count - 1];
  unsigned at = 0;
  for (unsigned k = 0; k + 1 < i.count; ++k) {
    const Operand& o = i.op[k];
    for (uint32_t left = mask; left; left &= left - 1) {
      const unsigned l = first_lane(left);
      std::memcpy(w.bank[0] + o.offset + l * o.bytes, w.bank[from.bank] + from.offset + l * from.bytes + at, o.bytes);
    }
    at += o.bytes;
  }
  return Flow::next;
}

// The usual shape of both: two 32-bit values and one of 64 bits, or two of 16 bits and one of 32.
template <class Half, class Whole>
Flow pack_two(Warp& w, const Instruction& i, uint32_t mask) {
  const Half* const a = w.lane_values<Half>(i.op[1]);
  const Half* const b = w.lane_values<Half>(i.op[2]);
  assign(w.lane_values<Whole>(i.op[0]), mask,
         [=](unsigned l) LANE_FN { return Whole(Whole(b[l]) << (8 * sizeof(Half)) | a[l]); });
  return Flow::next;
}
template <class Half, class Whole>
Flow unpack_two(Warp& w, const Instruction& i, uint32_t mask) {
  const Whole* const a = w.lane_values<Whole>(i.op[2]);
  assign(w.lane_values<Half>(i.op[0]), mask, [=](unsigned l) LANE_FN { return Half(a[l]); });
  assign(w.lane_values<Half>(i.op[1]), mask, [=](unsigned l) LANE_FN { return Half(a[l] >> (8 * sizeof(Half))); });
  return Flow::next;
}

uint64_t special_value(const Warp& w, Special id, unsigned l) {
  const Block& b = *w.block;
  const Launch& n = *b.launch;
  const uint32_t bit = uint32_t(1) << l;
  const auto nanoseconds = [] { return uint64_t(std::chrono::steady_clock::now().time_since_epoch().count()); };
  switch (id) {
    case Special::tid_x: return w.thread[0][l];
    case Special::tid_y: return w.thread[1][l];
    case Special::tid_z: return w.thread[2][l];
    case Special::ntid_x: return n.block.x;
    case Special::ntid_y: return n.block.y;
    case Special::ntid_z: return n.block.z;
    case Special::ctaid_x: return b.index.x;
    case Special::ctaid_y: return b.index.y;
    case Special::ctaid_z: return b.index.z;
    case Special::nctaid_x: return n.grid.x;
    case Special::nctaid_y: return n.grid.y;
    case Special::nctaid_z: return n.grid.z;
    case Special::laneid: return l;
    case Special::warpid: return w.index;
    case Special::nwarpid: return b.warps.size();
    case Special::smid: return b.number % n.profile->multiprocessors;
    case Special::nsmid: return n.profile->multiprocessors;
    case Special::clock:
    case Special::clock64: return w.worker->counters.instructions();
    case Special::clock_hi: return w.worker->counters.instructions() >> 32;
    case Special::globaltimer:
    case Special::globaltimer_lo: return nanoseconds();
    case Special::globaltimer_hi: return nanoseconds() >> 32;
    case Special::lanemask_eq: return bit;
    case Special::lanemask_le: return bit | (bit - 1);
    case Special::lanemask_lt: return bit - 1;
    case Special::lanemask_ge: return ~(bit - 1);
    case Special::lanemask_gt: return ~(bit | (bit - 1));
    case Special::dynamic_smem: return n.dynamic_shared;
    case Special::total_smem: return b.shared_bytes;
    case Special::workspace_high: return n.workspace >> 32;
    case Special::workspace_low: return uint32_t(n.workspace);
    case Special::one: return 1;
    case Special::gridid:
    case Special::zero: return 0;
  }
  return 0;
}

Flow read_special(Warp& w, const Instruction& i, uint32_t mask) {
  const auto id = Special(i.target);
  const Operand& d = i.op[0];
  if (d.bytes == 0) {
    set_predicate(w.predicate(d), mask, special_value(w, id, 0) ? all_lanes : 0);
    return Flow::next;
  }
  const bool same =
      id > Special::tid_z && id != Special::laneid && (id < Special::lanemask_eq || id > Special::lanemask_gt);
  const uint64_t first = special_value(w, id, 0);
  const auto value = [&](unsigned l) { return same ? first : special_value(w, id, l); };
  if (d.bytes == 8)
    assign_each(w.lane_values<uint64_t>(d), mask, value);
  else if (d.bytes == 4 && id <= Special::tid_z)
    assign(w.lane_values<uint32_t>(d), mask, [&](unsigned l) LANE_FN { return w.thread[unsigned(id)][l]; });
  else if (d.bytes == 4)
    assign_each(w.lane_values<uint32_t>(d), mask, value);
  else
    assign_each(w.lane_values<uint16_t>(d), mask, value);
  return Flow::next;
}

// Shared and local addresses count from the start of their window; generic ones are pointers of the host.
uint64_t window(const Warp& w, unsigned lane, bool shared) {
  return shared ? reinterpret_cast<uint64_t>(w.block->shared)
                : reinterpret_cast<uint64_t>(w.local) + lane * w.local_stride;
}
template <bool Shared, bool ToGeneric>
Flow convert_address(Warp& w, const Instruction& i, uint32_t mask) {
  alignas(64) uint64_t result[lanes];
  for (unsigned l = 0; l < lanes; ++l) {
    const uint64_t a = i.op[1].bytes == 8 ? w.lane_values<uint64_t>(i.op[1])[l] : w.lane_values<uint32_t>(i.op[1])[l];
    result[l] = ToGeneric ? a + window(w, l, Shared) : a - window(w, l, Shared);
  }
  if (i.op[0].bytes == 8)
    assign(w.lane_values<uint64_t>(i.op[0]), mask, [&](unsigned l) LANE_FN { return result[l]; });
  else
    assign(w.lane_values<uint32_t>(i.op[0]), mask, [&](unsigned l) LANE_FN { return uint32_t(result[l]); });
  return Flow::next;
}

// The generic address of a parameter: of the kernel, or of a call, which are in local memory.
Flow parameter_address(Warp& w, const Instruction& i, uint32_t mask) {
  const auto base = reinterpret_cast<uint64_t>(w.block->launch->parameters.data()) + uint64_t(i.offset);
  assign_each(w.lane_values<uint64_t>(i.op[0]), mask, [=](unsigned) { return base; });
  return Flow::next;
}
Flow frame_address(Warp& w, const Instruction& i, uint32_t mask) {
  assign_each(w.lane_values<uint64_t>(i.op[0]), mask,
              [&](unsigned l) { return window(w, l, false) + uint64_t(i.offset); });
  return Flow::next;
}

template <Space S>
Flow is_space(Warp& w, const Instruction& i, uint32_t mask) {
  const uint64_t* const a = w.lane_values<uint64_t>(i.op[1]);
  const Block& b = *w.block;
  uint32_t bits = 0;
  for (unsigned l = 0; l < lanes; ++l) {
    const bool shared = a[l] - reinterpret_cast<uint64_t>(b.shared) < b.shared_bytes;
    const bool local = a[l] - window(w, l, false) < w.code->local_bytes;
    const Launch& n = *b.launch;
    const bool param = a[l] - reinterpret_cast<uint64_t>(n.parameters.data()) < n.parameters.size();
    bool constant = false;
    if (S == Space::constant || S == Space::global)
      if (const memory::Allocation* found = n.memory->find(a[l])) constant = found->kind == MemoryKind::constant;
    const bool is = S == Space::shared     ? shared
                    : S == Space::local    ? local
                    : S == Space::param    ? param
                    : S == Space::constant ? constant
                                           : !shared && !local && !param && !constant;
    bits |= uint32_t(is) << l;
  }
  set_predicate(w.predicate(i.op[0]), mask, bits);
  return Flow::next;
}

Handler address_of(const Form& f) {
  const bool to = f.has("to");
  if (f.space == Space::shared) return to ? convert_address<true, false> : convert_address<true, true>;
  if (f.space == Space::local) return to ? convert_address<false, false> : convert_address<false, true>;
  return ptx::bytes_of(f.type()) == 8 ? unary_of<uint64_t, Same> : nullptr;  // global, constant, parameters
}

Handler space_of(const Form& f) {
  switch (f.space) {
    case Space::shared: return is_space<Space::shared>;
    case Space::local: return is_space<Space::local>;
    case Space::param: return is_space<Space::param>;
    case Space::constant: return is_space<Space::constant>;
    case Space::global: return is_space<Space::global>;
    default: return nullptr;
  }
}

Handler find(const Form& f) {
  const unsigned bytes = ptx::bytes_of(f.type());
  if (f.base == "mov") return move_of(bytes);
  if (f.base == "@pack")
    return bytes == 8 && f.vector == 2   ? pack_two<uint32_t, uint64_t>
           : bytes == 4 && f.vector == 2 ? pack_two<uint16_t, uint32_t>
                                         : pack;
  if (f.base == "@unpack")
    return bytes == 8 && f.vector == 2   ? unpack_two<uint32_t, uint64_t>
           : bytes == 4 && f.vector == 2 ? unpack_two<uint16_t, uint32_t>
                                         : unpack;
  if (f.base == "@special") return read_special;
  if (f.base == "@parameter") return parameter_address;
  if (f.base == "@frame") return frame_address;
  if (f.base == "cvta") return address_of(f);
  if (f.base == "isspacep") return space_of(f);
  return nullptr;
}

}  // namespace

Choice select_move(const Form& f) { return {find(f), Kind::move}; }

}  // namespace stator::emulator::machine
