#include "emulator/vendor/blas/product.hpp"

#include <algorithm>

namespace stator::emulator::vendor::blas {

bool is_known(Compute compute) {
  switch (compute) {
    case Compute::f16:
    case Compute::f16_pedantic:
    case Compute::f32:
    case Compute::f32_pedantic:
    case Compute::f64:
    case Compute::f64_pedantic:
    case Compute::i32:
    case Compute::i32_pedantic:
    case Compute::f32_fast_16f:
    case Compute::f32_fast_16bf:
    case Compute::f32_fast_tf32:
    case Compute::f32_emulated:
    case Compute::f64_emulated: return true;
  }
  return false;
}

Arithmetic arithmetic_of(const Combination& t) {
  const auto all = [&](Type ab, Type c) { return t.a == ab && t.b == ab && t.c == c; };
  switch (t.compute) {
    case Compute::f16:
    case Compute::f16_pedantic: return all(Type::r16f, Type::r16f) ? Arithmetic::f16 : Arithmetic::none;
    case Compute::i32:
    case Compute::i32_pedantic: return all(Type::r8i, Type::r32i) ? Arithmetic::i32 : Arithmetic::none;
    case Compute::f32:
    case Compute::f32_pedantic:
      if (all(Type::c8i, Type::c32f) || all(Type::c32f, Type::c32f)) return Arithmetic::c32;
      for (const Type narrow : {Type::r16bf, Type::r16f})
        if (all(narrow, narrow) || all(narrow, Type::r32f)) return Arithmetic::f32;
      return all(Type::r8i, Type::r32f) || all(Type::r32f, Type::r32f) ? Arithmetic::f32 : Arithmetic::none;
    case Compute::f32_fast_16f:
    case Compute::f32_fast_16bf:
    case Compute::f32_fast_tf32:
      return all(Type::r32f, Type::r32f)   ? Arithmetic::tf32
             : all(Type::c32f, Type::c32f) ? Arithmetic::c32
                                           : Arithmetic::none;
    case Compute::f32_emulated:
      return all(Type::r32f, Type::r32f)   ? Arithmetic::f32
             : all(Type::c32f, Type::c32f) ? Arithmetic::c32
                                           : Arithmetic::none;
    case Compute::f64:
    case Compute::f64_pedantic:
    case Compute::f64_emulated:
      return all(Type::r64f, Type::r64f)   ? Arithmetic::f64
             : all(Type::c64f, Type::c64f) ? Arithmetic::c64
                                           : Arithmetic::none;
  }
  return Arithmetic::none;
}

Type scale_type_of(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::f16: return Type::r16f;
    case Arithmetic::c32: return Type::c32f;
    case Arithmetic::f64: return Type::r64f;
    case Arithmetic::c64: return Type::c64f;
    case Arithmetic::i32: return Type::r32i;
    default: return Type::r32f;
  }
}

namespace {

template <class T>
std::vector<std::complex<double>> multiply_in(const Operands& o) {
  std::vector<std::complex<double>> result(size_t(o.m) * size_t(o.n));
  const T alpha = narrow<T>(o.alpha), beta = narrow<T>(o.beta);
  const bool products = alpha != T(0) && o.k > 0;
  std::vector<T> a, b, sums(size_t(o.m), T(0));
  if (products) {
    a = gather<T>(o.type_a, o.a, o.op_a, o.m, o.k, o.lda, o.row_a);
    b = gather<T>(o.type_b, o.b, o.op_b, o.k, o.n, o.ldb, o.row_b);
    if constexpr (std::is_same_v<T, float>)
      if (o.arithmetic == Arithmetic::tf32) {
        std::ranges::transform(a, a.begin(), to_tf32);
        std::ranges::transform(b, b.begin(), to_tf32);
      }
  }
  for (int64_t j = 0; j < o.n; ++j) {
    if (products) multiply_column(o.m, o.k, a.data(), b.data() + j * o.k, sums.data());
    for (int64_t i = 0; i < o.m; ++i) {
      T value = T(0);
      if (products) value = times(alpha, sums[size_t(i)]);
      if constexpr (!std::is_same_v<T, int32_t>)
        if (o.scale_ab != 1) value *= T(o.scale_ab);
      if (beta != T(0)) {
        T old = load_as<T>(o.type_c, o.c, o.row_c ? i * o.ldc + j : j * o.ldc + i);
        if constexpr (!std::is_same_v<T, int32_t>)
          if (o.scale_c != 1) old *= T(o.scale_c);
        value += times(beta, old);
      }
      result[size_t(j * o.m + i)] = value;
    }
  }
  return result;
}

}  // namespace

std::vector<std::complex<double>> multiply(const Operands& operands) {
  switch (operands.arithmetic) {
    case Arithmetic::c32: return multiply_in<std::complex<float>>(operands);
    case Arithmetic::f64: return multiply_in<double>(operands);
    case Arithmetic::c64: return multiply_in<std::complex<double>>(operands);
    case Arithmetic::i32: return multiply_in<int32_t>(operands);
    default: return multiply_in<float>(operands);
  }
}

}  // namespace stator::emulator::vendor::blas
