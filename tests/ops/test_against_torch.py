"""Products, Fourier transforms and sparse matrices, against torch in float64 and complex128."""

from __future__ import annotations

import itertools

import inputs
import numpy as np
import pytest
from factorisations import DTYPES
from torch_rows import Row, as_numpy, assert_close, check, draw, tensor, torch, wide

import stator
from stator import fft, sparse

F = torch.nn.functional
torch.sparse.check_sparse_tensor_invariants.disable()  # where it is not set, torch warns
FLOATING = [*inputs.FLOATS, "complex64", "complex128"]


def of(*shapes, low=-4, high=4):
    """A function that makes operands of these shapes."""
    return lambda dtype: [draw(s, dtype, k, low, high) for k, s in enumerate(shapes)]


def magnitudes(product):
    """The scale of sums of products: the product of absolute values."""
    return lambda *x: as_numpy(product(*[tensor(np.abs(a)) if isinstance(a, np.ndarray) else a for a in x]))


def product(ours, theirs, *shapes, units=8):
    return Row(ours, theirs, of(*shapes), units, magnitudes(theirs))


def einsum(text, *shapes):
    return product(lambda *x: stator.einsum(text, *x), lambda *x: torch.einsum(text, *x), *shapes)


def accumulated(name, alpha, beta, *shapes):
    options = {"alpha": alpha, "beta": beta}
    ours, theirs = getattr(stator, name), getattr(torch, name)
    row = product(lambda *x: ours(*x, **options), lambda *x: theirs(*x, **options), *shapes)
    return Row(row.ours, row.theirs, row.make, 8, magnitudes(lambda *x: theirs(*x, alpha=abs(alpha), beta=abs(beta))))


MATMULS = [
    *(((m, 33), (33, n)) for m, n in itertools.product([1, 2, 31, 32, 33, 100], [1, 32, 100])),
    ((5, 300), (300, 7)),
    ((33,), (33,)),
    ((33,), (33, 4)),
    ((4, 33), (33,)),
    ((7, 4, 5), (5, 6)),
    ((2, 1, 3, 4), (6, 4, 5)),
    ((0, 3, 4), (4, 2)),
    ((3, 0), (0, 5)),
]
PRODUCTS = {
    **{f"matmul {a} {b}": product(stator.matmul, torch.matmul, a, b) for a, b in MATMULS},
    **{
        f"addmm {alpha} {beta} {c}": accumulated("addmm", alpha, beta, c, (31, 40), (40, 33))
        for (alpha, beta), c in itertools.product([(1, 1), (-0.5, 2), (2, 0), (0, 3)], [(31, 33), (33,), (31, 1)])
    },
    **{
        f"baddbmm {alpha} {beta} {batch}": accumulated(
            "baddbmm", alpha, beta, (batch, 5, 6), (batch, 5, 9), (batch, 9, 6)
        )
        for (alpha, beta), batch in itertools.product([(1, 1), (-0.5, 2), (2, 0)], [0, 1, 7])
    },
    "dot": product(stator.dot, torch.dot, (100,), (100,)),
    "vecdot": product(stator.vecdot, torch.linalg.vecdot, (7, 33), (33,)),
    "vecdot axis": product(
        lambda a, b: stator.vecdot(a, b, axis=-2), lambda a, b: torch.linalg.vecdot(a, b, dim=-2), (7, 33, 2), (33, 2)
    ),
    "outer": product(stator.outer, torch.outer, (31,), (33,), units=2),
    "kron": product(stator.kron, torch.kron, (3, 4), (5, 2), units=2),
    "tensordot 2": product(
        lambda a, b: stator.tensordot(a, b, axes=2), lambda a, b: torch.tensordot(a, b, dims=2), (3, 4, 5), (4, 5, 6)
    ),
    "tensordot axes": product(
        lambda a, b: stator.tensordot(a, b, axes=((0, 2), (1, 0))),
        lambda a, b: torch.tensordot(a, b, dims=((0, 2), (1, 0))),
        *((3, 4, 5), (5, 3, 6)),
    ),
    **{
        f"einsum {text}": einsum(text, *shapes)
        for text, *shapes in [
            ("ij,jk->ik", (31, 33), (33, 5)),
            ("bij,bjk->bik", (7, 3, 4), (7, 4, 5)),
            ("ij,jk,kl->il", (2, 30), (30, 3), (3, 25)),
            ("bhqd,bhkd->bhqk", (2, 3, 5, 8), (2, 3, 6, 8)),
            ("...i,...i->...", (4, 5, 6), (6,)),
            ("ii->i", (9, 9)),
            ("ijk->ki", (3, 4, 5)),
            ("ij->", (3, 4)),
            ("i,j", (3,), (4,)),
            ("ij,ij->j", (31, 5), (31, 5)),
        ]
    },
}


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("row", PRODUCTS.values(), ids=PRODUCTS)
def test_products(be, row, dtype):
    check(be, row, dtype)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("activation", [None, "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh"])
