// Python and C++ numbers as operands: weak in promotion (NEP 50), checked when they become bytes of a dtype.
#pragma once

#include <stator/array.hpp>

#include <string>
#include <string_view>

namespace stator {

// The dtype of a number without an array: bool, int64, uint64, float64 or complex128.
DType default_dtype(const Scalar& value);

// The promotion of `array` with a weak scalar, of which the kind counts and the size does not.
DType promote_weak(DType array, const Scalar& value);

bool is_integer(const Scalar& value);
bool fits(const Scalar& value, DType integer_dtype);

// Writes the value as dtype d. ValueError for an integer out of d's range; DTypeError for complex to real.
// Floating to integer truncates and saturates, NaN gives 0.
void encode(std::string_view op, const Scalar& value, DType d, unsigned char (&out)[16]);

// As encode, for a number that fills elements: DTypeError for a floating one if d is not floating or complex.
void encode_fill(std::string_view op, const Scalar& value, DType d, unsigned char (&out)[16]);

// The dtype in which kernels compute for operands of dtype d: 64-bit integers, float32 for halves, else d.
DType compute_dtype(DType d);

// Widens bytes of dtype d, as `encode` wrote them, to compute_dtype(d).
void widen(DType d, unsigned char (&bytes)[16]);

// The factor alpha or beta of a product or sum in dtype d. DTypeError for a complex one if d is real.
complex128 factor_of(const std::string& op, const char* name, const Scalar& value, DType d);

}  // namespace stator
