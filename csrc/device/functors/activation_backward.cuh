// Gradients of activations. The operands are grad, then what the forward function saved, then its options.
// NaN in x gives NaN if the gradient is computed from x; if x only selects (relu, leaky_relu, hardsigmoid, clip), NaN
// takes PyTorch's branch.
#pragma once

#include "activation.cuh"
#include "arithmetic.cuh"

namespace stator::STATOR_TARGET::elementwise::functors {

namespace activation {

// clamped(x, end), but NaN for infinities: PyTorch's inf * 0.
template <class C>
STATOR_FN C within(C x, C end) {
  return clamped(x, end) + C(0) * x;
}

// grad * d/dx (x logistic(z)) for slope = x dz/dx. These gradients and those of gelu and mish have a root between -2
// and -0.5, near which the error is 2 ULP of the terms that cancel.
template <class C>
STATOR_FN C gate_backward(C grad, const Logistic<C>& l, C slope) {
  const C value = l.falling ? (l.sum + slope) * l.tail : libm::multiply_add(slope, l.tail, l.sum);
  const C square = libm::multiply_add(l.tail, l.tail + C(2), C(1));  // l.sum^2, with fewer roundings
  return grad * (value / square) * l.scale;
}

}  // namespace activation

// grad if x > 0 or x is NaN, as in PyTorch's threshold_backward.
struct relu_backward {
  static constexpr bool light = true;
  template <class C>
  STATOR_FN C operator()(C grad, C x) const {
    return x <= C(0) ? C(0) : grad;
  }
};

struct leaky_relu_backward {
  template <class C>
  STATOR_FN C operator()(C grad, C x, C slope) const {
    return x > C(0) ? grad : grad * slope;
  }
};

struct elu_backward {
  template <class C>
  STATOR_FN C operator()(C grad, C x, C alpha) const {
    const auto e = activation::decay(-x);
    return x > C(0) ? grad : grad * (alpha * e.value) * e.scale;
  }
};

struct selu_backward {
  template <class C>
  STATOR_FN C operator()(C grad, C x) const {
    const auto e = activation::decay(-x);
    return grad * (x > C(0) ? C(selu_scale) : C(selu_scale_alpha) * e.value) * e.scale;
  }
};

// The exponential multiplies the rounding error of x / alpha by x / alpha, so the remainder `low` corrects it.
struct celu_backward {
  template <class C>
  STATOR_FN C operator()(C grad, C x, C alpha) const {
    const C z = x / alpha, low = math::fma(-z, alpha, x) / alpha;
    const auto e = activation::decay(-z, math::isfinite(z) ? -low : C(0));
    return x > C(0) ? grad : grad * e.value * e.scale;
  }
};

// Phi(x) + x phi(x).
struct gelu_backward {
  template <class C>
  STATOR_FN C operator()(C grad, C x) const {
    constexpr C density = C(0.39894228040143267794);  // 1 / sqrt(2 pi)
    const auto half = activation::half_square(x);
    const auto e = activation::decay(half.high, half.low);
    const C a = math::abs(activation::within(x, C(64)));
    const C ratio = C(1) / libm::multiply_add(a, activation::mills_slope(a), C(2));
    const C tail = (ratio - a * density) * e.value;
    return x < C(0) ? grad * tail * e.scale : grad * (C(1) - tail * e.scale);
  }
};

struct gelu_tanh_backward {
  template <class C>
  STATOR_FN C operator()(C grad, C x) const {
    const C c = activation::within(x, C(64));
    const activation::Logistic<C> l(activation::tanh_argument(x));
    const C slope = libm::multiply_add(C(3 * 0.07135481627260025), c * c, C(1.5957691216057308));
    return activation::gate_backward(grad, l, c * slope);
  }
};

struct gelu_sigmoid_backward {
  template <class C>
  STATOR_FN C operator()(C grad, C x) const {
    const activation::Logistic<C> l(activation::sigmoid_argument(x));
    return activation::gate_backward(grad, l, C(1.702) * activation::within(x, C(1024)));
  }
};

struct silu_backward {
  template <class C>
  STATOR_FN C operator()(C grad, C x) const {
    return activation::gate_backward(grad, activation::Logistic<C>(x), activation::within(x, C(1024)));
  }
};

// With e = exp(x) and m = e (e + 2) + 2 this is ((e^2 + e)(e (e + 3) + 3 + 4 x) + e) / m^2 for x < 0, where all terms
// but x are positive, and 1 + (4 x (e^2 + e) - 2 m) / m^2 for x >= 0; it is 1 already far below x = 22.
struct mish_backward {
  template <class C>
  STATOR_FN C operator()(C grad, C x) const {
    const C c = libm::clamp(x, C(-1024), C(22)) + C(0) * x;
    const auto d = activation::decay(x > C(22) ? C(-22) : -x);
    const C e = d.value, n = libm::multiply_add(e, e, e + e), s = libm::multiply_add(e, e, e);
    const C factor = libm::multiply_add(C(4), c, libm::multiply_add(e, e + C(3), C(3)));
    const C left = libm::multiply_add(s, factor, e), right = C(4) * c * s - C(2) * (n + C(2));
    const C square = libm::multiply_add(n, n + C(4), C(4));
    return x < C(0) ? grad * (left / square) * d.scale : grad * (C(1) + right / square);
  }
};

// From the output y of the forward function.
struct sigmoid_backward {
  template <class C>
  STATOR_FN C operator()(C grad, C y) const {
    return grad * ((C(1) - y) * y);
  }
};

// From the output y of the forward function. 1 - y^2 would lose digits near 1.
struct tanh_backward {
  template <class C>
  STATOR_FN C operator()(C grad, C y) const {
    return grad * ((C(1) - y) * (C(1) + y));
  }
};

struct hardsigmoid_backward {
  template <class C>
  STATOR_FN C operator()(C grad, C x) const {
    return (x > C(-3)) & (x < C(3)) ? grad / C(6) : C(0);
  }
};

// hardswish is 0 for x <= -3 and x for x >= 3; the gradients at -3 and 3 are those of these parts.
struct hardswish_backward {
  template <class C>
  STATOR_FN C operator()(C grad, C x) const {
    return x <= C(-3) ? C(0) : x >= C(3) ? grad : grad * ((x + C(1.5)) / C(3));
  }
};

struct softplus_backward {
  template <class C>
  STATOR_FN C operator()(C grad, C x, C beta, C threshold) const {
    const activation::Sum<C> z = activation::product(x, beta);
    return z.high > threshold ? grad : activation::Logistic<C>(z).gate(grad);
  }
};

struct softsign_backward {
  template <class C>
  STATOR_FN C operator()(C grad, C x) const {
    const C sum = C(1) + math::abs(x);
    return grad / sum / sum;
  }
};

// The gradient at 0 is 0.
struct abs_backward {
  template <class C>
  STATOR_FN C operator()(C grad, C x) const {
    return grad * sign{}(x);
  }
};

struct clip_backward {
  template <class C>
  STATOR_FN C operator()(C grad, C x, C low, C high) const {
    return (x >= low) & (x <= high) ? grad : C(0);
  }
};

}  // namespace stator::STATOR_TARGET::elementwise::functors
