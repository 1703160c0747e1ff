"""The case table: op x size x layout x dtype. A case is data and one closure a library; inputs are random."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

import stator

SIZES = (1_000, 1_000_000, 1 << 24)
LAYOUTS = ("contiguous", "transposed")
DTYPES = ("float32", "float64", "float16", "int32")


@dataclass
class Case:
    """bytes: of the operands touched once, the floor of a memory-bound op. calls: library name to its closure."""

    op: str
    dtype: str
    size: int
    layout: str
    bytes: int
    ours: Callable[[], object]
    peers: dict[str, Callable[[], object]]
    tolerance: float
    reference: Callable[[], np.ndarray]
    flops: int = 0
    tags: dict = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.op}-{self.dtype}-{self.size}-{self.layout}"


def _shape(size: int) -> tuple[int, int]:
    """Two dimensions near a square, so that a transposed view is not a special case."""
    rows = 1 << (int(np.log2(size)) // 2)
    return rows, size // rows


def _inputs(rng: np.random.Generator, shape: tuple[int, int], dtype: str, count: int, layout: str) -> list[np.ndarray]:
    made = []
    for _ in range(count):
        x = (
            rng.integers(1, 100, shape).astype(dtype)
            if dtype.startswith("int")
            else rng.uniform(0.5, 4, shape).astype(dtype)
        )
        made.append(x.T if layout == "transposed" else x)
    return made


@dataclass(frozen=True)
class Spec:
    """How an op is called in each library: f(xp, *arrays); reads, writes: passes over the data for the floor."""

    operands: int
    ours: Callable
    numpy: Callable
    torch: Callable | None = None
    reads: float = 1
    writes: float = 1
    dtypes: tuple[str, ...] = DTYPES
    tolerance: float = 1e-5


def _softmax_numpy(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def _specs() -> dict[str, Spec]:
    floats = ("float32", "float64", "float16")
    both = {
        n: (getattr(stator, n), getattr(np, n))
        for n in ("add", "subtract", "multiply", "divide", "maximum", "equal", "less")
    }
    specs = {
        n: Spec(2, ours, theirs, reads=2, writes=1 if n not in ("equal", "less") else 0.25)
        for n, (ours, theirs) in both.items()
    }
    for n in ("negative", "exp", "log", "tanh"):
        specs[n] = Spec(1, getattr(stator, n), getattr(np, n), dtypes=DTYPES if n == "negative" else floats)
    specs["relu"] = Spec(1, stator.nn.relu, lambda x: np.maximum(x, 0))
    specs["add_scalar"] = Spec(1, lambda x: stator.add(x, 3), lambda x: np.add(x, 3))
    specs["add_row"] = Spec(1, lambda x: stator.add(x, x[0]), lambda x: np.add(x, x[0]))
    specs["copy"] = Spec(1, stator.copy, lambda x: np.array(x, order="C"))
    specs["astype"] = Spec(1, lambda x: stator.astype(x, "float64"), lambda x: x.astype("float64", order="C"), writes=2)
    for n in ("sum", "max", "argmax", "mean"):
        ours, theirs = getattr(stator, n), getattr(np, n)
        dtypes = floats if n == "mean" else DTYPES
        specs[n] = Spec(1, ours, theirs, writes=0, dtypes=dtypes, tolerance=1e-3)
        for axis in (0, 1):
            specs[f"{n}_axis{axis}"] = Spec(
                1,
                lambda x, f=ours, a=axis: f(x, axis=a),
                lambda x, f=theirs, a=axis: f(x, axis=a),
                writes=0,
                dtypes=dtypes,
                tolerance=1e-3,
            )
    specs["softmax"] = Spec(1, stator.nn.softmax, _softmax_numpy, dtypes=floats, tolerance=1e-4)
    return specs


def _torch_call(name: str, spec: Spec, torch):
    table = {
        "subtract": torch.sub,
        "equal": torch.eq,
        "less": torch.lt,
        "negative": torch.neg,
        "copy": lambda x: x.contiguous().clone(),
        "relu": torch.relu,
        "softmax": lambda x: torch.softmax(x, -1),
        "add_scalar": lambda x: x + 3,
        "add_row": lambda x: x + x[0],
        "astype": lambda x: x.to(torch.float64),
    }
    if name in table:
        return table[name]
    base, _, axis = name.partition("_axis")
    function = {"max": torch.amax}.get(base, getattr(torch, base))
    return (lambda x: function(x, dim=int(axis))) if axis else ({"max": torch.max}.get(base, function))


def cases(be: stator.Backend, quick: bool, peers: dict[str, object]) -> Iterator[Case]:
    """All cases, in the order of the table; quick keeps one dtype an op."""
    rng = np.random.default_rng(2026)
    for name, spec in _specs().items():
        for dtype in spec.dtypes[:1] if quick else spec.dtypes:
            for size in SIZES:
                for layout in LAYOUTS:
                    yield _elementwise_case(be, rng, name, spec, dtype, size, layout, peers)
    for dtype in ("float32",) if quick else ("float32", "float64"):
        for n in (32, 256, 1024):
            yield _matmul_case(be, rng, dtype, n, peers)


def _upload(be, x: np.ndarray):
    return be.asarray(x.T).T if x.flags.f_contiguous and x.ndim == 2 else be.asarray(x)


def _elementwise_case(be, rng, name, spec, dtype, size, layout, peers) -> Case:
    shape = _shape(size)
    host = _inputs(rng, shape, dtype, spec.operands, layout)
    device = [_upload(be, x) for x in host]
    item = np.dtype(dtype).itemsize
    calls = {}
    if "numpy" in peers:
        calls["numpy"] = lambda: spec.numpy(*host)
    if "torch" in peers:
        torch = peers["torch"]
        theirs = [torch.asarray(x, device=str(be.device)) for x in host]
        theirs_call = _torch_call(name, spec, torch)
        calls["torch"] = lambda: theirs_call(*theirs)
    if "cupy" in peers:
        cupy = peers["cupy"]
        ours = [cupy.asarray(x) for x in host]
        function = getattr(cupy, name, None)
        if function is not None:
            calls["cupy"] = lambda: function(*ours)
    return Case(
        name,
        dtype,
        host[0].size,
        layout,
        int(item * host[0].size * (spec.reads + spec.writes)),
        lambda: spec.ours(*device),
        calls,
        max(spec.tolerance, 2e-3 if dtype == "float16" else 0),
        lambda: spec.numpy(*host),
    )


def _matmul_case(be, rng, dtype, n, peers) -> Case:
    a, b = (rng.uniform(-1, 1, (n, n)).astype(dtype) for _ in range(2))
    on = [be.asarray(a), be.asarray(b)]
    calls = {}
    if "numpy" in peers:
        calls["numpy"] = lambda: a @ b
    for name in ("torch", "cupy"):
        if name in peers:
            xp = peers[name]
            theirs = [xp.asarray(x, device=str(be.device)) if name == "torch" else xp.asarray(x) for x in (a, b)]
            calls[name] = lambda t=theirs: t[0] @ t[1]
    return Case(
        "matmul",
        dtype,
        n * n,
        "contiguous",
        3 * a.nbytes,
        lambda: stator.matmul(*on),
        calls,
        1e-3,
        lambda: a @ b,
        flops=2 * n**3,
    )
