// Reducers of counts, moments, norms and logarithms of sums. The concept Reducer is in reducers.cuh.
#pragma once

#include "kernels/reduce/reducers.cuh"

namespace stator::STATOR_TARGET::reduce {

// Counts the elements that are not zero (any, count_nonzero), are zero (all), or are not finite (has_inf_nan).
template <class In_>
struct CountOf {
  using In = In_;
  static constexpr bool located = false;
  static constexpr int lane_steps = 127;
  using Lane = SignedOf<(sizeof(In) < 8 ? sizeof(In) : 8)>;
  using Acc = int64_t;
  ReductionMode mode;

  template <int W>
  struct Lanes {
    Lane value[W];

    STATOR_FN void clear(const CountOf&, int n) {
      for (int j = 0; j < n; ++j) value[j] = 0;
    }
    STATOR_FN void enter(const CountOf& r, int j, In v, int) { value[j] = Lane(value[j] + r.hit(v)); }
    STATOR_FN Acc fold(const CountOf&, int j, int64_t, int64_t) const { return value[j]; }
    STATOR_FN Acc total(const CountOf&, int64_t, int64_t, int64_t) const {
      Acc acc = 0;
      for (int j = 0; j < W; ++j) acc += value[j];
      return acc;
    }
  };

  // 1 if the element is counted. Integers are always finite, and for them this is arithmetic, because g++ does not
  // vectorise logic of bool with values that the loop carries. For other types it makes separate loops per mode.
  STATOR_FN Lane hit(In v) const {
    if constexpr (std::is_integral_v<In>) {
      return Lane((Lane(std::is_same_v<In, bool> ? v : v != In(0)) ^ Lane(mode.zeros)) & Lane(!mode.nonfinite));
    } else {
      bool yes = (v != In(0)) != mode.zeros;
      yes = mode.nonfinite ? !isfinite(v) : yes;
      return Lane(yes);
    }
  }
  STATOR_FN Acc identity() const { return 0; }
  STATOR_FN Acc single(In v, int64_t) const { return hit(v); }
  STATOR_FN Acc combine(Acc a, Acc b) const { return a + b; }
  // Whether no other element can change the result.
  STATOR_FN bool is_decided(Acc acc) const { return acc != 0 && mode.finish != Finish::value; }
  STATOR_FN int64_t finish(Acc acc, int64_t) const {
    return mode.finish == Finish::any ? acc != 0 : mode.finish == Finish::none ? acc == 0 : acc;
  }
};

// Number, mean and sum of squared deviations of the elements that are counted: all, or all but NaN. A lane sums a few
// elements relative to a pivot: the first of them, moved to the mean each time that their number has doubled, so that
// no more than half of the squares is ever subtracted again, without divisions. Lanes are combined by the method of
// Chan, Golub and LeVeque (Algorithms for Computing the Sample Variance, 1983). Means are compensated, because their
// differences are small beside large means.
template <class In_>
struct MomentsOf {
  using In = In_;
  static constexpr bool located = false;
  static constexpr int lane_steps = 16;
  using Value = std::conditional_t<is_complex<In>, complex<double>, double>;
  struct Acc {
    double n;
    Compensated<Value> mean;
    double m2;
  };
  ReductionMode mode;

  template <int W>
  struct Lanes {
    double n[W], s2[W];
    Value pivot[W], s1[W];

