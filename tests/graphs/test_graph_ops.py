"""Every op that the op table calls capturable is captured and launched again; every other one says so."""

import calls
import numpy as np

import stator
from stator.errors import CaptureError

TABLE = {row["name"]: row for row in stator.op_table()}
FUNCTIONS = [name for name, row in TABLE.items() if row["shape_class"] != "method"]


def arrays_of(result):
    """The arrays of a result, in their order."""
    if isinstance(result, stator.Array):
        return [result]
    if isinstance(result, (tuple, list)):
        return [x for part in result for x in arrays_of(part)]
    if hasattr(result, "indptr"):
        return [result.data, result.indices, result.indptr]
    return []


def values(result):
    return [np.asarray(x.to_numpy()) for x in arrays_of(result)]


def check(be, call, row):
    """What is wrong with the op in a capture, or None."""
    be.random.seed(5)
    expected = values(call())
    be.synchronize()
    be.random.seed(5)
    refused = row["capture"] == "not_capturable"
    try:
        with be.capture() as graph:
            result = call()
    except CaptureError as error:
        if not refused:
            return f"refused: {error}"
        return None if row["call"].split(".")[-1] in str(error) else f"does not name the op: {error}"
    if refused:
        return "was captured"
    graph.launch()
    got = values(result)
    alike = len(got) == len(expected) and all(
        np.array_equal(a, b, equal_nan=True) for a, b in zip(got, expected, strict=True)
    )
    return None if alike else "other values"


def test_every_op_is_captured_or_refused_as_the_table_says(be):
    checked = {name: check(be, calls.both(be, name)[0], TABLE[name]) for name in FUNCTIONS}
    assert {name: said for name, said in checked.items() if said} == {}
    assert len(checked) > 300
