// Fast host: what reducers make of a run, a few elements that lie side by side, in vector registers: run_of(r, p, n) is
// the accumulator of 0 < n <= run_length<R> elements, and run_of_columns() reduces a few rows to one accumulator per
// column. Reducers without these functions take lanes (rows.cuh, columns.cuh).
#pragma once

#include "host/lanes/extreme_lanes.hpp"
#include "host/lanes/lanes.hpp"
#include "kernels/reduce/reducers_statistics.cuh"

namespace stator::STATOR_TARGET::reduce {

// So few that each accumulator of reduce_lanes() takes at most 16 floats, and that a run is in the nearest cache when
// it is read again.
template <class R>
inline constexpr int run_length = 512;
template <class In, bool Equal>
inline constexpr int run_length<ExtremeOf<In, Equal>> = 4096;

// From this many elements on extremes are compared as numbers, and by keys where that does not decide.
inline constexpr int worth_numbers = 512;

// What run_of_columns() takes at once: 16 KiB of doubles, which stay in the nearest cache.
struct ColumnRun {
  static constexpr int rows = 64, columns = 32;
  static constexpr int added = 16;  // rows of a sum
};

// The elements of a run as A: in place or converted, before they are used, because loops that convert and accumulate do
// not become vector instructions.
template <class A, class T>
struct ConvertedRun {
  A converted[std::is_same_v<A, T> ? 1 : run_length<void>];
  const A* x;

