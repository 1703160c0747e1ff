"""forbid_host_copies: calls that would read device memory raise instead; asynchronous ones do not."""

import numpy as np
import pytest

import stator
from stator.errors import HostCopyError

READS = {
    "Array.to_numpy": lambda x: x.to_numpy(),
    "masked_select": lambda x: stator.masked_select(x, x > 0),
    "nonzero": lambda x: stator.nonzero(x),
    "unique_values": lambda x: stator.unique_values(x),
    "bincount": lambda x: stator.bincount(stator.astype(x, "int64")),
    "repeat": lambda x: stator.repeat(x, stator.astype(x, "int64")),
    "linalg.cholesky": lambda x: stator.linalg.cholesky(stator.matmul(x[:, None], x[None]) + stator.eye(5)),
    "sparse.csr_from_dense": lambda x: stator.sparse.csr_from_dense(x[None]),
}


@pytest.mark.parametrize("op", READS)
def test_an_op_that_reads_the_device_is_named(be, op):
    x = be.asarray(np.array([1.0, 2, 0, 3, 1]))
    with be.use(), be.forbid_host_copies(), pytest.raises(HostCopyError, match="bytes") as caught:
        READS[op](x)
    assert caught.value.op == op
    with be.use():
        READS[op](x)  # copies are allowed again


def test_scopes_nest_and_numbers_are_copies_too(be):
    x = be.asarray(np.array([1.0]))
    with be.forbid_host_copies():
        with be.forbid_host_copies():
            pass
        with pytest.raises(HostCopyError):
            float(x)
    assert float(x) == 1


@pytest.mark.parametrize("read", [float, lambda x: x.item(), bool, int], ids=["float", "item", "bool", "int"])
def test_a_number_is_one_copy_and_one_wait(be, read):
    x = be.asarray(np.array([1.0, 2.0]))
    be.synchronize()
    before = be.statistics()
    read(x[1])
    after = be.statistics()
    assert after["d2h_bytes"] - before["d2h_bytes"] == 8
    assert {c for c in after["calls"] if after["calls"][c] != before["calls"][c]} == {"copy", "stream_synchronize"}


def test_a_number_says_what_an_earlier_op_found_wrong(be):
    x = be.asarray(np.array([1.0, 2.0]))
    taken = stator.take(x, be.asarray(np.array([9])))
    with pytest.raises(stator.errors.OutOfRangeError, match="Index 9"):
        float(taken[0])
    assert float(x[0]) == 1


def test_a_number_of_a_closed_backend_is_refused(be):
    with stator.Backend(be.device) as own:
        x = own.asarray(np.array(1.0))
    with pytest.raises(stator.errors.BackendClosedError):
        float(x)


def test_fixed_sizes_read_nothing(be):
    x = be.asarray(np.array([1.0, 2, 0, 3, 1]))
    with be.forbid_host_copies():
        kept = stator.masked_select(x, x > 0, size=6, fill_value=-1)
        places = stator.nonzero(x, size=6, fill_value=-1)[0]
        values = stator.unique_values(x, size=6, fill_value=9)
        counts = stator.bincount(stator.astype(x, "int64"), size=4)
    np.testing.assert_array_equal(kept.to_numpy(), [1, 2, 3, 1, -1, -1])
    np.testing.assert_array_equal(places.to_numpy(), [0, 1, 3, 4, -1, -1])
    np.testing.assert_array_equal(values.to_numpy(), [0, 1, 2, 3, 9, 9])
    np.testing.assert_array_equal(counts.to_numpy(), [1, 2, 1, 1])
