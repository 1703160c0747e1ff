// The scanners: one struct per scan, passed by value in the kernel's parameters. Each has
//   In                the type that elements are loaded as and results are stored from; loads, stores: their dtypes
//   Acc               the result so far, with more digits or range than In; combine() is associative and commutative
//   step(acc, v, i)   accumulates the element at position i of the scan; value(acc) is the result there
//   Chunk<K>          K elements at once: take(v), then total() and emit(base, out), which writes the results after
//                     `base`. take or emit return false and write nothing if digits or range would be lost: the
//                     elements are then accumulated step by step
//   thread_chunk      how many elements a thread takes at once; host_chunk: how many the fast host does, 0 for none
//   indexed           whether index(acc) is a second result
#pragma once

#include "device/convert.cuh"
#include "device/math/scaled.cuh"
#include "kernels/reduce/values.cuh"

#include <limits>

namespace stator::STATOR_TARGET::scan {

using reduce::Compensated;
using reduce::SumTypes;
using reduce::two_sum;

// The value of thread_chunk. Odd, so that neighbouring threads access different banks of shared memory.
template <class C>
inline constexpr int elements_per_thread = sizeof(C) <= 4   ? 9
                                           : sizeof(C) == 8 ? 7
                                                            : 3;

template <class C>
inline constexpr DTypeSet scan_dtypes = std::is_integral_v<C>       ? dtypes::integers | dtypes::boolean
                                        : std::is_same_v<C, float>  ? dtypes::floats & ~dtype_bit(DType::float64)
                                        : std::is_same_v<C, double> ? dtypes::floats
                                        : std::is_same_v<C, complex<float>> ? dtype_bit(DType::complex64)
                                                                            : dtypes::complexes;

// Replaces v[k] by v[0] + ... + v[k]. A long chunk goes in parts of eight, so that few additions wait for each other.
template <int K, class C>
STATOR_FN void prefix_sums(C (&v)[K]) {
  constexpr int eighth = K % 8 == 0 ? 8 : K;
  STATOR_UNROLL()
  for (int first = 0; first < K; first += eighth)
    for (int k = first + 1; k < first + eighth; ++k) v[k] = wrapping_add(v[k - 1], v[k]);
  STATOR_UNROLL()
  for (int first = eighth; first < K; first += eighth) {
    const C before = v[first - 1];
    for (int k = first; k < first + eighth; ++k) v[k] = wrapping_add(before, v[k]);
  }
}

template <class C>
STATOR_FN bool all_finite(C v) {
  if constexpr (std::is_integral_v<C>)
    return true;
  else
    return isfinite(v);
}

// Sums: short chunks are summed in C and added to a compensated sum, so that the error does not grow with n.
template <class C>
struct SumScan {
  using In = C;
  using Types = SumTypes<C, C>;
  using Acc = typename Types::Acc;
  static constexpr DTypeSet loads = scan_dtypes<C>, stores = loads;
  static constexpr bool indexed = false;
  static constexpr int thread_chunk = elements_per_thread<C>, host_chunk = 8;

  STATOR_FN Acc identity() const { return Types::widen(C(0)); }
  STATOR_FN Acc combine(Acc a, Acc b) const { return Types::combine(a, b); }
  STATOR_FN void step(Acc& acc, C v, int64_t) const { acc = Types::combine(acc, Types::widen(v)); }
  STATOR_FN C value(Acc acc) const { return C(Types::value(acc)); }

  template <int K>
  struct Chunk {
    C v[K];
    STATOR_FN bool take(const C (&x)[K]) {
      for (int k = 0; k < K; ++k) v[k] = x[k];
      prefix_sums(v);
      return all_finite(v[K - 1]);
    }
    STATOR_FN Acc total() const { return Types::widen(v[K - 1]); }
    STATOR_FN bool emit(Acc base, C* out) const {
      C hi, lo;
      if constexpr (std::is_same_v<Acc, Compensated<C>>) {
        hi = base.hi;
        lo = base.lo;
      } else if constexpr (std::is_same_v<Acc, C>) {
        hi = base;
        lo = C(0);
      } else {
        hi = C(base);
        lo = C(base - Acc(hi));
      }
      if (!all_finite(hi)) return false;
      for (int k = 0; k < K; ++k) out[k] = wrapping_add(hi, wrapping_add(lo, v[k]));
      return true;
    }
  };
};

// Products of floating numbers with an unbounded exponent: a prefix overflows or underflows only if it does so itself.
template <class V>
struct ProductScan {
  using In = V;
  using Acc = Scaled<V>;
  static constexpr DTypeSet loads = scan_dtypes<V>, stores = loads;
  static constexpr bool indexed = false;
  static constexpr int thread_chunk = sizeof(V) == 8 ? 5 : 3, host_chunk = 8;

