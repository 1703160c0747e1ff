// Parameters of the embedding launchers. Rows have d elements; indices are valid from -rows to rows - 1.
#pragma once

#include "params/launcher.hpp"

namespace stator::params {

// The gradient of a table of rows is a sum of rows of `grad` per row of the table, as the keys of sorted positions say.
// It is made in levels: chunks of positions add up what lies inside of them, and leave what may go on in another chunk,
// two partial rows each, to the next level, whose positions these are.
struct RowKeys {
  const void* indices;  // n, contiguous
  DType dtype;
  int64_t n, rows, padding;  // padding: the row without a gradient, or -1
  void* keys;                // of an unsigned dtype that holds `rows`, which is the key of what does not count
  DType key_dtype;
};
struct RowSums {
  const void* grad;        // of `dtype`, contiguous
  const void* keys;        // n, sorted, of key_dtype
  const int64_t* order;    // n: what the keys were sorted from
  const int64_t* bags;     // of each position: its row of grad; null: its own
  const void* factors;     // of each row of grad, float64 for float64 and float32 else; null: 1
  const int64_t* winners;  // of each element of grad: the position that it belongs to; null: to all of its bag
  void* out;               // rows of `dtype`, zeros
  DType dtype, key_dtype;
  int64_t n, d, rows;
  bool by_frequency;  // divided by how many positions have the key
  void* scratch;      // as row_sums_scratch says
};

// Reduces bags of rows of a table: bag b has the positions from offsets[b] to offsets[b + 1], or `length` positions.
enum class BagMode : int32_t { sum, mean, max };
struct Bags {
  const void* table;    // of `dtype`, contiguous
  const void* indices;  // n, contiguous
  const void* offsets;  // contiguous, or null
  DType dtype, index_dtype, offset_dtype;
  int64_t n, count, length, rows, d, padding;
  BagMode mode;
  void* out;         // [count, d], or null
  int64_t* winners;  // max: the position that is the largest in its bag, or -1; or null
};
struct BagMap {
  Bags bags;
  int64_t* of_position;  // n: the bag
  void* factors;         // mean: one over the rows of each bag, as RowSums has them; or null
};

struct OneHot {
  const void* indices;  // n, contiguous
  DType dtype, out_dtype;
  void* out;  // [n, classes]
  int64_t n, classes;
};

}  // namespace stator::params

namespace stator::kernels::embedding {

extern Launcher<void(const Queue&, const params::RowKeys&)> row_keys;
extern Launcher<int64_t(const DeviceLimits&, const params::RowSums&)> row_sums_scratch;  // bytes
extern Launcher<void(const Queue&, const params::RowSums&)> row_sums;
extern Launcher<void(const Queue&, const params::Bags&)> bags;
extern Launcher<void(const Queue&, const params::BagMap&)> bag_map;
extern Launcher<void(const Queue&, const params::OneHot&)> one_hot;

}  // namespace stator::kernels::embedding
