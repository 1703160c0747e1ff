// The product behind matmul and its kin.
#pragma once

#include <stator/linalg.hpp>

namespace stator {

// alpha a b + beta c: c broadcasts to the result's shape; null, or beta 0: it is not read.
struct Accumulate {
  const Array* c = nullptr;
  double alpha = 1, beta = 0;
};
Array product(const Array& a, const Array& b, const MatmulOptions& options, const Accumulate& sum,
              const Stream& stream);

// Of int8 operands: int32.
Array matmul_int8(const Array& a, const Array& b, const MatmulOptions& options, const Stream& stream);

}  // namespace stator