    STATOR_FN void clear(const MomentsOf&, int used) {
      for (int j = 0; j < used; ++j) n[j] = 0, s2[j] = 0, pivot[j] = Value(0), s1[j] = Value(0);
    }
    STATOR_FN void enter(const MomentsOf& r, int j, In v, int step) {
      const Value x = convert<Value>(v);
      const bool counts = r.counts(x);
      // A mean by itself is a plain sum, unless that is too large, since the difference from a larger pivot loses
      // digits.
      const bool apart = r.mode.finish != Finish::mean || !isfinite(x * Value(double(lane_steps)));
      pivot[j] = n[j] == 0.0 && counts && isfinite(x) && apart ? x : pivot[j];
      const Value d = counts ? x - pivot[j] : Value(0);
      n[j] += counts ? 1.0 : 0.0;
      s1[j] = s1[j] + d;
      s2[j] += squared(d);
      if (r.mode.finish != Finish::mean && (step == 1 || step == 3 || step == 7))
        move_pivot(j, step == 1 ? 0.5 : step == 3 ? 0.25 : 0.125);
    }
    // By the mean of the deviations, or less if NaNs were left out. Where that overflows, the pivot stays.
    STATOR_FN void move_pivot(int j, double fraction) {
      const Value moved = pivot[j] + s1[j] * Value(fraction), by = moved - pivot[j];
      const Value rest = s1[j] - by * Value(n[j]);
      const double less = inner(by, s1[j] + rest);
      if (!isfinite(less)) return;
      pivot[j] = moved;
      s1[j] = rest;
      s2[j] -= less;
    }
    STATOR_FN Acc fold(const MomentsOf&, int j, int64_t, int64_t) const {
      const double inverse = n[j] > 0 ? 1.0 / n[j] : 0.0;
      const Value shift = s1[j] * Value(inverse);
      Compensated<Value> mean{pivot[j], Value(0)};
      add_exactly(mean.hi, mean.lo, shift);
      const double apart = squared(shift) * n[j];
      return {n[j], mean, isfinite(apart) || !isfinite(shift) ? s2[j] - apart : s2[j]};  // overflow gives infinity
    }
    STATOR_FN Acc total(const MomentsOf& r, int64_t, int64_t, int64_t) const {
      Acc acc = fast_host ? r.identity() : fold(r, 0, 0, 0);  // so that the fast host has one copy of fold
      for (int j = !fast_host; j < W; ++j) acc = r.combine(acc, fold(r, j, 0, 0));
      return acc;
    }
  };

  // Moves the mean hi + lo towards `other` by `share` of their difference d. The difference of infinities is NaN, and
  // then the sum of both is the mean.
  STATOR_FN static void move(double& hi, double& lo, double other, double d, double fraction) {
    if (isfinite(d)) return add_exactly(hi, lo, d * fraction);
    hi += other;
    lo = 0;
  }
  STATOR_FN static void move(complex<double>& hi, complex<double>& lo, complex<double> other, complex<double> d,
                             double fraction) {
    move(hi.re, lo.re, other.re, d.re, fraction);
    move(hi.im, lo.im, other.im, d.im, fraction);
  }
  STATOR_FN static double undefined(double) { return limits<double>::nan(); }
  STATOR_FN static complex<double> undefined(complex<double>) { return {limits<double>::nan(), limits<double>::nan()}; }
  STATOR_FN static double inner(double a, double b) { return a * b; }
  STATOR_FN static double inner(complex<double> a, complex<double> b) { return a.re * b.re + a.im * b.im; }
  STATOR_FN static double squared(Value d) { return inner(d, d); }
  STATOR_FN bool counts(Value x) const { return !(mode.skip_nan && x != x); }
  STATOR_FN Acc identity() const { return {0.0, {Value(0), Value(0)}, 0.0}; }
  STATOR_FN Acc single(In v, int64_t) const { return of(convert<Value>(v)); }
  STATOR_FN Acc of(Value x) const {
    return counts(x) ? Acc{1.0, {x, Value(0)}, squared(x - x)} : identity();  // NaN for NaN and infinities
  }
  STATOR_FN Acc combine(Acc a, Acc b) const {
    if (a.n == 0) return b;
    if (b.n == 0) return a;
    const double n = a.n + b.n, fraction = b.n / n;
    const Value d = (b.mean.hi - a.mean.hi) + (b.mean.lo - a.mean.lo);
    Compensated<Value> mean = a.mean;
    move(mean.hi, mean.lo, b.mean.hi, d, fraction);
    return {n, mean, a.m2 + b.m2 + squared(d) * a.n * fraction};
  }
  STATOR_FN Value finish(Acc acc, int64_t) const {
    if (mode.finish == Finish::mean) return acc.n > 0 ? compensated(acc.mean.hi, acc.mean.lo) : undefined(Value(0));
    // As in NumPy, a divisor of zero gives NaN, or infinity if the numerator is not zero.
    const double left = acc.n - mode.parameter > 0 ? acc.n - mode.parameter : 0.0;
    const double variance = acc.m2 / left;
    return Value(mode.finish == Finish::deviation ? sqrt(variance) : variance);
  }
};

// sqrt(sum |x|^2), in double, where the squares of float32 neither overflow nor underflow.
template <class In_>
struct EuclideanOf {
  using In = In_;
  using Types = SumTypes<double, double>;
  static constexpr bool located = false;
  static constexpr int lane_steps = 16;
  using Acc = typename Types::Acc;
  using Lane = double;
  template <int W>
  using Lanes = PlainLanes<EuclideanOf, W>;
  ReductionMode mode;

