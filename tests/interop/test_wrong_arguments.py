"""Arguments of a wrong type raise stator's typed errors, which name the function; no bare TypeError gets out."""

import contextlib
import functools
import inspect
import math
import tempfile
from pathlib import Path

import calls
import numpy as np
import pytest

import stator
from stator._accessor import Accessor
from stator._catalogue.given import table
from stator.backends.traits import BackendAdapter, adapt
from stator.errors import DTypeError, StatorError
from stator.memory import BufferDescriptor
from stator.monitor import ResourceLimits

NAMESPACES = ("", "errors", "fft", "linalg", "memory", "nn", "random", "sparse", "special", "testing")
# What closes what the tests use, and the classes that tests/memory tries.
LEFT_OUT = {
    "set_hook",
    "shutdown",
    "AccessHints",
    "BufferArena",
    "BufferDescriptor",
    "DeviceAllocator",
    "MigrationStatistics",
    "TorchAllocator",
    "UnifiedAllocation",
}
FOLDER = tempfile.TemporaryDirectory()


class Several(tuple):
    """What a parameter *args takes in a valid call."""


def callables():
    """Every public function and class by its dotted name, without the prefix stator."""
    found = {}
    for prefix in NAMESPACES:
        module = getattr(stator, prefix) if prefix else stator
        for name in module.__all__:
            value = getattr(module, name)
            results = isinstance(value, type) and issubclass(value, (tuple, BaseException))
            if not callable(value) or results or name in LEFT_OUT or value in found.values():
                continue
            full = f"{prefix}.{name}" if prefix else name
            found[full] = value
            for member in dir(value) if isinstance(value, type) else ():
                method = getattr(value, member)
                if member[0] != "_" and callable(method) and not is_accessor(method) and method not in found.values():
                    found[f"{full}.{member}"] = method
    classes = {f"Backend.{n}": v for n in dir(stator.Backend) if is_accessor(v := getattr(stator.Backend, n))}
    for full, kind in {**classes, "BackendAdapter": BackendAdapter}.items():
        found |= {f"{full}.{n}": f for n, f in vars(kind).items() if n[0] != "_" and inspect.isfunction(f)}
    return found


def accessors(be):
    """What a backend's services do, by the names of its attributes."""
    return {name: getattr(be, name) for name in dir(type(be)) if is_accessor(getattr(type(be), name))}


def is_accessor(value):
    return isinstance(value, type) and issubclass(value, Accessor)


def parameters(function):
    return [p for p in inspect.signature(function).parameters.values() if p.name != "self"]


def a_graph(be):
    with be.capture() as graph:
        pass
    return graph


@functools.cache
def a_file():
    """A graph in a file, which is deleted when the process ends."""
    path = Path(FOLDER.name) / "saved.graph"
    with stator.Backend("cpu") as be:
        be.graph(lambda x: x + 1).save(path, be.ones(3))
    return path


@functools.cache
def a_configuration():
    """A TOML file, which is deleted when the process ends."""
    path = Path(FOLDER.name) / "stator.toml"
    path.write_text("[backend]\n")
    return path


def pooling(be):
    """What pooling over one axis and three takes; the op table has that over two."""
    found = {}
    for spatial in (1, 3):
        x, y = (be.ones((1, 4, *[n] * spatial), dtype="float32") for n in (4, 2))
        at = be.zeros(y.shape, dtype="int64")
        for name in ("max_pool", "avg_pool", "lp_pool", "adaptive_avg_pool", "adaptive_max_pool"):
            back = f"{name}{spatial}d_backward"
            found |= {f"x:{name}{spatial}d": x, f"x:{back}": x, f"grad:{back}": y, f"indices:{back}": at}
        unpool = f"max_unpool{spatial}d"
        found |= {f"x:{unpool}": y, f"indices:{unpool}": at, f"grad:{unpool}_backward": x}
        found |= {f"indices:{unpool}_backward": at, f"y:lp_pool{spatial}d_backward": y}
    return found


