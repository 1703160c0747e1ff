"""Backend.devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stator import _backend
from stator._accessor import Accessor
from stator._device import device_of
from stator.errors import require_open

if TYPE_CHECKING:
    from stator._typing import DTypeLike
    from stator.hardware import Capabilities, DeviceInfo, Measurements, OperationsBundle, PerformanceHints


class DeviceAccessor(Accessor):
    """The device of a backend and what it can run, as Backend.devices."""

    __slots__ = ()

    def properties(self) -> dict[str, Any]:
        """Name, compute capability, memory, driver and runtime versions, and multiprocessors of the device."""
        return _backend.device_properties(self._backend)

    def info(self) -> DeviceInfo:
        """The device as stator.devices() describes it: vendor, name, versions, memory in bytes, peaks.

        Does not synchronise. `info()` is a shorter dict.
        """
        from stator.hardware import cuda, host

        device = device_of(self._backend)
        return host.info() if device.type == "cpu" else cuda.info(device.index)

    def capabilities(self, *, measure: bool = False) -> Capabilities:
        """What the device can do; what cannot be known is None.

        measure: also measures the latency and the bandwidth of memory, which takes up to a second and synchronises.

        >>> be.devices.capabilities().max_tensor_dims
        32
        """
        from stator.hardware import capabilities_of
        from stator.programs._arguments import flag

        found = capabilities_of(device_of(self._backend))
        if not flag(measure, "Backend.devices.capabilities", "measure"):
            return found
        from stator.hardware.measure import with_measurements

        return with_measurements(found, self.measure())

    def measure(self) -> Measurements:
        """Bandwidth and latency of the device's memory. Takes up to a second, and synchronises.

        On an emulated device, which has no time of its own, all of it is None.
        """
        from stator.hardware import capabilities_of
        from stator.hardware.measure import measure

        require_open(self._backend, "Backend.devices.measure")
        return measure(self._backend, capabilities_of(device_of(self._backend)))

    def performance_hints(self) -> PerformanceHints:
        """Sizes of workgroups and batches, alignment and preferences, derived from the capabilities.

        >>> be.devices.performance_hints().prefer_vectorized
        True
        """
        from stator.hardware.hints import derive

        return derive(self.capabilities())

    def supports(self, op: str, dtype: DTypeLike | None = None, **parameters: Any) -> bool:
        """Whether the backend can run an op of the op table.

        op: the name of an entry ("softmax") or of a call ("nn.softmax"). dtype: of the operands. parameters: names of
        the function's parameters, which must exist; shape=, which must fit the device's memory; and asynchronous=,
        capturable=, deterministic= and bit_exact=True for what the op must be. Where a vendor library that the op needs
        is missing, and nothing stands in for it, it is False.
        Raises: InvalidValueError for a name that no op has, with the nearest ones, and for a negative shape; DTypeError
        for an unknown dtype.

        >>> be.devices.supports("nn.softmax", "float32", axis=1), be.devices.supports("nn.softmax", "int32")
        (True, False)
        >>> be.devices.supports("sub")
        Traceback (most recent call last):
        ...
        stator.errors.InvalidValueError: Backend.devices.supports: There is no op 'sub'. Name subtract.
        """
        from stator.hardware import operations

        return operations.supports(self._backend, op, dtype, **parameters)

    def available_ops(self) -> tuple[str, ...]:
        """The names of the ops that the backend can run, in the order of the op table."""
        from stator.hardware import operations

        return operations.available_ops(self._backend)

    def operation_capabilities(self, op: str) -> dict[str, Any] | None:
        """Dtypes, parameters, accuracy and cost of an op, by the op table; None for an unknown one.

        >>> be.devices.operation_capabilities("sort")["capturable"]
        True
        """
        from stator.hardware import operations

        return operations.operation_capabilities(self._backend, op)

    def operations(self) -> OperationsBundle:
        """The groups fft, convolution, rnn, sparse and quantization.

        Each has the names of its ops, and their functions as attributes.

        >>> "rfft" in be.devices.operations().fft
        True
        """
        from stator.hardware import operations

        return operations.operations_bundle(self._backend)
