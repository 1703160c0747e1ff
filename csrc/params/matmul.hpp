// Parameters of the launchers around products: products of integers and of eight-bit floats, and what follows a
// product.
#pragma once

#include "params/launcher.hpp"
#include "params/linalg.hpp"

#include <stator/product_kinds.hpp>

namespace stator::params {

using stator::Activation;
using stator::Float8;

// out = a b for each index of the batch: a (m, k), b (k, n), out (m, n), with any strides, in elements; a batch stride
// of 0 reuses an operand. Integer products: the operands are both int8, both uint8 or bool, or both of out's size; sums
// wrap around, and for bool they are "or". Small products: of float32, float64, integers of 4 and 8 bytes, and int8
// into int32.
struct StridedProduct {
  DType operands, result;
  int64_t m, n, k;
  Matrices a, b, out;  // Matrices::batch is unused
  int32_t batch_ndim;  // innermost last
  int64_t batch_shape[max_dims], a_batch[max_dims], b_batch[max_dims], out_batch[max_dims];
};
inline int64_t batches_of(const StridedProduct& p) {
  int64_t batches = 1;
  for (int d = 0; d < p.batch_ndim; ++d) batches *= p.batch_shape[d];
  return batches;
}

inline constexpr int64_t small_product = 16;

// Addresses for products in a batch of two dimensions, three lists of `count` one after another: matrix i of operand o
// is at base[o] + i % group * step[o] + i / group * outer[o], in bytes.
struct BatchAddresses {
  int32_t count, group;
  char* base[3];
  int64_t step[3], outer[3];
  void** out;
};

// Products of a row and a column (m and n are 1, k > 0), or of the conjugate of the row; of floating and complex
// dtypes, summed in at least float32.
struct InnerProduct {
  StridedProduct of;
  bool conjugate;
  int32_t splits;      // per pair of vectors
  int64_t split_size;  // elements of a split
  void* sums;          // [batches, splits] of 16 bytes, if splits > 1
  uint32_t* counters;  // [batches]: zero before and after
};

// out[i, j] = activation(x[i, j] * scale_a[i] * scale_b[j] + bias[j]): x is dense; the result is computed in its dtype
// (float32 or float64) and rounded once. Null scales are 1, a null bias is 0; a stride of 0 is for a scale of the whole
// operand.
struct ProductEpilogue {
  DType x_dtype, out_dtype, bias_dtype;
  Activation activation;
  int64_t rows, cols;
  int64_t out_row, out_col, bias_stride, scale_a_stride, scale_b_stride;
  const void *x, *bias;
  const float *scale_a, *scale_b;
  void* out;
};

// A segment has `count` elements, `inner` apart: element (o, i, c) is at (o * count + i) * inner + c of dense x and q.
// Its scale is scale[o * inner + c] = largest finite |x| of the segment / largest value of the format; 1 where that is
// 0.
struct QuantizeFloat8 {
  DType dtype;
  Float8 format;
  int64_t outer, count, inner;
  const void* x;
  uint8_t* q;
  float* scale;
  int64_t split_size, splits;  // elements of a split of a segment; splits per segment
  float* partials;             // [outer * inner, splits], scratch
};
// The size of a split of a segment of `count` elements: there are so few splits that every block can read all partials.
constexpr int64_t float8_split_size(int64_t count) {
  return count > (int64_t(1) << 24) ? (count + 1023) / 1024 : 1 << 14;
}

// out (dense, float16 on cuda, else float32) = the values of q, for two operands at once.
struct DecodeFloat8 {
  Float8 format[2];
  DType dtype;
  int64_t rows[2], cols[2], row_stride[2], col_stride[2];
  const uint8_t* q[2];
  void* out[2];  // null: skipped
};

// out[b, i, j] = the p-norm of a[b, i, :] - b[b, j, :]; out is contiguous. Strides of batch, row and feature are in
// elements.
struct Distance {
  const void *a, *b;
  void* out;
  DType dtype;  // float32 or float64
  double p;     // 0 counts differing features, infinity takes the largest difference
  int64_t batch, rows, cols, features;
  int64_t a_strides[3], b_strides[3];
};

}  // namespace stator::params

namespace stator::kernels::matmul {

extern Launcher<void(const Queue&, const params::StridedProduct&)> integer_product;
// For matrices of at most small_product rows, columns and depth.
extern Launcher<void(const Queue&, const params::StridedProduct&)> small_product;
extern Launcher<int32_t(const DeviceLimits&, int64_t batches, int64_t k, int64_t* split_size)> inner_splits;
extern Launcher<void(const Queue&, const params::InnerProduct&)> inner_product;
extern Launcher<void(const Queue&, const params::ProductEpilogue&)> epilogue;
extern Launcher<void(const Queue&, const params::QuantizeFloat8&)> quantize;  // two launches
extern Launcher<void(const Queue&, const params::DecodeFloat8&)> decode;

extern Launcher<void(const Queue&, const params::BatchAddresses&)> batch_addresses;

extern Launcher<void(const Queue&, const params::Distance&)> cdist;

}  // namespace stator::kernels::matmul
