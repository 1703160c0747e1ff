"""Products on a stream beside a graph that has joined it: each library call needs a workspace of its own.

The products are such that libraries divide their sums between blocks, which meet in the workspace.
"""

from __future__ import annotations

from typing import Any

from . import main


def check(be: Any, small: bool) -> dict[str, Any]:
    import stator

    long, rounds = (512, 3) if small else (1 << 17, 300)
    side, base = be.stream(1), be.current_stream
    a = be.random.normal(size=(64, long), dtype="float32")
    b = be.random.normal(size=(long, 64), dtype="float32")
    c, d = a + 1, b - 1
    with be.capture() as alone:
        eager_expected = c @ d
    alone.launch()
    with be.capture() as graph:
        side.wait(base.record())
        with side:
            captured = a @ b
        base.wait(side.record())
    graph.launch()
    expected = captured.copy()
    be.synchronize()
    with side:
        eager_alone = c @ d
        wrong = be.zeros((), dtype="int64")
    be.synchronize()
    wrong_captured = be.zeros((), dtype="int64")
    for _ in range(rounds):
        graph.launch()
        wrong_captured += stator.count_nonzero(captured != expected)
        with side:  # nothing orders these after the graph but the library's workspace
            wrong += stator.count_nonzero((c @ d) != eager_alone)
    be.synchronize()
    close = stator.max(stator.abs(eager_alone - eager_expected)).item()
    found = {"captured": int(wrong_captured.item()), "eager": int(wrong.item())}
    assert not any(found.values()), f"elements that differ from the first result: {found}"
    return {"products": 2 * rounds, "difference of captured and eager": close}


if __name__ == "__main__":
    raise SystemExit(main(check))
