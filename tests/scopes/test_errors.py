"""What stator says about errors beside their text: suggestions, notes, conversion, levels of logs, and the hook."""

import logging
import pickle

import numpy as np
import pytest

import stator
from stator import errors
from stator.backends.traits import adapt
from stator.errors import StatorError


def foreign(module, name, *bases):
    return type(name, bases or (RuntimeError,), {"__module__": module})


TORCH_OOM = foreign("torch", "OutOfMemoryError")
CUPY = foreign("cupy_backends.cuda.api.runtime", "CUDARuntimeError")
NUMBA = foreign("numba.cuda.cudadrv.error", "CudaSupportError")


class Derived(TORCH_OOM):
    pass


CONVERSIONS = [
    (MemoryError(), errors.OutOfMemoryError),
    (np._core._exceptions._ArrayMemoryError((2**60,), np.dtype("f8")), errors.OutOfMemoryError),
    (OSError(12, "Cannot allocate memory"), errors.OutOfMemoryError),
    (OSError("libcufft.so.12: cannot open shared object file: No such file"), errors.LibraryNotFoundError),
    (FileNotFoundError(2, "No such file or directory"), StatorError),
    (ModuleNotFoundError("No module named 'cupy'"), errors.LibraryNotFoundError),
    (np.linalg.LinAlgError("Singular matrix"), errors.LinAlgError),
    (np.exceptions.AxisError(3, 2), errors.AxisError),
    (ValueError("x"), errors.InvalidValueError),
    (TypeError("x"), errors.DTypeError),
    (IndexError("x"), errors.OutOfRangeError),
    (NotImplementedError("x"), errors.UnsupportedError),
    (TORCH_OOM("CUDA out of memory."), errors.OutOfMemoryError),
    (Derived("a class of a class that is known"), errors.OutOfMemoryError),
    (RuntimeError("CUDA error: an illegal memory access was encountered"), errors.CudaError),
    (RuntimeError("CUDA error: out of memory"), errors.OutOfMemoryError),
    (RuntimeError("CUDA out of memory. Tried to allocate 20.00 MiB"), errors.OutOfMemoryError),  # torch before 1.13
    (CUPY("cudaErrorIllegalAddress: an illegal memory access was encountered"), errors.CudaError),
    (CUPY("cudaErrorMemoryAllocation: out of memory"), errors.OutOfMemoryError),
    (NUMBA("Error at driver init"), errors.DeviceUnavailableError),
    (RuntimeError("something else"), StatorError),
]


@pytest.mark.parametrize(
    ("cause", "text"),
    [
        ("is_available() raised", "is_available() raised"),
        ("package:Provider cannot be imported", "package:Provider cannot be imported"),
        ("memory_limit is 4", "memory_limit is 4"),
        ("src: the bytes from 0 to 4", "Src: the bytes from 0 to 4"),
        ("axis=5", "Got axis=5"),
        ("the backend is closed", "The backend is closed"),
        ("nothing, at all", "Nothing, at all"),
    ],
)
def test_a_text_begins_with_a_capital_and_names_of_code_stay_as_they_are(cause, text):
    assert StatorError(cause).cause == text
    assert StatorError("x", remedy="close() it").remedy == "close() it"


@pytest.mark.parametrize(("error", "kind"), CONVERSIONS, ids=lambda x: getattr(x, "__name__", repr(x))[:60])
def test_errors_of_other_libraries_are_converted(cpu, error, kind):
    converted = errors.convert_error(error)
    assert type(converted) is kind
    assert converted.__cause__ is error
    assert str(error) in str(converted)
    assert all(text[0].isupper() and text.endswith(".") for text in converted.recovery_suggestions())


def test_the_status_of_cuda_is_taken_over(cpu):
    error = CUPY("cudaErrorIllegalAddress: an illegal memory access was encountered")
    error.status = 700
    converted = errors.convert_error(error)
    assert (converted.code, converted.name) == (700, "cudaErrorIllegalAddress")
    assert "Restart" in converted.recovery_suggestions()[0]


def test_errors_of_stator_stay_as_they_are(cpu):
    error = errors.ShapeError("x=3", op="add")
    assert errors.convert_error(error) is error
    with pytest.raises(errors.DTypeError, match="convert_error"):
        errors.convert_error("text")


@pytest.mark.parametrize("kind", [getattr(errors, n) for n in errors.__all__ if n.endswith("Error")])
def test_suggestions_are_sentences_without_duplicates(kind):
    found = kind("something", op="call", remedy="do this").recovery_suggestions()
    assert found[0] == "Do this."
    assert len(found) == len(set(found))
    assert not [text for text in found if not text[0].isupper() or text[-1] != "."]


def test_every_type_has_suggestions_but_those_whose_remedy_says_all():
    kinds = {name: getattr(errors, name) for name in errors.__all__ if name.endswith("Error")}
    without = {name for name, kind in kinds.items() if not kind("x").recovery_suggestions()}
    assert without == {"StatorError", "InvalidValueError", "NumberRangeError"}
    assert not any("astype" in text for text in errors.ConfigurationError("x").recovery_suggestions())


