// Matrix products, products composed of them, distances between points, and products of eight-bit floats.
#pragma once

#include <stator/array.hpp>

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <stator/macros/aside.inc>

namespace stator {

struct MatmulOptions {
  std::optional<DType> dtype = {};  // of the result
  // What operands are rounded to before multiplying; accumulation is in float32 at least. DTypeError for integer
  // operands.
  std::optional<DType> compute_dtype = {};
  const Array* out = nullptr;
};

// numpy.matmul: vectors, matrices, batch dimensions with broadcasting (batches of stride 0) and transposed views, all
// without copying an operand. float16 and bfloat16 accumulate in float32; TF32 is used only with Backend(allow_tf32) or
// compute_dtype. Integers and bool are exact and wrap, computed by stator's own kernel; the result has the operands'
// dtype (bool: whether any pair is true), or `dtype`, an integer dtype: int32 for int8 sums without loss.
// On cuda by cuBLASLt (int8 in int32, and only where its layout rules allow: matrices of 4-byte multiples), or by
// cuBLAS where that has no algorithm. Every call can be captured, since its workspace belongs to the stream (32 MiB
// from compute capability 9.0 on, 4 MiB before). ShapeError, DTypeError; LibraryNotFoundError names the package when
// cuBLAS or OpenBLAS is missing. Asynchronous.
STATOR_API Array matmul(const Array& a, const Array& b, const MatmulOptions& = {}, const Stream& = {});

namespace linalg {

// Plans of cuBLASLt: descriptors and the algorithm that its heuristics chose, cached per stream of each backend by
// shapes, strides, dtypes, transposes, epilogue, alignment and batch. Beyond the limit the least recently used are
// dropped. The figures are for all caches together, since the start of the process; the host target has no such plans.
struct MatmulCacheInfo {
  uint64_t hits, misses, evictions;
  size_t plans, limit;
};
inline constexpr size_t default_matmul_cache_limit = 1024;  // plans per stream
STATOR_API MatmulCacheInfo matmul_cache_info();
STATOR_API void clear_matmul_cache();
STATOR_API void set_matmul_cache_limit(size_t plans);

}  // namespace linalg

// Products besides matmul. Those that are computed by matmul take its dtypes (all; addmm and baddbmm not bool,
// linear only floating ones) and throw its errors. ShapeError where extents do not match. `dtype` is that of the
// result, as for matmul. Asynchronous.

STATOR_API Array dot(const Array& a, const Array& b, std::optional<DType> dtype = {}, const Stream& = {});  // numpy.dot
// sum(conj(a) * b) along an axis, counted from the end; the other axes broadcast.
STATOR_API Array vecdot(const Array& a, const Array& b, int64_t axis = -1, std::optional<DType> dtype = {},
                        const Stream& = {});
STATOR_API Array outer(const Array& a, const Array& b, const Stream& = {});  // of vectors, any dtype
STATOR_API Array kron(const Array& a, const Array& b, const Stream& = {});   // any dtype
// Sums over pairs of axes; the result has the other axes of a, then those of b, each in their order.
STATOR_API Array tensordot(const Array& a, const Array& b, std::span<const int64_t> axes_a,
                           std::span<const int64_t> axes_b, std::optional<DType> dtype = {}, const Stream& = {});
// numpy.einsum: letters, an ellipsis, repeated letters for diagonals. Up to eight operands are multiplied in the order
// of the fewest multiplications, more operands from left to right. The result has the operands' common dtype, in which
// integers wrap, or `dtype`; float16 and bfloat16 are rounded once, at the end. For a single operand it may be a view.
STATOR_API Array einsum(std::string_view subscripts, std::span<const Array> operands, std::optional<DType> dtype = {},
                        const Stream& = {});
// beta c + alpha a b in one product, of matrices (addmm) or batches of them (baddbmm). c broadcasts; with beta = 0 it
// is not read. Integers wrap around. DTypeError for a complex factor of a real result, for a factor of integers that is
// none, and for integers with an addend that is floating; ValueError for a factor that the result's dtype does not
// have.
STATOR_API Array addmm(const Array& c, const Array& a, const Array& b, const Scalar& alpha = 1, const Scalar& beta = 1,
                       const Stream& = {});
STATOR_API Array baddbmm(const Array& c, const Array& a, const Array& b, const Scalar& alpha = 1,
                         const Scalar& beta = 1, const Stream& = {});

namespace nn {
// activation(x weight^T + bias) with x (..., in), weight (out, in) and bias (out), all floating. activation: "",
// "relu", "gelu", "gelu_tanh", "silu", "sigmoid" or "tanh". Bias and activation are applied to the float32 sums in one
// launch after the product; on cuda a bias of the result's dtype, relu, and gelu_tanh of halves are part of the
// library's call.
STATOR_API Array linear(const Array& x, const Array& weight, const Array* bias = nullptr,
                        std::string_view activation = {}, const Stream& = {});

// Gradients of linear's operands. saved, where there is an activation: for "relu", "sigmoid" and "tanh" the result of
// linear, for the others x weight^T + bias. All have one floating dtype. The gradient of the activation is one launch,
// those of x and weight a product each, that of the bias a sum.
struct LinearGradientOptions {
  std::string_view activation = {};
  const Array* saved = nullptr;
  bool bias = true;  // whether there is one
};
struct LinearGradients {
  Array x, weight;
  std::optional<Array> bias;
};
STATOR_API LinearGradients linear_backward(const Array& grad, const Array& x, const Array& weight,
                                           const LinearGradientOptions& = {}, const Stream& = {});
}  // namespace nn

// scipy.spatial.distance.cdist: out[.., i, j] is the p-norm of x1[.., i, :] - x2[.., j, :]; leading axes broadcast. p =
// 0 counts the coordinates that differ, p = infinity takes the largest difference. float32 and float64 (DTypeError);
// ValueError for p < 0 or NaN. Asynchronous.
STATOR_API Array cdist(const Array& x1, const Array& x2, double p = 2, const Stream& = {});

}  // namespace stator

