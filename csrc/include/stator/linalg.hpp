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
// Products of int8 with int8 are int32, which wraps.
// ShapeError, DTypeError; LibraryNotFoundError names the package when cuBLAS or OpenBLAS is missing. Asynchronous.
STATOR_API Array matmul(const Array& a, const Array& b, const MatmulOptions& = {}, const Stream& = {});

}  // namespace stator