def test_suggestions_depend_on_what_the_error_carries(device):
    with stator.Backend(device, memory_limit=1 << 20) as be:
        x = be.empty(1 << 19, dtype="uint8")
        with pytest.raises(errors.OutOfMemoryError) as caught:
            be.empty(1 << 21, dtype="uint8")
        found = "\n".join(caught.value.recovery_suggestions())
        assert f"1048576 bytes never hold the {caught.value.requested}" in found
        assert "512.0 KiB empty" in found
        with pytest.raises(errors.OutOfMemoryError) as caught:
            be.empty((1 << 20) - 4096, dtype="uint8")
        assert "Raise memory_limit, which is 1048576 bytes." in caught.value.recovery_suggestions()
        assert adapt(be).recovery_suggestions(caught.value) == caught.value.recovery_suggestions()
    with pytest.raises(errors.BackendClosedError) as caught:
        x.tolist()
    assert any("reopen" in text for text in caught.value.recovery_suggestions())


def test_a_context_is_a_note_on_whatever_is_raised(be):
    for error in (KeyError("k"), errors.ShapeError("s")):
        with (
            pytest.raises(type(error)) as caught,
            be.error_context("outer"),
            be.error_context("while reading the weights"),
        ):
            raise error
        where = f"(on {be.device_name})"
        assert caught.value is error
        assert error.__notes__ == [f"while reading the weights {where}", f"outer {where}"]


def test_a_context_converts_where_it_is_asked_to(be):
    with pytest.raises(errors.OutOfMemoryError) as caught, be.error_context("step 3", convert=True):
        raise MemoryError("32 GiB")
    assert isinstance(caught.value.__cause__, MemoryError)
    assert caught.value.__notes__ == [f"step 3 (on {be.device_name})"]
    with pytest.raises(KeyboardInterrupt), be.error_context("step 3", convert=True):
        raise KeyboardInterrupt
    with pytest.raises(errors.DTypeError, match="error_context"):
        be.error_context(3)


def test_handle_error_gives_the_error_with_its_context(cpu):
    handled = adapt(cpu).handle_error(MemoryError("32 GiB"), "loading")
    assert isinstance(handled, errors.OutOfMemoryError)
    assert handled.__notes__ == ["loading (on cpu)"]


@pytest.mark.parametrize(
    ("error", "level"),
    [
        (errors.ShapeError("s"), logging.WARNING),
        (errors.LinAlgError("s"), logging.WARNING),
        (MemoryError("m"), logging.ERROR),
        (RuntimeError("CUDA error: unspecified launch failure"), logging.CRITICAL),
        (RuntimeError("CUDA error: invalid argument"), logging.ERROR),
    ],
    ids=repr,
)
def test_errors_are_logged_at_a_level_that_fits(cpu, caplog, error, level):
    adapt(cpu).log_error(error, "step 3")
    adapt(cpu).log_error(error, "step 4", level=logging.DEBUG)
    assert [(r.name, r.levelno, r.getMessage()[:15]) for r in caplog.records] == [
        ("stator.errors", level, "step 3 (on cpu)")
    ]


@pytest.fixture
def seen():
    found = []
    before = errors.set_hook(found.append)
    yield found
    assert errors.set_hook(before) is not None


def test_the_hook_sees_errors_of_cpp_and_of_python_with_their_figures(seen, device):
    with stator.Backend(device, memory_limit=1 << 20) as be:
        with pytest.raises(StatorError) as first:
            be.empty(1 << 21, dtype="uint8")
        with pytest.raises(StatorError) as second:
            be.error_context(3)
    assert seen[0] is first.value and seen[-1] is second.value
    assert seen[0].requested >= 1 << 21


def test_the_hook_sees_an_error_that_is_passed_on_under_both_names(seen, cpu):
    with pytest.raises(StatorError) as caught:
        stator.Device.parse("tpu")
    assert seen[-1] is caught.value
    assert seen[-1].op == "Device.parse"


def test_the_hook_does_not_see_what_is_unpickled(seen):
    error = errors.AxisError("axis=3")
    assert type(pickle.loads(pickle.dumps(error))) is errors.AxisError
    assert seen == [error]


def test_a_hook_may_call_stator_and_may_raise(cpu, monkeypatch):
    ignored = []
    monkeypatch.setattr("sys.unraisablehook", lambda told: ignored.append(told.exc_type))

    def hook(error):
        with pytest.raises(StatorError):
            cpu.ones(3) + cpu.ones(4)
        raise KeyError

    before = errors.set_hook(hook)
    try:
        with pytest.raises(errors.ShapeError):
            cpu.ones(3) + cpu.ones(4)
    finally:
        assert errors.set_hook(before) is hook
    assert ignored == [KeyError]
    with pytest.raises(errors.DTypeError, match="set_hook"):
        errors.set_hook(3)
