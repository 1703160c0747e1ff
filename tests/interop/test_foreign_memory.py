"""Memory that other libraries describe wrongly is refused before any of it is read, and released once."""

import ctypes

import numpy as np
import pytest

import stator
from stator.errors import DTypeError, InvalidValueError, ShapeError, StatorError, UnsupportedError

CPU, CUDA, BIG = 1, 2, 2**62


class Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_index", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class Versioned(ctypes.Structure):
    pass


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
Versioned._fields_ = (
    ("major", ctypes.c_uint32),
    ("minor", ctypes.c_uint32),
    ("context", ctypes.c_void_p),
    ("deleter", Deleter),
    ("flags", ctypes.c_uint64),
    ("tensor", Tensor),
)
api = ctypes.pythonapi
new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", api)
)
is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", api))


def numbers(values):
    return None if values is None else (ctypes.c_int64 * len(values))(*values)


class Producer:
    """A DLPack producer of [0, 1, 2], of which each field can be wrong; counts the calls of its deleter."""

    def __init__(self, major=1, shape=(3,), strides=(1,), claimed=(CPU, 0), device=(CPU, 0), **fields):
        self.memory = np.arange(3.0)
        self.kept = numbers(shape), numbers(strides)
        self.claimed = claimed
        self.deleted = 0
        self.managed = Versioned(major, 0, None, Deleter(self.delete), 0)
        tensor = {"data": self.memory.ctypes.data, "ndim": 1, "code": 2, "bits": 64, "lanes": 1} | fields
        tensor |= {"device_type": device[0], "device_index": device[1]}
        for name, value in tensor.items():
            setattr(self.managed.tensor, name, value)
        for name, value in zip(("shape", "strides"), self.kept, strict=True):
            if value is not None:
                setattr(self.managed.tensor, name, ctypes.cast(value, ctypes.POINTER(ctypes.c_int64)))
        self.capsule = None

    def delete(self, managed):
        self.deleted += 1

    def consumed(self):
        """Whether the consumer took the tensor over. If not, a capsule calls the deleter, which this one leaves out."""
        return not is_valid(self.capsule, b"dltensor_versioned")

    def __dlpack__(self, **_):
        self.capsule = new_capsule(ctypes.addressof(self.managed), b"dltensor_versioned", None)
        return self.capsule

    def __dlpack_device__(self):
        return self.claimed


def test_what_is_described_rightly_is_shared_and_released_once(cpu):
    producer = Producer()
    x = stator.from_dlpack(producer, device=cpu)
    np.testing.assert_array_equal(x.to_numpy(), producer.memory)
    del x
    cpu.resources()
    assert producer.consumed()
    assert producer.deleted == 1


