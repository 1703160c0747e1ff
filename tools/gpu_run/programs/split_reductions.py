"""Reductions that several blocks share, 100,000 times on four streams: the block that ends last must see all parts.

Every result is compared with the first one in all its bits.
"""

from __future__ import annotations

from typing import Any

from . import main

REDUCTIONS = {
    "sum": lambda stator, x: stator.sum(x),
    "sum of columns": lambda stator, x: stator.sum(x, axis=0),
    "argmax": lambda stator, x: stator.argmax(x),
    "norm": lambda stator, x: stator.linalg.vector_norm(x),
}


def check(be: Any, small: bool) -> dict[str, Any]:
    import stator

    rows, launches, calls = (1 << 12, 2, 3) if small else (1 << 17, 250, 100)
    x = be.random.uniform(size=(rows, 8), dtype="float32")
    graphs, wrong = [], []
    for k, reduce in enumerate(REDUCTIONS.values()):
        first = reduce(stator, x)
        stream = be.stream(k + 1)
        stream.wait(be.current_stream.record())
        with stream:
            count = be.zeros((), dtype="int64")
            with be.capture(stream=stream) as graph:
                for _ in range(calls):
                    count += stator.count_nonzero(reduce(stator, x) != first)
        graphs.append((stream, graph))
        wrong.append(count)
    for _ in range(launches):
        for stream, graph in graphs:
            graph.launch(stream=stream)
    be.synchronize()
    found = dict(zip(REDUCTIONS, (int(n.item()) for n in wrong), strict=True))
    assert not any(found.values()), f"elements that differ from the first result: {found}"
    return {"reductions": launches * calls * len(graphs)}


if __name__ == "__main__":
    raise SystemExit(main(check))