def test_linear_with_bias_and_activation(be, activation, dtype):
    after = {None: lambda x: x, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "tanh": torch.tanh}
    then = after.get(activation) or getattr(F, activation)
    for shape in ((40,), (1, 40), (2, 9, 40), (0, 40)):
        arrays = draw(shape, dtype), draw((33, 40), dtype, 1, -0.5, 0.5), draw((33,), dtype, 2)
        x, w, b = map(wide, arrays)
        scale = np.abs(x) @ np.abs(w).T + np.abs(b)
        for given in (arrays, arrays[:2]):
            got = stator.nn.linear(*map(be.asarray, given), activation=activation)
            assert_close(got, then(F.linear(*map(tensor, given))), 8, scale, f"{shape}")


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_integer_products(be, dtype):
    info = np.iinfo(dtype)
    a, b = (
        np.random.default_rng(k).integers(info.min, info.max, s, dtype, True)
        for k, s in enumerate([(24, 32), (32, 40)])
    )
    x, y, there = be.asarray(a), be.asarray(b), (torch.from_numpy(a), torch.from_numpy(b))
    assert_close(stator.matmul(x, y), torch.matmul(*there), 0)
    if dtype == "int8":
        assert_close(stator.matmul(x, y, dtype="int32"), torch._int_mm(*there), 0)


def transform(name, shape, dtype_of="complex", **options):
    """The comparison of one transform; torch calls an axis dim."""
    there = {{"axis": "dim", "axes": "dim"}.get(k, k): v for k, v in options.items()}

    def make(dtype):
        return [
            draw(shape, {"float32": "complex64", "float64": "complex128"}[dtype] if dtype_of == "complex" else dtype)
        ]

    def norm(x):
        return np.abs(as_numpy(getattr(torch.fft, name)(tensor(x), **there))).max(initial=0)

    return Row(
        lambda x: getattr(fft, name)(x, **options), lambda x: getattr(torch.fft, name)(x, **there), make, 64, norm
    )


REAL_INPUT = ("rfft", "ihfft", "rfft2", "rfftn")
NORMS = ["backward", "ortho", "forward"]
LINES = [(3, n) for n in (1, 2, 31, 32, 33, 100, 360, 509)] + [(1, 16), (7, 16)]
AXES = [{}, {"axes": (0,)}, {"axes": (-1, 0)}, {"s": (5, 7), "axes": (0, 2)}, {"s": (3, 20, 4), "axes": (2, 0, 1)}]


