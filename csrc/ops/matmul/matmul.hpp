// The product of matmul and related functions.
#pragma once

#include "libs/blas.hpp"
#include "ops/matmul/plan.hpp"
#include "params/matmul.hpp"

#include <stator/matmul.hpp>

namespace stator {

// alpha a b + beta c: c broadcasts to the shape of the result, and is not read if it is null or beta is 0. conjugate:
// use the conjugate of a.
struct Accumulate {
  const Array* c = nullptr;
  complex128 alpha = 1.0, beta = 0.0;
  bool conjugate = false;
};
// Then activation(product + bias); the bias is (n,), or null.
struct After {
  const Array* bias = nullptr;
  params::Activation activation = params::Activation::none;
  explicit operator bool() const { return bias != nullptr || activation != params::Activation::none; }
};
Array product(const Array& a, const Array& b, const MatmulOptions& options, const Accumulate& sum, const After& after,
              const Stream& stream);

// x in another dtype, x itself where it has it. Axes of x that repeat one slice repeat it in the result.
Array astype_distinct(const Array& x, DType dtype, const Stream& stream);

// Whether both operands are integers or bool; their product, which wraps around.
bool is_integer_product(const Array& a, const Array& b);
Array matmul_integer(const Array& a, const Array& b, const MatmulOptions& options, const Stream& stream);

// a * b with broadcasting, in the dtype that a sum of such products would have.
Array multiply_as(const Array& a, const Array& b, std::optional<DType> dtype, const Stream& stream);

// The library's call for target = left right, except for the batch. All three have a layout that the library takes.
libs::Gemm gemm_of(const matmul_plan::Plan& plan, const Array& left, const Array& right, const Array& target,
                   DType operands);

// Whether these are many small matrices on the host: our own kernel costs a fraction of the calls of a library.
bool is_small(const OpCall& call, const matmul_plan::Plan& plan, int64_t largest);
// The same as gemm_of for our own kernels, which take any layout, and the batch.
params::StridedProduct strided_of(const matmul_plan::Plan& plan, const Array& left, const Array& right,
                                  const Array& target, DType operands);

}  // namespace stator
