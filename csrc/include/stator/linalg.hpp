// Products.
#pragma once

#include <stator/array.hpp>

#include <optional>

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
// Figures are of all together, since the start of the process; the host column has no such plans.
struct MatmulCacheInfo {
  uint64_t hits, misses, evictions;
  size_t plans, limit;
};
inline constexpr size_t default_matmul_cache_limit = 1024;  // plans of a stream
STATOR_API MatmulCacheInfo matmul_cache_info();
STATOR_API void clear_matmul_cache();
STATOR_API void set_matmul_cache_limit(size_t plans);

}  // namespace linalg
}  // namespace stator
