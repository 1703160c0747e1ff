// Products.
#pragma once

#include <stator/array.hpp>

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace stator {

struct MatmulOptions {
  std::optional<DType> dtype = {};  // of the result
  std::optional<DType> compute_dtype =
      {};  // what operands are rounded to before multiplying; accumulation is at least float32
  const Array* out = nullptr;
};

// numpy.matmul: vectors, matrices, batch dimensions with broadcasting (stride-0 batches, no copy), transposed views
// without a copy. f16 and bf16 accumulate in f32; TF32 only with Backend(allow_tf32) or compute_dtype.
// Integers and bool are exact and wrap, by a kernel of ours; their dtype is the operands' (bool: whether any pair is
// true), of int8 with int8 int32, or `dtype`, an integer dtype; compute_dtype is for floating operands alone.
// On cuda cuBLASLt multiplies (int8 where its layout rules allow; matrices of 4-byte multiples), cuBLAS where it has no
// algorithm: every call can be captured, its workspace being the stream's own (32 MiB from compute capability 9.0 on,
// 4 MiB before).
// ShapeError, DTypeError; LibraryNotFoundError names the package when cuBLAS or OpenBLAS is missing. Asynchronous.
STATOR_API Array matmul(const Array& a, const Array& b, const MatmulOptions& = {}, const Stream& = {});

namespace linalg {

// Plans of cuBLASLt: descriptors and the algorithm that its heuristics chose, kept for each stream of each backend by
// shapes, strides, dtypes, transposes, epilogue, alignment and batch. The least recently used go beyond the limit.
// Figures are of all together, since the start of the process; the host target has no such plans.
struct MatmulCacheInfo {
  uint64_t hits, misses, evictions;
  size_t plans, limit;
};
inline constexpr size_t default_matmul_cache_limit = 1024;  // plans of a stream
STATOR_API MatmulCacheInfo matmul_cache_info();
STATOR_API void clear_matmul_cache();
STATOR_API void set_matmul_cache_limit(size_t plans);

}  // namespace linalg
// Products besides matmul. What multiplies by matmul takes its dtypes (all; addmm and baddbmm no integers, linear
// floating ones) and raises its errors. ShapeError where extents do not meet. Asynchronous.

STATOR_API Array dot(const Array& a, const Array& b, const Stream& = {});  // numpy.dot
// sum(conj(a) * b) along an axis, counted from the end; the other axes broadcast.
STATOR_API Array vecdot(const Array& a, const Array& b, int64_t axis = -1, const Stream& = {});
STATOR_API Array outer(const Array& a, const Array& b, const Stream& = {});  // of vectors, any dtype
STATOR_API Array kron(const Array& a, const Array& b, const Stream& = {});   // any dtype
// Sums over pairs of axes, which keep their order; the others of a, then those of b.
STATOR_API Array tensordot(const Array& a, const Array& b, std::span<const int64_t> axes_a,
                           std::span<const int64_t> axes_b, const Stream& = {});
// numpy.einsum: letters, an ellipsis, repeated letters as diagonals. Up to eight operands are multiplied in the order
// of the fewest multiplications, more from left to right. The result has the operands' common dtype (int32 where int8
// is multiplied or summed; float16 and bfloat16 are rounded once, at the end) and may be a view of a single operand.
STATOR_API Array einsum(std::string_view subscripts, std::span<const Array> operands, const Stream& = {});
// beta c + alpha a b, in one product: matrices, or batches of them. c broadcasts; with beta = 0 it is not read.
STATOR_API Array addmm(const Array& c, const Array& a, const Array& b, double alpha = 1, double beta = 1,
                       const Stream& = {});
STATOR_API Array baddbmm(const Array& c, const Array& a, const Array& b, double alpha = 1, double beta = 1,
                         const Stream& = {});

namespace nn {
// activation(x weight^T + bias): x (..., in), weight (out, in), bias (out), floating. activation: "", "relu", "gelu",
// "gelu_tanh", "silu", "sigmoid" or "tanh". Bias and activation are one launch after the product, of float32 sums; on
// cuda a bias of the result's dtype, relu, and gelu_tanh of halves are part of the library's call.
STATOR_API Array linear(const Array& x, const Array& weight, const Array* bias = nullptr,
                        std::string_view activation = {}, const Stream& = {});
}  // namespace nn

// Distances between points.

// scipy.spatial.distance.cdist: out[.., i, j] = the p-norm of x1[.., i, :] - x2[.., j, :]; leading axes broadcast. p =
// 0 counts coordinates that differ, infinity takes the largest difference. float32 and float64. Asynchronous.
STATOR_API Array cdist(const Array& x1, const Array& x2, double p = 2, const Stream& = {});

}  // namespace stator

// Products of eight-bit floats (OCP OFP8 1.0, 2023), stored as uint8: "e4m3" has 3 bits of fraction, largest 448 and no
// infinity, "e5m2" 2 bits, largest 57344. ml_dtypes' float8_e4m3fn and float8_e5m2 have these bits: pass their
// .view(uint8). Asynchronous.
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
// library call, where the scales are single numbers, a lies by rows, b by targets and m, n, k are multiples of 16;
// elsewhere the values are decoded, multiplied, and scaled. ShapeError, DTypeError, ValueError.
STATOR_API Array scaled_matmul(const Array& a, const Array& b, const Array& scale_a, const Array& scale_b,
                               const ScaledMatmulOptions& = {}, const Stream& = {});

}  // namespace stator::nn
