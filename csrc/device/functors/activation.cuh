// Activations: PyTorch's functions, without cancellation, and branch-free so that loops over them vectorise.
// NaN propagates; if PyTorch's formula is inf * 0 at an infinity, the result is NaN here too.
#pragma once

#include "../cascade.cuh"
#include "../math/elementary.cuh"
#include "../math/math.cuh"

namespace stator::STATOR_TARGET::elementwise::functors {

namespace math = stator::STATOR_TARGET;

namespace activation {

// exp(-a) as value * scale, unless it overflows. If exp(-a) may be subnormal and would lose digits, `scale` is less
// than 1; it must be multiplied last.
template <class C>
struct Decay {
  C value, scale;
};

template <class C>
STATOR_FN Decay<C> decay(C a) {
  // Steps whose exponentials are nearly representable in C.
  constexpr C far = sizeof(C) == 4 ? 80 : 700, step = sizeof(C) == 4 ? 33.828125 : 59.46875;
  constexpr double exp_of_step = sizeof(C) == 4 ? 2.0353166218215605269e-15 : 1.4895326571599024049e-26;
  const bool beyond = a > far;
  return {libm::normal_exp((beyond ? step : C(0)) - a), beyond ? C(exp_of_step) : C(1)};
}

// The same for a + low, with a small low.
template <class C>
STATOR_FN Decay<C> decay(C a, C low) {
  const Decay<C> d = decay(a);
  return {d.value - d.value * low, d.scale};
}

// The unevaluated sum high + low: `low` is the rounding error of `high`.
template <class C>
struct Sum {
  C high, low;
};

// The constant high + low, which has more digits than C can represent.
template <class C>
STATOR_FN constexpr Sum<C> constant(double high, double low) {
  return {C(high), C(high - double(C(high)) + low)};
}

template <class C>
STATOR_FN Sum<C> product(C x, C y) {
  const C high = x * y, low = math::fma(x, y, -high);
  return {high, math::isfinite(high) ? low : C(0)};
}
template <class C>
STATOR_FN Sum<C> product(C x, Sum<C> y) {
  const Sum<C> p = product(x, y.high);
  return {p.high, p.low + x * y.low};
}

// Clamps an argument to [-end, end], outside which its exponential is constant.
template <class C>
STATOR_FN C clamped(C x, C end) {
  return libm::clamp(x, -end, end);
}

// logistic(z) for a number or a Sum z, from exp(-|z|).
template <class C>
struct Logistic {
  bool falling;
  C tail, sum, scale;  // exp(-|z|), 1 + exp(-|z|), and the factor that results for z < 0 still need

  STATOR_FN Logistic(bool below_zero, Decay<C> d)
      : falling(below_zero), tail(d.value), sum(C(1) + d.value), scale(below_zero ? d.scale : C(1)) {}
  STATOR_FN explicit Logistic(C z) : Logistic(z < C(0), decay(math::abs(z))) {}
  STATOR_FN explicit Logistic(Sum<C> z)
      : Logistic(z.high < C(0), decay(math::abs(z.high), z.high < C(0) ? -z.low : z.low)) {}
  // x * logistic(z)
  STATOR_FN C gate(C x) const { return (falling ? x * tail : x) / sum * scale; }
};

template <class C>
STATOR_FN Sum<C> sigmoid_argument(C x) {
  return product(clamped(x, C(1024)), constant<C>(1.702, 4.263256414560601e-17));
}

// tanh(u) = 2 logistic(2u) - 1, so the z of gelu_tanh is 2 sqrt(2 / pi) (x + 0.044715 x^3). A Sum, because the tail of
// the logistic function multiplies an error by z.
template <class C>
STATOR_FN Sum<C> tanh_argument(C x) {
  constexpr Sum<C> linear = constant<C>(1.5957691216057308, -9.96930880911092e-17);
  constexpr Sum<C> cubic = constant<C>(0.07135481627260025, -6.175149918155315e-19);
  x = clamped(x, C(64));
  const Sum<C> square = product(x, x);
  Sum<C> slope = product(square.high, cubic);
  slope.low += square.low * cubic.high + linear.low;
  math::add_exactly(slope.high, slope.low, linear.high);
  return product(x, slope);
}

// sqrt(2 pi) + h(a), where exp(-a^2 / 2) / Phi(-a) = 2 + a (sqrt(2 pi) + h(a)) for the normal distribution function
// Phi. h rises from -0.91 to 0, so that its error has little effect anywhere. For a from 0 to where Phi(-a) rounds to
// zero. Coefficients: tools/fit_activation.py.
template <class C>
STATOR_FN C mills_slope(C a) {
  C h;
  if constexpr (sizeof(C) == 4) {
    a = libm::clamp(a, 0.0f, 15.0f);
    h = libm::polynomial(a, -0.910859168f, -0.683841586f, -0.246487737f, -0.0475022122f, -0.00421163905f) /
        libm::polynomial(a, 1.0f, 1.05074584f, 0.533169985f, 0.156278402f, 0.026391957f, 0.00210579205f);
  } else {
    a = libm::clamp(a, 0.0, 39.0);
    h = libm::polynomial(a, -0.91085915302526965, -1.2483446821230451, -0.85006295124666142, -0.3695934847143903,
                         -0.11195899383579029, -0.024393598827837083, -0.0038196183245244272, -0.00041550960244117171,
                         -2.8675654701394005e-05, -9.685053993011953e-07) /
        libm::polynomial(a, 1.0, 1.6704934256899195, 1.3817283430293483, 0.73181035633881208, 0.27236056279721094,
                         0.074101215637271581, 0.014907170316553843, 0.0021924525029834701, 0.00022648526534300274,
                         1.4944748104774688e-05, 4.8425269965249066e-07);
  }
  return C(2.5066282746310005024) + h;
}

// x^2 / 2 for |x| up to 64, where exp(-x^2 / 2) is 0.
template <class C>
STATOR_FN Sum<C> half_square(C x) {
  x = clamped(x, C(64));
  const Sum<C> square = product(x, x);
  return {C(0.5) * square.high, C(0.5) * square.low};
}

}  // namespace activation

// NaN stays NaN.
struct relu {
  static constexpr bool light = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    return x < C(0) ? C(0) : x;
  }
};

