// Inner products of pairs of vectors: many pairs at a time, or a long pair in splits whose sums the last block adds up.
#include "device/math/math.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/matmul/integer_product.cuh"
#include "params/matmul.hpp"

namespace stator::STATOR_TARGET::matmul {
namespace {

struct InnerTuning {
  static constexpr int block = 128;
  static constexpr int64_t least_split = by_target<8192, 32768>::value;  // least elements of a split
  static constexpr int64_t least_work = by_target<1, 1 << 14>::value;    // multiplications per block
  static constexpr int64_t few = by_target<0, 32>::value;  // fast host: sums too short for several accumulators
};

template <bool Conjugate, class A>
STATOR_FN A times(A x, A y) {
  if constexpr (Conjugate)
    return A{x.re, -x.im} * y;
  else
    return x * y;
}

template <bool Conjugate, class T, int Size>
STATOR_FN opmath_t<T> inner_sum(const Group<Size>& group, const T* x, const T* y, int64_t x_step, int64_t y_step,
                                int64_t n) {
  using A = opmath_t<T>;
  if (n <= InnerTuning::few) {
    A sum = A(0);
    for (int64_t i = 0; i < n; ++i) sum = sum + times<Conjugate>(A(x[i * x_step]), A(y[i * y_step]));
    return sum;
  }
  if (x_step == 1 && y_step == 1)
    return group.template map_sum<A>(n, [=](int64_t i) { return times<Conjugate>(A(x[i]), A(y[i])); });
  return group.template map_sum<A>(n, [=](int64_t i) { return times<Conjugate>(A(x[i * x_step]), A(y[i * y_step])); });
}

template <class T, int Size>
STATOR_KERNEL(Size) void inner_product_kernel(params::InnerProduct p, int64_t batches, int64_t each) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const int64_t first = group.block() / p.splits * each, split = group.block() % p.splits;
  const int64_t last = first + each < batches ? first + each : batches, begin = split * p.split_size;
  const int64_t n = begin + p.split_size < p.of.k ? p.split_size : p.of.k - begin;
  const int64_t x_step = p.of.a.col, y_step = p.of.b.row;
  for (int64_t i = first; i < last; ++i) {
    const MatrixOf m = matrix_of(p.of, i);
    const T* x = reinterpret_cast<const T*>(m.a) + begin * x_step;
    const T* y = reinterpret_cast<const T*>(m.b) + begin * y_step;
    A sum;
    if constexpr (is_complex<A>)
      sum = p.conjugate ? inner_sum<true>(group, x, y, x_step, y_step, n)
                        : inner_sum<false>(group, x, y, x_step, y_step, n);
    else
      sum = inner_sum<false>(group, x, y, x_step, y_step, n);
    if (p.splits > 1) {
      A* const sums = static_cast<A*>(p.sums) + i * p.splits;
      if (group.rank() == 0) sums[split] = sum;
      if (!group.last_block(p.counters + i, uint32_t(p.splits))) return;
      sum = group.template map_sum<A>(p.splits, [=](int64_t k) { return sums[k]; });
    }
    if (group.rank() == 0) store_one(m.out, p.of.result, 0, sum);
  }
}

int32_t inner_splits(const params::DeviceLimits& limits, int64_t batches, int64_t k, int64_t* split_size) {
  const int64_t wanted = ceil_div(waves(limits, InnerTuning::block), batches);
  const int64_t splits = std::clamp<int64_t>(wanted, 1, ceil_div(k, InnerTuning::least_split));
  *split_size = ceil_div(k, splits);
  return int32_t(ceil_div(k, *split_size));
}

template <class T>
void start_inner(const params::Queue& q, const params::InnerProduct& p) {
  const int64_t batches = batches_of(p.of), work = p.splits > 1 ? 1 : InnerTuning::least_work / p.of.k;
  const int64_t each = std::max({int64_t(1), work, ceil_div(batches, int64_t(1) << 30)});
  launch(q, "inner_product", inner_product_kernel<T, InnerTuning::block>,
         {ceil_div(batches, each) * p.splits, InnerTuning::block}, p, batches, each);
}

void inner_product(const params::Queue& q, const params::InnerProduct& p) {
  visit<dtypes::inexact>(p.of.operands, [&]<class T>(type_tag<T>) { start_inner<T>(q, p); });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::matmul

STATOR_LAUNCHER(matmul, inner_splits)
STATOR_LAUNCHER(matmul, inner_product)
