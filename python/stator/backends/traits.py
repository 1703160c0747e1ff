"""The methods of the traits of backends that Rust libraries define, by their names, on a Backend of stator.

tests/coverage/traits.tsv lists the traits. A method is documented where its path leads.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from stator._array import Array
from stator._device import Device, is_available
from stator.backend import Backend
from stator.errors import (
    BackendClosedError,
    BackendMismatchError,
    DeviceUnavailableError,
    DTypeError,
    StatorError,
    convert_error,
    renamed,
)
from stator.graphs import Graph
from stator.graphs.graphs import GraphFunction
from stator.hardware import BackendType, DeviceInfo, get_devices_by_type
from stator.hardware.operations import OperationGroup, group
from stator.programs.programs import uniform_values

if TYPE_CHECKING:
    from stator._typing import StreamLike
    from stator.programs import Kernel

__all__ = ["BackendAdapter", "adapt"]


def __dir__() -> list[str]:
    return [*__all__]


class _Path:
    """An attribute that is found on the backend by a path, such as "memory.create_buffer".

    Errors of a method have the adapter's name for it.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.__doc__ = f"Backend.{path}."

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, adapter: BackendAdapter | None, owner: type) -> Any:
        if adapter is None:
            return self
        found = operator.attrgetter(self.path)(adapter.backend)
        if not callable(found):
            return found

        @functools.wraps(found)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return found(*args, **kwargs)
            except StatorError as error:
                if error.op != f"Backend.{self.path}":  # of what the method called
                    raise
                raise renamed(error, f"BackendAdapter.{self.name}") from None

        return call


