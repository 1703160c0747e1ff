// What reductions accumulate in: integer keys that have the order of the values, and compensated sums.
#pragma once

#include "device/cascade.cuh"
#include "device/convert.cuh"
#include "device/functional.cuh"

#include <bit>
#include <limits>
#include <type_traits>

namespace stator::STATOR_TARGET::reduce {

template <int Bytes>
using SignedOf =
    std::conditional_t<Bytes == 1, int8_t,
                       std::conditional_t<Bytes == 2, int16_t, std::conditional_t<Bytes == 4, int32_t, int64_t>>>;

// Maps values to integers of the same order, so that a maximum is one integer instruction for every type. All NaNs have
// one key, which is above infinity, and -0 is below +0. Integers are their own keys.
template <class T>
struct OrderKey {
  static constexpr bool floating =
      std::is_same_v<T, float16> || std::is_same_v<T, bfloat16> || std::is_floating_point_v<T>;
  using Key =
      std::conditional_t<floating, SignedOf<sizeof(T)>, std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>>;
  static constexpr Key lowest = std::numeric_limits<Key>::min(), highest = std::numeric_limits<Key>::max();
  static constexpr int mantissa = std::is_same_v<T, float16>    ? 10
                                  : std::is_same_v<T, bfloat16> ? 7
                                  : sizeof(T) == 4              ? 23
                                                                : 52;
  static constexpr Key infinity = floating ? Key((uint64_t(highest) >> mantissa) << mantissa) : highest;

  STATOR_FN static bool is_nan(T value) {
    if constexpr (floating)
      return Key(std::bit_cast<Key>(value) & highest) > infinity;
    else
      return false;
  }
  // The key of a value, in ascending order, or in descending order for flip == -1. `of_nan` is the key of NaN, highest
  // or lowest.
  STATOR_FN static Key of(T value, Key flip, Key of_nan) {
    if constexpr (floating) {
      const Key bits = std::bit_cast<Key>(value);
      const Key key = Key(bits ^ Key(Key(bits >> (8 * sizeof(T) - 1)) & highest) ^ flip);
      return Key(bits & highest) > infinity ? of_nan : key;
    } else {
      return Key(Key(value) ^ flip);
    }
  }
  STATOR_FN static T value(Key key, Key flip, Key of_nan) {
    if constexpr (floating) {
      if (key == highest || (key == lowest && of_nan == lowest))
        return std::bit_cast<T>(Key(infinity | (Key(1) << (mantissa - 1))));
      if (key == lowest) return std::bit_cast<T>(Key(flip ? infinity : infinity | lowest));  // there was no element
      key = Key(key ^ flip);
      return std::bit_cast<T>(Key(key ^ Key(Key(key >> (8 * sizeof(T) - 1)) & highest)));
    } else {
      return T(Key(key ^ flip));
    }
  }
  // The same with one key for -0 and +0, which compare equal: for the position of an extreme value.
  STATOR_FN static Key of_equal(T value, Key flip, Key of_nan) {
    return of(floating && value == T(0) ? T(0) : value, flip, of_nan);
  }
};

// The unevaluated sum hi + lo: `lo` is what the rounding of `hi` lost.
template <class T>
struct Compensated {
  T hi, lo;
};

template <class T>
STATOR_FN Compensated<T> two_sum(Compensated<T> a, Compensated<T> b) {
  a.lo = a.lo + b.lo;
  add_exactly(a.hi, a.lo, b.hi);
  return a;
}

// The types of a sum over elements of In that are converted to C: a lane adds a few elements in C (small integers in 32
// bits) and is then folded into a wider accumulator, so that the error does not grow with the length.
template <class In, class C>
struct SumTypes {
  static constexpr bool narrow = std::is_integral_v<C> && std::is_integral_v<In> && sizeof(In) <= 2;
  using Lane = std::conditional_t<narrow, int32_t, C>;
  using Acc = std::conditional_t<
      std::is_same_v<C, float>, double,
      std::conditional_t<
          std::is_same_v<C, complex<float>>, complex<double>,
          std::conditional_t<std::is_same_v<C, double> || std::is_same_v<C, complex<double>>, Compensated<C>, C>>>;

  STATOR_FN static Acc widen(Lane lane) {
    if constexpr (std::is_same_v<Acc, Compensated<C>>)
      return {C(lane), C(0)};
    else
      return Acc(lane);
  }
  STATOR_FN static Acc combine(Acc a, Acc b) {
    if constexpr (std::is_same_v<Acc, Compensated<C>>)
      return two_sum(a, b);
    else
      return wrapping_add(a, b);
  }
  STATOR_FN static auto value(Acc acc) {
    if constexpr (std::is_same_v<Acc, Compensated<C>>)
      return compensated(acc.hi, acc.lo);
    else
      return acc;
  }
};

}  // namespace stator::STATOR_TARGET::reduce