  STATOR_FN Acc identity() const { return {V(1), V(0), 0}; }
  STATOR_FN Acc combine(Acc a, Acc b) const { return multiply(a, b); }
  STATOR_FN void step(Acc& acc, V v, int64_t) const { acc = multiply(acc, scaled(v)); }
  STATOR_FN V value(Acc acc) const { return value_of(acc); }

  template <int K>
  struct Chunk {
    V v[K], lost;  // rounding error of v[K - 1], because relative errors of totals would add up
    STATOR_FN bool take(const V (&x)[K]) {
      v[0] = x[0];
      lost = V(0);
      bool plain = is_plain(x[0]);
      for (int k = 1; k < K; ++k) {
        V error;
        plain &= is_plain(x[k]);
        v[k] = detail::exact_product(v[k - 1], x[k], error);
        lost = lost * x[k] + error;
      }
      return plain;
    }
    STATOR_FN static bool is_plain(V x) {
      const double size = detail::larger_part(x);
      return (size > 0x1p-100) & (size < 0x1p100);
    }
    STATOR_FN Acc total() const {
      Acc acc = scaled(v[K - 1]);
      acc.lo = scale_by(lost, -acc.exponent);
      return acc;
    }
    STATOR_FN bool emit(Acc base, V* out) const {
      if (abs(base.exponent) > 1000 || !isfinite(base.hi)) return false;
      const double scale = power_of_two<double>(int(base.exponent));
      const V before = base.hi + base.lo;
      for (int k = 0; k < K; ++k) out[k] = detail::times(before * v[k], scale);
      return true;
    }
  };
};

template <>
struct ProductScan<int64_t> {
  using In = int64_t;
  using Acc = int64_t;
  static constexpr DTypeSet loads = scan_dtypes<In>, stores = loads;
  static constexpr bool indexed = false;
  static constexpr int thread_chunk = 7, host_chunk = 8;

  STATOR_FN Acc identity() const { return 1; }
  STATOR_FN Acc combine(Acc a, Acc b) const { return wrapping_multiply(a, b); }
  STATOR_FN void step(Acc& acc, In v, int64_t) const { acc = wrapping_multiply(acc, v); }
  STATOR_FN In value(Acc acc) const { return acc; }

  template <int K>
  struct Chunk {
    In v[K];
    STATOR_FN bool take(const In (&x)[K]) {
      for (int k = 0; k < K; ++k) v[k] = k == 0 ? x[k] : wrapping_multiply(v[k - 1], x[k]);
      return true;
    }
    STATOR_FN Acc total() const { return v[K - 1]; }
    STATOR_FN bool emit(Acc base, In* out) const {
      for (int k = 0; k < K; ++k) out[k] = wrapping_multiply(base, v[k]);
      return true;
    }
  };
};

// log(exp(x0) + exp(x1) + ...) from the largest x so far and the sum hi + lo of the other exponentials relative to that
// one, which log1p takes: a sum that includes the 1 would lose small ones. The sum is -1 if there is no element yet.
// The result may be much smaller than the logarithm, so that an error of exp counts several times: the polynomial errs
// less than CUDA's function.
template <class C>
struct LogSumExpScan {
  using In = C;
  struct Acc {
    C largest, hi, lo;
  };
  static constexpr DTypeSet loads = scan_dtypes<C>, stores = loads;
  static constexpr bool indexed = false;
  static constexpr int thread_chunk = sizeof(C) == 4 ? 5 : 3, host_chunk = 64;

  STATOR_FN Acc identity() const { return {-limits<C>::infinity(), C(-1), C(0)}; }
  STATOR_FN Acc combine(Acc a, Acc b) const {
    const bool second = b.largest > a.largest;
    const Acc more = second ? b : a, less = second ? a : b;
    const C factor = less.largest == more.largest ? C(1) : libm::polynomial_exp(less.largest - more.largest);
    C sum = less.hi, error = less.lo;
    add_exactly(sum, error, C(1));
    const Compensated<C> all = two_sum(Compensated<C>{more.hi, more.lo}, Compensated<C>{sum * factor, error * factor});
    return {more.largest, all.hi, all.lo};
  }
  STATOR_FN void step(Acc& acc, C v, int64_t) const {
    const bool more = v > acc.largest;
    const C distance = v == acc.largest ? C(0) : more ? acc.largest - v : v - acc.largest;
    const C factor = v == -limits<C>::infinity() ? C(0) : libm::polynomial_exp(distance);
    C hi = acc.hi, lo = acc.lo;
    add_exactly(hi, lo, more ? C(1) : factor);
    acc = {more ? v : acc.largest, more ? hi * factor : hi, more ? lo * factor : lo};
  }
  STATOR_FN C value(Acc acc) const { return acc.largest + log1p(compensated(acc.hi, acc.lo)); }