  STATOR_FN ConvertedRun(const T* p, int n) {
    if constexpr (std::is_same_v<A, T>) {
      x = p;
    } else {
      for (int i = 0; i < n; ++i) converted[i] = convert<A>(p[i]);
      x = converted;
    }
  }
};

// The elements of one vector of the instruction set, and of those that its four accumulators take by eight sums each.
template <class A>
inline constexpr int vector_elements = __BIGGEST_ALIGNMENT__ / int(sizeof(A));
template <class R>
inline constexpr int vector_elements<complex<R>> = vector_elements<R>;
template <class A>
inline constexpr int few_sums = 32 * vector_elements<A>;

// Floats are added in parts, so that few sums follow each other; what is left of whole vectors is a part too, since
// single elements would be added to all others one after the other.
template <class In, class C>
  requires std::is_same_v<In, typename SumOf<In, C>::Lane>
STATOR_FN typename SumOf<In, C>::Acc run_of(const SumOf<In, C>& r, const In* p, int n) {
  const auto sum = [=](auto value) {
    if constexpr (std::is_integral_v<In>) {
      return reduce_lanes<In>(n, Sum{}, value);
    } else {
      const int whole = n / vector_elements<In> * vector_elements<In>;
      In total = In(0);
      for (int first = 0; first < whole; first += few_sums<In>)
        total = total + reduce_lanes<In>(std::min(few_sums<In>, whole - first), Sum{},
                                         [=](int64_t i) { return value(first + i); });
      In rest = In(0);
      for (int i = whole; i < n; ++i) rest = rest + value(i);
      return total + rest;
    }
  };
  return r.widen(r.mode.skip_nan ? sum([=](int64_t i) { return p[i] == p[i] ? p[i] : In(0); })
                                 : sum([=](int64_t i) { return p[i]; }));
}

template <class In, class C>
  requires std::is_arithmetic_v<typename ProductOf<In, C>::Acc>
STATOR_FN typename ProductOf<In, C>::Acc run_of(const ProductOf<In, C>&, const In* p, int n) {
  using A = typename ProductOf<In, C>::Acc;
  const ConvertedRun<A, In> run(p, n);
  return reduce_lanes<A>(n, Product{}, [&](int64_t i) { return run.x[i]; });
}

template <class In, bool Equal>
STATOR_FN typename ExtremeOf<In, Equal>::Acc run_of(const ExtremeOf<In, Equal>& r, const In* p, int n) {
  using Key = typename ExtremeOf<In, Equal>::Lane;
  if constexpr (std::is_floating_point_v<In>)
    if (n >= worth_numbers) {  // fewer instructions than keys take
      const Extremes<In> found = line_extremes<false, In>(p, n);
      const In v = r.mode.smallest ? found.min : found.max;
      if (v == v && v != In(0)) return r.key(v);
    }
  return reduce_lanes<Key>(n, Max{}, [&](int64_t i) { return r.key(p[i]); });
}

// Moments of `count` elements x(0), ..., x(n - 1) with this mean, from which their deviations sum up to s1 and their
// squares to s2: s1 is what the mean lost in rounding. If the mean is not finite, an element is infinite or the sum is
// too large, and then they are combined one by one.
template <class In, class F>
STATOR_FN typename MomentsOf<In>::Acc moments_of_deviations(const MomentsOf<In>& r, double count,
                                                            typename MomentsOf<In>::Value mean,
                                                            typename MomentsOf<In>::Value s1, double s2, int n,
                                                            const F& x) {
  using Value = typename MomentsOf<In>::Value;
  typename MomentsOf<In>::Acc acc = r.identity();
  if (count == 0) return acc;
  if (!isfinite(mean) && mean == mean) {
    for (int i = 0; i < n; ++i) acc = r.combine(acc, r.of(x(i)));
    return acc;
  }
  const double m2 = s2 - r.squared(s1) / count;
  return {count, {mean, s1 / Value(count)}, !isfinite(s2) ? s2 : m2 < 0 ? 0.0 : m2};
}

// In two passes: the mean, and the deviations from it.
template <bool SkipNan, class In>
STATOR_FN typename MomentsOf<In>::Acc moments_of_run(const MomentsOf<In>& r, const In* p, int n) {
  using Value = typename MomentsOf<In>::Value;
  const ConvertedRun<Value, In> run(p, n);
  const Value* const x = run.x;
  const auto counted = [=](int64_t i) { return !SkipNan || x[i] == x[i]; };
  double count = n;
  if (SkipNan) count = reduce_lanes<double>(n, Sum{}, [=](int64_t i) { return counted(i) ? 1.0 : 0.0; });
  const Value mean = sum_lanes<Value>(n, [=](int64_t i) { return counted(i) ? x[i] : Value(0); }) / Value(count);
  const auto deviation = [=](int64_t i) { return counted(i) ? x[i] - mean : Value(0); };
  const Value s1 = reduce_lanes<Value>(n, Sum{}, deviation);
  const double s2 = reduce_lanes<double>(n, Sum{}, [=](int64_t i) { return r.squared(deviation(i)); });
  return moments_of_deviations(r, count, mean, s1, s2, n, [=](int i) { return x[i]; });
}
template <class In>
STATOR_FN typename MomentsOf<In>::Acc run_of(const MomentsOf<In>& r, const In* p, int n) {
  return r.mode.skip_nan ? moments_of_run<true>(r, p, n) : moments_of_run<false>(r, p, n);
}

// The moments of the columns of a block of `n` rows, in the same two passes.
template <bool SkipNan, class In>
STATOR_FN void moments_of_columns(const MomentsOf<In>& r, const typename MomentsOf<In>::Value (*x)[ColumnRun::columns],
                                  int n, typename MomentsOf<In>::Acc* acc) {
  using Value = typename MomentsOf<In>::Value;
  constexpr int columns = ColumnRun::columns;
  double count[columns], s2[columns] = {};
  Value mean[columns] = {}, s1[columns] = {};
  const auto counted = [=](int k, int j) { return !SkipNan || x[k][j] == x[k][j]; };
  for (int j = 0; j < columns; ++j) count[j] = SkipNan ? 0 : n;
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < columns; ++j) {
      mean[j] = mean[j] + (counted(k, j) ? x[k][j] : Value(0));
      if (SkipNan) count[j] += counted(k, j) ? 1.0 : 0.0;
    }
  for (int j = 0; j < columns; ++j) mean[j] = mean[j] / Value(count[j]);
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < columns; ++j) {
      const Value d = counted(k, j) ? x[k][j] - mean[j] : Value(0);
      s1[j] = s1[j] + d;
      s2[j] += r.squared(d);
    }
  for (int j = 0; j < columns; ++j)
    acc[j] = moments_of_deviations(r, count[j], mean[j], s1[j], s2[j], n, [=](int k) { return x[k][j]; });
}

