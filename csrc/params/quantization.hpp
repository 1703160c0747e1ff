// Parameters of the quantisation launchers.
#pragma once

#include "params/launcher.hpp"

namespace stator::params {

// A contiguous array as lines of at most `length` elements, `per` of them in each stretch of `pitch` elements, the last
// of which may be shorter. Line b of stretch o has its number at o * outer_step + b / group * step, or from there on
// one for each element.
struct ScaleLines {
  int64_t size, pitch, length, per, outer_step, step, group;
  bool varying;
};

// Numbers of a scale or a zero point: dense, or one number.
struct ScaleNumbers {
  const void* data;  // null: `number`
  DType dtype;       // varying: that of the computation
  double number;
};

enum class Conversion : int32_t { quantize, fake, dequantize };
struct Affine {
  Conversion conversion;
  DType dtype;  // of the floating side
  bool is_signed;
  ScaleLines lines;
  ScaleNumbers scale, zero;
  double low, high;
  const void* x;
  void* out;
};

// dx = grad where x is not limited. With partials, sums of the gradients of scale and zero point: lines are cut into
// pieces of `piece` elements with a sum each; varying ones into ranges of lines of the same numbers, with a sum for
// each column. The sums of number s are those at (o * numbers + s) * pieces + j for o < outer, j < pieces.
struct AffineGradient {
  Affine of;
  const void* grad;
  void* partials;  // two arrays of partial_count numbers of the computation's dtype, or null
  int64_t partial_count, piece, pieces, numbers, outer;
  int64_t range_pitch, range, ranges;  // varying: lines of a stretch, of a range; ranges in all
  double factor;
  void *scale_grad, *zero_grad;
};

struct Observation {
  const void* x;  // contiguous (outer, channels, inner)
  DType dtype, state_dtype;
  int64_t outer, channels, inner, splits, split_size;
  void *min, *max;  // channels; read, and unless `to` is given written
  void* to;         // two float64: the extended range, of finite elements only
  bool averages;
  double averaging;
  void* partials;      // two float64 for each split of each channel
  uint32_t* counters;  // channels, zero before and after
};

struct ParameterChoice {
  const void *min, *max;  // dense
  DType dtype;
  int64_t count;
  bool symmetric;
  int32_t low, high, middle;
  float eps;
  float* scale;
  int32_t* zero;
};

struct HistogramCount {
  const void* x;  // contiguous
  DType dtype;
  int64_t n, bins;
  const double* range;  // two
  uint32_t* counts;     // zero before
};
struct HistogramUpdate {
  float* histogram;
  uint32_t* counts;  // zero afterwards
  float* next;       // bins, scratch
  const double* range;
  void *min, *max;
  DType state_dtype;
  int64_t bins;
};
struct HistogramSearch {
  const float* histogram;
  const void *min, *max;
  DType state_dtype;
  int64_t bins, levels;
  double* sums;  // bins, scratch
  float *out_min, *out_max;
};

// Numbers of rows or columns of a product: zero points (int32) and scales (float32) with a step, or one number.
struct ProductNumbers {
  const int32_t* zero;  // null: zero_number
  const float* scale;   // null: scale_number
  int64_t zero_step, scale_step;
  int32_t zero_number, shift;  // shift: what was subtracted from the operand to make it int8
  float scale_number;
};
// out[r, c] = what follows the exact product x[r, c] of int8: zero points, scales, bias, relu, rounding. Row r has the
// numbers of row r % period, and lies in matrix r / matrix_rows.
struct QuantizedEpilogue {
  const int32_t* x;  // rows x cols, dense
  void* out;
  DType out_dtype, bias_dtype;
  int64_t rows, cols, period, matrix_rows, terms;
  // Sums of the operands as int8; null where the other one has the zero point 0. Sums of rows are r % row_sum_period.
  const int64_t *row_sums, *col_sums;
  int64_t row_sum_period, col_sum_pitch;
  ProductNumbers of_rows, of_cols;
  const void* bias;  // dense, or null
  bool bias_of_rows, relu;
  ProductNumbers result;
};

// The windows of images as rows of int8, (n, groups, windows, channels of a group * taps). Images have three axes, of
// which the first ones may be 1 long.
struct ByteWindows {
  const uint8_t* x;  // contiguous
  uint8_t* out;
  int64_t n, channels, groups;
  int64_t extent[3], windows[3], kernel[3], stride[3], padding[3], dilation[3];
  uint8_t flip;         // of each byte
  const int32_t* zero;  // null: zero_number
  int32_t zero_number;
};

struct Int4Groups {
  DType dtype;
  int64_t rows, columns, group;
  void* weight;  // dense
  uint8_t* packed;
  void* scale;
  uint8_t* zero;
};
struct Int4Product {
  const float* x;  // rows x columns, dense
  const uint8_t* packed;
  const void *scale, *bias;  // bias: dense, or null
  const uint8_t* zero;
  void* out;
  DType dtype, scale_dtype, bias_dtype;
  int64_t rows, columns, outputs, group;
};

}  // namespace stator::params

namespace stator::kernels::quantization {

extern Launcher<void(const Queue&, const params::Affine&)> affine;
// Sets pieces and ranges; then partial_count numbers are needed twice.
extern Launcher<params::AffineGradient(const DeviceLimits&, const params::AffineGradient&)> plan_gradient;
extern Launcher<void(const Queue&, const params::AffineGradient&)> gradient;
extern Launcher<int64_t(const DeviceLimits&, const params::Observation&)> observe_splits;
extern Launcher<void(const Queue&, const params::Observation&)> observe;
extern Launcher<void(const Queue&, const params::ParameterChoice&)> choose;
extern Launcher<void(const Queue&, const params::HistogramCount&)> histogram_count;
extern Launcher<void(const Queue&, const params::HistogramUpdate&)> histogram_update;
extern Launcher<void(const Queue&, const params::HistogramSearch&)> histogram_search;
extern Launcher<void(const Queue&, const params::QuantizedEpilogue&)> epilogue;
extern Launcher<void(const Queue&, const params::ByteWindows&)> byte_windows;
extern Launcher<void(const Queue&, const params::Int4Groups&)> int4_quantize;
extern Launcher<void(const Queue&, const params::Int4Groups&)> int4_decode;
extern Launcher<void(const Queue&, const params::Int4Product&)> int4_product;

}  // namespace stator::kernels::quantization
