// The entries of a dense product at which a compressed matrix has entries.
#include "host/launcher.hpp"
#include "kernels/sparse/rows.cuh"
#include "params/sparse.hpp"

namespace stator::STATOR_TARGET::sparse {
namespace {

struct SparseSampledTuning {
  static constexpr int block = 256;
  static constexpr int tile = by_target<512, 4096>::value;  // entries per block
};

template <class T, int Size>
STATOR_KERNEL(Size) void sampled_kernel(params::SparseSampled p, params::ErrorSlot slot, uint16_t op, int lanes) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const int lane = fast_host ? 0 : group.rank() & (lanes - 1), at_once = Group<Size>::size / lanes;
  const int64_t first = group.block() * SparseSampledTuning::tile;
  const int64_t last = first + SparseSampledTuning::tile < p.a.nnz ? first + SparseSampledTuning::tile : p.a.nnz;
  const int64_t low = row_of_entry(p.a, first, 0, p.a.rows);
  const int64_t high = row_of_entry(p.a, last - 1, low, p.a.rows) + 1;
  const int64_t begin = row_begin(p.a, 0), end = row_begin(p.a, p.a.rows);  // other entries are in no row
  const T* values = static_cast<const T*>(p.values);
  T* out = static_cast<T*>(p.out);
  // A group of lanes computes one entry at a time.
  int64_t row = low;
  for (int64_t base = first; base < last; base += at_once) {
    const int64_t k = base + group.rank() / lanes;
    A sum = A(0);
    if (k < last) {
      const int64_t index = k >= begin && k < end ? column_of(p.a, k, slot, op) : -1;
      if constexpr (fast_host)
        while (row + 1 < high && row_begin(p.a, row + 1) <= k) ++row;
      else
        row = row_of_entry(p.a, k, low, high);
      if (index >= 0) {
        const T* x = static_cast<const T*>(p.x) + row * p.x_row;
        const T* y = static_cast<const T*>(p.y) + index * p.y_col;
        const int64_t x_step = p.x_col, y_step = p.y_row;
        if constexpr (fast_host) {
          if (x_step == 1 && y_step == 1)
            sum = group.template map_reduce<A>(p.inner, Sum{}, [=](int64_t i) { return A(x[i]) * A(y[i]); });
          else
            sum = group.template map_reduce<A>(p.inner, Sum{},
                                               [=](int64_t i) { return A(x[i * x_step]) * A(y[i * y_step]); });
        } else {
          STATOR_UNROLL(4)
          for (int64_t i = lane; i < p.inner; i += lanes) sum = sum + A(x[i * x_step]) * A(y[i * y_step]);
        }
      }
    }
    // The first lane stores the sum.
    sum = sum_sublanes(sum, lanes);
    if (k < last && lane == 0) {
      sum = scaled(p.alpha, sum);
      if (p.beta.re != 0 || p.beta.im != 0) sum = sum + scaled(p.beta, A(values[k]));
      out[k] = T(sum);
    }
  }
}

void sampled(const params::Queue& q, const params::SparseSampled& p) {
  visit<dtypes::inexact>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "sddmm", sampled_kernel<T, SparseSampledTuning::block>,
           {ceil_div(p.a.nnz, SparseSampledTuning::tile), SparseSampledTuning::block}, p, q.slot, q.op,
           lanes_for(p.inner, 1));
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::sparse

STATOR_LAUNCHER(sparse, sampled)
