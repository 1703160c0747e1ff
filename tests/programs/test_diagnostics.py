"""Records that kernels and the host append, and their one readback."""

import numpy as np
import pytest

import stator
from stator.errors import DTypeError, HostCopyError, InvalidValueError, OutOfMemoryError, StatorError

SOURCE = """
#include <stator/diagnostics.hpp>
struct Found { int row; float value; double sum; signed char flag; };
__global__ void negatives(const float* x, int n, stator::Diagnostics<Found> found) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] < 0) found.push({i, x[i], 2.0 * x[i], 1});
}
__global__ void shorter(stator::Diagnostics<int> found) { found.push(3); }
"""
FOUND = np.dtype([("row", "i4"), ("value", "f4"), ("sum", "f8"), ("flag", "i1")], align=True)


@pytest.mark.parametrize("capacity", [1, 100, 1000])
def test_what_kernels_append_is_read_in_one_copy_and_the_rest_is_counted(cuda, capacity):
    kernel = cuda.compile(SOURCE, "negatives")
    found = cuda.programs.diagnostics(capacity, FOUND)
    x = cuda.asarray(np.where(np.arange(1000) % 5 == 0, -np.arange(1000), 1), dtype="float32")
    before = cuda.statistics()
    kernel.launch(8, 128, x, 1000, found.array)
    records, lost = found.read()
    after = cuda.statistics()
    assert after["calls"]["copy"] - before["calls"]["copy"] == 1
    assert after["d2h_bytes"] - before["d2h_bytes"] == 32 + capacity * FOUND.itemsize
    assert (len(records), lost) == (min(199, capacity), 199 - min(199, capacity))
    assert len({*records["row"]}) == len(records)
    assert (records["row"] % 5 == 0).all() and (records["flag"] == 1).all()
    np.testing.assert_array_equal(records["value"], -records["row"])
    np.testing.assert_array_equal(records["sum"], -2.0 * records["row"])


def test_records_of_several_launches_are_together_until_they_are_cleared(cuda):
    kernel, found = cuda.compile(SOURCE, "negatives"), cuda.programs.diagnostics(10, FOUND)
    for _ in range(3):
        kernel.launch(1, 32, cuda.asarray([-1, 2], dtype="float32"), 2, found.array)
    assert found.append(np.zeros(1, FOUND)) == 1
    assert found.read().records["row"].tolist() == [0, 0, 0, 0]
    found.clear()
    assert found.read().records.size == 0


def test_a_kernel_with_records_of_another_size_is_told_of(cuda):
    kernel, found = cuda.compile(SOURCE, "shorter"), cuda.programs.diagnostics(10, FOUND)
    kernel.launch(1, 32, found.array)
    found.append(np.zeros(1, FOUND))
    with pytest.raises(DTypeError, match="records of 4 bytes, and the dtype has 24"):
        found.read()
    found.clear()
    assert found.read().lost == 0


@pytest.mark.parametrize("dtype", ["float64", FOUND, "uint8"])
def test_the_host_appends_on_any_device(be, dtype):
    found = be.programs.diagnostics(5, dtype)
    records = np.zeros(3, dtype)
    records.reshape(-1).view("u1")[:] = 7
    assert found.read().records.tolist() == []
    assert [found.append(records), found.append(records[:0]), found.append(records)] == [3, 0, 2]
    assert found.append(records) == 0
    read, lost = found.read()
    assert read.dtype == dtype and lost == 4
    assert read.tolist() == [*records.tolist(), *records[:2].tolist()]
    found.clear()
    assert found.append(records[0]) == 1
    assert len(found) == 5 and found.read() == (records[:1], 0)


def test_what_cannot_be_a_record_is_refused(be):
    for arguments, error, text in (
        ((0, "i4"), InvalidValueError, "capacity=0"),
        ((1.5, "i4"), DTypeError, "capacity of type float"),
        ((1, object), DTypeError, "Give numbers"),
        ((1, "U3"), DTypeError, "Give numbers"),
        ((1, None), DTypeError, "Give numbers"),
        ((1, "nonsense"), DTypeError, "nonsense"),
        ((2**62, "f8"), InvalidValueError, "fewer records"),
        ((2**50, "f8"), OutOfMemoryError, "Out of memory"),
    ):
        with pytest.raises(error, match=text) as seen:
            be.programs.diagnostics(*arguments)
        assert seen.value.op == "Backend.programs.diagnostics"
    found = be.programs.diagnostics(3, "i4")
    for records in ("text", [[1], [2, 3]], object(), 2**40, 1.5):
        with pytest.raises(DTypeError) as seen:
            found.append(records)
        assert seen.value.op == "Diagnostics.append"
    assert found.read().records.size == 0
    with pytest.raises(HostCopyError) as seen, be.forbid_host_copies():
        found.read()
    assert seen.value.op == "Diagnostics.read"


def test_a_failing_call_of_the_runtime_leaves_the_records_as_they_were(cuda):
    for at in range(20):
        found = cuda.programs.diagnostics(4, "i4")
        found.append([1])
        stator.testing.inject(cuda, fail_at=at)
        try:
            found.append([2])
            failed = False
        except StatorError:
            failed = True
        finally:
            count = stator.testing.lift(cuda)
        assert found.read().records.tolist() == ([1] if failed else [1, 2])
        if count <= at:
            break
    assert at > 1 and not failed
