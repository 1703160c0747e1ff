// Orthogonal polynomials of degree n, at x: torch.special's. A negative degree gives 0, degree 0 gives 1, and a degree
// with a fraction is truncated.
#pragma once

#include "device/cascade.cuh"
#include "device/math.cuh"

namespace stator::STATOR_COLUMN::functors {

namespace words = stator::STATOR_COLUMN;

namespace polynomials {

// A number in two parts: value + error.
template <class C>
struct Pair {
  C value, error;
};

template <class C>
STATOR_FN Pair<C> add(C a, C b) {
  Pair<C> sum{a, C(0)};
  words::add_exactly(sum.value, sum.error, b);
  return sum;
}
template <class C>
STATOR_FN Pair<C> multiply(C a, C b) {
  const C value = a * b;
  return {value, words::fma(a, b, -value)};
}
template <class C>
STATOR_FN C rounded(Pair<C> x) {
  return words::isfinite(x.value) ? x.value + x.error : x.value;
}

// Above it recurrences give up: they would take seconds an element.
inline constexpr int degree_limit = 1 << 20;

template <class C>
STATOR_FN bool is_even(C n) {
  return n == C(2) * words::floor(n * C(0.5));
}

// What a polynomial is that overflowed on the way: an infinity beyond its roots, and between them not known.
template <class C>
STATOR_FN C overflow(bool right_of_roots, bool left_of_roots, C n) {
  const bool positive = right_of_roots || is_even(n);
  return right_of_roots || left_of_roots ? (positive ? limits<C>::infinity() : -limits<C>::infinity())
                                         : limits<C>::nan();
}

// p(k + 1) = (a p(k) - b p(k - 1)) / d from p(0) = 1 and p(1), where step(k) gives a, b and d. What each operation
// rounds away is carried along, to first order (Ogita, Rump and Oishi, Accurate sum and dot product, 2005): the result
// is as good as one in twice the precision while the recurrence does not multiply errors by more than 1 / epsilon.
template <class C, class Step>
STATOR_FN C recurrence(Pair<C> first, C n, C at_overflow, const Step& step) {
  if (!(n > C(-1))) return n == n ? C(0) : n;
  if (n < C(1)) return C(1);
  const bool endless = n > C(degree_limit);
  if (endless && words::isnan(at_overflow)) return at_overflow;
  const int degree = endless ? degree_limit : int(n);
  Pair<C> last{C(1), C(0)}, p = first;
  for (int k = 1; k < degree; ++k) {
    if (!words::isfinite(p.value)) return words::isnan(p.value) ? p.value : at_overflow;
    const auto s = step(C(k));
    const Pair<C> x = multiply(s.a.value, p.value), y = multiply(s.b, last.value);
    const Pair<C> difference = add(x.value, -y.value);
    Pair<C> next = difference;
    C error = (s.a.value * p.error - s.b * last.error) + s.a.error * p.value + (x.error - y.error) + difference.error;
    if constexpr (Step::divides) {
      next.value = difference.value / s.d;
      error = (error + words::fma(-next.value, s.d, difference.value)) / s.d;
    }
    next.error = error;
    last = p;
    p = next;
  }
  return endless ? limits<C>::nan() : rounded(p);
}

template <class C>
struct Coefficients {
  Pair<C> a;
  C b, d;
};

// The Chebyshev polynomials share p(k + 1) = 2 y p(k) - p(k - 1) and differ in p(1).
template <class C>
struct ChebyshevStep {
  static constexpr bool divides = false;
  Pair<C> twice;
  STATOR_FN Coefficients<C> operator()(C) const { return {twice, C(1), C(1)}; }
};

enum class Kind { t, u, v, w };

// In terms of half the angle, h: cos 2nh, sin (2n + 2)h / sin 2h, cos (2n + 1)h / cos h, sin (2n + 1)h / sin h, for
// |y| <= 1 and a large n; `above` and `below` are (1 + y) / 2 and (1 - y) / 2. It errs by n epsilon: in double for
// float too. Where y < 0 it is (-1)^n times that of -y, with v and w exchanged, so that h stays away from pi / 2.
template <Kind K>
STATOR_FN double chebyshev_by_angle(double above, double below, double n) {
  const bool reflect = above < below;
  const double sign = reflect && !is_even(n) ? -1.0 : 1.0;
  const double h = words::atan2(words::sqrt(reflect ? above : below), words::sqrt(reflect ? below : above));
  if constexpr (K == Kind::t) return sign * words::cos(2.0 * n * h);
  const double m = 2.0 * n + (K == Kind::u ? 2.0 : 1.0), part = K == Kind::u ? 2.0 * h : h;
  if (K == Kind::u || (K == Kind::w) != reflect)
    return sign * (h == 0.0 ? (K == Kind::u ? n + 1.0 : m) : words::sin(m * h) / words::sin(part));
  return sign * words::cos(m * h) / words::cos(h);
}

template <Kind K, class C>
STATOR_FN C chebyshev(Pair<C> y, double above, double below, C n) {
  constexpr C most_steps = sizeof(C) == 4 ? 64 : 256;
  const C degree = words::floor(n);
  if (degree > most_steps && above >= 0.0 && below >= 0.0) return C(chebyshev_by_angle<K>(above, below, degree));
  const Pair<C> twice{y.value + y.value, y.error + y.error};
  Pair<C> first = K == Kind::t ? y : twice;
  if (K == Kind::v || K == Kind::w) {
    first = add(twice.value, C(K == Kind::v ? -1 : 1));
    first.error += twice.error;
  }
  return recurrence(first, n, overflow(below < 0.0, above < 0.0, degree), ChebyshevStep<C>{twice});
}

template <Kind K>
struct Chebyshev {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x, C n) const {
    return chebyshev<K>(Pair<C>{x, C(0)}, 0.5 + 0.5 * double(x), 0.5 - 0.5 * double(x), n);
  }
};

template <Kind K>
struct ShiftedChebyshev {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x, C n) const {
    return chebyshev<K>(add(x + x, C(-1)), double(x), 1.0 - double(x), n);
  }
};