def arguments(be):
    """What a parameter takes: by its name, or by "function:name" where the function has another parameter."""
    m = be.asarray(np.eye(4) * 3 + 0.25)
    v, i, b = be.asarray([0.5, 0.25, 1.0, 0.75]), be.asarray([0, 1, 2, 3]), m > 1
    s = stator.sparse.csr_from_dense(m)
    m32 = stator.astype(m, "float32")
    shared = {
        **dict.fromkeys(("x", "b", "obj", "values"), m),
        **dict.fromkeys(("index", "indices"), i),
        **dict.fromkeys(("n", "n_children", "nbytes", "repeats", "kernel_size", "output_size", "norm_type"), 2),
        **dict.fromkeys(("kth", "seed", "fill_value", "value"), 1),
        **dict.fromkeys(("dtype", "from_", "to", "type"), "float64"),
        **{"shape": (4, 4), "mask": b, "shapes": (4, 1), "dtypes": "float32", "low": 4, "pvals": [0.5, 0.5]},
        **{"device": "cpu", "backend": be, "hold": False, "kind": "cpu", "text": "cpu"},
        "state": be.random.get_state(),
    }
    special = {
        "kind:isdtype": "bool",
        "limit:set_cache_limit": stator.fft.cache_info().limit,
        "limit:set_matmul_cache_limit": stator.linalg.matmul_cache_info().limit,
        "value:dtype": "int8",
        "type:iinfo": "int8",
        "start:arange": 0,
        "condition:compress": b[0],
        **pooling(be),
        **{f"self:nn.{name}": getattr(stator.nn, name)() for name in ("MinMaxObserver", "HistogramObserver")},
        "a:choice": 4,
        "shape:gamma": 2.0,
        "a:sparse": s,
        "x:sparse": m,
        "matrix:sparse.from_scipy": s.to_scipy(),
        "A:sparse": s,
        "b:cg": v,
        "b:spsolve": v,
        "m:eye": 3,
        "data:with_data": s.data,
        **{"stream:stream": 0, "stream:Backend.streams.external": be.stream(0), "count:Backend.streams.pool": 1},
        "function:add_callback": dict,
        **{"host:Array.copy_from": b"", "host:Array.copy_to": bytearray()},
        **{"ranges:write_ranges": [(m, 0, b"")], "ranges:read_ranges": [(m, 0, bytearray())]},
        **{"src:copy_buffer": m, "src_offset:copy_buffer": 0, "dst:copy_buffer": m, "dst_offset:copy_buffer": 8},
        **{
            "size:copy_buffer": 8,
            "size:create_arena": 64,
            "path:Backend.memory.timeline": Path(FOLDER.name) / "memory.html",
        },
        **{"parent:create_sub_buffer": m, "offset:create_sub_buffer": 0},
        "descriptor:create_sub_buffer": BufferDescriptor(8),
        **{"self:memory.PoolAllocator": stator.memory.PoolAllocator(be), "address:deallocate": 0},
        "array:register_host": np.zeros(4),
        **{"source:compile": "", "name:compile": "f"},  # refused on the cpu, after its arguments were checked
        **{"descriptor:create_kernel": stator.programs.KernelDescriptor("f", ""), "kernel:execute_kernel": None},
        **{"buffers:execute_kernel": [], "uniform_data:execute_kernel": b""},
        **{"workgroup_size:execute_kernel": (1,), "workgroup_count:execute_kernel": (1,)},
        **{"kernel:Backend.programs.suggest_cooperative": None, "elements:Backend.programs.suggest_cooperative": 4},
        **{"kernel:Backend.programs.launch_cooperative": None, "config:Backend.programs.launch_cooperative": (1, 32)},
        "launched:Backend.programs.finish_cooperative": 1,
        **{"kernel:batched": lambda x, *rest: None, "problems:batched": [m], "args:batched": Several()},
        "capacity:diagnostics": 4,
        **{"kernel:work_queue": print, "capacity:work_queue": 4, "args:work_queue": Several(), "item:work_queue": "i4"},
        **{"graph:launch_graph": a_graph(be), "key:Backend.graphs.get_or_create": "key"},
        **{"creator:Backend.graphs.get_or_create": lambda: a_graph(be), "function:graph": lambda x: x},
        "path:Backend.graphs.load": a_file(),
        **{"a:elementwise_add_f32_graph": m32, "b:elementwise_add_f32_graph": m32},
        **{"a:matmul_f32_graph": m32, "b:matmul_f32_graph": m32},
        **{"cond:while_loop": lambda x: stator.max(x) < 1, "body:while_loop": lambda x: x + 1, "carry:while_loop": m},
        **{"condition:Backend.graphs.cond": b[0, 0], "then:cond": lambda *rest: m, "otherwise:cond": lambda *rest: -m},
        "operands:Backend.graphs.cond": Several((m,)),
        **{"path:profile": "trace.json", "mode:sync_debug": None},
        **{"factory:Backend.scopes.create_resource": lambda device: [], "cleanup:Backend.scopes.create_resource": list},
        **dict.fromkeys(("descriptor:create_buffer", "descriptor:create_scoped_buffer"), BufferDescriptor(64)),
        **{
            f"error:{name}": ValueError("of another library") for name in ("handle_error", "convert_error", "log_error")
        },
        **{"error:recovery_suggestions": MemoryError(), "text:error_context": "text"},
        **{"context:handle_error": "text", "context:log_error": "text"},
        **{
            f"memory:{name}": be.memory.managed(3)
            for name in ("prefetch_to_device", "prefetch_to_host", "Backend.memory.advise")
        },
        **{"advice:Backend.memory.advise": "read_mostly", "x:memory.host_view": be.memory.managed(3)},
        **{"size:allocate_unified": 64, "allocation:deallocate_unified": be.memory.allocate_unified(64)},
        **dict.fromkeys(("callback:Backend.memory.set_failure_callback", "callback:set_spill_callback")),
        **{"callback:on_memory_pressure": print, "limits:set_resource_limits": ResourceLimits()},
        **{"self:BackendConfig": stator.BackendConfig(), "other:BackendConfig.merge": stator.BackendConfig()},
        **{"values:BackendConfig.from_dict": {}, "properties:from_properties": {}, "path:from_toml": a_configuration()},
        **{"self:BackendBuilder": stator.BackendBuilder(), "config:with_config": stator.BackendConfig()},
        **dict.fromkeys(("op:supports", "op:supports_op", "op:operation_capabilities"), "add"),
        **{"index:is_device_available": 0, "index:create_device": 0, "kind:parse": "cpu"},
        **dict.fromkeys(("device_type:get_devices_by_type", "device_type:is_device_type_available"), "cpu"),
        **{"self:DeviceRequirements": stator.DeviceRequirements(), "device:DeviceRequirements": be.devices.info()},
        "event:wait": be.stream(0).record(),
        "earlier:milliseconds_since": be.stream(0).record(),
        "shape:Array.reshape": 4,
        "axes:Array.transpose": Several((1, 0)),
        **{"self:Array.choose": i * 0, "choices:Array.choose": [1.0, 2.0]},
        "args:Array.item": Several((1, 2)),
        "self:Array.searchsorted": v,
        "v:Array.searchsorted": v,
        "axis1:Array": 0,
        "axis2:Array": 1,
        "self:Array": m,
        **{"self:Backend": be, "self:BackendAdapter": adapt(be)},
        **{f"self:Backend.{name}": value for name, value in accessors(be).items()},
        "self:Event": be.stream(0).record(),
        "self:Stream": be.stream(0),
        "self:random.Generator": be.random,
        "self:sparse.COO": s.to_coo(),
        "self:sparse.CSC": s.to_csc(),
        "self:sparse.CSR": s,
        "data:sparse": s.data,
        "indices:sparse": s.indices,
        "indptr:sparse": s.indptr,
        "row:sparse": s.to_coo().row,
        "col:sparse": s.to_coo().col,
    }
    return shared, special


