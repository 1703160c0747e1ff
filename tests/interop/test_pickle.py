"""Arrays, sparse matrices, generators, dtypes and backends are pickled and copied."""

import concurrent.futures
import copy
import functools
import gc
import multiprocessing
import pickle
import pickletools

import numpy as np
import pytest

import stator
from stator import _pickling
from stator.errors import DeviceUnavailableError, StatorError, UnpicklingError

X = np.arange(24.0).reshape(4, 6)
ARRAYS = {
    "matrix": lambda be: be.asarray(X),
    "0-d": lambda be: be.asarray(2.5),
    "empty": lambda be: be.zeros((0, 3), dtype="int8"),
    "bool": lambda be: be.asarray(X > 7),
    "half": lambda be: be.asarray(X.astype("f2")),
    "complex": lambda be: be.asarray(X + 1j),
    "transposed": lambda be: be.asarray(X).T,
    "reversed": lambda be: be.asarray(X)[::-1, ::2],
    "broadcast": lambda be: stator.broadcast_to(be.asarray(X[0]), (3, 6)),
}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_pickled(be, name, protocol):
    x = ARRAYS[name](be)
    with be.use():
        got = pickle.loads(pickle.dumps(x, protocol))
    assert got.backend is be and (got.dtype, got.shape) == (x.dtype, x.shape)
    np.testing.assert_array_equal(got.to_numpy(), x.to_numpy())
    got[...] = False  # writable, and of its own memory


def test_bfloat16_is_pickled(be):
    x = be.asarray([1.5, -2.0, 3.0]).astype("bfloat16")
    with be.use():
        got = pickle.loads(pickle.dumps(x[::2]))
    assert got.dtype == stator.bfloat16 and got.tolist() == [1.5, 3.0]


def test_a_view_is_pickled_without_the_rest_of_its_memory(be):
    row = be.zeros((1000, 1000))[5, ::100]
    assert len(pickle.dumps(row)) < 400


def test_memory_travels_out_of_band(be):
    buffers = []
    x = be.asarray(np.arange(1000.0))
    text = pickle.dumps(x, 5, buffer_callback=buffers.append)
    assert len(text) < 400 and [b.raw().nbytes for b in buffers] == [8000]
    with be.use():
        for given in (buffers, [bytes(b.raw()) for b in buffers]):
            np.testing.assert_array_equal(pickle.loads(text, buffers=given).to_numpy(), x.to_numpy())


@pytest.mark.parametrize("name", ARRAYS)
def test_copies_are_made_on_the_device(be, name):
    x = ARRAYS[name](be)
    with be.forbid_host_copies():
        for made in (copy.copy(x), copy.deepcopy(x), copy.deepcopy({"a": [x]})["a"][0]):
            assert made.backend is be and made.shape == x.shape
            assert x.size == 0 or made.data_ptr != x.data_ptr
    np.testing.assert_array_equal(made.to_numpy(), x.to_numpy())
    twice = copy.deepcopy([x, x])
    assert twice[0] is twice[1]


