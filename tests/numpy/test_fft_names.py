"""stator.numpy.fft beside numpy.fft: values, dtypes, positional arguments, errors."""

import inspect

import numpy as np
import pytest
from beside_numpy import assert_same, compare, on_device

import stator
import stator.numpy as snp

random = np.random.default_rng(5)
X = random.normal(size=(3, 4, 6))
Z = X + 1j * random.normal(size=X.shape)
F32 = X.astype("float32")
INTEGERS = np.arange(12).reshape(3, 4)

LINES = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
BLOCKS = ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"]


def input_of(name):
    return X if name in ("rfft", "ihfft", "rfftn", "rfft2") else Z


@pytest.mark.parametrize("name", LINES)
def test_transforms_along_one_axis(be, name):
    ours, theirs = getattr(snp.fft, name), getattr(np.fft, name)
    a = input_of(name)
    for args in ((a,), (a, 8), (a, 3), (a, None, 0), (a, 5, 1, "ortho"), (a, None, -1, "forward"), (F32,), (INTEGERS,)):
        compare(ours, theirs, *args)
    compare(ours, theirs, [1, 2, 3, 4])


@pytest.mark.parametrize("name", BLOCKS)
def test_transforms_along_several_axes(be, name):
    ours, theirs = getattr(snp.fft, name), getattr(np.fft, name)
    a = input_of(name)
    calls = ((a,), (a, (4, 5), (0, 2)), (a, None, (1, 0)), (a, None, (0, 2), "ortho"), (F32, None, (0, 1)))
    for args in calls:
        compare(ours, theirs, *args)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
@pytest.mark.parametrize("axes", [(0, 0), (1, 2, 1), (2, 0, 0)])
def test_an_axis_named_twice_is_transformed_twice(be, name, axes):
    a = input_of(name)
    compare(getattr(snp.fft, name), getattr(np.fft, name), a, None, axes)
    compare(getattr(snp.fft, name), getattr(np.fft, name), a, [5] * len(axes), axes)


def test_shifts(be):
    for name in ("fftshift", "ifftshift"):
        for args in ((X,), (X, 0), (X, (0, 2)), (INTEGERS, [1]), ([1, 2, 3],)):
            compare(getattr(snp.fft, name), getattr(np.fft, name), *args)


def test_frequencies(be):
    for name in ("fftfreq", "rfftfreq"):
        for args in ((8,), (5, 0.1), (1,)):
            compare(getattr(snp.fft, name), getattr(np.fft, name), *args)


def test_out(be):
    out = stator.zeros(Z.shape, dtype="complex128")
    assert snp.fft.fft(on_device(Z), out=out) is out
    assert_same(out, np.fft.fft(Z))
    with pytest.raises(ValueError, match="shape"):
        snp.fft.fft(on_device(Z), n=3, out=out)


REFUSED = [
    ("fft", (X, 0)),
    ("fft", (X, None, 3)),
    ("fft", (X, None, -1, "half")),
    ("fft", (1.0,)),
    ("rfft", (Z,)),
    ("irfft", (Z, 0)),
    ("fftn", (X, (2, 3), (0,))),
    ("fftn", (X, None, (0, 5))),
    ("fft2", (X[0, 0],)),
    ("fftshift", (X, 4)),
    ("fftfreq", (0.5,)),
]


@pytest.mark.parametrize(("name", "args"), REFUSED)
def test_what_numpy_refuses_is_refused_alike(be, name, args):
    with pytest.raises(Exception) as wanted:
        getattr(np.fft, name)(*args)
    theirs = next(c for c in wanted.type.__mro__ if c.__module__ == "builtins")
    with pytest.raises(theirs):
        getattr(snp.fft, name)(*(on_device(a) for a in args))


def test_every_name_of_numpy_is_there_with_its_arguments():
    assert set(np.fft.__all__) == set(snp.fft.__all__)
    for name in np.fft.__all__:
        ours, theirs = inspect.signature(getattr(snp.fft, name)), inspect.signature(getattr(np.fft, name))
        assert list(ours.parameters) == list(theirs.parameters)
