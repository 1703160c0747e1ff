// The real type of a complex one, and of a real one itself.
#pragma once

#include <stator/complex.hpp>

#include <type_traits>

namespace stator::libs {

template <class T>
struct RealPart {
  using type = T;
};
template <class R>
struct RealPart<complex<R>> {
  using type = R;
};
template <class T>
using real_t = typename RealPart<T>::type;
template <class T>
inline constexpr bool is_complex = !std::is_same_v<T, real_t<T>>;

}  // namespace stator::libs
