// Loads and stores.
#include "emulator/machine/level/addresses.hpp"

namespace stator::emulator::machine {
namespace {

// One element per lane from host addresses, extended to the register's width.
template <class E, class R>
void gather(const Warp& w, const Operand& d, uint32_t mask, const uint64_t (&host)[lanes], unsigned offset) {
  R* const to = w.lane_values<R>(d);
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = first_lane(left);
    E value;
    __builtin_memcpy(&value, reinterpret_cast<const void*>(host[l] + offset), sizeof(E));
    to[l] = R(value);
  }
}

template <class E, class R>
void gather_linear(const Warp& w, const Operand& d, const uint64_t (&host)[lanes]) {
  R* const to = w.lane_values<R>(d);
  alignas(64) E values[lanes];
  __builtin_memcpy(values, reinterpret_cast<const void*>(host[0]), sizeof values);
  for (unsigned l = 0; l < lanes; ++l) to[l] = R(values[l]);
}

struct Wide {
  uint64_t low, high;
};

template <class E>
void load_element(const Warp& w, const Operand& d, uint32_t mask, const uint64_t (&host)[lanes], unsigned offset,
                  bool linear) {
  if constexpr (sizeof(E) == 16) {
    gather<E, E>(w, d, mask, host, offset);
  } else {
    switch (d.bytes) {
      case 2:
        if constexpr (sizeof(E) <= 2)
          return linear ? gather_linear<E, uint16_t>(w, d, host) : gather<E, uint16_t>(w, d, mask, host, offset);
        break;
      case 4:
        if constexpr (sizeof(E) <= 4)
          return linear ? gather_linear<E, uint32_t>(w, d, host) : gather<E, uint32_t>(w, d, mask, host, offset);
        break;
      case 8: return linear ? gather_linear<E, uint64_t>(w, d, host) : gather<E, uint64_t>(w, d, mask, host, offset);
      default: gather<uint8_t, uint8_t>(w, d, mask, host, offset);
    }
  }
}

template <class E>
void load_values(Warp& w, const Instruction& i, uint32_t mask, const uint64_t (&host)[lanes], bool linear) {
  for (unsigned k = 0; k < i.vector; ++k)
    load_element<E>(w, i.op[k], mask, host, k * unsigned(sizeof(E)), linear && i.vector == 1);
}

template <class E>
void store_values(Warp& w, const Instruction& i, uint32_t mask, const uint64_t (&host)[lanes], bool linear) {
  for (unsigned k = 0; k < i.vector; ++k) {
    const Operand& o = i.op[k + 1];
    const std::byte* const from = w.bank[o.bank] + o.offset;
    if (linear && i.vector == 1 && o.bytes == sizeof(E)) {
      __builtin_memcpy(reinterpret_cast<void*>(host[0]), from, sizeof(E) * lanes);
      return;
    }
    for (uint32_t left = mask; left; left &= left - 1) {
      const unsigned l = first_lane(left);
      E value;
      __builtin_memcpy(&value, from + l * o.bytes, sizeof(E));
      __builtin_memcpy(reinterpret_cast<void*>(host[l] + k * sizeof(E)), &value, sizeof(E));
    }
  }
}

template <class E, bool Store>
void move_values(Warp& w, const Instruction& i, uint32_t mask, const uint64_t (&host)[lanes], bool linear) {
  if constexpr (Store)
    store_values<E>(w, i, mask, host, linear);
  else
    load_values<E>(w, i, mask, host, linear);
}

template <class E, bool Store>
void access_global(Warp& w, const Instruction& i, uint32_t mask, const uint64_t (&a)[lanes]) {
  const unsigned bytes = unsigned(sizeof(E)) * i.vector;
  const Access access{bytes, !Store, Store};
  const Pattern p = pattern_of(a, mask, bytes);
  check_global_pattern(w, i, mask, a, p, access);
  Counters& c = w.worker->counters;
  (Store ? c.global_stores : c.global_loads) += 1;
  (Store ? c.global_store_sectors : c.global_load_sectors) += sectors(a, mask, bytes, p);
  (Store ? c.global_store_bytes : c.global_load_bytes) += bytes * unsigned(__builtin_popcount(mask));
  if (!Store && w.block->launch->settings.cache) c.global_load_misses += missing_sectors(*w.block, a, mask, bytes, p);
  if (w.block->launch->races) note_access(w, i, mask, a, access, false);
  move_values<E, Store>(w, i, mask, a, p.linear);
}

template <class E, bool Store>
void access_shared(Warp& w, const Instruction& i, uint32_t mask, const uint64_t (&a)[lanes]) {
  const unsigned bytes = unsigned(sizeof(E)) * i.vector;
  const Access access{bytes, !Store, Store};
  const Pattern p = pattern_of(a, mask, bytes);
  check_shared_pattern(w, i, mask, a, p, access);
  Counters& c = w.worker->counters;
  (Store ? c.shared_stores : c.shared_loads) += 1;
  (Store ? c.shared_store_wavefronts : c.shared_load_wavefronts) += wavefronts(a, mask, bytes, p);
  if (w.block->launch->races) note_access(w, i, mask, a, access, true);
  alignas(64) uint64_t host[lanes];
  const auto base = reinterpret_cast<uint64_t>(w.block->shared);
  for (unsigned l = 0; l < lanes; ++l) host[l] = base + a[l];
  move_values<E, Store>(w, i, mask, host, p.linear);
}

template <class E, bool Store>
void access_local(Warp& w, const Instruction& i, uint32_t mask, const uint64_t (&a)[lanes]) {
  const unsigned bytes = unsigned(sizeof(E)) * i.vector;
  check_local_pattern(w, i, mask, a, pattern_of(a, mask, bytes), {bytes, !Store, Store});
  (Store ? w.worker->counters.local_stores : w.worker->counters.local_loads) += 1;
  alignas(64) uint64_t host[lanes];
  const auto base = reinterpret_cast<uint64_t>(w.local);
  for (unsigned l = 0; l < lanes; ++l) host[l] = base + l * w.local_stride + a[l];
  move_values<E, Store>(w, i, mask, host, false);
}

template <class E, bool Store>
void access_generic(Warp& w, const Instruction& i, uint32_t mask, const uint64_t (&a)[lanes]) {
  const Spaces s = spaces_of(w, mask, a);
  if (s.global) access_global<E, Store>(w, i, s.global, a);
  alignas(64) uint64_t offset[lanes];
  if (s.shared) {
    const auto base = reinterpret_cast<uint64_t>(w.block->shared);
    for (unsigned l = 0; l < lanes; ++l) offset[l] = a[l] - base;
    access_shared<E, Store>(w, i, s.shared, offset);
  }
  if (s.local) {
    const auto base = reinterpret_cast<uint64_t>(w.local);
    for (unsigned l = 0; l < lanes; ++l) offset[l] = a[l] - base - l * w.local_stride;
    access_local<E, Store>(w, i, s.local, offset);
  }
  if (!s.param) return;
  const unsigned bytes = unsigned(sizeof(E)) * i.vector, l = first_lane(s.param);
  const Pattern p = pattern_of(a, s.param, bytes);
  const std::vector<std::byte>& all = w.block->launch->parameters;
  if (Store) stop(w, i, l, Fault::read_only, "A write to the parameters of the kernel.", a[l]);
  if (p.any & (bytes - 1)) misaligned(w, i, s.param, a, bytes);
  if (p.high + bytes > reinterpret_cast<uint64_t>(all.data()) + all.size())
    stop(w, i, l, Fault::out_of_bounds, "A read beyond the parameters of the kernel.", p.high);
  move_values<E, Store>(w, i, s.param, a, false);
}

template <class E, bool Store, Space S>
Flow access(Warp& w, const Instruction& i, uint32_t mask) {
  alignas(64) uint64_t a[lanes];
  read_addresses(w, i.op[Store ? 0 : i.vector], i.offset, a);
  if constexpr (S == Space::global)
    access_global<E, Store>(w, i, mask, a);
  else if constexpr (S == Space::shared)
    access_shared<E, Store>(w, i, mask, a);
  else if constexpr (S == Space::local)
    access_local<E, Store>(w, i, mask, a);
  else
    access_generic<E, Store>(w, i, mask, a);
  return Flow::next;
}

// A parameter of the kernel at a known offset: the same value for all lanes.
template <class E>
Flow load_parameter(Warp& w, const Instruction& i, uint32_t mask) {
  const std::byte* const from = w.block->launch->parameters.data() + i.offset;
  for (unsigned k = 0; k < i.vector; ++k) {
    E value;
    __builtin_memcpy(&value, from + k * sizeof(E), sizeof(E));
    const Operand& d = i.op[k];
    if constexpr (sizeof(E) == 16) {
      assign_each(w.lane_values<E>(d), mask, [&](unsigned) { return value; });
    } else {
      if (d.bytes == 2)
        assign(w.lane_values<uint16_t>(d), mask, [=](unsigned) LANE_FN { return uint16_t(value); });
      else if (d.bytes == 4)
        assign(w.lane_values<uint32_t>(d), mask, [=](unsigned) LANE_FN { return uint32_t(value); });
      else
        assign(w.lane_values<uint64_t>(d), mask, [=](unsigned) LANE_FN { return uint64_t(value); });
    }
  }
  return Flow::next;
}

// Parameters of calls are at known offsets of local memory.
template <class E, bool Store>
Flow access_frame(Warp& w, const Instruction& i, uint32_t mask) {
  alignas(64) uint64_t host[lanes];
  const auto base = reinterpret_cast<uint64_t>(w.local) + uint64_t(i.offset);
  for (unsigned l = 0; l < lanes; ++l) host[l] = base + l * w.local_stride;
  if (Store)
    for (uint32_t left = mask; left; left &= left - 1)
      memory::set_bits(w.local_bits + first_lane(left) * w.local_words, uint64_t(i.offset), sizeof(E) * i.vector);
  move_values<E, Store>(w, i, mask, host, false);
  return Flow::next;
}

template <class E, bool Store>
Handler by_space(const Form& f) {
  if (f.base == "@load_parameter") return load_parameter<E>;
  if (f.base[0] == '@') return access_frame<E, Store>;
  switch (f.space) {
    case Space::constant: return Store ? nullptr : access<E, false, Space::global>;
    case Space::global: return access<E, Store, Space::global>;
    case Space::shared: return access<E, Store, Space::shared>;
    case Space::local: return access<E, Store, Space::local>;
    default: return access<E, Store, Space::generic>;  // of parameters too: addresses of them are generic
  }
}

Handler load_of(const Form& f) {
  switch (f.type()) {
    case Type::s8: return by_space<int8_t, false>(f);
    case Type::s16: return by_space<int16_t, false>(f);
    case Type::s32: return by_space<int32_t, false>(f);
    default: break;
  }
  switch (ptx::bytes_of(f.type())) {
    case 1: return by_space<uint8_t, false>(f);
    case 2: return by_space<uint16_t, false>(f);
    case 4: return by_space<uint32_t, false>(f);
    case 8: return by_space<uint64_t, false>(f);
    case 16: return by_space<Wide, false>(f);
    default: return nullptr;
  }
}

Handler store_of(const Form& f) {
  switch (ptx::bytes_of(f.type())) {
    case 1: return by_space<uint8_t, true>(f);
    case 2: return by_space<uint16_t, true>(f);
    case 4: return by_space<uint32_t, true>(f);
    case 8: return by_space<uint64_t, true>(f);
    case 16: return by_space<Wide, true>(f);
    default: return nullptr;
  }
}

Flow prefetch(Warp&, const Instruction&, uint32_t) { return Flow::next; }

Handler find(const Form& f) {
  if (f.base == "ld" || f.base == "ldu" || f.base == "@load_parameter" || f.base == "@load_frame") return load_of(f);
  if (f.base == "st" || f.base == "@store_frame") return store_of(f);
  if (f.base == "prefetch" || f.base == "prefetchu") return prefetch;
  return nullptr;
}

}  // namespace

Choice select_memory(const Form& f) { return {find(f), Kind::memory}; }

}  // namespace stator::emulator::machine