@pytest.mark.parametrize("act", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_sparse_matrices(be, kind, act):
    dense = np.where(X % 3 == 0, X, 0)
    x = getattr(stator.sparse, f"{kind}_from_dense")(be.asarray(dense))
    with be.use():
        got = act(x)
    assert type(got) is type(x) and got.shape == x.shape
    assert (got.is_sorted, got.is_coalesced) == (x.is_sorted, x.is_coalesced)
    np.testing.assert_array_equal(got.to_dense().to_numpy(), dense)


@pytest.mark.parametrize("act", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
def test_generators_go_on_from_their_state(be, act):
    for generator in (stator.random.Generator(be, seed=7), be.random):
        generator.uniform(size=3)
        with be.use():
            other = act(generator)
        want = generator.uniform(size=5).to_numpy()
        np.testing.assert_array_equal(other.uniform(size=5).to_numpy(), want)
        assert not np.array_equal(generator.uniform(size=5).to_numpy(), want)  # each has a state of its own


def test_dtypes_are_themselves():
    for dtype in (stator.float32, stator.bfloat16, stator.bool):
        assert pickle.loads(pickle.dumps(dtype)) is copy.deepcopy(dtype) is dtype


def test_a_backend_is_pickled_by_its_configuration(be):
    with stator.Backend(be.device, deterministic=True, check_indices="eager") as own:
        assert copy.copy(own) is copy.deepcopy(own) is own
        text = pickle.dumps(own)
        assert pickle.loads(text) is own  # the current backend is of this configuration
    made = pickle.loads(text)
    try:
        assert made is not own and made.options == {**be.options, "deterministic": True, "check_indices": "eager"}
        assert made.device_name == be.device_name and pickle.loads(text) is made
    finally:
        made.close()


def test_arrays_go_to_the_current_backend_of_their_device():
    with stator.Backend("cpu") as be:
        text = pickle.dumps(be.ones((2,)))
    got = pickle.loads(text)
    assert got.device == stator.Device("cpu") and got.backend is pickle.loads(text).backend
    if stator.default_backend().device.type == "cpu":
        assert got.backend is stator.default_backend()
    assert got.tolist() == [1.0, 1.0]


def test_a_device_that_is_not_there_is_named(cpu):
    _, args = cpu.ones((2,)).__reduce_ex__(2)
    for device in ("cuda:77", "tpu", 5):
        with pytest.raises(DeviceUnavailableError, match=f"{device}.*to_device"):
            _pickling.restore_array(*args[:3], device, args[4])


CHANGES = {
    "version": (0, 99, "format 1"),
    "no version": (0, None, "format 1"),
    "dtype": (1, "float31", "corrupt"),
    "dtype of another type": (1, 5, "corrupt"),
    "another dtype": (1, "float32", "corrupt"),
    "shape": (2, (3, 3), "corrupt"),
    "negative shape": (2, (-2, -1), "corrupt"),
    "no shape": (2, "ab", "corrupt"),
    "a number for a shape": (2, 2, "corrupt"),
    "too few bytes": (4, b"1234567", "corrupt"),
    "no bytes": (4, 3, "corrupt"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_corrupt_pickles_and_those_of_other_versions_are_refused(be, name):
    place, value, match = CHANGES[name]
    _, args = be.asarray([1.0, 2.0]).__reduce_ex__(2)
    changed = [*args[:place], value, *args[place + 1 :]]
    with be.use(), pytest.raises(UnpicklingError, match=match) as caught:
        _pickling.restore_array(*changed)
    assert isinstance(caught.value, pickle.UnpicklingError) and caught.value.op == "pickle.loads"


def test_a_pickled_shape_beyond_all_memory_is_refused_also_without_elements(be):
    with be.use(), pytest.raises(UnpicklingError, match="corrupt"):
        _pickling.restore_array(1, "float64", (0, 2**62), be.device_name, b"")


def test_corrupt_pickles_of_other_objects_are_refused(be):
    matrix = stator.sparse.csr_from_dense(be.asarray(X))
    parts = (matrix.data, matrix.indices, matrix.indptr)
    with be.use():
        for bad in (
            lambda: _pickling.restore_sparse(9, "CSR", parts, (4, 6), (True, True)),
            lambda: _pickling.restore_sparse(1, "BSR", parts, (4, 6), (True, True)),
            lambda: _pickling.restore_sparse(1, "CSR", parts, (9, 6), (True, True)),
            lambda: _pickling.restore_sparse(1, "CSR", parts[:2], (4, 6), (True, True)),
            lambda: _pickling.restore_sparse(1, "CSR", (1, 2, 3), (4, 6), (True, True)),
            lambda: _pickling.restore_generator(0, (1, 2, 0, "cpu"), be.device_name),
            lambda: _pickling.restore_generator(1, (1,), be.device_name),
            lambda: _pickling.restore_generator(1, ("a", 2, 0, "cpu"), be.device_name),
            lambda: _pickling.restore_backend(0, be.device_name, be.options),
            lambda: _pickling.restore_backend(1, be.device_name, {"colour": 1}),
            lambda: _pickling.restore_backend(1, be.device_name, None),
        ):
            with pytest.raises(UnpicklingError):
                bad()


def test_a_truncated_pickle_leaves_nothing_behind(be):
    text = pickle.dumps(be.asarray(X))
    with be.use():
        for stop in range(0, len(text) - 1, 37):
            with pytest.raises((pickle.UnpicklingError, EOFError, ValueError, StatorError)):
                pickle.loads(text[:stop])
    gc.collect()
    assert be.resources() == [] or all(r["kind"] != "buffer" for r in be.resources())


def test_a_pickle_names_one_function_of_stator(be):
    names = [arg for op, arg, _ in pickletools.genops(pickle.dumps(be.ones(3), 2)) if op.name == "GLOBAL"]
    assert "stator._pickling restore_array" in names


@pytest.mark.parametrize("start", ["spawn", "forkserver"])
def test_processes_exchange_arrays(start):
    x = stator.asarray(X, device="cpu")
    context = multiprocessing.get_context(start)
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        got = pool.submit(functools.partial(stator.add, x), 1.0).result()
    np.testing.assert_array_equal(got.to_numpy(), X + 1)


def test_joblib_exchanges_arrays():
    joblib = pytest.importorskip("joblib", reason="joblib is not installed")
    x = stator.asarray(X, device="cpu")
    (got,) = joblib.Parallel(2)([joblib.delayed(stator.add)(x, 1.0)])
    np.testing.assert_array_equal(got.to_numpy(), X + 1)


def test_a_fitted_model_of_scikit_learn_is_pickled(be):
    sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    from sklearn.decomposition import PCA

    host = np.random.default_rng(0).normal(size=(20, 4))
    fitted = PCA(2, svd_solver="full")
    for name, value in vars(PCA(2, svd_solver="full").fit(host)).items():
        setattr(fitted, name, be.asarray(value) if isinstance(value, np.ndarray) else value)
    with be.use():
        again = pickle.loads(pickle.dumps(fitted))
        cloned = copy.deepcopy(fitted)
    for model in (again, cloned):
        assert isinstance(model.components_, stator.Array) and sklearn.__version__
        np.testing.assert_array_equal(model.components_.to_numpy(), fitted.components_.to_numpy())
