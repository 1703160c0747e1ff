"""Observers: the range of arrays, kept in device memory, and the scale and zero point that follow from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stator._array import Array
from stator._creation import full, zeros
from stator.errors import DTypeError, InvalidValueError
from stator.nn._quantization import histogram_range, observe_histogram, observe_range, quantization_parameters

if TYPE_CHECKING:
    from stator._typing import DTypeLike

__all__ = ["HistogramObserver", "MinMaxObserver"]


class MinMaxObserver:
    """The minimum and maximum of all observed arrays, or of each index along an axis, as .min and .max.

    averaging_constant: the factor of exponential moving averages of min and max over the arrays, as
    min + averaging_constant * (new min - min); None keeps the extremes. The other options are those of
    quantization_parameters. Does not synchronise.

    >>> observer = stator.nn.MinMaxObserver(dtype="uint8")
    >>> observer.observe(be.asarray([-1.0, 0.5]))
    >>> observer.observe(be.asarray([0.0, 1.55]))
    >>> scale, zero_point = observer.parameters()
    >>> int(zero_point.to_numpy())
    100
    """

    def __init__(
        self, *, axis: int | None = None, averaging_constant: float | None = None, dtype: DTypeLike = "int8",
        symmetric: bool = False, quant_min: int | None = None, quant_max: int | None = None,
    ) -> None:  # fmt: skip
        self.axis, self.averaging_constant = axis, averaging_constant
        self.options = {"dtype": dtype, "symmetric": symmetric, "quant_min": quant_min, "quant_max": quant_max}
        self.min: Array | None = None
        self.max: Array | None = None

    def observe(self, x: Array, /) -> None:
        """Updates min and max with the elements of x. Asynchronous: one launch, on the first call three."""
        low, high = self.min, self.max
        if low is None or high is None:
            along = (
                None if self.axis is None or not -_array(x, "MinMaxObserver").ndim <= self.axis < x.ndim else self.axis
            )
            kind = "float64" if _array(x, "MinMaxObserver").dtype == "float64" else "float32"
            low, high = _nothing(x, () if along is None else (x.shape[along],), kind)
        observe_range(x, low, high, axis=self.axis, averaging_constant=self.averaging_constant)
        self.min, self.max = low, high

    def parameters(self) -> tuple[Array, Array]:
        """(scale, zero_point) of the range. InvalidValueError before anything was observed."""
        return quantization_parameters(*_known(self.min, self.max, "MinMaxObserver"), **_given(self.options))


class HistogramObserver:
    """A histogram of all observed arrays over a growing range, from which parameters() takes the range of least error.

    bins: the number of bins. The other options are those of quantization_parameters. Does not synchronise.

    >>> observer = stator.nn.HistogramObserver(bins=64)
    >>> observer.observe(be.asarray([-1.0, 0.5, 2.0]))
    >>> observer.histogram.to_numpy().sum()
    np.float32(3.0)
    """

    def __init__(
        self, *, bins: int = 2048, dtype: DTypeLike = "int8", symmetric: bool = False, quant_min: int | None = None,
        quant_max: int | None = None,
    ) -> None:  # fmt: skip
        self.bins = bins
        self.options = {"dtype": dtype, "symmetric": symmetric, "quant_min": quant_min, "quant_max": quant_max}
        self.histogram: Array | None = None
        self.min: Array | None = None
        self.max: Array | None = None

    def observe(self, x: Array, /) -> None:
        """Adds the finite elements of x to the histogram. Asynchronous: three launches, on the first call more."""
        counts, low, high = self.histogram, self.min, self.max
        if counts is None or low is None or high is None:
            counts = zeros((self.bins,), dtype="float32", device=_array(x, "HistogramObserver").backend)
            low, high = _nothing(x, (), "float32")
        observe_histogram(x, counts, low, high)
        self.histogram, self.min, self.max = counts, low, high

    def parameters(self) -> tuple[Array, Array]:
        """(scale, zero_point) of the range of least error. InvalidValueError before anything was observed."""
        low, high = _known(self.min, self.max, "HistogramObserver")
        assert self.histogram is not None
        return quantization_parameters(*histogram_range(self.histogram, low, high), **_given(self.options))


def _array(x: object, name: str) -> Array:
    if not isinstance(x, Array):
        raise DTypeError(
            f"Expected an Array, got {type(x).__name__}",
            op=f"nn.{name}.observe",
            remedy="Convert it with stator.asarray().",
        )
    return x


def _nothing(x: Array, shape: tuple[int, ...], dtype: str) -> tuple[Array, Array]:
    """The range of no elements."""
    low, high = (full(shape, v, dtype=dtype, device=x.backend) for v in (float("inf"), float("-inf")))
    return low, high


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _known(low: Array | None, high: Array | None, name: str) -> tuple[Array, Array]:
    if low is None or high is None:
        raise InvalidValueError(
            "No array was observed yet", op=f"nn.{name}.parameters", remedy="Call observe() with an array first."
        )
    return low, high
