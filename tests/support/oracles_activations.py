"""References for activations and their gradients: PyTorch's formulas in wide NumPy, without its cancellation."""

from __future__ import annotations

import numpy as np

PI = 4 * np.arctan(np.longdouble(1))
SELU_SCALE = np.longdouble("1.0507009873554804934193349852946")
SELU_ALPHA = np.longdouble("1.6732632423543772848170429916717")


def relu(x):
    return np.where(np.isnan(x), x, np.maximum(x, 0))


def relu_backward(grad, x):
    return np.where(x <= 0, np.zeros_like(grad), grad)  # NaN passes the gradient, as in PyTorch


def leaky_relu(x, negative_slope=0.01):
    return np.where(x > 0, x, x * negative_slope)


def leaky_relu_backward(grad, x, negative_slope=0.01):
    return np.where(x > 0, grad, grad * negative_slope)


def elu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(x))


def elu_backward(grad, x, alpha=1.0):
    return np.where(x > 0, grad, grad * alpha * np.exp(x))


def selu(x):
    return SELU_SCALE * elu(x, SELU_ALPHA)


def selu_backward(grad, x):
    return SELU_SCALE * elu_backward(grad, x, SELU_ALPHA)


def celu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(x / alpha))


def celu_backward(grad, x, alpha=1.0):
    return np.where(x > 0, grad, grad * np.exp(x / alpha))


def _logistic(z):
    return 1 / (1 + np.exp(-z))


def _mills(a):
    """phi(a) / (1 - Phi(a)) for a >= 2: a + 1 / (a + 2 / (a + ...))."""
    fraction = a
    for k in range(150, 0, -1):
        fraction = a + k / fraction
    return fraction


def normal_cdf(x):
    """Phi(x) in extended precision; scipy.special.ndtr loses digits in the tail."""
    shape, x = np.shape(x), np.ravel(np.asarray(x, np.longdouble))
    a, far = np.abs(x), np.abs(x) >= 2
    # Phi(a) - 1/2 = phi(a) (a + a^3 / 3 + a^5 / 15 + ...)
    near = a[~far]
    term = total = near
    for k in range(3, 81, 2):
        term = term * near * near / k
        total = total + term
    density, half = np.exp(-a * a / 2) / np.sqrt(2 * PI), np.longdouble(0.5)
    low = np.empty_like(a)
    low[far] = density[far] / _mills(a[far])
    low[~far] = half - density[~far] * total
    return np.where(x > 0, 1 - low, low).reshape(shape)


def log_normal_cdf(x):
    shape, x = np.shape(x), np.ravel(np.asarray(x, np.longdouble))
    out, tail, top = np.empty_like(x), x < -2, x > 2
    rest = ~(tail | top)
    out[tail] = -(x[tail] ** 2) / 2 - np.log(np.sqrt(2 * PI) * _mills(-x[tail]))
    out[top] = np.log1p(-normal_cdf(-x[top]))
    out[rest] = np.log(normal_cdf(x[rest]))
    return out.reshape(shape)


def gelu(x):
    return x * normal_cdf(x)


def gelu_backward(grad, x):
    return grad * (normal_cdf(x) + x * np.exp(-x * x / 2) / np.sqrt(2 * PI))


def _tanh_argument(x):
    """2u and its derivative: (1 + tanh u) / 2 is the logistic function of 2u."""
    scale, cubic = np.sqrt(8 / PI), np.longdouble("0.044715")
    return scale * x * (1 + cubic * x * x), scale * (1 + 3 * cubic * x * x)


def gelu_tanh(x):
    return x * _logistic(_tanh_argument(x)[0])


def _gate_backward(grad, x, z, slope):
    """The gradient of x * logistic(z), where dz/dx is slope."""
    return grad * _logistic(z) * (1 + x * slope * _logistic(-z))


def gelu_tanh_backward(grad, x):
    return _gate_backward(grad, x, *_tanh_argument(x))


SIGMOID_SLOPE = np.longdouble("1.702")


def gelu_sigmoid(x):
    return x * _logistic(SIGMOID_SLOPE * x)


def gelu_sigmoid_backward(grad, x):
    return _gate_backward(grad, x, SIGMOID_SLOPE * x, SIGMOID_SLOPE)


def silu(x):
    return x * _logistic(x)


def silu_backward(grad, x):
    return _gate_backward(grad, x, x, 1)


def mish(x):
    return x * np.tanh(np.log1p(np.exp(x)))


def mish_backward(grad, x):
    t = np.tanh(np.log1p(np.exp(x)))
    return grad * (t + x * (1 - t * t) * _logistic(x))


def sigmoid_backward(grad, y):
    return grad * (1 - y) * y


def tanh_backward(grad, y):
    return grad * (1 - y) * (1 + y)


def hardsigmoid(x):
    return np.clip(x + 3, 0, 6) / 6


def hardsigmoid_backward(grad, x):
    return np.where((x > -3) & (x < 3), grad / 6, 0)


def hardswish(x):
    return x * np.clip(x + 3, 0, 6) / 6


def hardswish_backward(grad, x):
    return np.where(x <= -3, 0, np.where(x >= 3, grad, grad * (x + 1.5) / 3))


def softplus(x, beta=1.0, threshold=20.0):
    z = beta * x
    return np.where(z > threshold, x, np.logaddexp(0, z) / beta)


def softplus_backward(grad, x, beta=1.0, threshold=20.0):
    z = beta * x
    return np.where(z > threshold, grad, grad * _logistic(z))


def softsign(x):
    return x / (1 + np.abs(x))


def softsign_backward(grad, x):
    return grad / (1 + np.abs(x)) ** 2


def abs_backward(grad, x):
    return grad * np.sign(x)


def clip_backward(grad, x, min, max):
    return np.where((x >= min) & (x <= max), grad, 0)