  template <int K>
  struct Chunk {
    C v[K], largest, others;
    STATOR_FN bool take(const C (&x)[K]) {
      constexpr int lanes = K % 8 == 0 ? 8 : 1;
      largest = x[0];
      for (int k = 1; k < K; ++k) largest = x[k] > largest ? x[k] : largest;
      C sum[lanes] = {};
      for (int k = 0; k < K; ++k) v[k] = libm::polynomial_exp(x[k] - largest);
      for (int k = 0; k < K; k += lanes)
        for (int j = 0; j < lanes; ++j) sum[j] = sum[j] + (x[k + j] == largest ? C(0) : v[k + j]);
      others = C(-1);
      for (int k = 0; k < K; ++k) others = others + C(x[k] == largest);
      for (int j = 0; j < lanes; ++j) others = others + sum[j];
      prefix_sums(v);
      return isfinite(largest) & isfinite(v[K - 1]);
    }
    STATOR_FN Acc total() const { return {largest, others, C(0)}; }
    // Not if the chunk has a larger element than the base: relative to it, earlier sums lose the digits of the result.
    STATOR_FN bool emit(Acc base, C* out) const {
      if (!(base.largest >= largest) || !isfinite(base.largest)) return false;
      const C scale = libm::polynomial_exp(largest - base.largest);
      for (int k = 0; k < K; ++k) out[k] = base.largest + log1p(base.hi + (base.lo + scale * v[k]));
      return true;
    }
  };
};

// Maximum or minimum so far and the index of its last occurrence. Elements of any real dtype are their sign-extended
// bits, which become keys of the same order, with NaN above all. -0 and +0 are equal; as in any tie the later one wins.
struct ExtremeScan {
  using In = int64_t;
  struct Acc {
    int64_t key, at;
  };
  static constexpr DTypeSet loads = dtypes::integers, stores = dtypes::integers;
  static constexpr bool indexed = true;
  static constexpr int thread_chunk = 5, host_chunk = 0;

  // Bit patterns of the floating dtype; for integers 0, the largest number, and the bits whose key is the highest.
  int64_t magnitude, infinity, nan;
  int64_t flip;       // reverses the order
  int64_t zeros_tie;  // 1 for floating dtypes
  int64_t first_index, index_step;

  STATOR_FN int64_t key(int64_t bits) const {
    const int64_t ordered = (bits ^ (bits >> 63 & magnitude)) ^ flip;
    return (bits & magnitude) > infinity ? std::numeric_limits<int64_t>::max() : ordered;
  }
  STATOR_FN int64_t rank(int64_t key) const { return key + (int64_t(key == -1) & zeros_tie); }

  STATOR_FN Acc identity() const { return {std::numeric_limits<int64_t>::min(), -1}; }
  STATOR_FN Acc combine(Acc a, Acc b) const {
    const int64_t ra = rank(a.key), rb = rank(b.key);
    const bool second = (rb > ra) | ((rb == ra) & (b.at > a.at));
    return {second ? b.key : a.key, second ? b.at : a.at};
  }
  STATOR_FN void step(Acc& acc, int64_t bits, int64_t at) const { acc = combine(acc, {key(bits), at}); }
  // Whether the element leaves acc as it is, which is nearly always so.
  STATOR_FN bool unchanged(Acc acc, int64_t bits) const { return rank(key(bits)) < rank(acc.key); }
  STATOR_FN int64_t value(Acc acc) const {
    const int64_t ordered = acc.key ^ flip;
    return acc.key == std::numeric_limits<int64_t>::max() ? nan : ordered ^ (ordered >> 63 & magnitude);
  }
  STATOR_FN int64_t index(Acc acc) const { return first_index + acc.at * index_step; }

  template <int K>
  struct Chunk {
    STATOR_FN bool take(const int64_t (&)[K]) { return false; }
    STATOR_FN Acc total() const { return {}; }
    STATOR_FN bool emit(Acc, int64_t*) const { return false; }
  };
};

}  // namespace stator::STATOR_TARGET::scan