WRONG = {
    "another device": ({"device": (CUDA, 0)}, InvalidValueError),
    "another index": ({"device": (CPU, 1)}, InvalidValueError),
    "no data": ({"data": None}, InvalidValueError),
    "no data before an offset": ({"data": None, "byte_offset": 64}, InvalidValueError),
    "no shape": ({"shape": None}, InvalidValueError),
    "a negative length": ({"shape": (-3,)}, ShapeError),
    "a length of the address space": ({"shape": (BIG,)}, ShapeError),
    "lengths that overflow": ({"ndim": 2, "shape": (2**40, 2**40), "strides": None}, ShapeError),
    "a stride that overflows": ({"strides": (BIG,)}, InvalidValueError),
    "a stride below zero that overflows": ({"strides": (-BIG,)}, InvalidValueError),
    "strides that leave the address space": ({"strides": (2**58,)}, InvalidValueError),
    "strides below address 0": ({"strides": (-(2**50),)}, InvalidValueError),
    "negative dimensions": ({"ndim": -1}, ShapeError),
    "too many dimensions": ({"ndim": 33}, ShapeError),
    "absurdly many dimensions": ({"ndim": 2**31 - 1}, ShapeError),
    "an unknown type code": ({"code": 77}, DTypeError),
    "unknown bits": ({"bits": 24}, DTypeError),
    "lanes": ({"lanes": 4}, DTypeError),
    "no lanes": ({"lanes": 0}, DTypeError),
    "a byte_offset that overflows": ({"byte_offset": 2**64 - 8}, InvalidValueError),
    "another version": ({"major": 2}, UnsupportedError),
    "a version before the first": ({"major": 0}, UnsupportedError),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_described_wrongly_is_refused(cpu, what):
    fields, error = WRONG[what]
    producer = Producer(**fields)
    with pytest.raises(error) as raised:
        stator.from_dlpack(producer, device=cpu)
    assert raised.value.op in ("from_dlpack", "asarray")
    assert raised.value.remedy
    assert not producer.consumed()
    assert producer.deleted == 0


def test_a_misaligned_offset_is_copied_or_refused(cpu):
    producer = Producer(shape=(2,), byte_offset=4)
    assert stator.from_dlpack(producer, device=cpu).shape == (2,)
    assert producer.consumed()
    assert producer.deleted == 1
    with pytest.raises(InvalidValueError, match="not a multiple of 8"):
        stator.from_dlpack(producer, device=cpu, copy=False)
    assert not producer.consumed()
    assert producer.deleted == 1


@pytest.mark.parametrize("claimed", [None, 1, (1,), (1, 0, 0), ("cpu", 0)])
def test_a_device_that_is_no_pair_of_integers(cpu, claimed):
    with pytest.raises(DTypeError, match="__dlpack_device__"):
        stator.from_dlpack(Producer(claimed=claimed), device=cpu)


class OnCuda:
    def __init__(self, **fields):
        record = {"shape": (4,), "typestr": "<f8", "data": (4096, False), "version": 3} | fields
        self.__cuda_array_interface__ = {k: v for k, v in record.items() if v is not ...}


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"shape": ...}, InvalidValueError),
        ({"shape": "4"}, DTypeError),
        ({"shape": (-4,)}, ShapeError),
        ({"shape": (2**62,)}, ShapeError),
        ({"shape": 1.5}, DTypeError),
        ({"typestr": ...}, InvalidValueError),
        ({"typestr": 7}, StatorError),
        ({"typestr": ">f8"}, DTypeError),
        ({"typestr": "<f3"}, StatorError),
        ({"data": ...}, InvalidValueError),
        ({"data": None}, InvalidValueError),
        ({"data": 4096}, InvalidValueError),
        ({"data": (4096,)}, InvalidValueError),
        ({"data": ("x", False)}, InvalidValueError),
        ({"data": (-1, False)}, InvalidValueError),
        ({"data": (0, False)}, InvalidValueError),
        ({"strides": (12,)}, InvalidValueError),
        ({"strides": (8, 8)}, InvalidValueError),
        ({"strides": 8}, InvalidValueError),
        ({"strides": (8.0,)}, DTypeError),
        ({"strides": (2**66,)}, ShapeError),
        ({"stream": 0}, InvalidValueError),
        ({"stream": "x"}, InvalidValueError),
        ({"mask": "some"}, DTypeError),
    ],
    ids=str,
)
def test_a_wrong_cuda_array_interface_is_refused(cpu, fields, error):
    with pytest.raises(error) as raised:
        stator.asarray(OnCuda(**fields), device=cpu)
    assert raised.value.op in ("asarray", "dtype")


def test_a_cuda_array_interface_that_is_no_dict(cpu):
    holder = OnCuda()
    holder.__cuda_array_interface__ = [1, 2]
    with pytest.raises(InvalidValueError, match="__cuda_array_interface__"):
        stator.asarray(holder, device=cpu)


def test_strides_of_a_buffer_between_its_elements_are_copied(cpu):
    packed = np.zeros(4, dtype=[("a", "u1"), ("b", "f8")])
    packed["b"] = range(4)
    np.testing.assert_array_equal(cpu.asarray(packed["b"]).to_numpy(), range(4))
    with pytest.raises(InvalidValueError):
        cpu.asarray(packed["b"], copy=False)
