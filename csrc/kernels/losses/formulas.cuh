// The formulas of elementwise losses: value(x, y) and slope(x, y), which is the derivative by x.
#pragma once

#include "device/math/math.cuh"
#include "params/losses.hpp"

namespace stator::STATOR_TARGET::losses {

// 1 or -1; 0 and NaN stay.
template <class A>
STATOR_FN A sign_of(A d) {
  return d > A(0) ? A(1) : d < A(0) ? A(-1) : d;
}

// The sum of square^k / (2 k + 1) from k = K on.
template <int K, int Terms, class A>
STATOR_FN A inverse_tangent_series(A square) {
  constexpr A term = A(1) / A(2 * K + 1);
  if constexpr (K + 1 == Terms)
    return term;
  else
    return inverse_tangent_series<K + 1, Terms>(square) * square + term;
}

// log(1 + e) for e in [0, 1], which is 2 atanh(s) for s = e / (2 + e): the series has no branch, so that loops become
// vector instructions.
template <class A>
STATOR_FN A log_of_one_and(A e) {
  const A s = e / (A(2) + e);
  return A(2) * s * inverse_tangent_series < 0, sizeof(A) == 4 ? 8 : 17 > (s * s);
}

struct Unweighted {
  static constexpr bool weighted = false;
};

template <class A>
struct Squared : Unweighted {
  STATOR_FN explicit Squared(A) {}
  STATOR_FN A value(A x, A y, A, A) const { return (x - y) * (x - y); }
  STATOR_FN A slope(A x, A y, A, A) const { return A(2) * (x - y); }
};

template <class A>
struct Absolute : Unweighted {
  STATOR_FN explicit Absolute(A) {}
  STATOR_FN A value(A x, A y, A, A) const { return abs(x - y); }
  STATOR_FN A slope(A x, A y, A, A) const { return sign_of(x - y); }
};

// d^2 / 2 up to delta, and beyond its tangent.
template <class A>
struct Huber : Unweighted {
  A delta;
  STATOR_FN explicit Huber(A parameter) : delta(parameter) {}
  STATOR_FN A value(A x, A y, A, A) const {
    const A d = abs(x - y);
    return d < delta ? A(0.5) * d * d : delta * (d - A(0.5) * delta);
  }
  STATOR_FN A slope(A x, A y, A, A) const {
    const A d = x - y;
    return abs(d) < delta ? d : delta * sign_of(d);
  }
};

// Huber's loss with delta = beta, divided by beta; for beta = 0 the absolute difference.
template <class A>
struct Smooth : Unweighted {
  A beta;
  STATOR_FN explicit Smooth(A parameter) : beta(parameter) {}
  STATOR_FN A value(A x, A y, A, A) const {
    const A d = abs(x - y);
    return d < beta ? A(0.5) * d * d / beta : d - A(0.5) * beta;
  }
  STATOR_FN A slope(A x, A y, A, A) const {
    const A d = x - y;
    return abs(d) < beta ? d / beta : sign_of(d);
  }
};

// p y log(1 + e^-x) + (1 - y) log(1 + e^x), times the weight: neither overflows, and for y in [0, 1] nothing cancels.
template <class A>
struct Logits {
  static constexpr bool weighted = true;
  STATOR_FN explicit Logits(A) {}
  STATOR_FN A value(A x, A y, A weight, A positive) const {
    const A tail = log_of_one_and(exp(-abs(x)));
    const A above = x > A(0) ? x : A(0), below = x < A(0) ? -x : A(0);
    return weight * (positive * y * (below + tail) + (A(1) - y) * (above + tail));
  }
  STATOR_FN A slope(A x, A y, A weight, A positive) const {
    const A e = exp(-abs(x)), near = A(1) / (A(1) + e), far = e * near;
    const A up = x < A(0) ? far : near, down = x < A(0) ? near : far;
    return weight * ((A(1) - y) * up - positive * y * down);
  }
};

// y (log y - x), which is -y x for y = 0.
template <class A>
struct Divergence : Unweighted {
  STATOR_FN explicit Divergence(A) {}
  STATOR_FN A value(A x, A y, A, A) const {
    const A logarithm = log(y);
    return y * ((y == A(0) ? A(0) : logarithm) - x);
  }
  STATOR_FN A slope(A, A y, A, A) const { return -y; }
};

template <class A>
struct LogDivergence : Unweighted {
  STATOR_FN explicit LogDivergence(A) {}
  STATOR_FN A value(A x, A y, A, A) const { return exp(y) * (y - x); }
  STATOR_FN A slope(A, A y, A, A) const { return -exp(y); }
};

// Calls f with the formula of a kind.
template <class A, class F>
STATOR_FN void with_formula(params::LossKind kind, double parameter, const F& f) {
  const A number = A(parameter);
  switch (kind) {
    case params::LossKind::squared: return f(Squared<A>(number));
    case params::LossKind::absolute: return f(Absolute<A>(number));
    case params::LossKind::huber: return f(Huber<A>(number));
    case params::LossKind::smooth: return f(Smooth<A>(number));
    case params::LossKind::logits: return f(Logits<A>(number));
    case params::LossKind::divergence: return f(Divergence<A>(number));
    default: return f(LogDivergence<A>(number));
  }
}

}  // namespace stator::STATOR_TARGET::losses
