"""xarray around stator's arrays: they stay on the device through what people do with labelled arrays."""

import contextlib
import copy
import pickle

import numpy as np
import pytest

import stator
import stator.numpy as snp

xr = pytest.importorskip("xarray", reason="xarray is not installed")
with contextlib.suppress(ImportError):
    # xarray imports dask at first use. Without jinja2, dask keeps the frames of that import, and so a test's arrays.
    import dask.array  # noqa: F401

NAN = float("nan")
HOST = np.random.default_rng(0).normal(size=(6, 4))


def labelled(x):
    return xr.DataArray(x, dims=("t", "c"), coords={"t": np.arange(6.0), "c": list("abcd")}, name="v")


CALLS = {
    "arithmetic": lambda x: (2 * x - x.mean("t")) / x.std("t") + x**2,
    "broadcasting": lambda x: x * x.isel(t=0),
    "comparison": lambda x: x > x.mean(),
    "sum": lambda x: x.sum("t"),
    "mean": lambda x: x.mean(),
    "std": lambda x: x.std("t"),
    "var": lambda x: x.var("c", ddof=1),
    "max": lambda x: x.max("c"),
    "median": lambda x: x.median("t"),
    "prod": lambda x: x.prod("t"),
    "count": lambda x: x.count("t"),
    "any": lambda x: (x > 1).any(),
    "all": lambda x: (x > -1).all("t"),
    "argmax": lambda x: x.argmax("t"),
    "ufunc": lambda x: np.sin(x),
    "transpose": lambda x: x.transpose("c", "t"),
    "isel": lambda x: x.isel(t=slice(0, 4, 2)),
    "isel of a list": lambda x: x.isel(t=[0, 2]),
    "isel of an array": lambda x: x.isel(t=np.array([3, 1])),
    "sel": lambda x: x.sel(c=["a", "d"]),
    "where with a number": lambda x: x.where(x > 0, 0.0),
    "concat": lambda x: xr.concat([x, x], "t"),
    "stack": lambda x: x.stack(z=("t", "c")),
    "clip": lambda x: x.clip(0, 1),
    "round": lambda x: x.round(1),
    "cumsum": lambda x: x.cumsum("t"),
    "diff": lambda x: x.diff("t"),
    "roll": lambda x: x.roll(t=1),
    "fillna": lambda x: x.fillna(0.0),
    "astype": lambda x: x.astype("float32"),
    "coarsen": lambda x: x.coarsen(t=2).mean(),
    "groupby": lambda x: x.groupby(x.t > 2).mean(),
    "sortby": lambda x: x.sortby("t", ascending=False),
    "dataset": lambda x: xr.Dataset({"v": x, "w": x * 2}).mean("t").w,
    "apply_ufunc": lambda x: xr.apply_ufunc(np.exp, x),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_are_those_around_numpy(be, name):
    got, want = CALLS[name](labelled(be.asarray(HOST))), CALLS[name](labelled(HOST))
    assert isinstance(got.data, stator.Array) and got.data.backend is be
    assert got.dims == want.dims
    np.testing.assert_allclose(got.data.to_numpy(), want.data, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize(
    "act", [lambda x: x.copy(), lambda x: x.copy(deep=True), copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies(be, act):
    x = labelled(be.asarray(HOST))
    got = act(x)
    got.data[0, 0] = 99
    assert isinstance(got.data, stator.Array) and float(x.data[0, 0]) == HOST[0, 0]
    got.data[0, 0] = HOST[0, 0]
    xr.testing.assert_identical(got, x)


def test_values_are_a_copy_on_the_host_and_shown(be):
    x = labelled(be.asarray(HOST))
    np.testing.assert_array_equal(x.values, HOST)
    assert "stator" in repr(x) or "Array" in repr(x)
    assert "v" in x._repr_html_()
    assert float(x.mean()) == pytest.approx(HOST.mean())


def test_arrays_of_numpy_do_not_mix_in(be):
    with pytest.raises(TypeError, match="asarray"):
        labelled(be.asarray(HOST)) + labelled(HOST)


def test_labelled_chunks_of_dask(be):
    pytest.importorskip("dask.array", reason="dask is not installed")
    got = labelled(be.asarray(HOST)).chunk(t=3).mean("t").compute(scheduler="synchronous")
    assert isinstance(got.data, stator.Array)
    np.testing.assert_allclose(got.data.to_numpy(), HOST.mean(axis=0))


def windows(x):
    return xr.concat([x.shift(t=k, fill_value=NAN) for k in range(3)], "w")


def times(x):
    return stator.asarray(x.t.values)


# By what xarray calls: the call that xarray cannot make, its error, and what the documentation has instead.
INSTEAD = {
    "where": (lambda x: x.where(x > 0), "numpy dtype", lambda x: x.where(x > 0, NAN)),
    "shift": (lambda x: x.shift(t=1), "numpy dtype", lambda x: x.shift(t=1, fill_value=NAN)),
    "pad": (lambda x: x.pad(t=1), "numpy dtype", lambda x: x.pad(t=1, constant_values=NAN)),
    "reindex": (
        lambda x: x.reindex(t=[0.0, 9.0]),
        "numpy dtype",
        lambda x: x.reindex(t=[0.0, 9.0], fill_value=NAN),
    ),
    "rolling std": (lambda x: x.rolling(t=3).std(), "numpy dtype", lambda x: windows(x).std("w", skipna=False)),
    "rolling mean": (
        lambda x: x.rolling(t=3).mean(),
        "no attribute 'lib'",
        lambda x: windows(x).mean("w", skipna=False),
    ),
    "rolling max": (
        lambda x: x.rolling(t=3).max(),
        "not an element type",
        lambda x: windows(x).max("w", skipna=False),
    ),
    "polyfit": (
        lambda x: x.polyfit("t", 2).polyfit_coefficients,
        "asarray",
        lambda x: xr.DataArray(snp.polyfit(times(x), x.data, 2), dims=("degree", "c")),
    ),
    "dot": (lambda x: x.dot(x, "t"), "'transpose'", lambda x: (x * x).sum("t")),
    "quantile": (lambda x: x.quantile(0.5, "t"), "'transpose'", lambda x: x.reduce(snp.quantile, "t", q=0.5)),
    "apply_ufunc": (
        lambda x: xr.apply_ufunc(lambda v: v.max(axis=-1), x, input_core_dims=[["t"]]),
        "'transpose'",
        lambda x: xr.apply_ufunc(lambda v: v.max(axis=-1), x.transpose("c", "t"), input_core_dims=[["t"]]),
    ),
    "differentiate": (
        lambda x: x.differentiate("t"),
        "'gradient'",
        lambda x: x.copy(data=snp.gradient(x.data, times(x), axis=0)),
    ),
}


@pytest.mark.parametrize("name", INSTEAD)
def test_what_xarray_cannot_call_is_refused_and_has_another_form(be, name):
    call, message, instead = INSTEAD[name]
    want = call(labelled(HOST))
    with be.use():
        x = labelled(be.asarray(HOST))
        with pytest.raises((TypeError, AttributeError), match=message):
            call(x)
        got = instead(x)
    assert isinstance(got.data, stator.Array)
    assert got.dims == want.dims
    np.testing.assert_allclose(got.data.to_numpy(), want.data, rtol=1e-6, atol=1e-12)


def test_interp_gives_arrays_of_numpy_and_has_another_form(be):
    want = labelled(HOST).interp(t=[0.5, 2.5])
    with be.use():
        x = labelled(be.asarray(HOST))
        got = x.interp(t=[0.5, 2.5])
        other = snp.interp(stator.asarray([0.5, 2.5]), times(x), x.data[:, 0])
    assert isinstance(got.data, np.ndarray) and isinstance(other, stator.Array)
    np.testing.assert_allclose(got.data, want.data)
    np.testing.assert_allclose(other.to_numpy(), want.data[:, 0])
