"""Arguments of a wrong type raise stator's typed errors, which name the function; no bare TypeError gets out."""

import contextlib
import functools
import inspect
import math
import tempfile
from pathlib import Path

import numpy as np
import pytest

import stator
from stator.errors import DTypeError, StatorError
from stator.memory import BufferDescriptor
from stator.monitor import ResourceLimits

NAMESPACES = ("", "fft", "linalg", "memory", "nn", "random", "sparse", "special", "testing")
# What closes what the tests use, and the classes that tests/memory tries.
LEFT_OUT = {
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
                if not member.startswith("_") and callable(method) and method not in found.values():
                    found[f"{full}.{member}"] = method
    return found


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


LOSSES = (
    "mse_loss",
    "l1_loss",
    "huber_loss",
    "smooth_l1_loss",
    "binary_cross_entropy_with_logits",
    "kl_div",
    "nll_loss",
)


def convolutions(be):
    """x and grad of one element, and a weight of one, for each number of axes."""
    found = {"x:unfold": be.ones((1, 1, 2, 2)), "x:fold": be.ones((1, 4, 9)), "kernel_size:unfold": 2}
    for axes in (1, 2, 3):
        one = be.ones((1,) * (axes + 2))
        names = [f"conv{form}{axes}d{end}" for form in ("", "_transpose") for end in ("", "_backward")]
        found |= {f"{operand}:{name}": one for name in names for operand in ("grad", "x", "weight")}
    return found | {"output_size:fold": 4, "kernel_size:fold": 2}


def pooling(be):
    """What pooling and resampling take, of 1 to 3 spatial axes."""
    found = {}
    for spatial in (1, 2, 3):
        x, y = (be.ones((1, 4, *[n] * spatial), dtype="float32") for n in (4, 2))
        at = be.zeros(y.shape, dtype="int64")
        for name in ("max_pool", "avg_pool", "lp_pool", "adaptive_avg_pool", "adaptive_max_pool", "max_unpool"):
            call, back = f"{name}{spatial}d", f"{name}{spatial}d_backward"
            found |= {f"x:{call}": y if name == "max_unpool" else x, f"x:{back}": x, f"y:{back}": y}
            found |= {f"grad:{back}": x if name == "max_unpool" else y}
            found |= {f"indices:{call}": at, f"indices:{back}": at}
    image, grid = be.ones((1, 4, 4, 4), dtype="float32"), be.zeros((1, 2, 2, 2), dtype="float32")
    for name in ("interpolate", "pixel_shuffle", "pixel_unshuffle", "grid_sample"):
        found |= {f"x:{name}": image, f"x:{name}_backward": image, f"grad:{name}_backward": image[:, :, :2, :2]}
    for form in ("", "_backward"):
        found |= {f"size:nn.interpolate{form}": 2, f"grid:grid_sample{form}": grid}
    return found


def recurrent(be):
    """What recurrent layers, their cells and steps take: two rows, one input and one unit."""
    found, x, state = {}, be.ones((3, 2, 1)), be.ones((2, 1))
    for name, gates, saved in (("rnn", 1, 1), ("gru", 3, 5), ("lstm", 4, 4)):
        weights = [be.ones((gates, 1)), be.ones((gates, 1)), be.ones((gates,)), be.ones((gates,))]
        y, last, workspace = getattr(stator.nn, name)(x, None, weights, return_workspace=True)
        for call in (f"nn.{name}", f"{name}_backward"):
            found |= {f"x:{call}": x, f"hx:{call}": last, f"weights:{call}": weights, f"workspace:{call}": workspace}
        found |= {f"grad:{name}_backward": y, f"grad_hx:{name}_backward": last}
        step, cell = f"{name}_pointwise", f"{name}_cell"
        for gate in ("input_gates", "hidden_gates"):
            found[f"{gate}:{step}"] = be.ones((2, gates))
        found |= {f"hx:{step}": state, f"cx:{step}": state, f"cx:{step}_backward": state, f"h:{step}_backward": state}
        found |= {f"{grad}:{step}_backward": state for grad in ("grad", "grad_h", "grad_c")}
        found |= {f"workspace:{step}_backward": be.ones((2, saved)), f"x:{cell}": state}
        found |= {f"hx:{cell}": (state, state) if name == "lstm" else state}
        found |= {f"weight_ih:{cell}": weights[0], f"weight_hh:{cell}": weights[1]}
    return found


def quantization(be):
    """What quantisation takes: bytes, ranges and groups of four bits."""
    q, one = be.ones((4, 4), dtype="int8"), be.ones((), dtype="float32")
    counts, wide = be.ones((8,), dtype="float32"), be.ones((2, 32), dtype="float32")
    found = {f"{what}:nn.{name}": 1 for what in ("quant_min",) for name in ("fake_quantize", "fake_quantize_backward")}
    found |= {f"quant_max:nn.{name}": 9 for name in ("fake_quantize", "fake_quantize_backward")}
    found |= {f"scale:nn.{n}": 0.5 for n in ("quantize", "dequantize", "fake_quantize", "fake_quantize_backward")}
    found |= {f"zero_point:nn.{n}": 1 for n in ("fake_quantize", "fake_quantize_backward")}
    found |= {f"{operand}:quantized": q for operand in ("a", "b", "x", "weight")}
    for axes in (1, 2, 3):
        image = stator.reshape(q, (1,) * axes + q.shape)
        found |= {f"{operand}:quantized_conv{axes}d": image for operand in ("x", "weight")}
    found |= {f"scale_{which}:quantized": 0.5 for which in ("a", "b", "x", "weight")}
    found |= {f"{end}:nn.{name}": one + 0 for end in ("min", "max") for name in ("observe_range", "observe_histogram")}
    found |= {f"{end}:histogram_range": one for end in ("min", "max")}
    found |= {f"histogram:{name}": counts for name in ("observe_histogram", "histogram_range")}
    groups = be.ones((3, 1), dtype="float32"), be.ones((3, 1), dtype="uint8")
    found |= {"x:int4_linear": wide, "packed:int4_linear": be.ones((3, 16), dtype="uint8")}
    found |= {"scale:int4_linear": groups[0], "zero_point:int4_linear": groups[1]}
    found |= {"weight:quantize_int4": be.ones((2, 128), dtype="float32"), "q:dequantize": q}
    observers = {f"self:nn.{name}": getattr(stator.nn, name)() for name in ("MinMaxObserver", "HistogramObserver")}
    return found | observers


def arguments(be):
    """What a parameter takes: by its name, or by "function:name" where the function has another parameter."""
    m = be.asarray(np.eye(4) * 3 + 0.25)
    v, i, b = be.asarray([0.5, 0.25, 1.0, 0.75]), be.asarray([0, 1, 2, 3]), m > 1
    s = stator.sparse.csr_from_dense(m)
    m32 = stator.astype(m, "float32")
    packed, scale = stator.nn.quantize_fp8(m)
    shared = {
        **dict.fromkeys(
            ("x", "x1", "x2", "a", "b", "data", "matrix", "logits", "log_probs", "weight", "input", "y", "q"), m
        ),
        **dict.fromkeys(("grad", "start", "end", "min", "max", "obj", "values"), m),
        **dict.fromkeys(("index", "indices", "target"), i),
        **dict.fromkeys(("mask", "condition"), b),
        **dict.fromkeys(("shape", "source_shape"), (4, 4)),
        **dict.fromkeys(("k", "n", "N", "n_children", "n_rows", "n_fft", "step", "nbytes"), 2),
        **dict.fromkeys(("axis", "source", "destination", "kth", "seed", "src", "fill_value", "value"), 1),
        **dict.fromkeys(("repeats", "shift", "pad_width", "repetitions", "indices_or_sections", "stop"), 2),
        **dict.fromkeys(("dtype", "from_", "to", "type"), "float64"),
        **dict.fromkeys(("mean", "var"), v),
        **{"kernel_size": 2, "output_size": 2, "norm_type": 2, "upscale_factor": 2, "downscale_factor": 2},
        **{"num_segments": 4, "num_groups": 2, "denom": m, "count": 4},
        **{"num_embeddings": 4, "num_classes": 4, "max_norm": 1.0},
        **{f"running_{what}": stator.copy(v) for what in ("mean", "var")},
        **dict.fromkeys(("axes", "strides"), (0, 1)),
        "arrays": [m],
        **{key: [stator.copy(m)] for key in ("params", "grads", "exp_avgs", "exp_avg_sqs")},
        **{key: [stator.copy(m)] for key in ("square_avgs", "state_sums")},
        **{"source": m, "shapes": (4, 1), "dtypes": "float32", "subscripts": "ij,jk", "operands": m},
        **{"device": "cpu", "backend": be, "hold": False, "kind": "cpu", "text": "cpu"},
        **{"scale_a": scale, "scale_b": scale, "p": 0.5, "state": be.random.get_state(), "pattern": s},
        **{"low": 4, "pvals": [0.5, 0.5], "c_and_lower": (m, True), "lu_and_piv": stator.linalg.lu_factor(m)},
    }
    special = {
        "kind:isdtype": "bool",
        "limit:set_cache_limit": stator.fft.cache_info().limit,
        "limit:set_matmul_cache_limit": stator.linalg.matmul_cache_info().limit,
        "arrays:broadcast": m,
        "arrays:meshgrid": v,
        "x:cumulative": v,
        "x:logcumsumexp": v,
        "value:dtype": "int8",
        "type:iinfo": "int8",
        **{"training:nn.batch_norm": True, "size:local_response_norm": 3, "size:local_response_norm_backward": 3},
        "x1:outer": v,
        "x2:outer": v,
        "values:put_along_axis": 1.0,
        "x:bitwise": i,
        **dict.fromkeys(("x1:gcd", "x2:gcd", "x1:lcm", "x2:lcm"), i),
        "x1:bitwise": i,
        "x2:bitwise": i,
        "indices:put_along_axis": stator.asarray([[0]] * 4, device=be),
        "indices:take_along_axis": stator.asarray([[0]] * 4, device=be),
        "index:scatter": stator.asarray([[0]] * 4, device=be),
        "index:scatter_add": stator.asarray([[0]] * 4, device=be),
        "src:index_add": m,
        "src:segment": m,
        "start:arange": 0,
        "start:linspace": 0,
        "stop:linspace": 1,
        "x1:searchsorted": v,
        "q:quantile": 0.5,
        "x:bincount": i,
        "condition:compress": b[0],
        "source:moveaxis": 0,
        "x1:baddbmm": m[None],
        "x2:baddbmm": m[None],
        "x:istft": stator.fft.stft(m, 4),
        "n_fft:istft": 4,
        "x1:cross": m[:, :3],
        "x2:cross": m[:, :3],
        "grad:masked_select_backward": stator.reshape(m, (-1,)),
        "grad:sum_backward": m[0, 0],
        **convolutions(be),
        "grad:mean_backward": m[0, 0],
        "grad:prod_backward": m[0, 0],
        "grad:cross_entropy_backward": m[0, 0],
        **dict.fromkeys(("k:attention", "v:attention", "v:weight", "residual:dropout_add", "w:spectral"), m),
        **dict.fromkeys(("g:weight", "u:spectral", "v:spectral"), v),
        **dict.fromkeys(("x:instance", "grad:instance"), m[None]),
        **{f"grad:{name}_backward": m[:, :2] for name in ("glu", "swiglu", "geglu")},
        **{"gate:swiglu": m, "gate:geglu": m, "sigma:spectral": m[0, 0]},
        "grad:ctc_loss_backward": m[0, 0],
        **{f"log_probs:ctc_loss{form}": m[None] for form in ("", "_backward")},
        **{f"targets:ctc_loss{form}": i for form in ("", "_backward")},
        **{f"{what}_lengths:ctc_loss{form}": i * 0 + 1 for what in ("input", "target") for form in ("", "_backward")},
        **pooling(be),
        **recurrent(be),
        **quantization(be),
        **{f"grad:{name}_backward": m[0, 0] for name in LOSSES},
        **{f"target:{name}{form}": m for name in LOSSES if name != "nll_loss" for form in ("", "_backward")},
        **dict.fromkeys(("indices:embedding_bag", "indices:embedding_bag_backward"), i[None]),
        "grad:embedding_bag_backward": m[:1],
        "a:scaled_matmul": packed,
        "b:scaled_matmul": packed,
        "a:choice": 4,
        "shape:gamma": 2.0,
        "p:choice": None,
        "a:sparse": s,
        "b:sparse": s,
        "x:sparse": m,
        "b:sparse.spsolve_triangular": m,
        "b:sparse.matmul_2to4": m,
        "a:sparse.matmul_2to4": m,
        "matrix:sparse.from_scipy": s.to_scipy(),
        "A:sparse": s,
        "b:cg": v,
        "b:spsolve": v,
        "m:eye": 3,
        "data:with_data": s.data,
        **{"stream:stream": 0, "stream:external_stream": be.stream(0), "count:stream_pool": 1},
        "function:add_callback": dict,
        **{"host:Array.copy_from": b"", "host:Array.copy_to": bytearray()},
        **{"ranges:write_ranges": [(m, 0, b"")], "ranges:read_ranges": [(m, 0, bytearray())]},
        **{"src:copy_buffer": m, "src_offset:copy_buffer": 0, "dst:copy_buffer": m, "dst_offset:copy_buffer": 8},
        **{"size:copy_buffer": 8, "size:create_arena": 64, "path:memory_timeline": Path(FOLDER.name) / "memory.html"},
        **{"parent:create_sub_buffer": m, "offset:create_sub_buffer": 0},
        "descriptor:create_sub_buffer": BufferDescriptor(8),
        **{"self:memory.PoolAllocator": stator.memory.PoolAllocator(be), "address:deallocate": 0},
        "array:register_host": np.zeros(4),
        **{"source:compile": "", "name:compile": "f"},  # refused on the cpu, after its arguments were checked
        **{"descriptor:create_kernel": stator.programs.KernelDescriptor("f", ""), "kernel:execute_kernel": None},
        **{"buffers:execute_kernel": [], "uniform_data:execute_kernel": b""},
        **{"workgroup_size:execute_kernel": (1,), "workgroup_count:execute_kernel": (1,)},
        **{"kernel:suggest_cooperative_config": None, "elements:suggest_cooperative_config": 4},
        **{"kernel:launch_cooperative_kernel": None, "config:launch_cooperative_kernel": (1, 32)},
        "launched:finish_cooperative_kernel": 1,
        **{"kernel:batched": lambda x, *rest: None, "problems:batched": [m], "args:batched": Several()},
        "capacity:diagnostics": 4,
        **{"kernel:work_queue": print, "capacity:work_queue": 4, "args:work_queue": Several(), "item:work_queue": "i4"},
        **{"graph:launch_graph": a_graph(be), "key:get_or_create_graph": "key"},
        **{"creator:get_or_create_graph": lambda: a_graph(be), "function:graph": lambda x: x},
        "path:load_graph": a_file(),
        **{"a:elementwise_add_f32_graph": m32, "b:elementwise_add_f32_graph": m32},
        **{"a:matmul_f32_graph": m32, "b:matmul_f32_graph": m32},
        **{"cond:while_loop": lambda x: stator.max(x) < 1, "body:while_loop": lambda x: x + 1, "carry:while_loop": m},
        **{"condition:Backend.cond": b[0, 0], "then:cond": lambda *rest: m, "otherwise:cond": lambda *rest: -m},
        "operands:Backend.cond": Several((m,)),
        **{"path:profile": "trace.json", "mode:sync_debug": None},
        **{"factory:create_resource_with_cleanup": lambda device: [], "cleanup:create_resource_with_cleanup": list},
        **dict.fromkeys(("descriptor:create_buffer", "descriptor:create_scoped_buffer"), BufferDescriptor(64)),
        **{
            f"error:{name}": ValueError("of another library") for name in ("handle_error", "convert_error", "log_error")
        },
        **{"error:recovery_suggestions": MemoryError(), "text:error_context": "text"},
        **{"context:handle_error": "text", "context:log_error": "text"},
        **{f"memory:{name}": be.managed(3) for name in ("prefetch_to_device", "prefetch_to_host", "set_memory_advice")},
        **{"advice:set_memory_advice": "read_mostly", "x:memory.host_view": be.managed(3)},
        **{"size:allocate_unified": 64, "allocation:deallocate_unified": be.allocate_unified(64)},
        **dict.fromkeys(("callback:set_allocation_failure_callback", "callback:set_spill_callback")),
        **{"callback:on_memory_pressure": print, "limits:set_resource_limits": ResourceLimits()},
        **{"self:BackendConfig": stator.BackendConfig(), "other:BackendConfig.merge": stator.BackendConfig()},
        **{"values:BackendConfig.from_dict": {}, "properties:from_properties": {}, "path:from_toml": a_configuration()},
        **{"self:BackendBuilder": stator.BackendBuilder(), "config:with_config": stator.BackendConfig()},
        **dict.fromkeys(("op:supports", "op:supports_op", "op:operation_capabilities"), "add"),
        **{"index:is_device_available": 0, "kind:parse": "cpu"},
        **dict.fromkeys(("device_type:get_devices_by_type", "device_type:is_device_type_available"), "cpu"),
        **{"self:DeviceRequirements": stator.DeviceRequirements(), "device:DeviceRequirements": be.device_info()},
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
        "self:Backend": be,
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


def call_of(name, function, given):
    """Positional and named arguments of a valid call, by the parameters' names; optional ones are left out."""
    shared, special = given
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
    operand = error.cause.startswith(("Expected an Array", "A complex number", "Operands"))
    if isinstance(error, DTypeError) and isinstance(parameter.default, (bool, int, float, str)) and not operand:
        return parameter.name in error.cause
    return short in error.op or short.startswith(error.op.rpartition(".")[2])


def end_capture(be):
    """begin_graph_capture() leaves a capture, in which other calls would be refused."""
    if be.is_capturing:
        be.end_graph_capture()
    be.clear_graph_cache()


FUNCTIONS = callables()
FUNCTIONS.pop("BackendType")  # to call an enumeration is Python's own; its method parse is not
# Their valid call would change what other tests see.
ON_CUDA = {"Backend.compile", "Backend.create_kernel", "Backend.execute_kernel", "memory.allocator_library"} | {
    f"Backend.{n}_cooperative_{what}" for n, what in (("suggest", "config"), ("launch", "kernel"), ("finish", "kernel"))
}
NOT_CALLED = (
    {"random.seed", "set_default_backend", "Backend", "memory.PoolAllocator.allocate"}
    | ON_CUDA
    | {n for n in FUNCTIONS if n.startswith("testing.")}
)


@pytest.mark.parametrize("name", [n for n, f in FUNCTIONS.items() if parameters(f)])
def test_wrong_arguments_raise_typed_errors(cpu, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some take the path of a file to write, and any text is one
    function, bad = FUNCTIONS[name], []
    valid = call_of(name, function, arguments(cpu))
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
    for set_callback in (cpu.set_allocation_failure_callback, cpu.set_spill_callback):
        set_callback(None)  # to which a class is a function too
    assert bad == []
