"""Loops and branches within loops on the device: launched, given other arguments, and destroyed while they run."""

from __future__ import annotations

from typing import Any

from . import main


def nested(be: Any, x: Any) -> Any:
    """Adds 3 * 4 to x, or 3 * 5 where it is negative: a branch in a loop in a loop."""

    def inner(carry: Any) -> Any:
        k, y = carry
        return k + 1, be.graphs.cond(y[0] < 0, lambda y: y + 1.25, lambda y: y + 1, y)

    def outer(carry: Any) -> Any:
        k, y = carry
        return k + 1, be.graphs.while_loop(lambda c: c[0] < 4, inner, (be.zeros((), dtype="int64"), y))[1]

    return be.graphs.while_loop(lambda c: c[0] < 3, outer, (be.zeros((), dtype="int64"), x))[1]


def check(be: Any, small: bool) -> dict[str, Any]:
    import stator

    rounds = 2 if small else 100
    for k in range(rounds):
        x = be.full(1000, float(k), dtype="float64")
        with be.capture() as graph:
            y = nested(be, x)
        graph.launch()
        x += 100
        graph.launch()
        del graph  # while it runs
        assert stator.all(y == k + 112).item(), f"round {k}: {y[:3].tolist()}, not {k + 112}"
    negative = nested(be, be.full(1000, -100.0, dtype="float64"))
    assert stator.all(negative == -85).item(), f"{negative[:3].tolist()}, not -85"
    called = be.graph(lambda x: nested(be, x) + 1)
    for k in range(rounds):
        x = be.full(1000 + k % 3, float(k), dtype="float64")  # other addresses, and some other shapes
        assert stator.all(called(x) == k + 13).item(), f"call {k}"
    return {"graphs": rounds, "calls": rounds}


if __name__ == "__main__":
    raise SystemExit(main(check))
