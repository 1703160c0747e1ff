// The product behind matmul and its kin.
#pragma once

#include "params/matmul.hpp"
#include "libs/blas.hpp"
#include "ops/matmul/plan.hpp"

#include <stator/matmul.hpp>

namespace stator {

// alpha a b + beta c: c broadcasts to the result's shape; null, or beta 0: it is not read. conjugate: of a's conjugate.
struct Accumulate {
  const Array* c = nullptr;
  double alpha = 1, beta = 0;
  bool conjugate = false;
};
// Then activation(. + bias): the bias is (n,), null for none.
struct After {
  const Array* bias = nullptr;
  params::Activation activation = params::Activation::none;
  explicit operator bool() const { return bias != nullptr || activation != params::Activation::none; }
};
Array product(const Array& a, const Array& b, const MatmulOptions& options, const Accumulate& sum, const After& after,
              const Stream& stream);

// Whether both operands are integers or bool; their product, which wraps: of two int8 operands int32.
bool is_integer_product(const Array& a, const Array& b);
Array matmul_integer(const Array& a, const Array& b, const MatmulOptions& options, const Stream& stream);

// The library's call for target = left right but for the batch; all three have a layout that it takes.
libs::Gemm gemm_of(const matmul_plan::Plan& plan, const Array& left, const Array& right, const Array& target,
                   DType operands);

// Many small matrices on the host: a kernel of ours costs a fraction of a library's calls.
bool is_small(const OpCall& call, const matmul_plan::Plan& plan, int64_t largest);
// The same for our own kernels, which take any layout and the batch.
params::StridedProduct strided_of(const matmul_plan::Plan& plan, const Array& left, const Array& right,
                               const Array& target, DType operands);

}  // namespace stator
