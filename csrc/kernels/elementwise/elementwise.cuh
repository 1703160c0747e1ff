// Makes the launcher of an op from its entry in the op table: the dense kernel if all operands have one dtype and
// contiguous rows and there is little arithmetic, else the general kernel.
#pragma once

#include "kernels/elementwise/dense.cuh"
#include "kernels/elementwise/strided.cuh"
#include "params/elementwise.hpp"

#include <stator/op_table.hpp>

namespace stator::STATOR_TARGET::elementwise {

// The type of a functor's result for operands of type T, by the result rule of the entry.
template <ResultRule Rule, class T>
using result_t =
    std::conditional_t<Rule == ResultRule::boolean, bool, std::conditional_t<Rule == ResultRule::real, real_t<T>, T>>;

// Whether every array operand has dtype T and every immediate is representable in it; `value` gets the immediates.
template <class T, int N>
STATOR_COMMON bool stored_as(const params::Elementwise& e, T (&value)[N]) {
  for (int k = 0; k < N; ++k) {
    value[k] = T{};
    if (!e.in[k].immediate) {
      if (e.in[k].dtype != dtype_of_v<T>) return false;
      continue;
    }
    wide_t<T> wide;
    std::memcpy(&wide, e.in[k].value, sizeof(wide));
    value[k] = T(wide);
    if constexpr (std::is_integral_v<T>)
      if (wide_t<T>(value[k]) != wide) return false;
  }
  return true;
}

template <class F, ResultRule Rule, int N, class T>
bool try_dense(const params::Queue& q, const char* name, const params::Elementwise& e) {
  constexpr DType dtype = dtype_of_v<T>;
  constexpr bool to_bool = Rule == ResultRule::boolean;
  constexpr DType result = to_bool ? DType::bool_ : Rule == ResultRule::real ? real_part(dtype) : dtype;
  T value[N];
  if (e.out.dtype != result || !stored_as(e, value)) return false;
  using S = representative_t<F, T>;
  using R = result_t<Rule, S>;
  S stored[N];
  std::memcpy(stored, value, sizeof(value));
  return launch_dense<F, S, R, N>(q, name, e, stored);
}

// The dtype that a dense instance would need: that of the first array operand.
inline DType storage_dtype(const params::Elementwise& e) {
  for (int k = 0; k < e.input_count; ++k)
    if (!e.in[k].immediate) return e.in[k].dtype;
  return e.out.dtype;
}

inline constexpr const char* op_names[] = {
#define STATOR_OP(name, ...) #name,
#include <stator/ops.def>
};

template <class F, DTypeSet Dtypes, ResultRule Rule, int N>
void elementwise(const params::Queue& q, const params::Elementwise& e) {
  constexpr DTypeSet computed = Rule == ResultRule::inexact ? Dtypes & dtypes::inexact : Dtypes;
  constexpr DTypeSet dense = computed & dense_dtypes<F>();
  const char* name = op_names[q.op];
  if constexpr (ComparesSigns<F>) {  // only such an operand of uint64 is computed in int64
    if (e.compute == DType::int64 && e.in[1].dtype == DType::uint64)
      return launch_strided<typename F::template BesideUnsigned<0>, int64_t, bool, N>(q, name, e);
    if (e.compute == DType::int64 && e.in[0].dtype == DType::uint64)
      return launch_strided<typename F::template BesideUnsigned<1>, int64_t, bool, N>(q, name, e);
  }
  const DType storage = storage_dtype(e);
#define STATOR_X(dtype, type)                                                                                        \
  if constexpr (in(DType::dtype, dense))                                                                             \
    if (storage == DType::dtype && e.compute == dtype_of_v<wide_t<type>> && try_dense<F, Rule, N, type>(q, name, e)) \
      return;
  STATOR_DTYPES(STATOR_X)
#undef STATOR_X
  if constexpr (DependsOnHalf<F>) {
    if (e.operands == DType::float16)
      return launch_strided<typename F::template Of<float16>, float, float, N>(q, name, e);
    if (e.operands == DType::bfloat16)
      return launch_strided<typename F::template Of<bfloat16>, float, float, N>(q, name, e);
  }
  switch (e.compute) {
#define STATOR_WIDE(dtype, type, set)                                                                           \
  case DType::dtype:                                                                                            \
    if constexpr ((computed & (set)) != 0) return launch_strided<F, type, result_t<Rule, type>, N>(q, name, e); \
    break;
    STATOR_WIDE(int64, int64_t, (dtypes::integers | dtypes::boolean) & ~dtype_bit(DType::uint64))
    STATOR_WIDE(uint64, uint64_t, dtype_bit(DType::uint64))
    STATOR_WIDE(float32, float, dtypes::floats & ~dtype_bit(DType::float64))
    STATOR_WIDE(float64, double, dtype_bit(DType::float64))
    STATOR_WIDE(complex64, complex64, dtype_bit(DType::complex64))
    STATOR_WIDE(complex128, complex128, dtype_bit(DType::complex128))
#undef STATOR_WIDE
    default: break;
  }
}

using ElementwiseFunction = void (*)(const params::Queue&, const params::Elementwise&);
// Indexed by Op; null for ops that are not elementwise. Each shard of elementwise.cu sets its own entries when it is
// loaded.
extern ElementwiseFunction by_op[op_count];

}  // namespace stator::STATOR_TARGET::elementwise