// Products of eight-bit floats (OCP OFP8 1.0, 2023), stored as uint8: "e4m3" has 3 fraction bits, the largest number
// 448 and no infinity; "e5m2" has 2 fraction bits and the largest number 57344. Asynchronous.
namespace stator::nn {

struct Quantized {
  Array values;  // uint8, of x's shape
  Array scale;   // float32: 0-d, or of x's shape with 1 at the axis
};
// scale: the largest finite |x| over the largest number of the format, for all of x or along one axis; 1 where that is
// 0. values: x / scale, computed in float32 and rounded to nearest even. Infinities saturate, NaN stays NaN; float64 is
// read as float32, so that numbers beyond its range count as infinite. DTypeError unless x is floating; AxisError;
// ValueError for an unknown format.
STATOR_API Quantized quantize_fp8(const Array& x, std::string_view format = "e4m3", std::optional<int64_t> axis = {},
                                  const Stream& = {});

struct ScaledMatmulOptions {
  std::string_view a_format = "e4m3", b_format = "e4m3";
  const Array* bias = nullptr;   // (n,), floating
  DType dtype = DType::float32;  // of the result: float16, bfloat16 or float32
};
// (a scale_a) @ (b scale_b) + bias of uint8 matrices a (m, k) and b (k, n), summed in float32 and rounded once. Scales
// are float32: single numbers, or (m, 1) for a and (1, n) for b. On a GPU with such products (compute capability 8.9)
// it is one library call where the scales are single numbers, a is row-major, b is column-major, and m, n, k are
// multiples of 16; elsewhere the values are decoded, multiplied and scaled. ShapeError, DTypeError, ValueError.
STATOR_API Array scaled_matmul(const Array& a, const Array& b, const Array& scale_a, const Array& scale_b,
                               const ScaledMatmulOptions& = {}, const Stream& = {});

}  // namespace stator::nn

#include <stator/macros/back.inc>
