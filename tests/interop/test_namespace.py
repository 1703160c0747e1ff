"""The namespace is that of the array API with extensions, and libraries written for it accept stator's arrays."""

import copy
import gc
import importlib
import os
import pickle
import pkgutil
import subprocess
import sys

import numpy as np
import pytest

import stator

# The Python array API standard, 2025.12.
MAIN = """
e inf nan newaxis pi arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like
tril triu zeros zeros_like astype broadcast_arrays broadcast_to can_cast finfo iinfo isdtype result_type bool int8
int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128 abs acos acosh add asin asinh atan
atan2 atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor ceil clip conj
copysign cos cosh divide equal exp expm1 floor floor_divide greater greater_equal hypot imag isfinite isinf isnan
less less_equal log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor maximum minimum
multiply negative nextafter not_equal positive pow real reciprocal remainder round sign signbit sin sinh sqrt square
subtract tan tanh trunc take take_along_axis matmul matrix_transpose tensordot vecdot concat expand_dims flip
moveaxis permute_dims repeat reshape roll squeeze stack tile unstack argmax argmin count_nonzero nonzero
searchsorted where unique_all unique_counts unique_inverse unique_values isin argsort sort cumulative_prod
cumulative_sum max mean min prod std sum var all any diff broadcast_shapes __array_namespace_info__
"""
LINALG = """
cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm matrix_power matrix_rank matrix_transpose
outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm
"""
FFT = "fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft fftfreq rfftfreq fftshift ifftshift"


@pytest.mark.parametrize(("place", "names"), [("", MAIN), ("linalg", LINALG), ("fft", FFT)])
def test_every_name_of_the_standard_is_there(place, names):
    home = getattr(stator, place) if place else stator
    assert [n for n in names.split() if not hasattr(home, n)] == []
    assert [n for n in names.split() if n not in home.__all__ and not n.startswith("_")] == []


PUBLIC = ["stator", *(f"stator.{m.name}" for m in pkgutil.iter_modules(stator.__path__) if m.name[0] != "_")]


@pytest.mark.parametrize("module", PUBLIC)
def test_dir_shows_what_is_public(module):
    found = importlib.import_module(module)
    assert sorted(dir(found)) == sorted(found.__all__)
    assert [n for n in found.__all__ if not hasattr(found, n)] == []


def test_dir_has_the_constants_and_no_import():
    assert {"e", "inf", "nan", "newaxis", "pi", "__version__", "linalg"} < set(dir(stator))
    assert not {"Any", "Path", "SimpleNamespace", "TYPE_CHECKING", "annotations", "atexit", "math"} & set(dir(stator))


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (("float32", 1.5), "float32"),
        (("float32", 1j), "complex64"),
        (("float64", 1j), "complex128"),
        (("int8", 3), "int8"),
        (("int8", 3.0), "float64"),
        (("bool", True), "bool"),
        (("bool", 1), "int64"),
        ((2, "uint8", "int8"), "int16"),
        (("bfloat16", 2.0), "bfloat16"),
        (("complex64", 2.0), "complex64"),
    ],
)
def test_result_type_takes_weak_numbers(entries, expected):
    assert stator.result_type(*entries) == expected
    if "bfloat16" not in entries:
        spec = [np.dtype(e) if isinstance(e, str) else e for e in entries]
        assert np.result_type(*spec) == expected


def test_the_version_of_the_standard_is_stated(be):
    assert stator.__array_api_version__ == "2025.12"
    assert be.zeros(()).__array_namespace__(api_version=stator.__array_api_version__) is stator


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "bfloat16"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_takes_a_number(be, dtype, side):
    x = be.asarray([1, 2, 2, 5], dtype=dtype)
    host = np.array([1.0, 2.0, 2.0, 5.0])
    for value in (2, 3, 2.5, -1, 300, np.float32(2), True):
        got = stator.searchsorted(x, value, side=side)
        assert (got.shape, got.dtype) == ((), stator.int64)
        assert int(got) == np.searchsorted(host, value, side=side), value


@pytest.mark.parametrize("invert", [False, True])
def test_isin_takes_a_number_on_either_side(be, invert):
    host = np.array([[1, 2], [3, 2]], np.int16)
    x = be.asarray(host)
    for value in (2, 7, 2.5, np.int64(3)):
        got = stator.isin(x, value, invert=invert)
        assert got.dtype == stator.bool
        np.testing.assert_array_equal(got.to_numpy(), np.isin(host, value, invert=invert))
        got = stator.isin(value, x, invert=invert)
        assert (got.shape, got.dtype) == ((), stator.bool)
        assert bool(got) == np.isin(value, host, invert=invert)
    with pytest.raises(TypeError, match="isin"):
        stator.isin(1, 2)


def test_result_type_of_numbers_alone_is_refused():
    with pytest.raises(ValueError, match="No dtype"):
        stator.result_type(1, 2.0)


CREATED = {
    "asarray": lambda d: stator.asarray([1.0, 2.0], device=d),
    "zeros": lambda d: stator.zeros((2,), device=d),
    "full": lambda d: stator.full((2,), 3, device=d),
    "arange": lambda d: stator.arange(2, device=d),
    "linspace": lambda d: stator.linspace(0, 1, 2, device=d),
    "eye": lambda d: stator.eye(2, device=d),
    "ones_like": lambda d: stator.ones_like(stator.zeros((2,), device="cpu"), device=d),
    "astype": lambda d: stator.astype(stator.zeros((2,), device="cpu"), "int32", device=d),
    "to_device": lambda d: stator.zeros((2,), device="cpu").to_device(d),
    "fftfreq": lambda d: stator.fft.fftfreq(4, device=d),
    "uniform": lambda d: stator.random.uniform(size=2, device=d),
}