  STATOR_FN Lane square(In v) const {
    if constexpr (is_complex<In>) {
      const double re = double(v.re), im = double(v.im);
      return re * re + im * im;
    } else {
      const double x = convert<double>(v);
      return x * x;
    }
  }
  STATOR_FN Lane empty() const { return 0; }
  STATOR_FN Lane enter(Lane lane, In v) const { return lane + square(v); }
  STATOR_FN Lane merge(Lane a, Lane b) const { return a + b; }
  STATOR_FN Acc widen(Lane lane) const { return Types::widen(lane); }
  STATOR_FN Acc identity() const { return widen(0); }
  STATOR_FN Acc single(In v, int64_t) const { return widen(square(v)); }
  STATOR_FN Acc combine(Acc a, Acc b) const { return Types::combine(a, b); }
  STATOR_FN double finish(Acc acc, int64_t) const { return sqrt(Types::value(acc)); }
};

// (sum |x|^p)^(1/p) for the order p in mode.parameter, not 2: the limit for infinite orders, and the number of elements
// that are not zero for order 0.
template <class In_>
struct NormOf {
  using In = In_;
  static constexpr bool located = false;
  static constexpr int lane_steps = 16;
  using Acc = double;
  using Lane = double;
  template <int W>
  using Lanes = PlainLanes<NormOf, W>;
  ReductionMode mode;

  STATOR_FN bool extreme() const { return isinf(mode.parameter); }
  STATOR_FN double term(In v) const {
    const double p = mode.parameter;
    double x;
    if constexpr (is_complex<In>)
      x = abs(convert<complex<double>>(v));
    else
      x = abs(convert<double>(v));
    return p == 1 || extreme() ? x : p == 0 ? double(x != 0) : pow(x, p);
  }
  STATOR_FN Lane empty() const { return mode.parameter < 0 && extreme() ? limits<double>::infinity() : 0.0; }
  STATOR_FN Lane enter(Lane lane, In v) const { return merge(lane, term(v)); }
  STATOR_FN Lane merge(Lane a, Lane b) const {
    if (!extreme()) return a + b;
    const bool first = mode.parameter > 0 ? a > b : a < b;
    return first || a != a ? a : b;
  }
  STATOR_FN Acc widen(Lane lane) const { return lane; }
  STATOR_FN Acc identity() const { return empty(); }
  STATOR_COLD Acc single(In v, int64_t) const { return term(v); }
  STATOR_FN Acc combine(Acc a, Acc b) const { return merge(a, b); }
  STATOR_COLD double finish(Acc acc, int64_t) const {
    const double p = mode.parameter;
    return p == 1 || p == 0 || extreme() ? acc : pow(acc, 1.0 / p);
  }
};

// log(sum(exp(x))), relative to the largest element so far.
template <class In_>
struct LogSumExpOf {
  using In = In_;
  static constexpr bool located = false;
  static constexpr int lane_steps = 16;
  using C = opmath_t<In>;
  struct Acc {
    C largest;
    Compensated<double> sum;  // of exp(x - largest)
  };
  ReductionMode mode;

  template <int W>
  struct Lanes {
    C largest[W], sum[W];

    STATOR_FN void clear(const LogSumExpOf&, int used) {
      for (int j = 0; j < used; ++j) largest[j] = -limits<C>::infinity(), sum[j] = C(0);
    }
    STATOR_FN void enter(const LogSumExpOf&, int j, In v, int) {
      const C x = convert<C>(v), m = largest[j];
      // The difference of equal infinities would be NaN.
      const C e = x == m ? C(1) : exp(-abs(x - m));
      sum[j] = x > m ? sum[j] * e + C(1) : sum[j] + e;
      largest[j] = x > m ? x : m;
    }
    STATOR_FN Acc fold(const LogSumExpOf&, int j, int64_t, int64_t) const {
      return {largest[j], {double(sum[j]), 0.0}};
    }
    STATOR_FN Acc total(const LogSumExpOf&, int64_t, int64_t, int64_t) const {
      C top = largest[0];
      for (int j = 1; j < W; ++j) top = largest[j] > top ? largest[j] : top;
      C scaled[W];
      for (int j = 0; j < W; ++j) scaled[j] = sum[j] * (largest[j] == top ? C(1) : exp(largest[j] - top));
      double all = 0;
      for (int j = 0; j < W; ++j) all += double(scaled[j]);
      return {top, {all, 0.0}};
    }
  };