class BackendAdapter:
    """The traits of backends, made by adapt(). It keeps the backend alive."""

    def __init__(self, backend: Backend) -> None:
        if not isinstance(backend, Backend):
            raise DTypeError(
                f"Got backend of type {type(backend).__name__}", op="backends.traits.adapt", remedy="Give a Backend."
            )
        self.backend = backend
        self._add: GraphFunction[..., Array] = GraphFunction(operator.add, backend, 64, None)
        self._matmul: GraphFunction[..., Array] = GraphFunction(operator.matmul, backend, 64, None)

    # BackendCore and BackendDeviceManager
    name = _Path("device_name")
    capabilities = _Path("devices.capabilities")
    performance_hints = _Path("devices.performance_hints")
    default_device = _Path("devices.info")

    def device_type(self) -> BackendType:
        """The type of the backend's device: BackendType.CPU or BackendType.CUDA."""
        return BackendType.parse(self.backend.device.type)

    def is_available(self) -> bool:
        """Whether a backend can be opened for the device. Creates no context."""
        return is_available(str(self.backend.device))

    def devices(self) -> tuple[DeviceInfo, ...]:
        """The devices of the backend's type, as stator.devices() describes them. Creates no context."""
        return tuple(each for each in get_devices_by_type(self.device_type()) if each.provider == "stator")

    def create_device(self, index: int) -> Backend:
        """A new backend on the device of the index and the backend's type. DeviceUnavailableError if there is none."""
        op = "BackendAdapter.create_device"
        kind = self.backend.device.type
        try:
            found = self.is_device_available(index)
        except DTypeError as error:
            raise renamed(error, op) from None
        if not found:
            raise DeviceUnavailableError(
                f"The device {kind}:{index} does not exist, the number of devices is {self.device_count()}",
                op=op,
                remedy="Use a lower index, or check CUDA_VISIBLE_DEVICES." if kind == "cuda" else "Use index 0.",
            )
        return Backend(kind if kind == "cpu" else Device(kind, index))

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
                op="BackendAdapter.is_device_available",
                remedy="Give the number of a device, at least 0.",
            ) from None
        return any(each.index == wanted for each in self.devices())

    # BackendOps and BackendOperations
    backend_type = device_type
    available_ops = _Path("devices.available_ops")
    operation_capabilities = _Path("devices.operation_capabilities")
    operations_bundle = _Path("devices.operations")

    def supports_op(self, op: str) -> bool:
        """Whether the backend can run an op, by its name in the op table; False for a name that no op has."""
        try:
            found = self.backend.devices.operation_capabilities(op)
        except DTypeError as error:
            raise renamed(error, "BackendAdapter.supports_op") from None
        return found is not None and found["supported"]

    def fft_ops(self) -> OperationGroup:
        """The Fourier transforms that the backend can run."""
        return group(self.backend, "fft")

    def convolution_ops(self) -> OperationGroup:
        """The convolutions that the backend can run."""
        return group(self.backend, "convolution")

    def rnn_ops(self) -> OperationGroup:
        """The recurrent layers that the backend can run."""
        return group(self.backend, "rnn")

    def sparse_ops(self) -> OperationGroup:
        """The ops of sparse matrices that the backend can run."""
        return group(self.backend, "sparse")

    def quantization_ops(self) -> OperationGroup:
        """The ops of quantisation that the backend can run."""
        return group(self.backend, "quantization")

    def supports_fft(self) -> bool:
        """Whether the backend can run all Fourier transforms of the op table."""
        return self.fft_ops().supported

    def supports_convolution(self) -> bool:
        """Whether the backend can run all convolutions of the op table."""
        return self.convolution_ops().supported

    def supports_rnn(self) -> bool:
        """Whether the backend can run all recurrent layers of the op table."""
        return self.rnn_ops().supported

    def supports_sparse(self) -> bool:
        """Whether the backend can run all ops of sparse matrices of the op table."""
        return self.sparse_ops().supported

    def supports_quantization(self) -> bool:
        """Whether the backend can run all ops of quantisation of the op table."""
        return self.quantization_ops().supported

    # BackendLifecycle
    shutdown = _Path("close")

    def initialize(self) -> None:
        """Nothing for an open backend, since the constructor opens it; BackendClosedError for a closed one."""
        if self.backend.closed:
            raise BackendClosedError(
                "The backend is closed",
                op="BackendAdapter.initialize",
                remedy="Call Backend.reopen(), which gives a new one like it.",
            )

    def is_initialized(self) -> bool:
        """Whether the backend is open."""
        return not self.backend.closed

    # BackendResourceManager and BackendAdvancedResourceManager
    create_buffer = _Path("memory.create_buffer")
    create_scoped_buffer = _Path("memory.create_scoped_buffer")
    create_kernel = _Path("programs.create_kernel")
    create_resource_with_cleanup = _Path("scopes.create_resource")
    memory_manager = _Path("memory")
    profiler = _Path("telemetry.profile")

    # BackendErrorHandler
    def handle_error(self, error: Exception, context: str) -> StatorError:
        """The exception as one of stator's, as convert_error() gives it, with the context and the device as a note."""
        changed = self._converted(error, "handle_error")
        changed.add_note(self._note(context, "handle_error"))
        return changed

    def convert_error(self, error: Exception) -> StatorError:
        """stator.errors.convert_error."""
        return self._converted(error, "convert_error")

    def recovery_suggestions(self, error: Exception) -> list[str]:
        """What may help, most promising first, also for errors of other libraries."""
        return self._converted(error, "recovery_suggestions").recovery_suggestions()

    def log_error(self, error: Exception, context: str, *, level: int | None = None) -> None:
        """stator.errors.log_error, with the device after the context."""
        from stator._recovery.context import log

        log(error, self._note(context, "log_error"), level, "BackendAdapter.log_error")

    def _converted(self, error: Exception, method: str) -> StatorError:
        try:
            return convert_error(error)
        except DTypeError as wrong:
            raise renamed(wrong, f"BackendAdapter.{method}") from None

    def _note(self, context: object, method: str) -> str:
        from stator._recovery.context import noted

        return noted(context, self.backend.device_name, f"BackendAdapter.{method}", "context")

    # BackendResourceMonitor
    resource_usage = _Path("telemetry.resource_usage")
    resource_statistics = _Path("telemetry.resource_statistics")
    resource_limits = _Path("telemetry.resource_limits")
    set_resource_limits = _Path("telemetry.set_resource_limits")
    enable_monitoring = _Path("telemetry.enable_monitoring")
    disable_monitoring = _Path("telemetry.disable_monitoring")

    def is_monitoring_enabled(self) -> bool:
        """Whether the thread of enable_monitoring() runs."""
        return self.backend.telemetry.is_monitoring_enabled

    def cleanup_resources(self) -> int:
        """Releases cached memory and cached programs that are not in use; returns the bytes of memory released."""
        before: int = self.backend.memory.stats()["cached_bytes"]
        self.backend.programs.clear_cache()
        self.backend.memory.empty_cache()
        after: int = self.backend.memory.stats()["cached_bytes"]
        return max(0, before - after)

    # CudaBackend and ResourceTracker
    allocate_unified = _Path("memory.allocate_unified")
    deallocate_unified = _Path("memory.deallocate_unified")
    prefetch_to_device = _Path("memory.prefetch_to_device")
    prefetch_to_host = _Path("memory.prefetch_to_host")
    set_memory_advice = _Path("memory.advise")
    supports_unified_memory = _Path("memory.supports_unified")
    begin_graph_capture = _Path("graphs.begin_capture")
    end_graph_capture = _Path("graphs.end_capture")
    get_or_create_graph = _Path("graphs.get_or_create")
    is_cooperative_groups_supported = _Path("programs.supports_cooperative")
    suggest_cooperative_config = _Path("programs.suggest_cooperative")
    launch_cooperative_kernel = _Path("programs.launch_cooperative")
    finish_cooperative_kernel = _Path("programs.finish_cooperative")

    def is_capturing_graph(self) -> bool:
        """Whether the current stream is being captured."""
        return self.backend.graphs.is_capturing

    def launch_graph(self, graph: Graph, stream: StreamLike | None = None) -> None:
        """Graph.launch."""
        op = "BackendAdapter.launch_graph"
        if not isinstance(graph, Graph):
            raise DTypeError(
                f"Got graph of type {type(graph).__name__}", op=op, remedy="Take one from Backend.capture()."
            )
        if graph.backend is not self.backend:
            raise BackendMismatchError(
                "The graph belongs to another backend", op=op, remedy="Launch it with an adapter of its backend."
            )
        try:
            graph.launch(stream=stream)
        except StatorError as error:
            raise renamed(error, op) from None

    def clear_graph_cache(self) -> None:
        """Drops what get_or_create_graph() and the methods that end in _graph keep."""
        self.backend.graphs.clear_cache()
        self._add.clear_cache()
        self._matmul.clear_cache()

    def elementwise_add_f32_graph(self, a: Array, b: Array) -> Array:
        """a + b of float32 arrays, by a graph for each shape."""
        return self._of_float32("elementwise_add_f32_graph", self._add, a, b)

    def matmul_f32_graph(self, a: Array, b: Array) -> Array:
        """a @ b of float32 arrays, by a graph for each shape."""
        return self._of_float32("matmul_f32_graph", self._matmul, a, b)

    def _of_float32(self, name: str, function: Callable[..., Array], a: Array, b: Array) -> Array:
        if any(not isinstance(x, Array) or x.dtype.name != "float32" for x in (a, b)):
            raise DTypeError(
                "Operands must be arrays of float32", op=f"BackendAdapter.{name}", remedy="Convert them with astype()."
            )
        return function(a, b)

    # BackendExecutor
    synchronize = _Path("synchronize")
    copy_buffer = _Path("memory.copy_buffer")
    copy_to_device = _Path("transfers.write_ranges")
    copy_from_device = _Path("transfers.read_ranges")

    def execute_kernel(
        self,
        kernel: Kernel,
        buffers: Sequence[Array],
        uniform_data: bytes,
        workgroup_size: tuple[int, ...],
        workgroup_count: tuple[int, ...],
        *,
        stream: StreamLike | None = None,
    ) -> None:
        """Launches a kernel whose parameters are pointers, followed by the values in uniform_data.

        buffers: the arrays. uniform_data: the bytes of the other parameters, laid out as a structure in C.
        workgroup_size: threads of a block. workgroup_count: blocks. Asynchronous.
        """
        values = uniform_values(self.backend, kernel, buffers, uniform_data)
        try:
            kernel.launch(workgroup_count, workgroup_size, *buffers, *values, stream=stream)
        except StatorError as error:
            raise renamed(error, "BackendAdapter.execute_kernel") from None

    def __repr__(self) -> str:
        return f"<stator.backends.traits.BackendAdapter of {self.backend.device_name}>"


def adapt(backend: Backend) -> BackendAdapter:
    """The traits of backends on a Backend of stator, by the names that they have in Rust.

    >>> adapter = stator.backends.traits.adapt(be)
    >>> x = be.ones(2, dtype="float32")
    >>> adapter.supports_fft(), adapter.elementwise_add_f32_graph(x, x).tolist()
    (True, [2.0, 2.0])
    """
    return BackendAdapter(backend)
