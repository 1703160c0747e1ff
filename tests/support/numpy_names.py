"""Calls of NumPy's names written once: as text that is evaluated with NumPy's module and with stator.numpy."""

import warnings

import numpy as np

import stator

HOST = {
    "f": np.array([[1.5, -2.0, 3.0], [0.5, 4.0, -1.0]]),
    "g": np.array([[0.25, 2.0, 3.0], [-1.5, 8.0, 1.0]]),
    "v": np.array([3.0, 1.0, 2.0, 5.5, 4.0]),
    "w": np.array([1.0, 2.0, 0.5]),
    "h": np.array([[1.5, -2.25, 3.0], [0.5, 4.0, -1.0]], np.float32),
    "i": np.array([[3, -1, 2], [0, 5, 4]]),
    "j": np.array([2, 0, 1, 2]),
    "s": np.array([[3, -1, 2], [0, 5, 4]], np.int8),
    "u": np.array([[3, 1, 2], [0, 5, 4]], np.uint8),
    "b": np.array([[True, False, True], [False, True, True]]),
    "c": np.array([[1 + 2j, -2.0, 3j], [0.5 - 1j, 4.0, -1 - 1j]]),
    "n": np.array([[1.5, np.nan, 3.0], [np.nan, 4.0, -1.0]]),
    "t": np.arange(24.0).reshape(2, 3, 4),
    "z": np.array(2.5),
}


def changed(array, change, *args, **options):
    """An array after a function has written to it."""
    change(array, *args, **options)
    return array


def evaluated(text, module, convert):
    """The value of a call, with new operands."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(text, {"np": module, "changed": changed, **{k: convert(v.copy()) for k, v in HOST.items()}})


def assert_alike(found, wanted, text):
    """Values, shapes, dtypes and structure."""
    if isinstance(wanted, (tuple, list)) and not isinstance(found, stator.Array):
        assert isinstance(found, (tuple, list)) and len(found) == len(wanted), text
        for one, other in zip(found, wanted, strict=True):
            assert_alike(one, other, text)
        return
    if isinstance(wanted, (np.ndarray, np.generic)) and isinstance(found, stator.Array):
        assert found.dtype == wanted.dtype, f"{text}: {found.dtype}, not {wanted.dtype}"
    elif isinstance(wanted, (np.dtype, type)):
        assert np.dtype(found.numpy() if isinstance(found, stator.dtype("bool").__class__) else found) == wanted, text
        return
    host = found.to_numpy() if isinstance(found, stator.Array) else found
    assert np.shape(host) == np.shape(wanted), f"{text}: {np.shape(host)}, not {np.shape(wanted)}"
    kind = np.asarray(wanted).dtype
    if kind.kind in "fc":
        rtol = {np.float16: 2e-3, np.float32: 2e-6, np.complex64: 2e-6}.get(kind.type, 1e-12)
        np.testing.assert_allclose(host, wanted, rtol=rtol, atol=1e-13 if rtol < 1e-9 else rtol, err_msg=text)
    else:
        np.testing.assert_array_equal(host, wanted, err_msg=text)