# The ops of the catalogue by their functions.
OPS = {row["call"]: name for name, row in reversed(table().items())}


def call_of(name, function, be):
    """The arguments of a valid call by the parameters' names: of an op the catalogue's, else the required ones."""
    if name in OPS:
        made = calls.call(be, OPS[name])
        signature = inspect.signature(function)
        bound = signature.bind(*made.args, **made.keywords).arguments
        rest = [p.name for p in signature.parameters.values() if p.kind is p.VAR_POSITIONAL]
        return {key: Several(value) if key in rest else value for key, value in bound.items()}
    shared, special = arguments(be)
    short, prefix = name.rpartition(".")[2], name.partition(".")[0]
    found = {}
    for p in inspect.signature(function).parameters.values():
        needed = f"{p.name}:{name}" in special  # although it has a default
        if needed or (p.default is p.empty and p.kind is not p.VAR_KEYWORD):
            places = (name, short, short.split("_")[0], name.rpartition(".")[0], prefix)
            keys = [f"{p.name}:{place}" for place in places]
            found[p.name] = next((special[k] for k in keys if k in special), shared.get(p.name))
    return found


def invoke(function, values):
    positional, named = [], {}
    for p in inspect.signature(function).parameters.values():
        if p.name in values:
            if p.kind is p.VAR_POSITIONAL:
                given = values[p.name]
                positional += given if isinstance(given, Several) else [given, given]
            elif p.kind in (p.KEYWORD_ONLY, p.VAR_KEYWORD):
                named[p.name] = values[p.name]
            else:
                positional.append(values[p.name])
        elif p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            positional.append(p.default)
    return function(*positional, **named)