struct leaky_relu {
  template <class C>
  STATOR_FN C operator()(C x, C slope) const {
    return x > C(0) ? x : x * slope;
  }
};

struct elu {
  template <class C>
  STATOR_FN C operator()(C x, C alpha) const {
    return x > C(0) ? x : alpha * math::expm1(x);
  }
};

// Klambauer et al., Self-Normalizing Neural Networks (2017).
inline constexpr double selu_scale = 1.0507009873554804934, selu_scale_alpha = 1.7580993408473768599;

struct selu {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return x > C(0) ? C(selu_scale) * x : C(selu_scale_alpha) * math::expm1(x);
  }
};

struct celu {
  template <class C>
  STATOR_FN C operator()(C x, C alpha) const {
    return x > C(0) ? x : alpha * math::expm1(x / alpha);
  }
};

// x Phi(x).
struct gelu {
  template <class C>
  STATOR_FN C operator()(C x) const {
    const auto half = activation::half_square(x);
    const auto e = activation::decay(half.high);
    const C a = math::abs(activation::clamped(x, C(64))), slope = activation::mills_slope(a);
    // exp(half.low) is included without adding a rounding error.
    const C over = libm::multiply_add(a, slope, C(2) + (a * slope + C(2)) * half.low);
    const C tail = (x < C(64) ? x : C(64)) * e.value / over * e.scale;
    return x <= C(0) ? tail : x - tail;
  }
};

struct gelu_tanh {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return activation::Logistic<C>(activation::tanh_argument(x)).gate(x);
  }
};

struct gelu_sigmoid {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return activation::Logistic<C>(activation::sigmoid_argument(x)).gate(x);
  }
};

struct silu {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return activation::Logistic<C>(x).gate(x);
  }
};

// tanh(log(1 + e)) = n / (n + 2) for n = e (e + 2) and e = exp(x); it is 1 already far below x = 22.
struct mish {
  template <class C>
  STATOR_FN C operator()(C x) const {
    const auto d = activation::decay(x > C(22) ? C(-22) : -x);
    const C e = d.value, n = libm::multiply_add(e, e, e + e);
    return x * (n / (n + C(2))) * d.scale;
  }
};

struct sigmoid {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return activation::Logistic<C>(x).gate(C(1));
  }
};

struct hardsigmoid {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return libm::clamp(x + C(3), C(0), C(6)) / C(6);
  }
};

struct hardswish {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return x * hardsigmoid{}(x);
  }
};

// log(1 + exp(z)) / beta for z = beta x, but x if z is above the threshold.
struct softplus {
  template <class C>
  STATOR_FN C operator()(C x, C beta, C threshold) const {
    const activation::Sum<C> z = activation::product(x, beta);
    const bool falling = z.high < C(0);
    const auto e = activation::decay(math::abs(z.high), falling ? -z.low : z.low);
    const C tail = math::log1p(e.value);
    const C value = falling ? tail / beta * e.scale : (z.high + tail * e.scale) / beta;
    return z.high > threshold ? x : value;
  }
};

struct softsign {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return x / (C(1) + math::abs(x));
  }
};

}  // namespace stator::STATOR_TARGET::elementwise::functors