// acc[j] is what column j of `width` is reduced to, of n rows, 0 < n <= ColumnRun::rows, that begin at row[0], ...,
// row[n - 1].
template <class In>
STATOR_FN void run_of_columns(const MomentsOf<In>& r, const In* const* row, int n, int width,
                              typename MomentsOf<In>::Acc* acc) {
  constexpr int columns = ColumnRun::columns;
  using Value = typename MomentsOf<In>::Value;
  Value x[ColumnRun::rows][columns];
  typename MomentsOf<In>::Acc found[columns];
  for (int j = 0; j < width; j += columns) {
    const int some = std::min(columns, width - j);
    for (int k = 0; k < n; ++k) {
      for (int i = 0; i < some; ++i) x[k][i] = convert<Value>(row[k][j + i]);
      for (int i = some; i < columns; ++i) x[k][i] = Value(0);
    }
    if (r.mode.skip_nan)
      moments_of_columns<true>(r, x, n, found);
    else
      moments_of_columns<false>(r, x, n, found);
    std::copy_n(found, some, acc + j);
  }
}

template <class In>
  requires(!is_complex<In>)
STATOR_FN typename EuclideanOf<In>::Acc run_of(const EuclideanOf<In>& r, const In* p, int n) {
  const ConvertedRun<double, In> run(p, n);
  return r.widen(reduce_lanes<double>(n, Sum{}, [&](int64_t i) { return run.x[i] * run.x[i]; }));
}

template <class In>
  requires(!is_complex<In>)
STATOR_FN typename LogSumExpOf<In>::Acc run_of(const LogSumExpOf<In>&, const In* p, int n) {
  using C = typename LogSumExpOf<In>::C;
  using Acc = typename LogSumExpOf<In>::Acc;
  constexpr int padding = 8;  // elements of no weight, so that every exponential is one of a vector
  C e[run_length<LogSumExpOf<In>> + padding];
  for (int i = 0; i < n; ++i) e[i] = convert<C>(p[i]);
  const C top = reduce_lanes<C>(n, Max{}, [&](int64_t i) { return e[i]; });
  if (isinf(top)) return Acc{top, {1.0, 0.0}};
  if (top != top) return Acc{limits<C>::infinity(), {limits<double>::nan(), 0.0}};
  for (int i = n; i < n + padding; ++i) e[i] = -limits<C>::infinity();
  const int whole = (n + padding - 1) / padding * padding;
  for (int i = 0; i < whole; ++i) e[i] = exp(e[i] - top);
  return Acc{top, {double(reduce_lanes<C>(whole, Sum{}, [&](int64_t i) { return e[i]; })), 0.0}};
}

template <class R>
inline constexpr bool takes_runs = fast_host && requires(const R& r, const typename R::In* p) { run_of(r, p, 1); };
// Whether columns are added four rows at a time.
template <class R>
inline constexpr bool adds_rows = false;
template <class In, class C>
inline constexpr bool adds_rows<SumOf<In, C>> =
    fast_host && !std::is_integral_v<C> && std::is_same_v<In, typename SumOf<In, C>::Lane>;
template <class R>
inline constexpr bool takes_column_runs =
    fast_host &&
    requires(const R& r, const typename R::In* const* row, typename R::Acc* acc) { run_of_columns(r, row, 1, 1, acc); };
// Whether rows too short for whole vectors are runs, and not columns side by side, as exponentials had better be.
template <class R>
inline constexpr bool short_rows_are_runs = takes_runs<R>;
template <class In>
inline constexpr bool short_rows_are_runs<LogSumExpOf<In>> = false;

}  // namespace stator::STATOR_TARGET::reduce
