// The types that elementwise kernels are instantiated for, and what functors declare about themselves.
#pragma once

#include "device/target.cuh"

#include <stator/dtype.hpp>

#include <type_traits>

namespace stator::STATOR_TARGET::elementwise {

// The type that a functor computes in when the general kernel converts elements: it represents every dtype that maps to
// it exactly. Results of narrower integers wrap at the store.
template <class T>
using wide_t = std::conditional_t<
    std::is_same_v<T, uint64_t>, uint64_t,
    std::conditional_t<std::is_integral_v<T>, int64_t,
                       std::conditional_t<std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>, float, T>>>;

// The type that a functor computes in when all operands have the storage type T.
template <class T>
using dense_t = std::conditional_t<std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>, float, T>;

template <class F>
concept Modular = F::modular;

// The storage type of a dense instance: unsigned for both signednesses if F does not distinguish them.
template <class F, class T>
struct representative {
  using type = T;
};
template <Modular F, class T>
  requires(std::is_signed_v<T> && std::is_integral_v<T>)
struct representative<F, T> {
  using type = std::make_unsigned_t<T>;
};
template <class F, class T>
using representative_t = typename representative<F, T>::type;

// The dtypes that a thread of the general kernel converts several elements of at a time, to and from C. Elements of
// other dtypes are converted one by one, because code for all dtypes would be four fifths of a kernel.
constexpr DTypeSet companions_of(DType compute) {
  switch (compute) {
    case DType::float32: return dtypes::floats & ~dtypes::full_floats;
    case DType::int64: return dtype_bit(DType::int32);
    default: return 0;
  }
}
template <class C>
inline constexpr DTypeSet companions = companions_of(dtype_of_v<C>);

// What functors may declare about themselves:
// light: the arithmetic is one or two instructions, so each storage type has a dense kernel, which converts nothing.
// dense_dtypes: the same, for these storage types only.
template <class F>
constexpr DTypeSet dense_dtypes() {
  // The general kernel reads dense complex numbers without conversion, and on the fast host every compute type.
  constexpr DTypeSet whole = dtypes::integers | dtypes::boolean,
                     worth = fast_host ? whole & ~dtype_bit(DType::int64) & ~dtype_bit(DType::uint64)
                                       : whole | dtypes::floats;
  if constexpr (requires { F::dense_dtypes; })
    return F::dense_dtypes & worth;
  else if constexpr (requires { F::light; })
    return F::light ? worth : 0;
  else
    return 0;
}
// heavy: so much arithmetic that it is the limit on a GPU, where a thread then computes one element at a time.
template <class F>
concept Heavy = F::heavy;
// conditional: the first operand is a condition, which is usually bool.
template <class F>
inline constexpr bool is_conditional = requires { requires F::conditional; };
// Of<Half>: the functor for operands of that half type, where the result depends on it. It computes in float too.
template <class F>
concept DependsOnHalf = requires { typename F::template Of<float16>; };
// BesideUnsigned<K>: the functor for a signed operand K beside a uint64, both of which it takes as int64.
template <class F>
concept ComparesSigns = requires { typename F::template BesideUnsigned<0>; };
// faults(x...): whether integer operands are an error, which is reported in the error slot as `fault`.
template <class F>
concept Faulting = requires { F::faults(int64_t(0), int64_t(0)); };

// Calls f(type_tag<T>{}) for a type T of d's size, to move items. It is a floating type where possible, because g++
// builds vectors of floats in registers and those of integers through memory.
template <class F>
void visit_item(DType d, F&& f) {
  switch (itemsize(d)) {
    case 1: return f(type_tag<uint8_t>{});
    case 2: return f(type_tag<uint16_t>{});
    case 4: return f(type_tag<float>{});
    case 8: return f(type_tag<double>{});
    case 16: return f(type_tag<complex128>{});
    default: outside_set();
  }
}

struct Identity {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return x;
  }
};

}  // namespace stator::STATOR_TARGET::elementwise