def wrong_values(be):
    return {
        "str": "nope",
        "text beyond ASCII": "é\ud800",
        "list": ["a"],
        "dict": {"a": 1},
        "module": math,
        "None": None,
        "object": object(),
        "float": 1.5,
        "complex": 1j,
        "huge": 2**70,
        "beyond floats": 10**400,
        "nan": math.nan,
        "Array": be.zeros((2, 3)),
        "NumPy array": np.zeros((2, 3)),
        "bytes": b"bytes",
        "NumPy text": np.str_("nope"),
        "type": dict,
    }


def is_good(error, name, parameter):
    """Whether the text consists of sentences and names the function, or what it is made of (matmul of matmul_2to4).

    That a number, a flag or a string is of a wrong type is reported with the parameter's name, except of an operand.
    """
    short = name.rpartition(".")[2]
    if any(text[:1].islower() for text in (error.cause, error.remedy)):
        return False
    operand = error.cause.startswith(("Expected an Array", "A complex number", "Got a complex number", "Got operands"))
    if isinstance(error, DTypeError) and isinstance(parameter.default, (bool, int, float, str)) and not operand:
        return parameter.name in error.cause
    return short in error.op or short.startswith(error.op.rpartition(".")[2])


def end_capture(be):
    """begin_capture() leaves a capture, in which other calls would be refused."""
    if be.graphs.is_capturing:
        be.graphs.end_capture()
    be.graphs.clear_cache()


FUNCTIONS = callables()
FUNCTIONS.pop("BackendType")  # to call an enumeration is Python's own; its method parse is not
# Their valid call would change what other tests see.
ON_CUDA = {
    "Backend.compile",
    "Backend.programs.create_kernel",
    "BackendAdapter.execute_kernel",
    "memory.allocator_library",
} | {f"Backend.programs.{n}_cooperative" for n in ("suggest", "launch", "finish")}
NOT_CALLED = (
    {"random.seed", "set_default_backend", "Backend", "memory.PoolAllocator.allocate"}
    | ON_CUDA
    | {n for n in FUNCTIONS if n.startswith("testing.")}
)


@pytest.mark.parametrize("name", [n for n, f in FUNCTIONS.items() if parameters(f)])
def test_wrong_arguments_raise_typed_errors(cpu, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some take the path of a file to write, and any text is one
    function, bad = FUNCTIONS[name], []
    valid = call_of(name, function, cpu)
    if name not in NOT_CALLED:
        invoke(function, valid)
        end_capture(cpu)
        cpu.synchronize()
    for parameter in parameters(function):
        for kind, value in wrong_values(cpu).items():
            if kind == "type" and parameter.name == "factory":
                continue  # a class makes resources, and what it raises is its own
            try:
                invoke(function, {**valid, parameter.name: value})
            except StatorError as error:
                if not is_good(error, name, parameter):
                    bad.append((parameter.name, kind, str(error)))
            except Exception as error:
                bad.append((parameter.name, kind, repr(error)))
            end_capture(cpu)
        with contextlib.suppress(StatorError):
            cpu.synchronize()  # indices out of range among the wrong values
    for set_callback in (cpu.memory.set_failure_callback, cpu.memory.set_spill_callback):
        set_callback(None)  # to which a class is a function too
    assert bad == []