def transforms():
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        kind = "real" if name in REAL_INPUT else "complex"
        for shape, norm in itertools.product(LINES, NORMS):
            n = shape[-1]
            for length in (n, n + 5, max(1, n // 2)) if norm == "ortho" else [2 * n, *([None] * (n > 1))]:
                yield name, transform(name, shape, kind, norm=norm, n=length)
        yield name, transform(name, (8, 5, 2), kind, axis=0)
    for name, norm in itertools.product(
        ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"), NORMS
    ):
        kind = "real" if name in REAL_INPUT else "complex"
        for options in ({}, {"s": (6, 16), "axes": (-2, -1)}, {"axes": (0, 1)}) if name.endswith("2") else AXES:
            yield name, transform(name, (4, 5, 6), kind, norm=norm, **options)


TRANSFORMS = {name: [row for other, row in transforms() if other == name] for name, _ in transforms()}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_fourier_transforms(be, name, dtype):
    for row in TRANSFORMS[name]:
        check(be, row, dtype)


def test_frequencies_and_shifts(be):
    for n, d in ((1, 1.0), (8, 0.5), (9, 2.0)):
        assert_close(fft.fftfreq(n, d=d, device=be), torch.fft.fftfreq(n, d, dtype=torch.float64), 2)
        assert_close(fft.rfftfreq(n, d=d, device=be), torch.fft.rfftfreq(n, d, dtype=torch.float64), 2)
    x = draw((4, 5, 6))
    for name, axes in itertools.product(["fftshift", "ifftshift"], [None, (1,), (0, 2)]):
        got = getattr(fft, name)(be.asarray(x), axes=axes)
        assert_close(got, getattr(torch.fft, name)(tensor(x), dim=axes), 0)


STFTS = {
    "defaults": {},
    "hop": {"hop_length": 5},
    "window": {"win_length": 20, "window": 20},
    "reflected at the ends": {"pad_mode": "reflect", "window": 32},
    "zeros at the ends": {"pad_mode": "constant", "window": 32, "hop_length": 7},
    "ends repeated": {"pad_mode": "replicate"},
    "in a circle": {"pad_mode": "circular"},
    "not centred": {"center": False, "window": 32},
    "normalised": {"normalized": True},
    "both sides": {"onesided": False, "window": 32},
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("options", STFTS.values(), ids=STFTS)
def test_short_time_transforms_there_and_back(be, options, dtype):
    if dtype.startswith("complex"):
        options = {**options, "onesided": False}
    width = options.get("window", options.get("win_length", 32))
    window = draw((width,), dtype.replace("complex64", "float32").replace("complex128", "float64"), 1, 0.5, 1.5)
    plain = {k: v for k, v in options.items() if k != "window"}
    on = {**plain, "window": be.asarray(window)} if "window" in options else plain
    # torch warns when no window is given; ones are the default.
    there = {**plain, "window": tensor(window) if "window" in options else torch.ones(32, dtype=torch.float64)}
    for shape in ((300,), (3, 100), (1, 33)):
        x = draw(shape, dtype)
        want = torch.stft(tensor(x), 32, **there, return_complex=True)
        got = fft.stft(be.asarray(x), 32, **on)
        assert_close(got, want, 16, float(want.abs().max()))
        back = {k: v for k, v in on.items() if k != "pad_mode"}, {k: v for k, v in there.items() if k != "pad_mode"}
        spectrum = draw(got.shape, "complex64" if dtype in ("float32", "complex64") else "complex128", 2)
        for length in (None, 30):
            last = {"length": length, "return_complex": dtype.startswith("complex")}
            want = torch.istft(tensor(spectrum), 32, **back[1], **last)
            got_back = fft.istft(be.asarray(spectrum), 32, **back[0], **last)
            assert_close(got_back, want, 32, float(want.abs().max()))


def scattered(shape, dtype, seed=0, density=0.3):
    mask = np.random.default_rng([seed, *shape]).random(shape) < density
    return np.where(mask, draw(shape, dtype, seed, 0.5, 2), 0).astype(draw((), dtype).dtype)


def well_posed(dtype):
    """A well-conditioned matrix for triangular systems, with a dominant diagonal."""
    x = scattered((40, 40), dtype, density=0.1)
    return x + (10 * np.eye(40)).astype(x.dtype), draw((40, 3), dtype, 1)


def csr(x):
    return sparse.csr_from_dense(x)


def coo(x):
    """A COO matrix from a dense tensor, by torch's coordinates."""
    return x.to_sparse_coo()


def compressed(m):
    """The arrays of a CSR or CSC matrix of stator or torch."""
    if isinstance(m, torch.Tensor):
        row = m.layout == torch.sparse_csr
        return m.values(), m.col_indices() if row else m.row_indices(), m.crow_indices() if row else m.ccol_indices()
    return m.data, m.indices.astype("int64"), m.indptr.astype("int64")


def coordinates(m):
    return (
        (m.values(), *m.indices())
        if isinstance(m, torch.Tensor)
        else (m.data, m.row.astype("int64"), m.col.astype("int64"))
    )


def repeated(dtype):
    """Values, rows and columns of a 9 x 7 matrix with repeated entries."""
    rng = np.random.default_rng(0)
    return draw((60,), dtype, 0, 0.5, 2), rng.integers(0, 9, 60), rng.integers(0, 7, 60)


def pair(left, right, seed=1):
    return lambda dtype: [scattered(left, dtype), draw(right, dtype, seed)]


def two(left, right):
    return lambda dtype: [scattered(left, dtype), scattered(right, dtype, 1)]


BETA = "ignore:Sparse (CSR|CSC) tensor support:UserWarning"
SPARSE = {
    "csr": Row(
        lambda x: compressed(csr(x)), lambda x: compressed(x.to_sparse_csr()), lambda d: [scattered((33, 45), d)], 0
    ),
    "csc": Row(
        lambda x: compressed(csr(x).to_csc()),
        lambda x: compressed(x.to_sparse_csc()),
        lambda d: [scattered((33, 45), d)],
        0,
    ),
    "coo": Row(
        lambda x: coordinates(csr(x).to_coo()),
        lambda x: coordinates(coo(x).coalesce()),
        lambda d: [scattered((33, 45), d)],
        0,
    ),
    "repeated entries": Row(
        lambda v, r, c: coordinates(sparse.COO(v, r, c, (9, 7)).coalesce()),
        lambda v, r, c: coordinates(
            torch.sparse_coo_tensor(torch.stack([r, c]), v, (9, 7), check_invariants=True).coalesce()
        ),
        repeated,
    ),
    "dense from repeated entries": Row(
        lambda v, r, c: sparse.COO(v, r, c, (9, 7)).to_dense(),
        lambda v, r, c: torch.sparse_coo_tensor(torch.stack([r, c]), v, (9, 7), check_invariants=True).to_dense(),
        repeated,
    ),
    **{
        f"{kind} @ {right}": Row(
            lambda x, b, to=to: to(csr(x)) @ b,
            lambda x, b, there=there: there(x) @ b,
            pair(left, right),
            8,
            magnitudes(torch.matmul),
        )
        for (kind, to, there), (left, right) in itertools.product(
            [
                ("csr", lambda a: a, lambda x: x.to_sparse_csr()),
                ("csc", lambda a: a.to_csc(), lambda x: x.to_sparse_csc()),
                ("coo", lambda a: a.to_coo(), coo),
            ],
            [((33, 45), (45,)), ((33, 45), (45, 1)), ((33, 45), (45, 33)), ((7, 300), (300, 4))],
        )
    },
    "dense @ csr": Row(
        lambda x, b: b @ csr(x),
        lambda x, b: b @ x.to_sparse_csr(),
        pair((33, 45), (5, 33)),
        8,
        lambda x, b: np.abs(b) @ np.abs(x),
    ),
    "csr @ csr": Row(
        lambda a, b: (csr(a) @ csr(b)).to_dense(),
        lambda a, b: (coo(a) @ coo(b)).to_dense(),
        two((33, 45), (45, 31)),
        8,
        magnitudes(torch.matmul),
    ),
    "csr + csr": Row(
        lambda a, b: sparse.add(csr(a), csr(b), alpha=2, beta=-3).to_dense(),
        lambda a, b: (2 * coo(a) - 3 * coo(b)).to_dense(),
        two((33, 45), (33, 45)),
        2,
        lambda a, b: 2 * np.abs(a) + 3 * np.abs(b),
    ),
    "transpose": Row(
        lambda a: csr(a).T.to_dense(), lambda a: coo(a).T.to_dense(), lambda d: [scattered((33, 45), d)], 0
    ),
    "sddmm": Row(
        lambda p, x, y: sparse.sddmm(csr(p), x, y, alpha=2, beta=3).to_dense(),
        lambda p, x, y: torch.sparse.sampled_addmm(p.to_sparse_csr(), x, y, alpha=2, beta=3).to_dense(),
        lambda d: [scattered((33, 45), d), draw((33, 20), d, 1), draw((20, 45), d, 2)],
        8,
        lambda p, x, y: 2 * np.abs(x) @ np.abs(y) + 3 * np.abs(p),
    ),
    **{
        f"sum {axis}": Row(
            lambda a, axis=axis: csr(a).sum(axis=axis),
            lambda a, axis=axis: coo(a).sum(axis).to_dense() if axis is not None else coo(a).sum(),
            lambda d: [scattered((33, 45), d)],
            8,
            lambda a, axis=axis: np.abs(a).sum(axis),
        )
        for axis in (None, 0, 1)
    },
}


TRIANGLES = {
    **{
        f"triangle lower={lower} unit={unit}": Row(
            lambda a, b, lower=lower, unit=unit: sparse.spsolve_triangular(csr(a), b, lower=lower, unit_diagonal=unit),
            lambda a, b, lower=lower, unit=unit: (
                torch.triangular_solve(
                    b, (a.tril() if lower else a.triu()).to_sparse_csr(), upper=not lower, unitriangular=unit
                ).solution
            ),
            lambda d, unit=unit: (well_posed(d)[0] / np.array(10 if unit else 1, d), well_posed(d)[1]),
            64,
            lambda a, b: np.abs(b).max() * 4,
        )
        for lower, unit in itertools.product([False, True], [False, True])
    },
}


@pytest.mark.filterwarnings(BETA)
@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16"])
@pytest.mark.parametrize("row", SPARSE.values(), ids=SPARSE)
def test_sparse_matrices(be, row, dtype):
    check(be, row, dtype)


@pytest.mark.filterwarnings(BETA)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("row", TRIANGLES.values(), ids=TRIANGLES)
def test_sparse_triangles(be, row, dtype):
    check(be, row, dtype)
