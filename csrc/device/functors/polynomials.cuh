// Orthogonal polynomials of degree n at x, as in torch.special. A negative degree gives 0, degree 0 gives 1, and a
// degree with a fraction is truncated.
#pragma once

#include "../cascade.cuh"
#include "../math/math.cuh"
#include "../math/polynomial.cuh"
#include "../math/scaled.cuh"

namespace stator::STATOR_TARGET::elementwise::functors {

namespace math = stator::STATOR_TARGET;

namespace polynomials {

// The type that recurrences compute in. Scalar double is as fast as float on a CPU, so there double absorbs the
// rounding errors of float; elsewhere the recurrence is compensated.
template <class C>
using work_t = std::conditional_t<fast_host, double, C>;

// The unevaluated sum value + error.
template <class W>
struct Pair {
  W value, error;
};

template <class W>
STATOR_FN Pair<W> add(W a, W b) {
  Pair<W> sum{a, W(0)};
  math::add_exactly(sum.value, sum.error, b);
  return sum;
}
template <class W>
STATOR_FN Pair<W> multiply(W a, W b) {
  const W value = a * b;
  return {value, math::fma(a, b, -value)};
}

// Recurrences return NaN above this degree, where they would take seconds per element.
inline constexpr int degree_limit = 1 << 20;

template <class W>
STATOR_FN bool is_even(W n) {
  return n == W(2) * math::floor(n * W(0.5));
}

// The result if the recurrence overflows: an infinity beyond the roots, since the terms there grow with the degree; NaN
// (unknown) between the roots.
template <class W>
STATOR_FN W overflow(bool beyond_on_positive_side, bool beyond_on_other_side, W n) {
  if (!beyond_on_positive_side && !beyond_on_other_side) return limits<W>::nan();
  return beyond_on_positive_side || is_even(n) ? limits<W>::infinity() : -limits<W>::infinity();
}

// p(k + 1) = (a p(k) - b p(k - 1)) / d, where step(k) returns a, b and d. A Step declares whether b and d can differ
// from 1 (weighs, divides).
template <class W>
struct Coefficients {
  Pair<W> a;
  W b, d;
};

// The rounding error of each operation is carried along to first order (Ogita, Rump and Oishi, Accurate sum and dot
// product, 2005), so that the result is as accurate as in twice the precision.
template <class Step, class W>
STATOR_FN Pair<W> next(const Coefficients<W>& s, Pair<W> p, Pair<W> last) {
  const Pair<W> x = multiply(s.a.value, p.value);
  const Pair<W> y = Step::weighs ? multiply(s.b, last.value) : Pair<W>{last.value, W(0)};
  const Pair<W> difference = add(x.value, -y.value);
  W error = libm::multiply_add(s.a.value, p.error, libm::multiply_add(s.a.error, p.value, x.error));
  error = error + (difference.error - libm::multiply_add(s.b, last.error, y.error));
  if constexpr (!Step::divides) return {difference.value, error};
  const W inverse = W(1) / s.d, value = difference.value * inverse;  // the inverse does not depend on the last step
  return {value, (error + math::fma(-value, s.d, difference.value)) * inverse};
}

// p(n) from p(0) = 1 and p(1) = first, rounded to C. Large terms are scaled by a power of two: between the roots of a
// high degree terms overflow, but their signs and small successors determine the result.
template <class C, class Step, class W>
STATOR_FN C recurrence(Pair<W> first, W n, W at_overflow, const Step& step) {
  if (!(n > W(-1))) return n == n ? C(0) : limits<C>::nan();
  if (n < W(1)) return C(1);
  const bool endless = n > W(degree_limit);
  if (endless && math::isnan(at_overflow)) return limits<C>::nan();
  const int degree = endless ? degree_limit : int(n);
  constexpr int step_down = sizeof(W) == 4 ? 40 : 400;
  constexpr W large = W(sizeof(W) == 4 ? 0x1p40 : 0x1p400), down = W(1) / large;
  Pair<W> last{W(1), W(0)}, p = first;
  int64_t exponent = 0;
  for (int k = 1; k < degree; ++k) {
    if (!(math::abs(p.value) <= large)) {
      if (math::isnan(p.value)) return C(p.value);
      const bool lost = math::isinf(p.value) || exponent > 1100;  // no type has a number of that size
      if (lost && !math::isnan(at_overflow)) return C(at_overflow);
      p = {p.value * down, p.error * down};
      last = {last.value * down, last.error * down};
      exponent += step_down;
    }
    const Coefficients<W> s = step(W(k));
    Pair<W> following;
    if constexpr (std::is_same_v<C, W>) {
      following = next<Step>(s, p, last);
    } else {
      following.value = s.a.value * p.value - s.b * last.value;
      if constexpr (Step::divides) following.value = following.value * (W(1) / s.d);
      following.error = W(0);
    }
    last = p;
    p = following;
  }
  if (endless) return limits<C>::nan();
  return C(math::isfinite(p.value) ? math::scale_by(p.value + p.error, exponent) : p.value);
}

// The Chebyshev polynomials share p(k + 1) = 2 y p(k) - p(k - 1) and differ in p(1).
template <class W>
struct ChebyshevStep {
  static constexpr bool weighs = false, divides = false;
  Pair<W> twice;
  STATOR_FN Coefficients<W> operator()(W) const { return {twice, W(1), W(1)}; }
};

enum class Kind { t, u, v, w };

// In terms of half the angle, h: cos 2nh, sin (2n + 2)h / sin 2h, cos (2n + 1)h / cos h, sin (2n + 1)h / sin h, for
// |y| <= 1 and a large n; `above` and `below` are (1 + y) / 2 and (1 - y) / 2. The error is n epsilon, so float
// computes in double too. For y < 0 the value is (-1)^n times that of -y, with v and w exchanged, which keeps h away
// from pi / 2.
template <Kind K>
STATOR_FN double chebyshev_by_angle(double above, double below, double n) {
  const bool reflect = above < below;
  const double sign = reflect && !is_even(n) ? -1.0 : 1.0;
  const double h = math::atan2(math::sqrt(reflect ? above : below), math::sqrt(reflect ? below : above));
  if constexpr (K == Kind::t) return sign * math::cos(2.0 * n * h);
  const double m = 2.0 * n + (K == Kind::u ? 2.0 : 1.0), part = K == Kind::u ? 2.0 * h : h;
  if (K == Kind::u || (K == Kind::w) != reflect)
    return sign * (h == 0.0 ? (K == Kind::u ? n + 1.0 : m) : math::sin(m * h) / math::sin(part));
  return sign * math::cos(m * h) / math::cos(h);
}

template <Kind K, class C, class W>
STATOR_FN C chebyshev(Pair<W> y, double above, double below, W n) {
  constexpr W most_steps = sizeof(C) == 4 ? 64 : 256;
  const W degree = math::floor(n);
  if (degree > most_steps && above >= 0.0 && below >= 0.0) return C(chebyshev_by_angle<K>(above, below, degree));
  const Pair<W> twice{y.value + y.value, y.error + y.error};
  Pair<W> first = K == Kind::t ? y : twice;
  if (K == Kind::v || K == Kind::w) {
    first = add(twice.value, W(K == Kind::v ? -1 : 1));
    first.error += twice.error;
  }
  return recurrence<C>(first, n, overflow(below < 0.0, above < 0.0, degree), ChebyshevStep<W>{twice});
}

template <Kind K>
struct Chebyshev {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x, C n) const {
    using W = work_t<C>;
    return chebyshev<K, C>(Pair<W>{W(x), W(0)}, 0.5 + 0.5 * double(x), 0.5 - 0.5 * double(x), W(n));
  }
};

// The Chebyshev polynomials at 2x - 1.
template <Kind K>
struct ShiftedChebyshev {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C x, C n) const {
    using W = work_t<C>;
    return chebyshev<K, C>(add(W(2) * W(x), W(-1)), double(x), 1.0 - double(x), W(n));
  }
};

