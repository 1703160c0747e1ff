// Elements at given indices of planes of zeros, and back.
#include "device/atomic_update.cuh"
#include "device/bits.cuh"
#include "device/fault.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/pooling/windows.cuh"

namespace stator::STATOR_TARGET::pooling {
namespace {

using params::Unpool;

// Calls f for the elements of this block, of `total`.
template <int Size, class F>
STATOR_FN void for_elements(const Group<Size>& group, int64_t total, F f) {
  const int64_t begin = group.block() * PoolTuning::elements;
  group.for_each(total - begin < PoolTuning::elements ? total - begin : PoolTuning::elements,
                 [=](int64_t k) { f(begin + k); });
}

// Notes at each index the number of the last element that goes there, counted from 1.
template <int Size>
STATOR_KERNEL(Size) void unpool_winners_kernel(Unpool p, FastDivmod64 small, params::ErrorSlot slot, uint16_t op) {
  const Group<Size> group;
  for_elements(group, p.planes * p.small, [=](int64_t i) {
    int64_t rest;
    const int64_t plane = small.divmod(i, rest), index = p.indices[i];
    if (index < 0 || index >= p.large) return report_index(slot, op, i, index, false);
    const uint32_t number = uint32_t(rest) + 1;
    atomic_update(p.winners + plane * p.large + index, [=](uint32_t old) { return old < number ? number : old; });
  });
}

// On the fast host one thread makes a plane, or a part of one, and takes its elements in their order, so that the last
// one wins without notes. A part reads all the indices of its plane.
template <class Bits, int Size>
STATOR_KERNEL(Size) void unpool_planes_kernel(Unpool p, int64_t parts, params::ErrorSlot slot, uint16_t op) {
  const Group<Size> group;
  const int64_t plane = group.block() / parts, part = group.block() % parts;
  const int64_t begin = p.large * part / parts, count = p.large * (part + 1) / parts - begin;
  const Bits* STATOR_RESTRICT const x = static_cast<const Bits*>(p.x) + plane * p.small;
  const int64_t* STATOR_RESTRICT const indices = p.indices + plane * p.small;
  Bits* STATOR_RESTRICT const out = static_cast<Bits*>(p.out) + plane * p.large + begin;
  memset(out, 0, size_t(count) * sizeof(Bits));
  for (int64_t i = 0; i < p.small; ++i) {
    const int64_t index = indices[i];
    if (uint64_t(index - begin) < uint64_t(count))
      out[index - begin] = x[i];
    else if (uint64_t(index) >= uint64_t(p.large))
      report_index(slot, op, plane * p.small + i, index, false);
  }
}

// And its gradient, in runs of a plane's elements.
template <class Bits, int Size>
STATOR_KERNEL(Size) void unpool_back_kernel(Unpool p, params::ErrorSlot slot, uint16_t op) {
  const Group<Size> group;
  const int64_t total = p.planes * p.small, begin = group.block() * PoolTuning::elements;
  const int64_t end = begin + PoolTuning::elements < total ? begin + PoolTuning::elements : total;
  Bits* STATOR_RESTRICT const out = static_cast<Bits*>(p.out);
  for (int64_t first = begin; first < end;) {
    const int64_t plane = first / p.small, last = (plane + 1) * p.small < end ? (plane + 1) * p.small : end;
    const Bits* STATOR_RESTRICT const x = static_cast<const Bits*>(p.x) + plane * p.large;
    for (; first < last; ++first) {
      const int64_t index = p.indices[first];
      const bool inside = uint64_t(index) < uint64_t(p.large);
      if (!inside) report_index(slot, op, first, index, false);
      out[first] = inside ? x[index] : Bits(0);
    }
  }
}

// Bits: an unsigned type of the elements' size.
template <class Bits, int Size>
STATOR_KERNEL(Size) void unpool_kernel(Unpool p, FastDivmod64 of_plane, params::ErrorSlot slot, uint16_t op) {
  const Group<Size> group;
  const Bits* const x = static_cast<const Bits*>(p.x);
  Bits* const out = static_cast<Bits*>(p.out);
  const bool forward = p.winners != nullptr;
  for_elements(group, p.planes * (forward ? p.large : p.small), [=](int64_t i) {
    int64_t rest;
    const int64_t plane = of_plane.divmod(i, rest);
    if (forward) {
      const uint32_t number = p.winners[i];
      out[i] = number > 0 ? x[plane * p.small + (number - 1)] : Bits(0);
      return;
    }
    const int64_t index = p.indices[i];
    const bool inside = index >= 0 && index < p.large;
    if (!inside) report_index(slot, op, i, index, false);
    out[i] = inside ? x[plane * p.large + index] : Bits(0);
  });
}

void gather(const params::Queue& q, const Unpool& p) {
  const int64_t size = p.winners != nullptr ? p.large : p.small;
  const Config config{ceil_div(p.planes * size, PoolTuning::elements), PoolTuning::block};
  with_bits<2, 4, 8>(p.itemsize, [&]<class Bits>(Bits) {
    if constexpr (fast_host)
      launch(q, "unpool_back", unpool_back_kernel<Bits, PoolTuning::block>, config, p, q.slot, q.op);
    else
      launch(q, "unpool", unpool_kernel<Bits, PoolTuning::block>, config, p, FastDivmod64(size), q.slot, q.op);
  });
}

// Where planes are few, as many parts as there are threads, each with work for one.
int64_t parts_of(const params::Queue& q, const Unpool& p) {
  const int64_t wanted = ceil_div(std::max(1, q.limits->multiprocessors), p.planes);
  return std::min(wanted, ceil_div(p.large, 4 * PoolTuning::elements));
}

void unpool(const params::Queue& q, const Unpool& p) {
  with_bits<2, 4, 8>(p.itemsize, [&]<class Bits>(Bits) {
    if constexpr (fast_host) {
      const int64_t parts = parts_of(q, p);
      launch(q, "unpool_planes", unpool_planes_kernel<Bits, PoolTuning::block>, {p.planes * parts, PoolTuning::block},
             p, parts, q.slot, q.op);
    } else {
      launch(q, "unpool_winners", unpool_winners_kernel<PoolTuning::block>,
             {ceil_div(p.planes * p.small, PoolTuning::elements), PoolTuning::block}, p, FastDivmod64(p.small), q.slot,
             q.op);
    }
  });
  if constexpr (!fast_host) gather(q, p);
}

void unpool_backward(const params::Queue& q, const Unpool& p) { gather(q, p); }

bool unpool_notes(const params::DeviceLimits&) { return !fast_host; }

}  // namespace

}  // namespace stator::STATOR_TARGET::pooling

STATOR_LAUNCHER(pooling, unpool)
STATOR_LAUNCHER(pooling, unpool_backward)
STATOR_LAUNCHER(pooling, unpool_notes)