  STATOR_FN Acc identity() const { return {-limits<C>::infinity(), {0.0, 0.0}}; }
  STATOR_FN Acc single(In v, int64_t) const {
    const C x = convert<C>(v);
    return {x == x ? x : limits<C>::infinity(), {x == x ? 1.0 : limits<double>::nan(), 0.0}};
  }
  STATOR_FN Acc combine(Acc a, Acc b) const {
    const bool first = a.largest >= b.largest;
    const C large = first ? a.largest : b.largest, small = first ? b.largest : a.largest;
    const double e = large == small ? 1.0 : double(exp(small - large));
    const Compensated<double> of_large = first ? a.sum : b.sum, of_small = first ? b.sum : a.sum;
    if (of_small.hi == 0) return {large, of_large};
    return {large, two_sum(of_large, {of_small.hi * e, of_small.lo * e})};
  }
  STATOR_COLD double finish(Acc acc, int64_t) const {
    const double sum = compensated(acc.sum.hi, acc.sum.lo);
    if (sum != sum) return sum;
    return isinf(double(acc.largest)) ? double(acc.largest) : double(acc.largest) + log(sum);
  }
};

// The same of complex numbers, relative to the largest real part so far: the principal value.
template <class T>
struct LogSumExpOf<complex<T>> {
  using In = complex<T>;
  static constexpr bool located = false;
  static constexpr int lane_steps = 16;
  struct Lane {
    double largest;
    complex<double> sum;  // of exp(x - largest)
  };
  struct Acc {
    double largest;
    Compensated<double> re, im;
  };
  template <int W>
  using Lanes = PlainLanes<LogSumExpOf, W>;
  ReductionMode mode;

  // exp(size - largest), where the difference of equal infinities would be NaN.
  STATOR_FN static double factor(double size, double largest) {
    return size == largest ? 1.0 : STATOR_TARGET::exp(size - largest);
  }
  STATOR_FN static Compensated<double> times(Compensated<double> sum, double factor) {
    return {sum.hi * factor, sum.lo * factor};
  }
  // The larger real part; NaN stays in the sum.
  STATOR_FN static double larger(double a, double b) { return a > b ? a : b; }
  STATOR_FN Lane empty() const { return {-limits<double>::infinity(), {0.0, 0.0}}; }
  STATOR_FN Lane enter(Lane lane, In v) const {
    const double x = double(v.re), top = larger(x, lane.largest);
    const double old = factor(lane.largest, top), own = factor(x, top);
    double sine, cosine;
    sincos(double(v.im), sine, cosine);
    const bool nothing = x == -limits<double>::infinity();  // whatever the angle
    return {top,
            {lane.sum.re * old + (nothing ? 0.0 : own * cosine), lane.sum.im * old + (nothing ? 0.0 : own * sine)}};
  }
  STATOR_FN Lane merge(Lane a, Lane b) const {
    const double top = larger(a.largest, b.largest), x = factor(a.largest, top), y = factor(b.largest, top);
    return {top, {a.sum.re * x + b.sum.re * y, a.sum.im * x + b.sum.im * y}};
  }
  STATOR_FN Acc widen(Lane lane) const { return {lane.largest, {lane.sum.re, 0.0}, {lane.sum.im, 0.0}}; }
  STATOR_FN Acc identity() const { return widen(empty()); }
  STATOR_COLD Acc single(In v, int64_t) const { return widen(enter(empty(), v)); }
  STATOR_COLD Acc combine(Acc a, Acc b) const {
    const double top = larger(a.largest, b.largest), x = factor(a.largest, top), y = factor(b.largest, top);
    return {top, two_sum(times(a.re, x), times(b.re, y)), two_sum(times(a.im, x), times(b.im, y))};
  }
  STATOR_COLD complex<double> finish(Acc acc, int64_t) const {
    const complex<double> sum(compensated(acc.re.hi, acc.re.lo), compensated(acc.im.hi, acc.im.lo));
    const complex<double> l = log(sum);
    return {l.re + acc.largest, l.im};
  }
};

namespace reducers {

using count = InOwnType<CountOf, dtypes::boolean | dtype_bit(DType::float32), dtypes::all, dtype_bit(DType::uint64)>;
using moments = InOwnType<MomentsOf, dtypes::full_floats, dtypes::inexact, dtype_bit(DType::complex64)>;
using euclidean = InOwnType<EuclideanOf, dtypes::full_floats, dtypes::inexact>;
using norm = InOwnType<NormOf, 0, dtypes::inexact, dtype_bit(DType::complex64)>;
using logsumexp = InOwnType<LogSumExpOf, 0, dtypes::inexact, dtype_bit(DType::complex64)>;

}  // namespace reducers

}  // namespace stator::STATOR_TARGET::reduce
