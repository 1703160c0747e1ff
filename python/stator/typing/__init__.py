"""Types for the annotations of programs that use stator. Loaded on first use.

`ArrayLike` is what `asarray` takes: an Array, a NumPy array, nested sequences of numbers, a number, and whatever has
the buffer protocol, `__array__`, DLPack or `__cuda_array_interface__`. Functions that compute take an Array, never
this: nothing is copied to a device silently. A type checker lets a str pass, as a sequence; asarray refuses it.

`DTypeLike` is what `dtype=` takes beside None: a DType, its name, a NumPy dtype, or the type of a number.

`DeviceLike` is what `device=` takes: a Backend, a Device, the name of one such as "cuda:1", or None for the current
backend.

`StreamLike` is a stream of stator or of another library, by the protocol `__cuda_stream__`.

>>> from stator.typing import ArrayLike, DTypeLike
>>> def centred(x: ArrayLike, dtype: DTypeLike = "float64") -> stator.Array:
...     numbers = stator.asarray(x, dtype=dtype)
...     return numbers - stator.mean(numbers)
>>> centred([1, 2, 6]).tolist()
[-2.0, -1.0, 3.0]
"""

from stator._typing import ArrayLike, DeviceLike, DTypeLike, StreamLike

__all__ = ["ArrayLike", "DTypeLike", "DeviceLike", "StreamLike"]


def __dir__() -> list[str]:
    return [*__all__]