@pytest.mark.parametrize("name", CREATED)
def test_arrays_made_on_the_device_of_an_array_are_of_its_backend(be, name):
    with stator.Backend(be.device) as other:  # neither the current nor the shared backend
        x = other.zeros((2,))
        assert CREATED[name](x.device).backend is other
        assert x.to_device(x.device) is x


def test_a_device_is_a_value_that_knows_its_backend(be):
    with stator.Backend(be.device) as other:
        a, b = be.device, other.device
        assert a == b == str(be.device) and hash(a) == hash(b) == hash(str(be.device))
        assert str(a) == ("cpu" if be.device.type == "cpu" else "cuda:0")
        assert a.backend is be and b.backend is other and copy.deepcopy(b).backend is other
        assert be.zeros((2,)).device in {b, "elsewhere"}
        plain = pickle.loads(pickle.dumps(b))
        assert plain == b and plain.backend is None
        shared = stator.zeros((2,), device=plain).backend
        assert shared is not be and shared is not other
        assert shared is stator.zeros((2,), device=str(b)).backend
    assert b.backend is None
    assert stator.zeros((2,), device=b).backend is shared


def test_the_default_backend_is_open_and_that_of_the_environment():
    code = """
import os, stator
os.environ["STATOR_DEVICE"] = "cpu"
first = stator.default_backend()
assert stator.default_backend() is first and first.device_name == "cpu"
first.close()
assert not stator.default_backend().closed
os.environ["STATOR_DEVICE"] = "nonsense"
try:
    stator.default_backend()
except stator.errors.StatorError:
    print("refused")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.stdout == "refused\n", done.stderr


def test_a_device_keeps_no_backend_alive(be):
    device = stator.Backend(be.device).device
    gc.collect()
    assert device.backend is None
    assert stator.zeros((1,), device=device).device == device


def test_scikit_learn_runs_on_our_arrays(be):
    sklearn = pytest.importorskip("sklearn")
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import Ridge
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler

    if "SCIPY_ARRAY_API" not in os.environ:  # scikit-learn wants it set before SciPy is imported
        run_apart("test_scikit_learn_runs_on_our_arrays", be)
        return
    rng = np.random.default_rng(0)
    host = rng.normal(size=(200, 8))
    target = (host[:, 0] + 0.1 * rng.normal(size=200) > 0).astype(np.int64)
    x, y = be.asarray(host), be.asarray(target)  # arrays that are made on x.device belong to this backend too
    runs = {
        "PCA": lambda x, y: abs(PCA(3, svd_solver="full").fit_transform(x)),
        "PCA by eigenvalues": lambda x, y: abs(PCA(3, svd_solver="covariance_eigh").fit_transform(x)),
        "LDA": lambda x, y: abs(LinearDiscriminantAnalysis().fit(x, y).transform(x)),
        "Ridge": lambda x, y: Ridge(solver="svd").fit(x, y * 1.0).predict(x),
        "StandardScaler": lambda x, y: StandardScaler().fit_transform(x),
        "MinMaxScaler": lambda x, y: MinMaxScaler().fit_transform(x),
        "MaxAbsScaler": lambda x, y: MaxAbsScaler().fit_transform(x),
        "Normalizer": lambda x, y: Normalizer().fit_transform(x),
    }
    for name, run in runs.items():
        with sklearn.config_context(array_api_dispatch=True):
            got = run(x, y)
        assert isinstance(got, stator.Array), name
        assert got.backend is be, name
        np.testing.assert_allclose(got.to_numpy(), run(host, target), rtol=1e-6, atol=1e-9, err_msg=name)


def test_scipy_runs_on_our_arrays(be):
    if "SCIPY_ARRAY_API" not in os.environ:
        run_apart("test_scipy_runs_on_our_arrays", be)
        return
    import scipy.cluster.vq
    import scipy.fft
    import scipy.integrate
    import scipy.signal
    import scipy.special
    import scipy.stats

    host = np.random.default_rng(0).normal(size=(100, 6))
    runs = {
        "fft": scipy.fft.fft,
        "logsumexp": lambda x: scipy.special.logsumexp(x, axis=1),
        "expit": scipy.special.expit,
        "gammaln": lambda x: scipy.special.gammaln(x * x + 0.5),
        "zscore": scipy.stats.zscore,
        "skew": scipy.stats.skew,
        "moment": lambda x: scipy.stats.moment(x, order=2),
        "trapezoid": scipy.integrate.trapezoid,
        "detrend": scipy.signal.detrend,
        "whiten": scipy.cluster.vq.whiten,
    }
    for name, run in runs.items():
        got = run(be.asarray(host))
        assert isinstance(got, stator.Array), name
        assert got.backend is be, name
        np.testing.assert_allclose(got.to_numpy(), run(host), rtol=1e-7, atol=1e-9, err_msg=name)


def run_apart(test, be):
    """Runs a test in a process in which SciPy accepts arrays of other libraries."""
    call = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        __file__,
        "-k",
        f"{test} and {be.device.type}",
    ]
    done = subprocess.run(call, env={**os.environ, "SCIPY_ARRAY_API": "1"}, capture_output=True, text=True)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout[-4000:]
