// Conversions of whole matrices of halves, for libraries that cannot multiply these.
#pragma once

#include <stator/half.hpp>

#include <cstdint>

namespace stator::libs {

// Converts between a row-major matrix of halves with a leading dimension and a dense float matrix; narrow rounds to
// nearest even.
template <class Half>
void widen(const Half* from, int64_t leading, float* to, int64_t rows, int64_t cols);
template <class Half>
void narrow(const float* from, Half* to, int64_t leading, int64_t rows, int64_t cols);

}  // namespace stator::libs
