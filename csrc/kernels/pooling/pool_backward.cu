// Gradients of pooling: each element adds up the slopes of the windows that it is in, in their order.
#include "device/fault.cuh"
#include "device/launcher.cuh"
#include "kernels/pooling/named.cuh"

namespace stator::STATOR_TARGET::pooling {
namespace {

using params::PoolKind;

// Calls f(index in the plane of results, their number of elements) for the windows that may have an element.
template <class F>
STATOR_FN void for_results(const Pool& p, const Place& at, F f) {
  const Results d = results_of(p, 0, at.at[0]), h = results_of(p, 1, at.at[1]), w = results_of(p, 2, at.at[2]);
  const bool counted = p.kind != PoolKind::max && p.divisor == 0;
  STATOR_UNROLL(1)
  for (int i = d.first; i <= d.last; ++i) {
    const int deep = counted ? window_of(p, 0, i).count : 1;
    STATOR_UNROLL(1)
    for (int j = h.first; j <= h.last; ++j) {
      const int high = counted ? window_of(p, 1, j).count : 1;
      const int row = (i * p.axes[1].out + j) * p.axes[2].out;
      STATOR_UNROLL(1)
      for (int k = w.first; k <= w.last; ++k) f(row + k, counted ? int64_t(deep) * high * window_of(p, 2, k).count : 1);
    }
  }
}

template <class T, int Size>
STATOR_KERNEL_RESIDENT(Size, 4) void pool_backward_kernel(Pool p, Cut cut, params::ErrorSlot slot, uint16_t op) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const int64_t size = plane_size(p, false);
  const A divisor = p.divisor == 0 ? A(1) : A(p.divisor), exponent = A(p.power);
  cut.for_each(group, [&](const Place& at) {
    const T* const grad = static_cast<const T*>(p.grad) + at.plane * size;
    A sum = A(0);
    if (p.kind == PoolKind::max) {
      const int64_t* const indices = p.indices + at.plane * size;
      const int here = (at.at[0] * cut.extent[1] + at.at[1]) * cut.extent[2] + at.at[2];
      const int64_t plane = int64_t(cut.extent[0]) * cut.extent[1] * cut.extent[2];
      for_results(p, at, [&](int o, int64_t) {
        const int64_t index = indices[o];
        sum += index == here ? convert<A>(grad[o]) : A(0);
        if (uint64_t(index) >= uint64_t(plane) && is_wrong_index(p, o, index))
          report_index(slot, op, at.plane * size + o, index, false);
      });
    } else if (p.kind == PoolKind::mean) {
      for_results(p, at, [&](int o, int64_t count) { sum += convert<A>(grad[o]) / A(count); });
      sum = sum / divisor;
    } else {
      const T* const y = static_cast<const T*>(p.y) + at.plane * size;
      const A v = convert<A>(static_cast<const T*>(p.x)[at.linear]);
      for_results(p, at, [&](int o, int64_t count) {
        const A root = convert<A>(y[o]);
        const A slope = root == A(0) ? A(0) : power_of(v / root, exponent - A(1));
        sum += convert<A>(grad[o]) * slope * (A(p.factor) / A(count));
      });
    }
    static_cast<T*>(p.out)[at.linear] = convert<T>(sum);
  });
}

template <class T, int Size>
STATOR_KERNEL(Size) void pool_backward_slabs_kernel(Pool p, SlabCut cut, params::ErrorSlot slot, uint16_t op) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const Slab slab = cut.slab(p, group.block());
  const int size = slab.size();
  T* const out = static_cast<T*>(p.out) + slab.plane * plane_size(p, true) + slab.begin;
  if (has_whole_planes(p)) {
    for (int q = 0; q < slab.planes; ++q) {
      const A grad = convert<A>(static_cast<const T*>(p.grad)[slab.plane + q]);
      std::fill_n(out + q * plane_size(p, true), size, convert<T>(A(0) + grad / divisor_of_planes<A>(p)));
    }
    return;
  }
  // The sums, in place if they have the dtype.
  constexpr bool in_place = std::is_same_v<A, T>;
  A own[in_place ? 1 : PoolTuning::batch];
  A* const sums = in_place ? reinterpret_cast<A*>(out) : own;
  const int64_t apart = in_place ? plane_size(p, true) : size;
  const int runs = apart == size ? 1 : slab.planes;  // whole planes lie side by side
  for (int q = 0; q < runs; ++q) std::memset(sums + q * apart, 0, size_t(slab.planes / runs * size) * sizeof(A));
  if (p.kind == PoolKind::max) {
    add_named<A, T>(p, slab, apart, sums, slot, op);
  } else {
    Slab slice = slab;
    slice.thick = 1;
    for (; slice.deep < slab.deep + slab.thick; ++slice.deep, slice.begin += slab.slice())
      for (int q = 0; q < slab.planes; ++q)
        add_slopes<A, T>(p, slice, slab.plane + q, sums + q * apart + (slice.begin - slab.begin));
  }
  const A divisor = p.divisor == 0 || p.kind != PoolKind::mean ? A(1) : A(p.divisor);
  for (int q = 0; q < slab.planes; ++q) {
    A* const own_sums = sums + q * apart;
    if (divisor != A(1))
      for (int i = 0; i < size; ++i) own_sums[i] = own_sums[i] / divisor;
    if constexpr (!in_place)
      for (int i = 0; i < size; ++i) out[q * plane_size(p, true) + i] = convert<T>(own_sums[i]);
  }
}

void pool_backward(const params::Queue& q, const params::Pool& p) {
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    if constexpr (fast_host) {
      const Pool fixed(with_fixed_windows(p));
      const SlabCut cut(*q.limits, fixed);
      launch(q, "pool_backward", pool_backward_slabs_kernel<T, PoolTuning::block>,
             {cut.blocks(fixed), PoolTuning::block}, fixed, cut, q.slot, q.op);
    } else {
      const Cut cut = cut_of(p, true);
      launch(q, "pool_backward", pool_backward_kernel<T, PoolTuning::block>, {cut.blocks(), PoolTuning::block}, Pool(p),
             cut, q.slot, q.op);
    }
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::pooling

STATOR_LAUNCHER(pooling, pool_backward)
