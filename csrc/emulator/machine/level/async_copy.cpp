// cp.async: a copy takes effect when its lane waits for its group, as late as it may, so that a missing wait is seen.
#include "emulator/machine/level/addresses.hpp"

namespace stator::emulator::machine {
namespace {

// [shared], [global], bytes{, bytes of the source}: the rest of the destination becomes zero.
Flow copy(Warp& w, const Instruction& i, uint32_t mask) {
  alignas(64) uint64_t to[lanes], from[lanes];
  read_addresses(w, i.op[0], 0, to);
  read_addresses(w, i.op[1], i.offset, from);
  const unsigned bytes = *w.lane_values<uint32_t>(i.op[2]);
  Instruction at = i;
  if (bytes != 4 && bytes != 8 && bytes != 16)
    stop(w, i, first_lane(mask), Fault::unsupported, "cp.async copies 4, 8 or 16 bytes.");
  const uint32_t* const source = i.count > 3 ? w.lane_values<uint32_t>(i.op[3]) : nullptr;
  uint32_t reading = 0;
  for (uint32_t left = mask; left; left &= left - 1)
    reading |= uint32_t(!source || source[first_lane(left)] != 0) << first_lane(left);
  for (uint32_t left = reading; left; left &= left - 1) {
    const unsigned l = first_lane(left);
    uint64_t one[lanes];
    one[l] = from[l];
    const uint32_t bit = uint32_t(1) << l;
    const unsigned length = source && source[l] < bytes ? source[l] : bytes;
    if (from[l] & (bytes - 1)) misaligned(w, i, bit, one, bytes);
    at.used_bytes = uint32_t(memory::low_bits(length));
    // Bounds are checked of whole power-of-two pieces: the bytes that are read.
    for (unsigned done = 0; done < length;) {
      unsigned piece = bytes;
      while (piece > length - done) piece /= 2;
      one[l] = from[l] + done;
      check_global(w, at, bit, one, piece, false);
      done += piece;
    }
  }
  const Pattern p = pattern_of(to, mask, bytes);
  if (p.high + bytes > w.block->shared_bytes)
    outside_window(w, i, mask, to, {bytes, false, true}, w.block->shared_bytes, "shared");
  if (p.any & (bytes - 1)) misaligned(w, i, mask, to, bytes);
  Counters& c = w.worker->counters;
  if (reading) {
    const Pattern read = pattern_of(from, reading, bytes);
    ++c.global_loads;
    c.global_load_sectors += sectors(from, reading, bytes, read);
    if (w.block->launch->settings.cache) c.global_load_misses += missing_sectors(*w.block, from, reading, bytes, read);
    c.global_load_bytes += bytes * unsigned(__builtin_popcount(reading));
  }
  ++c.shared_stores;
  c.shared_store_wavefronts += wavefronts(to, mask, bytes, p);
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = first_lane(left);
    AsyncCopy pending;
    pending.source = from[l];
    pending.target = uint32_t(to[l]);
    pending.lane = uint8_t(l);
    pending.bytes = uint8_t(bytes);
    pending.source_bytes = uint8_t(source && source[l] < bytes ? source[l] : bytes);
    pending.group = w.groups[l];
    w.copies.push_back(pending);
  }
  return Flow::next;
}

void finish(Warp& w, const Instruction& i, const AsyncCopy& c) {
  uint64_t from[lanes], to[lanes];
  from[c.lane] = c.source;
  to[c.lane] = c.target;
  const uint32_t bit = uint32_t(1) << c.lane;
  Block& b = *w.block;
  if (c.source_bytes) {
    const memory::Allocation* a = b.launch->memory->find(c.source);
    if (a && !a->whole && b.launch->settings.uninitialised) {
      const uint64_t missing = ~memory::get_bits(a->initialised.words(), c.source - a->base, c.source_bytes) &
                               memory::low_bits(c.source_bytes);
      if (missing) uninitialised_read(w, i, c.lane, c.source + unsigned(__builtin_ctzll(missing)), "global", a);
    }
    if (b.launch->races) note_access(w, i, bit, from, {c.source_bytes, true, false}, false);
  }
  if (b.launch->races) note_access(w, i, bit, to, {c.bytes, false, true}, true);
  std::memset(b.shared + c.target, 0, c.bytes);
  std::memcpy(b.shared + c.target, reinterpret_cast<const void*>(c.source), c.source_bytes);
  memory::set_bits(b.shared_bits.data(), c.target, c.bytes);
}

// Finishes the copies of the lanes for which `done` holds.
template <class F>
void finish_if(Warp& w, const Instruction& i, uint32_t mask, F done) {
  size_t kept = 0;
  for (size_t k = 0; k < w.copies.size(); ++k) {
    const AsyncCopy c = w.copies[k];
    if (on(mask, c.lane) && done(c))
      finish(w, i, c);
    else
      w.copies[kept++] = c;
  }
  w.copies.resize(kept);
}

Flow commit(Warp& w, const Instruction&, uint32_t mask) {
  for (uint32_t left = mask; left; left &= left - 1) ++w.groups[first_lane(left)];
  return Flow::next;
}

Flow wait_group(Warp& w, const Instruction& i, uint32_t mask) {
  const uint32_t pending = *w.lane_values<uint32_t>(i.op[0]);
  finish_if(w, i, mask, [&](const AsyncCopy& c) { return c.group + pending < w.groups[c.lane]; });
  return Flow::next;
}

Flow wait_all(Warp& w, const Instruction& i, uint32_t mask) {
  finish_if(w, i, mask, [](const AsyncCopy&) { return true; });
  return Flow::next;
}

Handler find(const Form& f) {
  if (f.base != "cp" || !f.has("async")) return nullptr;
  if (f.has("commit_group")) return commit;
  if (f.has("wait_group")) return wait_group;
  if (f.has("wait_all")) return wait_all;
  return f.has("ca") || f.has("cg") ? copy : nullptr;
}

}  // namespace

Choice select_async(const Form& f) { return {find(f), Kind::memory}; }

}  // namespace stator::emulator::machine
