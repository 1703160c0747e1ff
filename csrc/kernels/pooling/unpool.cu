// Elements at given places of planes of zeros, and back.
#include "device/atomic_update.cuh"
#include "device/fault.cuh"
#include "device/launcher.cuh"
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
  const auto kernel = p.itemsize == 2   ? unpool_kernel<uint16_t, PoolTuning::block>
                      : p.itemsize == 4 ? unpool_kernel<uint32_t, PoolTuning::block>
                                        : unpool_kernel<uint64_t, PoolTuning::block>;
  launch(q, "unpool", kernel, {ceil_div(p.planes * size, PoolTuning::elements), PoolTuning::block}, p,
         FastDivmod64(size), q.slot, q.op);
}

void unpool(const params::Queue& q, const Unpool& p) {
  launch(q, "unpool_winners", unpool_winners_kernel<PoolTuning::block>,
         {ceil_div(p.planes * p.small, PoolTuning::elements), PoolTuning::block}, p, FastDivmod64(p.small), q.slot,
         q.op);
  gather(q, p);
}

void unpool_backward(const params::Queue& q, const Unpool& p) { gather(q, p); }

}  // namespace

}  // namespace stator::STATOR_TARGET::pooling

STATOR_LAUNCHER(pooling, unpool)
STATOR_LAUNCHER(pooling, unpool_backward)
