// Quantisation to eight and four bits, of namespace nn: values q = clamp(round(x / scale) + zero_point) that stand for
// (q - zero_point) * scale. Halves and float32 are computed in float32, float64 in float64. Asynchronous.
#pragma once

#include <stator/array.hpp>

#include <optional>

namespace stator::nn {

// A scale or a zero point: one in device memory or several, or one number.
struct QuantizationNumber {
  const Array* array = nullptr;
  double number = 0;
};

// Which numbers belong to an element: without an axis one for all; with one, number i for index i of the axis; with a
// block size too, an array of the shape of x with the axis divided by it, rounded up.
struct QuantizationOptions {
  std::optional<int64_t> axis = {}, block_size = {};
  std::optional<int64_t> quant_min = {}, quant_max = {};  // none: those of the dtype
};

// x * (1 / scale) is rounded to nearest even, the zero point added, and the sum limited; NaN gives the zero point.
// DTypeError unless dtype is int8 or uint8, x and scale are floating and zero points are integers. ShapeError for
// scales of another shape. ValueError for a block size below 1 or without an axis, for limits that the dtype does not
// have, and for operands that are numbers, not arrays: a scale that is not positive, a zero point out of the limits.
STATOR_API Array quantize(const Array& x, const QuantizationNumber& scale, const QuantizationNumber& zero_point = {},
                          DType dtype = DType::int8, const QuantizationOptions& = {}, const Stream& = {});
// (q - zero_point) * scale of int8 or uint8; the limits are not read.
STATOR_API Array dequantize(const Array& q, const QuantizationNumber& scale, const QuantizationNumber& zero_point = {},
                            DType dtype = DType::float32, const QuantizationOptions& = {}, const Stream& = {});
// dequantize(quantize(x)) in one launch. quant_min and quant_max are required, from -2^22 to 2^22. Zero points may be
// floating: they are limited and rounded.
STATOR_API Array fake_quantize(const Array& x, const QuantizationNumber& scale, const QuantizationNumber& zero_point,
                               const QuantizationOptions&, const Stream& = {});
struct FakeQuantizeGradientOptions : QuantizationOptions {
  bool learned = false;    // also the gradients of scale and zero_point
  double grad_factor = 1;  // of these
};
struct FakeQuantizeGradients {
  Array x, scale, zero_point;  // the latter two only if learned, of the dtype of the computation and scale's shape
};
// x: grad where the element was not limited, else 0. Then, in a second launch that adds the first one's partial sums,
// the gradients of learned step sizes (Esser et al., ICLR 2020), times grad_factor; equal bits run to run.
STATOR_API FakeQuantizeGradients fake_quantize_backward(const Array& grad, const Array& x,
                                                        const QuantizationNumber& scale,
                                                        const QuantizationNumber& zero_point,
                                                        const FakeQuantizeGradientOptions&, const Stream& = {});

struct QuantizationParameters {
  Array scale, zero_point;  // float32 and int32
};
struct ParameterOptions {
  DType dtype = DType::int8;
  bool symmetric = false;
  std::optional<int64_t> quant_min = {}, quant_max = {};
  double eps = 1.1920928955078125e-07;  // the least scale
};
// The scale and zero point at which [min(min, 0), max(max, 0)] fills the limits; symmetric: by the larger magnitude,
// with the zero point in the middle. 1 and 0 if min > max.
STATOR_API QuantizationParameters quantization_parameters(const Array& min, const Array& max,
                                                          const ParameterOptions& = {}, const Stream& = {});
// Extends min and max in place by those of x, all of it or per index of the axis, in one launch; with an averaging
// constant c, adds c times the difference instead. Initialise them with infinity and -infinity. NaN stays NaN. min and
// max are contiguous, float32 or, if x is float64, also float64.
STATOR_API void observe_range(const Array& x, const Array& min, const Array& max, std::optional<int64_t> axis = {},
                              std::optional<double> averaging = {}, const Stream& = {});
// Counts the finite elements of x in place in a float32 histogram of [min, max], which grows first to hold them all:
// what was counted then moves to the bins of the new range, as sixteenths of the old bins.
STATOR_API void observe_histogram(const Array& x, const Array& histogram, const Array& min, const Array& max,
                                  const Stream& = {});
struct Range {
  Array min, max;  // float32, 0-d
};
// The part of a histogram's range whose quantisation to `levels` has the least squared error, found by moving its ends
// inwards by quantiles until the error rises.
STATOR_API Range histogram_range(const Array& histogram, const Array& min, const Array& max, int64_t levels = 256,
                                 const Stream& = {});

struct QuantizedProductOptions {
  QuantizationNumber scale_a{nullptr, 1}, scale_b{nullptr, 1}, zero_point_a, zero_point_b;
  const Array* bias = nullptr;
  QuantizationNumber scale_out, zero_point_out;  // a scale is needed for int8 and uint8
  DType dtype = DType::float32;
  bool relu = false;
};
// ((a - zero_point_a) @ (b - zero_point_b)) * (scale_a * scale_b) + bias, in int32, which is exact up to 33025 terms
// and wraps beyond, and then in float32, rounded once. a (..., m, k) and b (..., k, n) are int8 or uint8. Scales and
// zero points are single, or (m,) of a and (n,) of b. bias (n,): floating, or int32, which is added to the integers.
// relu of the sum. Launches: the product and one after it, the sums of rows or columns of an operand if the other one
// has zero points, and a copy as int8 of an operand that is uint8.
STATOR_API Array quantized_matmul(const Array& a, const Array& b, const QuantizedProductOptions&, const Stream& = {});
// The same with x (..., in) for a and weight (out, in) for the transpose of b.
STATOR_API Array quantized_linear(const Array& x, const Array& weight, const QuantizedProductOptions&,
                                  const Stream& = {});
// The same for images x (n, c, w), (n, c, h, w) or (n, c, d, h, w) for a and weight (out, c / groups, ...) with as many
// axes for b, whose scales and zero points may be (out,). Padding has the value 0: the zero point. Scratch memory: 1
// byte per element of each window, 4 bytes per element of the result.
struct QuantizedConvolutionOptions {
  QuantizedProductOptions product;
  Dims stride{1}, padding{0}, dilation{1};  // one number, or one for each axis
  int64_t groups = 1;
};
STATOR_API Array quantized_conv1d(const Array& x, const Array& weight, const QuantizedConvolutionOptions&,
                                  const Stream& = {});
STATOR_API Array quantized_conv2d(const Array& x, const Array& weight, const QuantizedConvolutionOptions&,
                                  const Stream& = {});
STATOR_API Array quantized_conv3d(const Array& x, const Array& weight, const QuantizedConvolutionOptions&,
                                  const Stream& = {});

// Weights of four bits, q in 0 ... 15 for (q - zero_point) * scale. Byte j of the 16 that hold weights 32 i to
// 32 i + 31 has weight 32 i + j in its low half and 32 i + 16 + j in its high half.
struct Int4Weights {
  Array packed;             // uint8 (out, in / 2)
  Array scale, zero_point;  // (out, in / group_size), of the weight's dtype and uint8
};
// weight (out, in) is float16, bfloat16 or float32. ValueError unless group_size is a multiple of 32 that divides in.
STATOR_API Int4Weights quantize_int4(const Array& weight, int64_t group_size = 128, const Stream& = {});
// x (..., in) times the transposed weights, plus bias (out,), summed in float32. Up to 16 rows of x the weights are
// read once for each 4 rows and never written; for more rows they are decoded, in x's dtype, and multiplied.
STATOR_API Array int4_linear(const Array& x, const Array& packed, const Array& scale, const Array& zero_point,
                             const Array* bias = nullptr, const Stream& = {});

}  // namespace stator::nn
