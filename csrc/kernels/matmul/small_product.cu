// Batches of small products, for which a library's call costs more than its work. On the fast host the rows of b stay
// in vectors, with a function for each vector length.
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/matmul/integer_product.cuh"
#include "params/matmul.hpp"

#include <cstring>

namespace stator::STATOR_TARGET::matmul {
namespace {

struct SmallTuning {
  static constexpr int block = 128;
  static constexpr int64_t least_work = by_target<1, 1 << 14>::value;  // multiplications per block
};

// Rows of b of up to Width elements are one vector each; lanes beyond them hold zeros and are not stored. W: the type
// of the operands.
template <class W, class T, int Width>
STATOR_CALL void product_of_columns(const params::StridedProduct& p, const MatrixOf& m) {
  constexpr int together = 4;
  using V = typename FewLanes<T, Width>::type;
  const W* a = reinterpret_cast<const W*>(m.a);
  const W* b = reinterpret_cast<const W*>(m.b);
  T* out = reinterpret_cast<T*>(m.out);
  const int columns = int(p.n);
  const bool whole = columns == Width && p.b.col == 1, whole_out = columns == Width && p.out.col == 1;
  // Load the rows of b.
  V rows[params::small_product];
  for (int64_t k = 0; k < p.k; ++k) {
    T row[Width] = {};
    const W* from = b + k * p.b.row;
    if (whole)
      for (int j = 0; j < Width; ++j) row[j] = T(from[j]);
    else
      for (int j = 0; j < columns; ++j) row[j] = T(from[j * p.b.col]);
    std::memcpy(&rows[k], row, sizeof(V));
  }
  // Multiply a few rows of a at a time.
  for (int64_t i = 0; i < p.m; i += together) {  // independent sums
    V sums[together];
    const W* a_rows[together];
    STATOR_UNROLL_LANES
    for (int r = 0; r < together; ++r) {
      sums[r] = V{};
      a_rows[r] = a + (i + r < p.m ? i + r : i) * p.a.row;
    }
    for (int64_t k = 0; k < p.k; ++k) {
      STATOR_UNROLL_LANES
      for (int r = 0; r < together; ++r) sums[r] += (T(a_rows[r][k * p.a.col]) - V{}) * rows[k];
    }
    // Store.
    for (int64_t r = 0; r < together && i + r < p.m; ++r) {
      T* to = out + (i + r) * p.out.row;
      if (whole_out) {
        std::memcpy(to, &sums[r], sizeof(V));
      } else {
        T row[Width];
        std::memcpy(row, &sums[r], sizeof(V));
        for (int j = 0; j < columns; ++j) to[j * p.out.col] = row[j];
      }
    }
  }
}

using ProductOf = void (*)(const params::StridedProduct&, const MatrixOf&);
template <class W, class T>
STATOR_FN ProductOf product_for(int64_t columns) {
  return columns <= 2   ? product_of_columns<W, T, 2>
         : columns <= 4 ? product_of_columns<W, T, 4>
         : columns <= 8 ? product_of_columns<W, T, 8>
                        : product_of_columns<W, T, 16>;
}

template <int Size, class W, class T>
STATOR_KERNEL(Size) void small_product_kernel(params::StridedProduct p, int64_t batches, int64_t each) {
  const Group<Size> group;
  const int64_t first = group.block() * each, last = first + each < batches ? first + each : batches;
  [[maybe_unused]] ProductOf product = nullptr;
  if constexpr (fast_host) product = product_for<W, T>(p.n);
  for (int64_t i = first; i < last; ++i) {
    const MatrixOf m = matrix_of(p, i);
    if constexpr (fast_host) {
      product(p, m);
    } else {
      group.for_each(p.m * p.n, [=](int64_t at) {
        const int64_t row = at / p.n, col = at % p.n;
        const W* a = reinterpret_cast<const W*>(m.a) + row * p.a.row;
        const W* b = reinterpret_cast<const W*>(m.b) + col * p.b.col;
        T sum = 0;
        for (int64_t k = 0; k < p.k; ++k) sum += T(a[k * p.a.col]) * T(b[k * p.b.row]);
        reinterpret_cast<T*>(m.out)[row * p.out.row + col * p.out.col] = sum;
      });
    }
  }
}

template <class W, class T>
void start_small(const params::Queue& q, const params::StridedProduct& p, int64_t batches) {
  const int64_t each =
      std::max({int64_t(1), SmallTuning::least_work / (p.m * p.n * p.k + 1), ceil_div(batches, int64_t(1) << 30)});
  launch(q, "small_product", small_product_kernel<SmallTuning::block, W, T>,
         {ceil_div(batches, each), SmallTuning::block}, p, batches, each);
}

void small_product(const params::Queue& q, const params::StridedProduct& p) {
  const int64_t batches = batches_of(p);
  if (p.operands == DType::float64) return start_small<double, double>(q, p, batches);
  if (p.operands == DType::float32) return start_small<float, float>(q, p, batches);
  if (p.operands == DType::int8) return start_small<int8_t, uint32_t>(q, p, batches);
  itemsize(p.operands) == 8 ? start_small<uint64_t, uint64_t>(q, p, batches)
                            : start_small<uint32_t, uint32_t>(q, p, batches);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::matmul

STATOR_LAUNCHER(matmul, small_product)
