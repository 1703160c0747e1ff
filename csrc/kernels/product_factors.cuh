// What is left of a product without one of its factors. The plain ones are kept with more digits than a double and
// without bounds, and divided by each in turn, which loses nothing; zeros, infinities and NaN are counted instead.
#pragma once

#include "kernels/scanners.cuh"

#include <bit>

namespace stator::STATOR_COLUMN {

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
  // |plain| over a mantissa, rounded to T once but for the last place.
  template <class T>
  STATOR_FN T quotient(double mantissa) const {
    const double hi = abs(plain.hi), lo = plain.hi < 0 ? -plain.lo : plain.lo;
    const T m = T(mantissa), q = T(hi) / m;
    const double p = double(q) * mantissa;
    const double rest = ((hi - p) - (sizeof(T) == 4 ? 0.0 : product_error(double(q), mantissa, p))) + lo;
    return q + T(rest) / m;
  }
};

}  // namespace stator::STATOR_COLUMN
