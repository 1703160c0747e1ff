"""Files and buffers of stator.numpy, read and written beside NumPy."""

import io

import ml_dtypes
import numpy as np
import pytest
from beside_numpy import assert_same

import stator
import stator.numpy as snp
from stator.errors import DTypeError, HostCopyError

DTYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_save_and_load(be, tmp_path, dtype, shape):
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    snp.save(tmp_path / "x.npy", stator.asarray(x))
    assert_same(np.load(tmp_path / "x.npy"), x)
    found = snp.load(tmp_path / "x.npy")
    assert found.backend is be
    assert_same(found, x)


def test_views_and_open_files(be):
    x = stator.reshape(stator.arange(12), (3, 4))
    file = io.BytesIO()
    snp.save(file, x[:, ::2].T)
    file.seek(0)
    assert_same(snp.load(file), np.arange(12).reshape(3, 4)[:, ::2].T)


def test_a_suffix_is_added(be, tmp_path):
    snp.save(str(tmp_path / "x"), [1, 2])
    assert_same(snp.load(tmp_path / "x.npy", mmap_mode="r"), [1, 2])


@pytest.mark.parametrize("name", ["savez", "savez_compressed"])
def test_archives(be, tmp_path, name):
    getattr(snp, name)(tmp_path / "x.npz", stator.arange(3), [1.5], named=stator.ones((2, 2)))
    with np.load(tmp_path / "x.npz") as theirs:
        assert_same(theirs["arr_1"], [1.5])
    with snp.load(tmp_path / "x.npz") as found:
        assert sorted(found) == sorted(found.files) == ["arr_0", "arr_1", "named"]
        assert len(found) == 3
        assert "named" in found
        assert "other" not in found
        assert_same(found["arr_0"], [0, 1, 2])
        assert_same(found["named"], np.ones((2, 2)))
        with pytest.raises(KeyError):
            found["other"]


def test_bfloat16_and_objects_are_refused(be, tmp_path):
    with pytest.raises(DTypeError, match="float32"):
        snp.save(tmp_path / "x.npy", stator.asarray(np.ones(2, dtype=ml_dtypes.bfloat16)))
    np.save(tmp_path / "objects.npy", np.array([{}, None]))
    with pytest.raises(ValueError, match="allow_pickle"):
        snp.load(tmp_path / "objects.npy")
    with pytest.raises(TypeError, match="allow_pickle"):
        snp.load(tmp_path / "objects.npy", allow_pickle=True)
    np.save(tmp_path / "structured.npy", np.zeros(2, dtype=[("a", "i4")]))
    with pytest.raises(TypeError, match="element type"):
        snp.load(tmp_path / "structured.npy")
    with pytest.raises(FileNotFoundError):
        snp.load(tmp_path / "missing.npy")


def test_writing_is_a_host_copy(be, tmp_path):
    x = stator.ones((3,))
    with be.forbid_host_copies():
        for write in (snp.save, snp.savez, snp.savez_compressed, snp.savetxt):
            with pytest.raises(HostCopyError):
                write(tmp_path / "x", x)


def test_text(be, tmp_path):
    x = np.arange(6).reshape(2, 3) / 4
    snp.savetxt(tmp_path / "x.txt", stator.asarray(x), "%.3f", delimiter=",", header="a,b,c")
    assert_same(np.loadtxt(tmp_path / "x.txt", delimiter=","), x)
    assert_same(snp.loadtxt(tmp_path / "x.txt", delimiter=","), x)
    assert_same(snp.loadtxt(tmp_path / "x.txt", np.float32, delimiter=",", usecols=1), x[:, 1].astype("float32"))
    first, second, third = snp.loadtxt(tmp_path / "x.txt", delimiter=",", unpack=True)
    assert_same(third, x[:, 2])
    assert_same(first + second, x[:, 0] + x[:, 1])
    assert_same(
        snp.genfromtxt(io.StringIO("1,2\n,4"), delimiter=",", filling_values=-1), [[1, 2], [-1, 4]], dtypes=False
    )
    with pytest.raises(ValueError, match="could not convert"):
        snp.loadtxt(io.StringIO("1 x"))
    with pytest.raises(TypeError, match="element type"):
        snp.loadtxt(io.StringIO("1 2"), dtype=[("a", "i4"), ("b", "i4")])


def test_bytes(be, tmp_path):
    x = np.arange(6, dtype="int16")
    x.tofile(tmp_path / "x.bin")
    assert_same(snp.fromfile(tmp_path / "x.bin", np.int16), x)
    assert_same(snp.fromfile(tmp_path / "x.bin", np.int16, 2, offset=4), x[2:4])
    assert_same(snp.frombuffer(x.tobytes(), np.int16, 3, 2), x[1:4])
    assert_same(snp.frombuffer(bytearray(16)), np.zeros(2))
    assert_same(snp.fromstring("1 2 3", int, sep=" "), [1, 2, 3])
    with pytest.raises(ValueError, match="buffer"):
        snp.frombuffer(b"abc", np.int16)
