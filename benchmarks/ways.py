"""How the legs of a case are timed: by the host's clock on the CPU; on a GPU by events around replays of a graph.

A graph has a call for each set of arguments, so that neither the host nor its calls bound what is measured. A leg that
no graph can have (CuPy's, and ops whose results have a size that the host must know) is timed by events around its
calls, and compared with stator's calls timed so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import stator
from stator.errors import CaptureError

from .timing import CLOCK, Burst, Clock, Leg, by_clock

Timed = Callable[[Callable[[], object]], float]  # the device's seconds from before to after what is enqueued


@dataclass
class Legs:
    """Bursts by name, how each is timed, and what a peer is compared with where that is not "ours"."""

    bursts: dict[str, Burst] = field(default_factory=dict)
    ways: dict[str, str] = field(default_factory=dict)
    base: dict[str, str] = field(default_factory=dict)


def stator_events(be: stator.Backend) -> Timed:
    def timed(work: Callable[[], object]) -> float:
        start = be.current_stream.record()
        work()
        end = be.current_stream.record()
        end.synchronize()
        return end.milliseconds_since(start) / 1e3

    return timed


def torch_events(torch: Any) -> Timed:
    def timed(work: Callable[[], object]) -> float:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) / 1e3

    return timed


def cupy_events(cupy: Any) -> Timed:
    def timed(work: Callable[[], object]) -> float:
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        work()
        end.record()
        end.synchronize()
        return float(cupy.cuda.get_elapsed_time(start, end)) / 1e3

    return timed


def by_events(leg: Leg, timed: Timed) -> Burst:
    def burst(count: int) -> float:
        leg.enter()
        return timed(lambda: leg.calls(count))

    return burst


def by_replays(replay: Callable[[], object], calls: int, timed: Timed) -> Burst:
    """Bursts of a graph of some calls, scaled to the number that was asked for."""

    def burst(count: int) -> float:
        replays = -(-count // calls)

        def work() -> None:
            for _ in range(replays):
                replay()

        return timed(work) * count / (replays * calls)

    return burst


def stator_graph(be: stator.Backend, leg: Leg) -> Callable[[], object] | None:
    """The replay of a graph of a call with each set; None where an op waits for the device."""
    leg.calls(len(leg.sets))  # what a first call loads or allocates is there before the capture
    be.synchronize()
    try:
        with be.capture() as graph:
            kept = [leg.call(*arguments) for arguments in leg.sets]
    except CaptureError:
        return None
    return lambda kept=kept: graph.launch()


def torch_graph(torch: Any, leg: Leg) -> Callable[[], object] | None:
    """As stator_graph, after calls on a stream of their own, as PyTorch asks for."""
    leg.enter()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        leg.calls(2 * len(leg.sets))
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            kept = [leg.call(*arguments) for arguments in leg.sets]
    except RuntimeError:
        torch.cuda.synchronize()
        return None
    return lambda kept=kept: graph.replay()


def timed_legs(
    be: stator.Backend, ours: Leg, peers: dict[str, Leg], libraries: dict[str, Any], clock: Clock = CLOCK
) -> Legs:
    """The legs of a case in the order of their turns."""
    legs = Legs()
    if be.device.type == "cpu":
        legs.bursts = {"ours": by_clock(ours, be.synchronize, clock)}
        legs.bursts |= {name: by_clock(leg, lambda: None, clock) for name, leg in peers.items()}
        legs.ways = dict.fromkeys(legs.bursts, "clock")
        return legs
    timed, replay = stator_events(be), stator_graph(be, ours)
    legs.bursts["ours"] = by_replays(replay, len(ours.sets), timed) if replay else by_events(ours, timed)
    legs.ways["ours"] = "graph" if replay else "events"
    for name, leg in peers.items():
        library = libraries[name.split("_")[0]]
        theirs = cupy_events(library) if name == "cupy" else torch_events(library)
        again = torch_graph(library, leg) if replay and name != "cupy" else None
        legs.bursts[name] = by_replays(again, len(leg.sets), theirs) if again else by_events(leg, theirs)
        legs.ways[name] = "graph" if again else "events"
        if replay and not again:
            legs.base[name] = "ours_events"
    if legs.base:
        legs.bursts["ours_events"] = by_events(ours, timed)
    return legs
