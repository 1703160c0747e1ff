// Products of integers: exact, wrapping, any strides. The fast host multiplies packed panels, operands of one byte as
// float32, whose fused sums of 128 products are exact; where blocks have threads they share tiles in shared memory.
#include "device/launch.cuh"
#include "device/launcher.cuh"
#include "params/matmul.hpp"
#include "kernels/matmul/integer_panels.cuh"
#include "kernels/matmul/integer_product.cuh"

#include <type_traits>

namespace stator::STATOR_TARGET::matmul {
namespace {

// One row or one target: every element is a sum over a line.
template <int Size, class T>
STATOR_KERNEL void integer_dot_kernel(params::StridedProduct p, int64_t batches) {
  using A = sum_of<T>;
  const Group<Size> group;
  const int64_t each = p.m * p.n, all = batches * each;
  for (int64_t first = group.block() * IntegerTuning::dots; first < all;
       first += group.blocks() * IntegerTuning::dots) {
    const int64_t last = first + IntegerTuning::dots < all ? first + IntegerTuning::dots : all;
    for (int64_t i = first; i < last; ++i) {
      const MatrixOf m = matrix_of(p, i / each);
      const int64_t row = i % each / p.n, col = i % p.n;
      A sum = 0;
      with_operand<T>(p.operands, [&](auto word) {
        using W = decltype(word);
        const W* a = reinterpret_cast<const W*>(m.a) + row * p.a.row;
        const W* b = reinterpret_cast<const W*>(m.b) + col * p.b.col;
        const int64_t a_step = p.a.col, b_step = p.b.row;
        if (a_step == 1 && b_step == 1)
          sum = group.template map_reduce<A>(p.k, Sum{}, [=](int64_t k) { return A(A(a[k]) * A(b[k])); });
        else
          sum = group.template map_reduce<A>(p.k, Sum{},
                                             [=](int64_t k) { return A(A(a[k * a_step]) * A(b[k * b_step])); });
      });
      if (group.rank() == 0) store_sum(m.out + (row * p.out.row + col * p.out.col) * itemsize(p.result), p.result, sum);
    }
  }
}

template <class A>
struct IntegerTiles {
  A a[IntegerTuning::depth][IntegerTuning::tile + 1], b[IntegerTuning::depth][IntegerTuning::tile];
};

// A tile of the result from tiles in shared memory; each thread has `each` x `each` sums, a step of 16 apart.
template <int Size, class A>
STATOR_FN void shared_tile(const Group<Size>& group, const params::StridedProduct& p, const MatrixOf& m, int64_t row,
                           int64_t col) {
  constexpr int tile = IntegerTuning::tile, depth = IntegerTuning::depth, each = IntegerTuning::each;
  constexpr int side = tile / each;
  static_assert(Size == side * side);
  IntegerTiles<A>& t = group.template shared<IntegerTiles<A>>();
  const int x = group.rank() % side, y = group.rank() / side;
  A sums[each][each] = {};
  for (int64_t k = 0; k < p.k; k += depth) {
    with_operand<A>(p.operands, [&](auto word) {
      using W = decltype(word);
      const W* a = reinterpret_cast<const W*>(m.a);
      const W* b = reinterpret_cast<const W*>(m.b);
      group.for_each(tile * depth, [&](int64_t i) {
        const int64_t d = i % depth, r = i / depth;
        const bool inside = row + r < p.m && k + d < p.k;
        t.a[d][r] = inside ? A(a[(row + r) * p.a.row + (k + d) * p.a.col]) : A(0);
      });
      group.for_each(tile * depth, [&](int64_t i) {
        const int64_t d = i / tile, c = i % tile;
        const bool inside = col + c < p.n && k + d < p.k;
        t.b[d][c] = inside ? A(b[(k + d) * p.b.row + (col + c) * p.b.col]) : A(0);
      });
    });
    group.sync();
    STATOR_UNROLL()
    for (int d = 0; d < depth; ++d) {
      STATOR_UNROLL()
      for (int r = 0; r < each; ++r) {
        const A left = t.a[d][y + r * side];
        STATOR_UNROLL()
        for (int c = 0; c < each; ++c) sums[r][c] += left * t.b[d][x + c * side];
      }
    }
    group.sync();
  }
  STATOR_UNROLL()
  for (int r = 0; r < each; ++r) STATOR_UNROLL()
  for (int c = 0; c < each; ++c) {
    const int64_t i = row + y + r * side, j = col + x + c * side;
    if (i < p.m && j < p.n)
      store_sum(m.out + (i * p.out.row + j * p.out.col) * itemsize(p.result), p.result, sums[r][c]);
  }
}

template <int Size, class T>
STATOR_KERNEL void integer_product_kernel(params::StridedProduct p, int64_t row_tiles, int64_t col_tiles, int64_t tiles,
                                          int64_t each) {
  constexpr int rows = by_target<IntegerTuning::tile, IntegerTuning::rows>::value;
  constexpr int cols = by_target<IntegerTuning::tile, IntegerTuning::cols>::value;
  const Group<Size> group;
  const int64_t first = group.block() * each, last = first + each < tiles ? first + each : tiles;
  for (int64_t i = first; i < last; ++i) {
    const int64_t tile = i % (row_tiles * col_tiles);
    const MatrixOf m = matrix_of(p, i / (row_tiles * col_tiles));
    const int64_t row = tile / col_tiles * rows, col = tile % col_tiles * cols;
    if constexpr (fast_host) {
      packed_tile<T>(group.template dynamic<unsigned char>(0), p, m, row, col);
    } else {
      shared_tile<Size, T>(group, p, m, row, col);
    }
  }
}

template <class T>
void start(const params::Queue& q, const params::StridedProduct& p, int64_t batches) {
  constexpr int block = IntegerTuning::block;
  constexpr int64_t most = 1 << 30;
  if (p.m == 1 || p.n == 1) {
    const bool along = p.a.col == 1 && p.b.row == 1;
    if (along || !fast_host) {
      const int64_t blocks = ceil_div(batches * p.m * p.n, IntegerTuning::dots);
      return launch(q, "integer_dot", integer_dot_kernel<block, T>, {blocks < most ? blocks : most, block}, p, batches);
    }
  }
  const int64_t row_tiles = ceil_div(p.m, by_target<IntegerTuning::tile, IntegerTuning::rows>::value);
  const int64_t col_tiles = ceil_div(p.n, by_target<IntegerTuning::tile, IntegerTuning::cols>::value);
  const int64_t tiles = batches * row_tiles * col_tiles;
  const int64_t each = std::max({int64_t(1), IntegerTuning::least_work / (p.m * p.n * p.k + 1), ceil_div(tiles, most)});
  launch(q, "integer_product", integer_product_kernel<block, T>, {ceil_div(tiles, each), block, packed_bytes<T>()}, p,
         row_tiles, col_tiles, tiles, each);
}

void integer_product(const params::Queue& q, const params::StridedProduct& given) {
  params::StridedProduct p = given;
  // One column is one row of the transposed product: vectors run along the rows of what was on the left.
  if (fast_host && p.n == 1 && p.m > 1 && !(p.a.col == 1 && p.b.row == 1)) {
    const auto turned = [](params::Matrices x) { return params::Matrices{x.data, x.batch, x.col, x.row}; };
    p.m = 1;
    p.n = given.m;
    p.a = turned(given.b);
    p.b = turned(given.a);
    p.out = turned(given.out);
    std::swap(p.a_batch, p.b_batch);
  }
  const int64_t batches = batches_of(p);
  if (itemsize(p.result) == 8) return start<uint64_t>(q, p, batches);
  if constexpr (fast_host) {
    if (itemsize(p.operands) == 1) return start<float>(q, p, batches);
  }
  start<uint32_t>(q, p, batches);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::matmul

STATOR_LAUNCHER(matmul, integer_product)
