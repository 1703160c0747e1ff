"""The readback of chosen entries: which, and how many bytes are copied."""

import numpy as np
import pytest

import stator
from stator.errors import BackendMismatchError, DTypeError, HostCopyError, ShapeError

VALUES = np.arange(60, dtype="float32").reshape(5, 4, 3)
MASKS = {
    "none": np.zeros(5, bool),
    "all": np.ones(5, bool),
    "some": np.array([True, False, False, True, True]),
    "of two axes": np.arange(20).reshape(5, 4) % 3 == 0,
    "of every entry": VALUES > 30,
}


@pytest.mark.parametrize("what", MASKS)
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_the_selected_entries_are_read(be, what, dtype):
    host = VALUES.astype(dtype)
    x = be.asarray(host)
    for mask in (be.asarray(MASKS[what]), MASKS[what], MASKS[what].tolist()):
        read = be.transfers.read_selected(x, mask)
        assert isinstance(read, np.ndarray) and read.dtype == dtype
        np.testing.assert_array_equal(read, host[MASKS[what]])
    turned = stator.permute_dims(x, (2, 0, 1))
    chosen = np.array([True, False, True])
    np.testing.assert_array_equal(be.transfers.read_selected(turned, chosen), host.transpose(2, 0, 1)[chosen])


def test_an_empty_array_has_nothing_to_select(be):
    assert be.transfers.read_selected(be.zeros((0, 3)), be.zeros(0, dtype="bool")).shape == (0, 3)


def test_the_bytes_that_were_selected_are_copied_and_no_others(cuda):
    x = cuda.arange(10_000, dtype="float32")
    for selected in (0, 1, 777, 10_000):
        mask = x < selected
        before = cuda.statistics()["d2h_bytes"]
        cuda.transfers.read_selected(x, mask)
        assert cuda.statistics()["d2h_bytes"] - before == 8 + 4 * selected


def test_masks_that_do_not_fit_are_refused(be):
    x = be.ones((3, 2))
    for mask, error, text in (
        (be.ones(2, dtype="bool"), ShapeError, r"\(2,\)"),
        (be.ones((3, 1), dtype="bool"), ShapeError, r"\(3, 1\)"),
        (True, ShapeError, r"\(\)"),
        ([0, 1, 2], DTypeError, "int64"),
        ("text", DTypeError, "element type"),
    ):
        with pytest.raises(error, match=text) as seen:
            be.transfers.read_selected(x, mask)
        assert seen.value.op == "Backend.transfers.read_selected"
    with stator.Backend(be.device) as other, pytest.raises(BackendMismatchError):
        other.transfers.read_selected(x, other.ones(3, dtype="bool"))
    with pytest.raises(HostCopyError) as seen, be.forbid_host_copies():
        be.transfers.read_selected(x, be.ones(3, dtype="bool"))
    assert seen.value.op == "Backend.transfers.read_selected"
