"""The methods of Backend about its device and its ops. They load what they need on first use."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, cast

from stator.errors import DTypeError, require_open

if TYPE_CHECKING:
    from stator._typing import DTypeLike
    from stator.backend import Backend
    from stator.hardware import (
        BackendType,
        Capabilities,
        DeviceInfo,
        Measurements,
        OperationGroup,
        OperationsBundle,
        PerformanceHints,
    )


def _group(backend: Backend, name: str) -> OperationGroup:
    from stator.hardware import operations

    return operations.group(backend, name)


class BackendDevices:
    """A base class of Backend."""

    def _itself(self) -> Backend:
        return cast("Backend", self)

    def backend_type(self) -> BackendType:
        """The type of the backend's device: BackendType.CPU or BackendType.CUDA."""
        from stator.hardware import BackendType

        return BackendType.parse(self._itself().device.type)

    def is_available(self) -> bool:
        """Whether a backend can be opened for the device. Creates no context."""
        from stator.backend import is_available

        return is_available(str(self._itself().device))

    def devices(self) -> tuple[DeviceInfo, ...]:
        """The devices of the backend's type, as stator.devices() describes them. Creates no context."""
        from stator.hardware import get_devices_by_type

        return tuple(each for each in get_devices_by_type(self.backend_type()) if each.provider == "stator")

    def default_device(self) -> DeviceInfo:
        """The backend's own device, as device_info()."""
        return self.device_info()

    def device_count(self) -> int:
        """The number of devices of the backend's type."""
        return len(self.devices())

    def is_device_available(self, index: int) -> bool:
        """Whether the backend's type has a device of the index. DTypeError for what is not an integer."""
        try:
            wanted = operator.index(index)
        except TypeError:
            raise DTypeError(
                f"Got index of type {type(index).__name__}",
                op="Backend.is_device_available",
                remedy="Give the number of a device, at least 0.",
            ) from None
        return any(each.index == wanted for each in self.devices())

    def device_info(self) -> DeviceInfo:
        """The device as stator.devices() describes it: vendor, name, versions, memory in bytes, peaks.

        Does not synchronise. `info()` is a shorter dict.
        """
        from stator.hardware import cuda, host

        device = self._itself().device
        return host.info() if device.type == "cpu" else cuda.info(device.index)

    def capabilities(self, *, measure: bool = False) -> Capabilities:
        """What the device can do; what cannot be known is None.

        measure: also measures the latency and the bandwidth of memory, which takes up to a second and synchronises.

        >>> be.capabilities().max_tensor_dims
        32
        """
        from stator.hardware import capabilities_of
        from stator.programs._arguments import flag

        found = capabilities_of(self._itself().device)
        if not flag(measure, "Backend.capabilities", "measure"):
            return found
        from stator.hardware.measure import with_measurements

        return with_measurements(found, self.measure())

    def measure(self) -> Measurements:
        """Bandwidth and latency of the device's memory. Takes up to a second, and synchronises.

        On an emulated device, which has no time of its own, all of it is None.
        """
        from stator.hardware import capabilities_of
        from stator.hardware.measure import measure

        require_open(self._itself(), "Backend.measure")
        return measure(self._itself(), capabilities_of(self._itself().device))

    def performance_hints(self) -> PerformanceHints:
        """Sizes of workgroups and batches, alignment and preferences, derived from the capabilities.

        >>> be.performance_hints().prefer_vectorized
        True
        """
        from stator.hardware.hints import derive

        return derive(self.capabilities())

    def supports(self, op: str, dtype: DTypeLike | None = None, **parameters: Any) -> bool:
        """Whether the backend can run an op of the op table; False for a name that is not there.

        op: the name of an entry ("softmax") or of a call ("nn.softmax"). dtype: of the operands. parameters: names of
        the function's parameters, which must exist; shape=, which must fit the device's memory; and asynchronous=,
        capturable=, deterministic= and bit_exact=True for what the op must be. Where a vendor library that the op needs
        is missing, and nothing stands in for it, it is False.
        Raises: DTypeError for an unknown dtype, InvalidValueError for a negative shape.

        >>> be.supports("nn.softmax", "float32", axis=1), be.supports("nn.softmax", "int32")
        (True, False)
        """
        from stator.hardware import operations

        return operations.supports(self._itself(), op, dtype, **parameters)

    def supports_op(self, op: str) -> bool:
        """As supports(op)."""
        return self.supports(op)

    def available_ops(self) -> tuple[str, ...]:
        """The names of the ops that the backend can run, in the order of the op table."""
        from stator.hardware import operations

        return operations.available_ops(self._itself())

    def operation_capabilities(self, op: str) -> dict[str, Any] | None:
        """Dtypes, parameters, accuracy and cost of an op, by the op table; None for an unknown one.

        >>> be.operation_capabilities("sort")["capturable"]
        True
        """
        from stator.hardware import operations

        return operations.operation_capabilities(self._itself(), op)

    def operations_bundle(self) -> OperationsBundle:
        """The groups fft, convolution, rnn, sparse and quantization.

        Each has the names of its ops, and their functions as attributes.

        >>> "rfft" in be.operations_bundle().fft
        True
        """
        from stator.hardware import operations

        return operations.operations_bundle(self._itself())

    def fft_ops(self) -> OperationGroup:
        """The Fourier transforms that the backend can run, as operations_bundle().fft."""
        return _group(self._itself(), "fft")

    def convolution_ops(self) -> OperationGroup:
        """The convolutions that the backend can run, as operations_bundle().convolution."""
        return _group(self._itself(), "convolution")

    def rnn_ops(self) -> OperationGroup:
        """The recurrent layers that the backend can run, as operations_bundle().rnn."""
        return _group(self._itself(), "rnn")

    def sparse_ops(self) -> OperationGroup:
        """The ops of sparse matrices that the backend can run, as operations_bundle().sparse."""
        return _group(self._itself(), "sparse")

    def quantization_ops(self) -> OperationGroup:
        """The ops of quantisation that the backend can run, as operations_bundle().quantization."""
        return _group(self._itself(), "quantization")

    def supports_fft(self) -> bool:
        """Whether all Fourier transforms of the op table can be run."""
        return _group(self._itself(), "fft").supported

    def supports_convolution(self) -> bool:
        """Whether all convolutions of the op table can be run."""
        return _group(self._itself(), "convolution").supported

    def supports_rnn(self) -> bool:
        """Whether all recurrent layers of the op table can be run."""
        return _group(self._itself(), "rnn").supported

    def supports_sparse(self) -> bool:
        """Whether all ops of sparse matrices of the op table can be run."""
        return _group(self._itself(), "sparse").supported

    def supports_quantization(self) -> bool:
        """Whether all ops of quantisation of the op table can be run."""
        return _group(self._itself(), "quantization").supported
