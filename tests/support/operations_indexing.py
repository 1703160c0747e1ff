"""Cases of operations that index with arrays, scatter, sum segments and mask, for test_operation_cases.py."""

import zlib

import inputs
import numpy as np
import scipy.spatial.distance
from reference import assert_matches, widen

import stator

OPERATIONS = """
any: index_select_intidx gather_intidx masked_fill_dt masked_select masked_scatter masked_scatter_forward
f32 f64: index_select_1d index_select_dim gather_dim scatter_dim scatter_value_dim scatter_add_1d scatter_add_dim
f32 f64: scatter_add_segments masked_fill masked_zero cdist
"""


def rng_of(*key):
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def equal(got, want):
    np.testing.assert_array_equal(got.to_numpy(), want)


def index_select_1d(be, dtype):
    x, i = inputs.random(rng_of(dtype), (37,), dtype), np.array([0, 36, -1, 5, 5, -37])
    equal(stator.take(be.asarray(x), be.asarray(i), axis=0), np.take(x, i))


def index_select_dim(be, dtype):
    x, i = inputs.random(rng_of(dtype), (3, 7, 65), dtype), np.array([6, 0, -7, 3])
    for axis in (0, 1, 2):
        equal(stator.take(be.asarray(x), be.asarray(i % x.shape[axis]), axis=axis), np.take(x, i % x.shape[axis], axis))


def index_select_intidx(be, dtype):
    x = inputs.random(rng_of(dtype), (3, 7, 5), dtype)
    for kind in ("int32", "int64"):
        i = np.array([6, 0, -7, 3], kind)
        equal(stator.take(be.asarray(x), be.asarray(i), axis=1), np.take(x, i, 1))


def gather_dim(be, dtype):
    x = inputs.random(rng_of(dtype), (3, 9, 5), dtype)
    i = rng_of("i").integers(-9, 9, (3, 33, 5))
    equal(stator.take_along_axis(be.asarray(x), be.asarray(i), axis=1), np.take_along_axis(x, i, 1))


def gather_intidx(be, dtype):
    x = inputs.random(rng_of(dtype), (3, 9, 5), dtype)
    for kind in ("int32", "int64"):
        i = rng_of("i").integers(-9, 9, (3, 4, 5)).astype(kind)
        equal(stator.take_along_axis(be.asarray(x), be.asarray(i), axis=1), np.take_along_axis(x, i, 1))


def distinct(shape, n, axis):
    """Indices along an axis without repeats, so that the order of writes does not matter."""
    return np.argsort(rng_of(shape, n).random((*shape[:axis], n, *shape[axis + 1 :])), axis)[
        tuple(slice(m) for m in shape)
    ]


def scatter_dim(be, dtype):
    x, src = inputs.random(rng_of(dtype), (3, 40, 5), dtype), inputs.random(rng_of(dtype, 1), (3, 33, 5), dtype)
    i = distinct((3, 33, 5), 40, 1)
    want = x.copy()
    np.put_along_axis(want, i, src, 1)
    given = be.asarray(x)
    equal(stator.scatter(given, 1, be.asarray(i), be.asarray(src)), want)
    equal(given, x)


def scatter_value_dim(be, dtype):
    x, i = inputs.random(rng_of(dtype), (3, 40, 5), dtype), rng_of(2).integers(-40, 40, (3, 33, 5))
    want = x.copy()
    np.put_along_axis(want, i, np.asarray(1.5, dtype), 1)
    equal(stator.scatter(be.asarray(x), 1, be.asarray(i), 1.5), want)


def scatter_add_1d(be, dtype):
    src, i = inputs.random(rng_of(dtype), (999,), dtype, 0.5, 2), rng_of(3).integers(0, 400, 999)
    want = np.zeros(400, np.longdouble)
    np.add.at(want, i, widen(src))
    got = stator.scatter_add(be.zeros((400,), dtype=dtype), 0, be.asarray(i), be.asarray(src))
    assert_matches(got.to_numpy(), want, (4, 4))


