// The product of all factors but one, for the gradient of a product. The finite nonzero ("plain") factors are kept as
// one product, with more digits than a double has and an unbounded exponent, which is then divided by each factor.
// Zeros, infinities and NaN are counted instead.
#pragma once

#include "kernels/scan/scanners.cuh"

#include <bit>

namespace stator::STATOR_TARGET::reduce {

// A few moderate numbers can be multiplied, or divided into a double of moderate size, without overflow or underflow.
STATOR_FN bool is_moderate(double v) { return (abs(v) > 0x1p-100) & (abs(v) < 0x1p100); }

STATOR_FN bool all_moderate(const double* v, int count) {
  int64_t far = 0;  // as wide as v, so that the loop vectorises without a change of width
  for (int j = 0; j < count; ++j) far |= int64_t(!is_moderate(v[j]));
  return far == 0;
}

struct Factors {
  Scaled<double> plain;
  int64_t zeros, infinities, nans;
  int64_t negative;  // zeros and infinities with a minus sign

  STATOR_FN static Factors none() { return {{1, 0, 0}, 0, 0, 0, 0}; }
  STATOR_FN static bool is_plain(double v) { return (v != 0) & isfinite(v); }

  STATOR_FN void join(const Factors& b) {
    plain = multiply(plain, b.plain);
    zeros += b.zeros;
    infinities += b.infinities;
    nans += b.nans;
    negative += b.negative;
  }
  STATOR_FN void take(double v) {
    if (is_plain(v))
      plain = multiply(plain, scaled(v));
    else
      count(v, 1);
  }
  STATOR_FN void count(double v, int64_t times) {
    zeros += v == 0 ? times : 0;
    infinities += isinf(v) ? times : 0;
    nans += v != v ? times : 0;
    negative += std::bit_cast<int64_t>(v) < 0 ? times : 0;
  }

  // The product if the gradient of a moderate factor v is then grad * (product / v), else 0.
  STATOR_FN double quick() const {
    const bool plainly = ((zeros | infinities | nans) == 0) & (plain.exponent > -400) & (plain.exponent < 400);
    return plainly ? value_of(plain) : 0;
  }

  // grad times the product of all factors but v.
  template <class T>
  STATOR_FN T gradient(double v, T grad) const {
    Factors others = *this;
    const bool divide = is_plain(v);
    if (!divide) others.count(v, -1);
    const bool minus = (plain.hi < 0) != ((divide & (v < 0)) != ((others.negative & 1) != 0));
    const T sign = minus ? T(-1) : T(1);
    if (others.nans > 0 || (others.zeros > 0 && others.infinities > 0)) return grad * limits<T>::nan();
    if (others.zeros > 0) return grad * (sign * T(0));
    if (others.infinities > 0) return grad * (sign * limits<T>::infinity());
    int64_t own, of_grad;
    const double mantissa = split_exponent(divide ? abs(v) : 1.0, own);
    const T top = T(split_exponent(double(grad), of_grad));
    return scale_by(top * (sign * quotient<T>(mantissa)), plain.exponent - own + of_grad);
  }

 private:
  // |plain| / mantissa, to within an ULP of T.
  template <class T>
  STATOR_FN T quotient(double mantissa) const {
    const double hi = abs(plain.hi), lo = plain.hi < 0 ? -plain.lo : plain.lo;
    const T m = T(mantissa), q = T(hi) / m;
    const double p = double(q) * mantissa;
    const double rest = ((hi - p) - (sizeof(T) == 4 ? 0.0 : product_error(double(q), mantissa, p))) + lo;
    return q + T(rest) / m;
  }
};

// Fast host: N products side by side, so that each step is a loop that vectorises.
template <int N>
struct FactorLanes {
  double hi[N], lo[N];
  int64_t exponent[N];
  Factors others[N];  // factors that are not moderate; valid if `any`
  bool any;
  bool rough;  // without `lo`
  int steps;   // since the exponents were last moved out of hi

  STATOR_FN void begin(int count, bool is_rough) {
    any = false;
    rough = is_rough;
    steps = 0;
    for (int j = 0; j < count; ++j) hi[j] = 1, lo[j] = 0, exponent[j] = 0;
  }
  STATOR_FN void take(const double* v, int count) {
    if (all_moderate(v, count)) {
      step(v, count);
    } else {
      if (!any)
        for (int j = 0; j < count; ++j) others[j] = Factors::none();
      any = true;
      double near[N];
      for (int j = 0; j < count; ++j) {
        near[j] = is_moderate(v[j]) ? v[j] : 1.0;
        if (!is_moderate(v[j])) others[j].take(v[j]);
      }
      step(near, count);
    }
    if (++steps == 8) normalise(count);  // |hi| stays below 2^801
  }
  STATOR_FN Factors total(int j) const {
    Scaled<double> s = scaled(hi[j]);
    s.lo = scale_by(lo[j], -s.exponent);
    s.exponent += exponent[j];
    Factors all = any ? others[j] : Factors::none();
    all.plain = any ? multiply(all.plain, s) : s;
    return all;
  }
  // The product of all lanes.
  STATOR_FN Factors total() {
    normalise(N);
    for (int half = N / 2; half > 0; half /= 2)
      for (int j = 0; j < half; ++j) {
        const double a = hi[j], b = hi[j + half];
        hi[j] = a * b;
        lo[j] = (lo[j] * b + a * lo[j + half]) + product_error(a, b, hi[j]);
        exponent[j] += exponent[j + half];
      }
    Factors all = total(0);
    if (any)
      for (int j = 1; j < N; ++j) all.join(others[j]);
    return all;
  }

 private:
  STATOR_FN void step(const double* v, int count) {
    if (rough) {
      for (int j = 0; j < count; ++j) hi[j] *= v[j];
      return;
    }
    for (int j = 0; j < count; ++j) {
      const double p = hi[j] * v[j];
      lo[j] = lo[j] * v[j] + product_error(hi[j], v[j], p);
      hi[j] = p;
    }
  }
  STATOR_FN void normalise(int count) {
    steps = 0;
    constexpr uint64_t field = uint64_t(0x7ff) << 52, one = uint64_t(1023) << 52;
    for (int j = 0; j < count; ++j) {
      const uint64_t bits = std::bit_cast<uint64_t>(hi[j]), power = bits & field;
      hi[j] = std::bit_cast<double>((bits & ~field) | one);
      lo[j] *= std::bit_cast<double>(2 * one - power);
      exponent[j] += int64_t(power >> 52) - 1023;
    }
  }
};

}  // namespace stator::STATOR_TARGET::reduce
