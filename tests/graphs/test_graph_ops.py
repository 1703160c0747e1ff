"""Every op that the op table calls capturable is captured and launched again; every other one says so."""

import numpy as np

import stator
from stator.errors import CaptureError
from tests.ops import test_launches

TABLE = {row["name"]: row for row in stator.op_table()}


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
    wrong, calls = {}, test_launches.calls(be)
    weights = be.asarray([0.25, 0.75])  # numbers of the host would be copied, which no graph can
    calls["multinomial"] = (lambda: be.random.multinomial(9, weights), None)
    for name, (contiguous, other) in calls.items():
        call = contiguous or other  # none where a library gives no fixed number of launches
        said = check(be, call, TABLE[name]) if call else None
        if said:
            wrong[name] = said
    assert wrong == {}
    assert len(calls) > 300