def scatter_add_dim(be, dtype):
    x, src = (
        inputs.random(rng_of(dtype), (3, 40, 5), dtype, 0.5, 2),
        inputs.random(rng_of(4), (3, 66, 5), dtype, 0.5, 2),
    )
    i = rng_of(5).integers(0, 40, (3, 66, 5))
    want = widen(x)
    np.add.at(want, (np.arange(3)[:, None, None], i, np.arange(5)), widen(src))
    assert_matches(stator.scatter_add(be.asarray(x), 1, be.asarray(i), be.asarray(src)).to_numpy(), want, (4, 4))


def scatter_add_segments(be, dtype):
    src, i = inputs.random(rng_of(dtype), (300, 33), dtype, 0.5, 2), rng_of(6).integers(0, 70, 300)
    want = np.zeros((70, 33), np.longdouble)
    np.add.at(want, i, widen(src))
    assert_matches(stator.segment_sum(be.asarray(src), be.asarray(i), 70).to_numpy(), want, (4, 4))


def masked_fill(be, dtype):
    x, mask = inputs.random(rng_of(dtype), (33, 65), dtype), rng_of(7).random((33, 65)) < 0.5
    equal(stator.masked_fill(be.asarray(x), be.asarray(mask), -2.5), np.where(mask, np.asarray(-2.5, dtype), x))


def masked_fill_dt(be, dtype):
    mask = rng_of(7).random((33, 65)) < 0.5
    for kind in inputs.DTYPES:
        x = inputs.random(rng_of(kind), (33, 65), kind)
        equal(stator.masked_fill(be.asarray(x), be.asarray(mask), True), np.where(mask, np.asarray(1, x.dtype), x))


def masked_zero(be, dtype):
    grad, mask = inputs.random(rng_of(dtype), (33, 65), dtype), rng_of(7).random((33, 65)) < 0.5
    equal(
        stator.nn.masked_fill_backward(be.asarray(grad), be.asarray(mask)), np.where(mask, np.asarray(0, dtype), grad)
    )


def masked_select(be, dtype):
    for kind in ("float32", "float64", "float16", "bfloat16", "int32", "uint8"):
        for shape in ((33, 65), (70000,), (0,)):
            x, mask = inputs.random(rng_of(kind), shape, kind), rng_of(7).random(shape) < 0.5
            equal(stator.masked_select(be.asarray(x), be.asarray(mask)), x[mask])
            equal(be.asarray(x)[be.asarray(mask)], x[mask])


def masked_scatter(be, dtype):
    mask = rng_of(7).random((33, 65)) < 0.5
    grad = inputs.random(rng_of(dtype), (int(mask.sum()),), dtype)
    want = np.zeros(mask.shape, dtype)
    want[mask] = grad
    equal(stator.nn.masked_select_backward(be.asarray(grad), be.asarray(mask)), want)


def masked_scatter_forward(be, dtype):
    x, mask = inputs.random(rng_of(dtype), (33, 65), dtype), rng_of(7).random((33, 65)) < 0.5
    source = inputs.random(rng_of(dtype, 2), (33, 65), dtype)
    want = x.copy()
    want[mask] = source.ravel()[: mask.sum()]
    equal(stator.masked_scatter(be.asarray(x), be.asarray(mask), be.asarray(source)), want)


def cdist(be, dtype):
    a, b = rng_of(dtype).normal(size=(2, 37, 19)).astype(dtype), rng_of(dtype, 1).normal(size=(2, 65, 19)).astype(dtype)
    kinds = {1: "cityblock", 2: "euclidean", np.inf: "chebyshev", 3: "minkowski"}
    for p, kind in kinds.items():
        options = {"p": 3} if p == 3 else {}
        got = stator.cdist(be.asarray(a), be.asarray(b), p=p).to_numpy()
        for k in (0, 1):
            want = scipy.spatial.distance.cdist(a[k].astype(np.float64), b[k].astype(np.float64), kind, **options)
            assert_matches(got[k], want, (8, 8), f"p={p}")
    whole = np.round(a).astype(dtype), np.round(b).astype(dtype)
    got = stator.cdist(be.asarray(whole[0]), be.asarray(whole[1]), p=0)
    equal(got, (whole[0][:, :, None] != whole[1][:, None]).sum(-1))
