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

// Words that move an item of a size.
template <int Bytes>
struct item_of;
template <>
struct item_of<1> { using type = uint8_t; };
template <>
struct item_of<2> { using type = uint16_t; };
template <>
struct item_of<4> { using type = uint32_t; };
template <>
struct item_of<8> { using type = uint64_t; };
template <>
struct item_of<16> { using type = complex128; };

// Calls f(type_tag<item>{}) for the item size of d.
template <class F>
void visit_item(DType d, F&& f) {
  switch (itemsize(d)) {
    case 1: return f(type_tag<uint8_t>{});
    case 2: return f(type_tag<uint16_t>{});
    case 4: return f(type_tag<uint32_t>{});
    case 8: return f(type_tag<uint64_t>{});
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
