// Fast host: what reducers make of a run, a few elements that lie side by side, in vector registers: run_of(r, p, n) is
// the accumulator of 0 < n <= run_length<R> elements. Reducers without such a function take lanes (rows.cuh).
#pragma once

#include "device/lanes/extreme_lanes.cuh"
#include "device/lanes/lanes.cuh"
#include "kernels/reduce/reducers_statistics.cuh"

namespace stator::STATOR_TARGET::reduce {

// So few that each accumulator of reduce_lanes() takes at most 16 floats, and that a run is in the nearest cache when
// it is read again.
template <class R>
inline constexpr int run_length = 512;
template <class In, bool Equal>
inline constexpr int run_length<ExtremeOf<In, Equal>> = 4096;

// The elements of a run as A: in place or converted, before they are used, because loops that convert and accumulate do
// not become vector instructions.
template <class A, class T>
struct Run {
  A converted[std::is_same_v<A, T> ? 1 : run_length<void>];
  const A* x;

  STATOR_FN Run(const T* p, int n) {
    if constexpr (std::is_same_v<A, T>) {
      x = p;
    } else {
      for (int i = 0; i < n; ++i) converted[i] = convert<A>(p[i]);
      x = converted;
    }
  }
};

template <class In, class C>
  requires std::is_same_v<In, typename SumOf<In, C>::Lane>
STATOR_FN typename SumOf<In, C>::Acc run_of(const SumOf<In, C>& r, const In* p, int n) {
  const auto sum = [=](auto value) { return reduce_lanes<In>(n, Sum{}, value); };
  return r.widen(r.mode.skip_nan ? sum([=](int64_t i) { return p[i] == p[i] ? p[i] : In(0); })
                                 : sum([=](int64_t i) { return p[i]; }));
}

template <class In, class C>
  requires std::is_arithmetic_v<typename ProductOf<In, C>::Acc>
STATOR_FN typename ProductOf<In, C>::Acc run_of(const ProductOf<In, C>&, const In* p, int n) {
  using A = typename ProductOf<In, C>::Acc;
  const Run<A, In> run(p, n);
  return reduce_lanes<A>(n, Product{}, [&](int64_t i) { return run.x[i]; });
}

template <class In, bool Equal>
STATOR_FN typename ExtremeOf<In, Equal>::Acc run_of(const ExtremeOf<In, Equal>& r, const In* p, int n) {
  using Key = typename ExtremeOf<In, Equal>::Lane;
  if constexpr (std::is_floating_point_v<In>)
    if (n >= 512) {  // compared as numbers, which takes fewer instructions than keys, where that decides
      const Extremes<In> found = line_extremes<false, In>(p, n);
      const In v = r.mode.smallest ? found.min : found.max;
      if (v == v && v != In(0)) return r.key(v);
    }
  return reduce_lanes<Key>(n, Max{}, [&](int64_t i) { return r.key(p[i]); });
}

// In two passes: the mean, and the deviations from it, whose mean is what the first one lost in rounding.
template <bool SkipNan, class In>
STATOR_FN typename MomentsOf<In>::Acc moments_of_run(const MomentsOf<In>& r, const In* p, int n) {
  using Acc = typename MomentsOf<In>::Acc;
  using Value = typename MomentsOf<In>::Value;
  const Run<Value, In> run(p, n);
  const Value* const x = run.x;
  const auto counted = [=](int64_t i) { return !SkipNan || x[i] == x[i]; };
  double count = n;
  if (SkipNan) count = reduce_lanes<double>(n, Sum{}, [=](int64_t i) { return counted(i) ? 1.0 : 0.0; });
  if (count == 0) return r.identity();
  const Value mean = sum_lanes<Value>(n, [=](int64_t i) { return counted(i) ? x[i] : Value(0); }) / Value(count);
  if (!isfinite(mean) && mean == mean) {  // an element is infinite, or the sum is too large
    Acc acc = r.identity();
    for (int i = 0; i < n; ++i) acc = r.combine(acc, r.single(p[i], i));
    return acc;
  }
  const auto deviation = [=](int64_t i) { return counted(i) ? x[i] - mean : Value(0); };
  const Value s1 = reduce_lanes<Value>(n, Sum{}, deviation);
  const double s2 = reduce_lanes<double>(n, Sum{}, [=](int64_t i) { return r.squared(deviation(i)); });
  const double m2 = s2 - r.squared(s1) / count;
  return Acc{count, {mean, s1 / Value(count)}, !isfinite(s2) ? s2 : m2 < 0 ? 0.0 : m2};
}
template <class In>
STATOR_FN typename MomentsOf<In>::Acc run_of(const MomentsOf<In>& r, const In* p, int n) {
  return r.mode.skip_nan ? moments_of_run<true>(r, p, n) : moments_of_run<false>(r, p, n);
}

template <class In>
  requires(!is_complex<In>)
STATOR_FN typename EuclideanOf<In>::Acc run_of(const EuclideanOf<In>& r, const In* p, int n) {
  const Run<double, In> run(p, n);
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
// Whether rows too short for whole vectors are runs, and not columns side by side, as exponentials had better be.
template <class R>
inline constexpr bool short_rows_are_runs = takes_runs<R>;
template <class In>
inline constexpr bool short_rows_are_runs<LogSumExpOf<In>> = false;

}  // namespace stator::STATOR_TARGET::reduce