// Factor 2: the physicists' polynomials, 1: the probabilists'.
template <int Factor, class W>
struct HermiteStep {
  static constexpr bool weighs = true, divides = false;
  W x;
  STATOR_FN Coefficients<W> operator()(W k) const { return {{W(Factor) * x, W(0)}, W(Factor) * k, W(1)}; }
};

template <int Factor>
struct Hermite {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C arg, C n) const {
    using W = work_t<C>;
    const W x = W(arg), beyond = W(4 / Factor) * W(n) + W(2);  // no root's square exceeds it
    const bool outside = x * x > beyond;
    return recurrence<C>(Pair<W>{W(Factor) * x, W(0)}, W(n),
                         overflow(outside && x > W(0), outside && x < W(0), math::floor(W(n))),
                         HermiteStep<Factor, W>{x});
  }
};

template <class W>
struct LaguerreStep {
  static constexpr bool weighs = true, divides = true;
  W x;
  STATOR_FN Coefficients<W> operator()(W k) const { return {add(k + k + W(1), -x), k, k + W(1)}; }
};

template <class W>
struct LegendreStep {
  static constexpr bool weighs = true, divides = true;
  W x;
  STATOR_FN Coefficients<W> operator()(W k) const { return {multiply(k + k + W(1), x), k, k + W(1)}; }
};

}  // namespace polynomials

struct chebyshev_polynomial_t : polynomials::Chebyshev<polynomials::Kind::t> {};
struct chebyshev_polynomial_u : polynomials::Chebyshev<polynomials::Kind::u> {};
struct chebyshev_polynomial_v : polynomials::Chebyshev<polynomials::Kind::v> {};
struct chebyshev_polynomial_w : polynomials::Chebyshev<polynomials::Kind::w> {};
struct shifted_chebyshev_polynomial_t : polynomials::ShiftedChebyshev<polynomials::Kind::t> {};
struct shifted_chebyshev_polynomial_u : polynomials::ShiftedChebyshev<polynomials::Kind::u> {};
struct shifted_chebyshev_polynomial_v : polynomials::ShiftedChebyshev<polynomials::Kind::v> {};
struct shifted_chebyshev_polynomial_w : polynomials::ShiftedChebyshev<polynomials::Kind::w> {};
struct hermite_polynomial_h : polynomials::Hermite<2> {};
struct hermite_polynomial_he : polynomials::Hermite<1> {};

struct laguerre_polynomial_l {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C arg, C n) const {
    using W = polynomials::work_t<C>;
    const W x = W(arg), at_overflow = polynomials::overflow(x<W(0), x> W(4) * W(n) + W(2), math::floor(W(n)));
    return polynomials::recurrence<C>(polynomials::add(W(1), -x), W(n), at_overflow, polynomials::LaguerreStep<W>{x});
  }
};

struct legendre_polynomial_p {
  static constexpr bool heavy = true;
  template <class C>
  STATOR_FN C operator()(C arg, C n) const {
    using W = polynomials::work_t<C>;
    const W x = W(arg), at_overflow = polynomials::overflow(x > W(1), x < W(-1), math::floor(W(n)));
    return polynomials::recurrence<C>(polynomials::Pair<W>{x, W(0)}, W(n), at_overflow,
                                      polynomials::LegendreStep<W>{x});
  }
};

}  // namespace stator::STATOR_TARGET::elementwise::functors
