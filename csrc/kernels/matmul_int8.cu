// Products of int8 with int32 sums, which wrap: the portable kernel.
#include "device/group.cuh"
#include "device/launch.cuh"
#include "kernels/linalg.hpp"

namespace stator::STATOR_COLUMN {
namespace {

struct Int8Tuning {
  static constexpr int block = 128;
  static constexpr int rows = 8;                           // of the result that a thread or a host block keeps
  static constexpr int cols = by_column<128, 512>::value;  // of a block
};

template <int Size>
STATOR_KERNEL void matmul_int8_kernel(abi::Int8Product p, int64_t row_tiles, int64_t col_tiles) {
  constexpr int rows = Int8Tuning::rows, cols = Int8Tuning::cols;
  const Group<Size> group;
  const int64_t tile = group.block() % (row_tiles * col_tiles), batch = group.block() / (row_tiles * col_tiles);
  const int64_t first_row = tile / col_tiles * rows, first_col = tile % col_tiles * cols;
  const int height = int(p.m - first_row < rows ? p.m - first_row : rows);
  const int64_t width = p.n - first_col < cols ? p.n - first_col : cols;
  const int8_t* a = static_cast<const int8_t*>(p.a.data) + batch * p.a.batch + first_row * p.a.row;
  const int8_t* b = static_cast<const int8_t*>(p.b.data) + batch * p.b.batch + first_col * p.b.col;
  int32_t* out = static_cast<int32_t*>(p.out) + (batch * p.m + first_row) * p.n + first_col;
  if constexpr (fast_host) {
    for (int r = 0; r < height; ++r) {
      uint32_t sums[cols] = {};
      for (int64_t k = 0; k < p.k; ++k) {
        const int32_t x = a[r * p.a.row + k * p.a.col];
        const int8_t* row = b + k * p.b.row;
        if (p.b.col == 1)
          group.for_each(width, [&](int64_t j) { sums[j] += uint32_t(x * row[j]); });
        else
          group.for_each(width, [&](int64_t j) { sums[j] += uint32_t(x * row[j * p.b.col]); });
      }
      group.for_each(width, [&](int64_t j) { out[r * p.n + j] = int32_t(sums[j]); });
    }
  } else {
    group.for_each(width, [=](int64_t j) {
      uint32_t sums[rows] = {};
      for (int64_t k = 0; k < p.k; ++k) {
        const int32_t y = b[k * p.b.row + j * p.b.col];
        STATOR_UNROLL()
        for (int r = 0; r < rows; ++r)
          if (r < height) sums[r] += uint32_t(a[r * p.a.row + k * p.a.col] * y);
      }
      STATOR_UNROLL()
      for (int r = 0; r < rows; ++r)
        if (r < height) out[r * p.n + j] = int32_t(sums[r]);
    });
  }
}

void matmul_int8(const abi::Queue& q, const abi::Int8Product& p) {
  const int64_t row_tiles = ceil_div(p.m, Int8Tuning::rows), col_tiles = ceil_div(p.n, Int8Tuning::cols);
  launch(q, "matmul_int8", matmul_int8_kernel<Int8Tuning::block>, {p.count * row_tiles * col_tiles, Int8Tuning::block},
         p, row_tiles, col_tiles);
}

}  // namespace

void fill_matmul_int8(kernels::LinalgTable& table) { table.matmul_int8 = matmul_int8; }

}  // namespace stator::STATOR_COLUMN
