// Products of eight-bit floats (OCP OFP8 1.0, 2023), stored as uint8: "e4m3" has 3 bits of fraction, largest 448 and no
// infinity, "e5m2" 2 bits, largest 57344. ml_dtypes' float8_e4m3fn and float8_e5m2 have these bits: pass their
// .view(uint8). Asynchronous.
#pragma once

#include <stator/array.hpp>

#include <optional>
#include <string_view>

namespace stator::nn {

struct Quantized {
  Array values;  // uint8, of x's shape
  Array scale;   // float32: 0-d, or of x's shape with 1 at the axis
};
// values = the nearest (ties to even) to x / scale, computed in float32; scale = largest finite |x| / largest of the
// format, of all x or along one axis; 1 where that is 0. Infinities saturate, NaN stays; float64 is read as float32, so
// that what is beyond it counts as infinite. DTypeError unless x is floating; AxisError; ValueError for an unknown
// format.
STATOR_API Quantized quantize_fp8(const Array& x, std::string_view format = "e4m3", std::optional<int64_t> axis = {},
                                  const Stream& = {});

struct ScaledMatmulOptions {
  std::string_view a_format = "e4m3", b_format = "e4m3";
  const Array* bias = nullptr;   // (n,), floating
  DType dtype = DType::float32;  // of the result: float16, bfloat16 or float32
};
// (a scale_a) @ (b scale_b) + bias of matrices a (m, k) and b (k, n) of uint8, summed in float32, rounded once. Scales
// are float32: one number, or (m, 1) of a and (1, n) of b. On a GPU with such products (compute capability 8.9) one
// library call, where the scales are single numbers, a lies by rows, b by columns and m, n, k are multiples of 16;
// elsewhere the values are decoded, multiplied, and scaled. ShapeError, DTypeError, ValueError.
STATOR_API Array scaled_matmul(const Array& a, const Array& b, const Array& scale_a, const Array& scale_b,
                               const ScaledMatmulOptions& = {}, const Stream& = {});

}  // namespace stator::nn