// Factor 2: the physicists' polynomials, 1: the probabilists'.
template <int Factor, class C>
struct HermiteStep {
  static constexpr bool divides = false;
  C x;
  STATOR_FN Coefficients<C> operator()(C k) const { return {{C(Factor) * x, C(0)}, C(Factor) * k, C(1)}; }
};

template <int Factor, class C>
STATOR_FN C hermite(C x, C n) {
  const C beyond = C(4 / Factor) * n + C(2);  // the square of what no root exceeds
  const bool outside = x * x > beyond;
  return recurrence(Pair<C>{C(Factor) * x, C(0)}, n,
                    overflow(outside && x > C(0), outside && x < C(0), words::floor(n)), HermiteStep<Factor, C>{x});
}

template <class C>
struct LaguerreStep {
  static constexpr bool divides = true;
  C x;
  STATOR_FN Coefficients<C> operator()(C k) const { return {add(k + k + C(1), -x), k, k + C(1)}; }
};

template <class C>
struct LegendreStep {
  static constexpr bool divides = true;
  C x;
  STATOR_FN Coefficients<C> operator()(C k) const { return {multiply(k + k + C(1), x), k, k + C(1)}; }
};

}  // namespace polynomials

struct chebyshev_polynomial_t : polynomials::Chebyshev<polynomials::Kind::t> {};
struct chebyshev_polynomial_u : polynomials::Chebyshev<polynomials::Kind::u> {};
struct chebyshev_polynomial_v : polynomials::Chebyshev<polynomials::Kind::v> {};
struct chebyshev_polynomial_w : polynomials::Chebyshev<polynomials::Kind::w> {};
// Of 2x - 1.
struct shifted_chebyshev_polynomial_t : polynomials::ShiftedChebyshev<polynomials::Kind::t> {};
struct shifted_chebyshev_polynomial_u : polynomials::ShiftedChebyshev<polynomials::Kind::u> {};
struct shifted_chebyshev_polynomial_v : polynomials::ShiftedChebyshev<polynomials::Kind::v> {};
struct shifted_chebyshev_polynomial_w : polynomials::ShiftedChebyshev<polynomials::Kind::w> {};

struct hermite_polynomial_h {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x, C n) const {
    return polynomials::hermite<2>(x, n);
  }
};

struct hermite_polynomial_he {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x, C n) const {
    return polynomials::hermite<1>(x, n);
  }
};

struct laguerre_polynomial_l {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x, C n) const {
    const C at_overflow = polynomials::overflow(x<C(0), x> C(4) * n + C(2), words::floor(n));
    return polynomials::recurrence(polynomials::add(C(1), -x), n, at_overflow, polynomials::LaguerreStep<C>{x});
  }
};

struct legendre_polynomial_p {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x, C n) const {
    const C at_overflow = polynomials::overflow(x > C(1), x < C(-1), words::floor(n));
    return polynomials::recurrence(polynomials::Pair<C>{x, C(0)}, n, at_overflow, polynomials::LegendreStep<C>{x});
  }
};

}  // namespace stator::STATOR_COLUMN::functors
