// Powers whose exponent is a number for which there is a shorter function: 1, 2, 3, -1 and 1/2.
#pragma once

#include "device/functors/powers.cuh"
#include "kernels/elementwise/elementwise.cuh"

namespace stator::STATOR_TARGET::elementwise {

// The real exponent of a power with a number for its second operand; NaN where it is complex.
inline double exponent_of(const params::Elementwise& e) {
  const auto value = [&]<class T>(type_tag<T>) {
    T x;
    std::memcpy(&x, e.in[1].value, sizeof(T));
    return x;
  };
  const auto real_part_of = [](auto z) { return z.im == 0 ? double(z.re) : limits<double>::nan(); };
  switch (e.in[1].dtype) {
    case DType::int64: return double(value(type_tag<int64_t>{}));
    case DType::uint64: return double(value(type_tag<uint64_t>{}));
    case DType::float32: return double(value(type_tag<float>{}));
    case DType::float64: return value(type_tag<double>{});
    case DType::complex64: return real_part_of(value(type_tag<complex64>{}));
    case DType::complex128: return real_part_of(value(type_tag<complex128>{}));
    default: return limits<double>::nan();
  }
}

// Runs pow by the function of one operand that has its results; false where there is none.
inline bool run_fixed_power(const params::Queue& q, const params::Elementwise& e) {
  const bool floating = in(e.compute, dtypes::inexact), complex = in(e.compute, dtypes::complexes);
  const double exponent = exponent_of(e);
  const auto run_op = [&](Op op) { by_op[static_cast<int>(op)](q, e); };
  if (exponent == 3)
    elementwise<functors::whole_power<3>, dtypes::numeric, ResultRule::same, 1>(q, e);
  else if (exponent == 2 && complex)
    elementwise<functors::whole_power<2>, dtypes::complexes, ResultRule::same, 1>(q, e);
  else if (exponent == 2)
    run_op(Op::square);
  else if (exponent == 1 && !complex)
    run_op(Op::positive);
  else if (exponent == -1 && complex)
    elementwise<functors::whole_power<-1>, dtypes::complexes, ResultRule::same, 1>(q, e);
  else if (exponent == -1 && floating)
    run_op(Op::reciprocal);
  else if (exponent == 0.5 && floating)
    elementwise<functors::half_power, dtypes::inexact, ResultRule::same, 1>(q, e);
  else
    return false;
  return true;
}

}  // namespace stator::STATOR_TARGET::elementwise
