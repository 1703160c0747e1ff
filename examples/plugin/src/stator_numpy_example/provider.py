"""The provider, which stator finds by its entry point, and the backend that it opens."""

import platform
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stator.backends import ProviderMetadata
from stator.errors import BackendClosedError
from stator_numpy_example.operations import OPERATIONS

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
DTYPES = ("bool", *INTEGERS, "float32", "float64", "complex64", "complex128")


def capabilities() -> dict[str, Any]:
    """What every backend of the provider can do. There is no device to ask, so it is always the same."""
    return {"device_types": ("cpu",), "dtypes": DTYPES, "operations": OPERATIONS, "asynchronous": False}


class NumPyBackend:
    """Calls NumPy. Its arrays stay valid when it is closed, since NumPy owns their memory."""

    def __init__(self) -> None:
        self.closed = False

    def __enter__(self) -> "NumPyBackend":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def capabilities(self) -> dict[str, Any]:
        return capabilities()

    def namespace(self) -> ModuleType:
        return np

    def asarray(self, obj: Any, /, *, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        self._check("asarray")
        return np.asarray(obj, dtype=dtype, copy=copy)

    def synchronize(self) -> None:
        """Nothing is left to wait for: NumPy's functions return when their work is done."""
        self._check("synchronize")

    def close(self) -> None:
        self.closed = True

    def _check(self, op: str) -> None:
        if self.closed:
            raise BackendClosedError("The backend is closed", op=f"NumPyBackend.{op}", remedy="Create another one.")


class NumPyProvider:
    """Opens backends of NumPy."""

    name = "numpy"
    priority = -10  # after stator's own, so that installing the package changes no default
    supported_device_types = ("cpu",)

    @property
    def metadata(self) -> ProviderMetadata:
        return ProviderMetadata(
            name="stator-numpy-example",
            version="1.0",
            description="Backends whose arrays are NumPy's",
            author="the authors of stator",
            license="Apache-2.0",
            supported_architectures=(platform.machine(),),
            required_features=("NumPy 2",),
        )

    def is_compatible(self) -> bool:
        """NumPy is a namespace of the array API since 2.0."""
        return hasattr(np, "__array_api_version__")

    def is_available(self) -> bool:
        return True

    def capabilities(self) -> dict[str, Any]:
        return capabilities()

    def create(self) -> NumPyBackend:
        return NumPyBackend()
