// Matrix products of one device: cuBLAS or OpenBLAS with one interface.
#pragma once

#include <stator/product_kinds.hpp>
#include "core/op_call.hpp"

#include <stator/complex.hpp>
#include <stator/dtype.hpp>

#include <cstdint>

namespace stator::libs {

// C = alpha * A * B + beta * C for each i < batch: A is (m, k), B is (k, n), C is (m, n), all row-major. A transposed
// operand is stored as its row-major transpose. Leading dimensions and batch strides are in elements; a batch stride of
// 0 reuses the operand. m, n, k and batch are at least 1.
struct Gemm {
  int64_t m = 0, n = 0, k = 0, batch = 1;
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  int64_t lda = 0, ldb = 0, ldc = 0;
  int64_t stride_a = 0, stride_b = 0, stride_c = 0;
  // A batch of two dimensions: after each `group` matrices the next ones are an outer stride further. 0: all are a
  // stride apart.
  int64_t group = 0;
  int64_t outer_a = 0, outer_b = 0, outer_c = 0;
  bool transpose_a = false, transpose_b = false;
  DType operands = DType::float32;     // of A and B; float16 and bfloat16 accumulate in float32
  DType result = DType::float32;       // of C: that of the operands, or float32 for halves; int32 for int8
  bool tf32 = false;                   // cuda: float32 operands may be rounded to TF32
  complex128 alpha = 1.0, beta = 0.0;  // real for real operands; beta 0 does not read C

  // Where matrix i of an operand is, in elements from its first one.
  int64_t offset_of(int64_t i, int64_t stride, int64_t outer) const {
    return group ? i % group * stride + i / group * outer : i * stride;
  }
};

// What a library may do in the same call in addition.
struct GemmExtra {
  const void* bias = nullptr;                     // n dense elements of the result's dtype, added to every row
  Activation activation = Activation::none;       // of the sum: relu or gelu_tanh
  const void* addend = nullptr;                   // what beta multiplies instead of C, of C's dtype
  int64_t addend_leading = 0, addend_stride = 0;  // as ldc and stride_c
  bool float8 = false;                            // A and B are eight-bit floats, each scaled by one number
  Float8 format_a = Float8::e4m3, format_b = Float8::e4m3;
  const float *scale_a = nullptr, *scale_b = nullptr;  // in device memory
};

class Blas {
 public:
  // Opens the library, and makes what the calls on the stream share. LibraryNotFoundError, CudaError.
  virtual void prepare(OpCall& call) const = 0;
  // Makes one library call, enqueued on the stream of the call with the accesses that the call has declared.
  // LibraryNotFoundError, CudaError; UnsupportedError beyond the library's index range.
  virtual void gemm(OpCall& call, const Gemm& gemm) const = 0;
  // The same with extras, also for int8, of batches of one dimension. Returns false, with nothing done, if the library
  // has no such product.
  virtual bool gemm_with(OpCall&, const Gemm&, const GemmExtra&) const { return false; }

 protected:
  ~Blas() = default;
};

const Blas& cuda_blas();
const Blas& host_blas();
inline const Blas& blas(const Context& context) { return context.runtime().is_host() ? host_blas() : cuda_blas(); }

}  // namespace stator::libs
