// The types that elementwise kernels are instantiated for, and lists of them.
#pragma once

#include "device/column.cuh"

#include <stator/dtype.hpp>

#include <type_traits>

namespace stator::STATOR_COLUMN {

// What a functor computes in when storage is converted on the way: exact for every dtype that maps to it.
// Results of narrower integers wrap at the store.
template <class T>
using wide_t = std::conditional_t<
    std::is_same_v<T, uint64_t>, uint64_t,
    std::conditional_t<std::is_integral_v<T>, int64_t,
                       std::conditional_t<std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>, float, T>>>;

// What a functor computes in when all operands have the storage type T.
template <class T>
using dense_t = std::conditional_t<std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>, float, T>;

template <class F>
concept Modular = F::modular;

// The storage type of a dense instance: one signedness where F does not see the difference.
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

// Calls f(type_tag<item>{}) for a type that moves items of d's size. Floating where it can be: g++ builds vectors of
// floats in registers, of integers through memory.
template <class F>
void visit_item(DType d, F&& f) {
  switch (itemsize(d)) {
    case 1: return f(type_tag<uint8_t>{});
    case 2: return f(type_tag<uint16_t>{});
    case 4: return f(type_tag<float>{});
    case 8: return f(type_tag<double>{});
    default: return f(type_tag<complex128>{});
  }
}

// Copies.
struct Identity {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return x;
  }
};

}  // namespace stator::STATOR_COLUMN
