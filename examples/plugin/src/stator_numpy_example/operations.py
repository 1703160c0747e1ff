"""The operations that the backend claims, by stator's names of them, which are those of the array API."""

ELEMENTWISE = """
abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_or bitwise_xor ceil conj copysign cos
cosh divide equal exp expm1 floor floor_divide greater greater_equal hypot imag isfinite isinf isnan less less_equal log
log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply negative nextafter
not_equal positive pow real reciprocal remainder round sign signbit sin sinh sqrt square subtract tan tanh trunc where
"""
REDUCTIONS = "all any argmax argmin count_nonzero max mean min prod std sum var"
OTHERS = "concat cumulative_prod cumulative_sum matmul matrix_transpose searchsorted sort stack unique_values"

OPERATIONS = tuple(f"{ELEMENTWISE} {REDUCTIONS} {OTHERS}".split())
