"""Every op takes the dtypes that its entry of the op table states, and refuses the others with a DTypeError."""

import calls
import inputs
import pytest
from cases import TABLE

import stator

# Members of Backend and of generators, which have no operand.
WITHOUT_DTYPE = ["synchronize", "stream_count", "native", "seed", "get_state", "set_state"]


@pytest.mark.parametrize("name", [n for n in TABLE if n not in WITHOUT_DTYPE])
def test_an_op_takes_the_dtypes_that_its_entry_states(be, name):
    accepted, owners = [], {"CSR", "COO", *TABLE[name]["call"].split(".")}
    for dtype in inputs.DTYPES:
        try:
            calls.call(be, name, dtype=dtype)()
            accepted.append(dtype)
        except stator.errors.DTypeError as error:
            assert error.op.rpartition(".")[2] in owners, error
            assert error.remedy, dtype
    be.synchronize()
    assert accepted == TABLE[name]["dtypes"]
