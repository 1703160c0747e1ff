"""Operators of elements, reductions and scans."""

import numpy as np

import stator
from tests.onnx.table import Without, elementwise, row

nn, linalg = stator.nn, stator.linalg
SAME = """
    Abs Acos Acosh Add Asin Asinh Atan Atanh Ceil Clip Cos Cosh Equal Exp Floor Greater Less Log Round Sign Sin Sinh
    Sqrt Tan Tanh Where
"""
elementwise(
    {
        **{name: name.lower() for name in SAME.split()},
        **{"Neg": "negative", "Not": "logical_not", "Erf": "special.erf", "Reciprocal": "reciprocal"},
        **{"Sub": "subtract", "Mul": "multiply", "And": "logical_and", "Or": "logical_or", "Xor": "logical_xor"},
        **{"GreaterOrEqual": "greater_equal", "LessOrEqual": "less_equal", "IsNaN": "isnan"},
        **{f"Bitwise{name}": f"bitwise_{name.lower()}" for name in ("And", "Or", "Xor")},
        **{"BitwiseNot": "bitwise_invert", "Relu": "nn.relu", "Sigmoid": "nn.sigmoid", "HardSwish": "nn.hardswish"},
        **{"Mish": "nn.mish", "Softplus": "nn.softplus", "Softsign": "nn.softsign", "Identity": "copy"},
    }
)


@row("Pow", units=8)
def power(x, exponent):
    return stator.astype(stator.pow(x, exponent), x.dtype)  # ONNX has the base's dtype, whatever the exponent's


@row("Div", units=1)
def divide(x, y):
    if "int" not in str(x.dtype):
        return stator.divide(x, y)
    return stator.floor_divide(x - stator.fmod(x, y), y)  # towards zero, as ONNX rounds


@row("Mod")
def modulo(x, y, *, fmod):
    return (stator.fmod if fmod else stator.remainder)(x, y)


@row("BitShift")
def shift(x, y, *, direction):
    return (stator.bitwise_left_shift if direction == "LEFT" else stator.bitwise_right_shift)(x, y)


@row("IsInf")
def is_inf(x, *, detect_negative, detect_positive):
    wanted = stator.where(stator.signbit(x), bool(detect_negative), bool(detect_positive))
    return stator.logical_and(stator.isinf(x), wanted)


def folded(function):
    def call(*inputs):
        total = stator.copy(inputs[0])
        for x in inputs[1:]:
            total = function(total, x)
        return total

    return call


for _name, _function in {"Max": stator.maximum, "Min": stator.minimum, "Sum": stator.add}.items():
    row(_name)(folded(_function))


@row("Mean", units=2)
def mean_of_inputs(*inputs):
    return stator.mean(stator.stack(inputs), axis=0)


@row("Gelu", units=6)
def gelu(x, *, approximate):
    return nn.gelu(x, approximate=approximate)


def with_alpha(function):
    return lambda x, *, alpha: function(x, alpha)


for _name, _function in {"Elu": nn.elu, "Celu": nn.celu, "LeakyRelu": nn.leaky_relu}.items():
    row(_name, units=4)(with_alpha(_function))


@row("PRelu", units=1)
def prelu(x, slope):
    return nn.leaky_relu(x, slope)


@row("Selu", units=4)
def selu(x, *, alpha, gamma):
    return gamma * nn.elu(x, alpha) if round(alpha, 4) != 1.6733 else nn.selu(x)


@row("HardSigmoid", units=2)
def hard_sigmoid(x, *, alpha, beta):
    return nn.hardsigmoid((6 * alpha) * x + (6 * beta - 3))


@row("ThresholdedRelu")
def thresholded_relu(x, *, alpha):
    return stator.where(x > alpha, x, 0)


@row("Shrink", units=2)
def shrink(x, *, bias, lambd):
    return stator.where(stator.abs(x) > lambd, x - bias * stator.sign(x), 0)


@row("Swish", units=4)
def swish(x, *, alpha):
    return x * nn.sigmoid(alpha * x)


@row("SwiGLU", units=8)
def swiglu(a, b, *, alpha):
    return nn.silu(a) * b if alpha == 1 else a * nn.sigmoid(alpha * a) * b


@row("Dropout", host=[1, 2], silent={"seed": "nothing is drawn", "ratio": "nothing is drawn"})
def dropout(x, ratio, training):
    if training and float(ratio):
        raise Without("the numbers that NumPy's generator of a seed draws")
    return stator.copy(x), stator.ones(x.shape, dtype="bool")


def reduction(*operators, units, keeps=True):
    """Enters reductions: their axes are an attribute, or an input since an opset."""

    def enter(function):
        @row(*operators, units=units, host=[1])
        def call(x, given, *, axes, keepdims, noop_with_empty_axes):
            axes = given if given is not None else axes
            axes = None if axes is None or not len(axes) else tuple(int(a) for a in axes)
            if axes is None and noop_with_empty_axes:
                axes = ()
            if not x.size and operators[0] in ("ReduceMax", "ReduceMin"):
                raise Without("an extreme of no elements: an error, as NumPy's")
            return function(x, axis=axes, keepdims=bool(keepdims))

        return function

    return enter


for _name in ("Max", "Min", "Mean", "Prod", "Sum"):
    reduction(f"Reduce{_name}", units=4)(getattr(stator, _name.lower()))


@reduction("ReduceL1", units=4)
def l1(x, **how):
    return stator.sum(stator.abs(x), **how)


@reduction("ReduceL2", units=4)
def l2(x, **how):
    return stator.sqrt(stator.sum(stator.square(x), **how)) if how["axis"] == () else linalg.vector_norm(x, **how)


@reduction("ReduceSumSquare", units=4)
def sum_of_squares(x, **how):
    return stator.sum(stator.square(x), **how)


@reduction("ReduceLogSum", units=4)
def log_of_sum(x, **how):
    return stator.log(stator.sum(x, **how))


@reduction("ReduceLogSumExp", units=4)
def log_sum_exp(x, **how):
    return stator.logsumexp(x, **how)


def extreme(function):
    def call(x, *, axis, keepdims, select_last_index):
        if select_last_index:
            at = function(stator.flip(x, axis=axis), axis=axis, keepdims=bool(keepdims))
            return x.shape[axis] - 1 - at
        return function(x, axis=axis, keepdims=bool(keepdims))

    return call


row("ArgMax")(extreme(stator.argmax))
row("ArgMin")(extreme(stator.argmin))


def scanned(function):
    def call(x, axis, *, exclusive, reverse):
        axis = int(axis) % x.ndim
        y = function(x, axis=axis, include_initial=bool(exclusive), reverse=bool(reverse), dtype=x.dtype)
        if not exclusive:
            return y
        kept = [slice(None)] * x.ndim
        kept[axis] = slice(1, None) if reverse else slice(0, -1)
        return y[tuple(kept)]

    return call


row("CumSum", host=[1], units=2)(scanned(stator.cumulative_sum))
row("CumProd", host=[1], units=2)(scanned(stator.cumulative_prod))


@row("Range", host=[0, 1, 2], units=1)
def arange(start, stop, step):
    return stator.arange(start.item(), stop.item(), step.item(), dtype=str(np.asarray(start).dtype))
