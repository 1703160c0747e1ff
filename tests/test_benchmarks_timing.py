"""The harness of the benchmarks on a simulated clock: equal legs are equal, and what changes is not a figure."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _path(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[1]))


class World:
    """A machine whose time passes only in calls: each takes what `cost` says of it, the first `first` more."""

    def __init__(self):
        self.now = 0.0

    def clock(self):
        from benchmarks.timing import Clock

        def sleep(seconds):
            self.now += seconds

        return Clock(lambda: self.now, lambda: self.now, sleep)

    def burst(self, cost, first=0.0, wait=5e-6):
        from benchmarks.timing import Leg, by_clock

        loads = [first]

        def call():
            self.now += cost(self.now) + (loads.pop() if loads else 0.0)

        def finish():
            self.now += wait

        return by_clock(Leg(call, [()]), finish, self.clock())

    def paired(self, quick, seconds=0.05, **bursts):
        from benchmarks.timing import FULL, QUICK, paired

        return paired(bursts, QUICK if quick else FULL, seconds, self.clock())


def always(us):
    return lambda now: us * 1e-6


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("first", [0.0, 0.02, 2.0])
@pytest.mark.parametrize("us", [8, 30, 85, 3000])
def test_equal_legs_are_equal_whatever_a_first_call_loads(us, first, quick):
    world = World()
    found = world.paired(quick, 0.2, ours=world.burst(always(us)), torch=world.burst(always(us), first))
    assert found.ratio["torch"] == pytest.approx(1, abs=0.01)
    assert found.ours == pytest.approx(us, rel=0.01)
    assert found.rounds == 5 and not found.refused


def test_a_leg_that_waits_for_its_device_is_as_fast_as_its_calls():
    world = World()
    found = world.paired(False, 0.3, ours=world.burst(always(8)), torch=world.burst(always(16), wait=50e-6))
    assert found.ratio["torch"] == pytest.approx(2, abs=0.02)


@pytest.mark.parametrize("changing", ["ours", "torch"])
def test_a_leg_whose_times_change_is_refused(changing):
    world = World()
    legs = {"ours": always(8), "torch": always(8)} | {changing: lambda now: 8e-6 * (1 + int(now / 0.03) % 2)}
    found = world.paired(False, **{name: world.burst(cost) for name, cost in legs.items()})
    assert found.refused["torch"] == f"spread {found.spread['torch']:.0%}" and found.spread["torch"] > 0.05


def test_drift_of_the_machine_is_no_spread_of_the_ratio():
    world = World()

    def slower(now):
        return 8e-6 * (1 + 0.2 * now)

    found = world.paired(False, ours=world.burst(slower), torch=world.burst(slower))
    assert found.ratio["torch"] == pytest.approx(1, abs=0.02) and not found.refused


def test_a_disturbed_case_is_measured_anew():
    world = World()

    def disturbed(now):
        return 8e-6 * (1 + (now < 0.09 and int(now / 0.01) % 2))

    found = world.paired(False, ours=world.burst(always(8)), torch=world.burst(disturbed))
    assert found.ratio["torch"] == pytest.approx(1, abs=0.01) and not found.refused


def test_a_leg_without_peers_is_refused_by_its_own_times():
    world = World()
    assert not world.paired(False, ours=world.burst(always(8))).refused
    assert "ours" in world.paired(False, ours=world.burst(lambda now: 8e-6 * (1 + int(now / 0.03) % 2))).refused


def test_fewer_than_five_rounds_are_no_figure():
    world = World()
    found = world.paired(True, 0.02, ours=world.burst(always(10_000)), torch=world.burst(always(10_000)))
    assert found.rounds == 1 and found.refused == {"torch": "1 rounds"}
    found = world.paired(False, 0.02, ours=world.burst(always(10_000)), torch=world.burst(always(10_000)))
    assert found.rounds == 5 and not found.refused


def test_a_peer_is_compared_with_the_leg_that_is_timed_as_it_is():
    from benchmarks.timing import FULL, paired

    world = World()
    costs = {"ours": 8, "torch": 16, "cupy": 30, "ours_events": 10}
    bursts = {name: world.burst(always(us), wait=0) for name, us in costs.items()}
    found = paired(bursts, FULL, 0.1, world.clock(), {"cupy": "ours_events"})
    assert {name: round(ratio, 2) for name, ratio in found.ratio.items()} == {"torch": 2, "cupy": 3}


@pytest.mark.parametrize("quick", [False, True])
def test_the_floor_is_not_above_the_copy(quick):
    from benchmarks.floors import Floor
    from benchmarks.timing import FULL, QUICK

    world, sizes = World(), []

    def copies(size):
        sizes.append(size)
        return [world.burst(always(size / 1e4), first=0.02), world.burst(always(size / 2e4 + 9), first=0.3)]

    floor = Floor(copies, QUICK if quick else FULL)
    for size in (80_000, 1_000_000):
        allocating = world.burst(always(min(size / 1e4, size / 2e4 + 9) + 2), first=0.02)
        assert floor(2 * size) <= world.paired(quick, ours=allocating).ours
        assert floor(2 * size) == pytest.approx(min(size / 1e4, size / 2e4 + 9), rel=0.02)
    assert sizes == [80_000, 1_000_000]


def test_a_burst_of_replays_counts_calls():
    from benchmarks.ways import by_replays

    world = World()

    def replay():
        world.now += 4 * 7e-6

    def timed(work):
        before = world.now
        work()
        return world.now - before

    burst = by_replays(replay, 4, timed)
    assert [burst(count) for count in (1, 4, 10, 1000)] == pytest.approx([7e-6, 28e-6, 70e-6, 7e-3])


def test_legs_are_timed_by_graphs_on_a_gpu_and_by_events_where_an_op_waits(be):
    import stator
    from benchmarks.timing import Leg
    from benchmarks.ways import timed_legs

    x = be.arange(8)
    for call, on_gpu in ((lambda x: x + 1, "graph"), (stator.nonzero, "events")):
        legs = timed_legs(be, Leg(call, [(x,), (x,)]), {}, {})
        assert legs.ways == {"ours": on_gpu if be.device.type == "cuda" else "clock"}
        assert legs.bursts["ours"](3) >= 0 and not legs.base


def test_torch_multiplies_float32_with_and_without_tf32_on_a_gpu():
    from benchmarks.build import _torch_legs
    from benchmarks.cases import Plan

    flags = SimpleNamespace(matmul=SimpleNamespace(), allow_tf32=None)
    torch = SimpleNamespace(
        backends=SimpleNamespace(cuda=flags, cudnn=flags), from_numpy=lambda x: SimpleNamespace(to=lambda device: x)
    )
    be, sets = SimpleNamespace(device=SimpleNamespace(type="cuda")), [(np.ones((2, 2), "float32"),)]

    def names(op, family, dtype):
        found = _torch_legs(be, Plan(op, family, "", dtype, 1000, "contiguous"), np.square, sets, torch)
        set_to = []
        for leg in found.values():
            leg.enter()
            set_to.append((flags.matmul.__dict__.get("allow_tf32"), flags.allow_tf32))
        return dict(zip(found, set_to, strict=True))

    assert names("conv2d", "convolution", "float32") == {"torch": (False, False), "torch_tf32": (True, True)}
    assert list(names("conv2d", "convolution", "float16")) == ["torch"]
    assert list(names("exp", "elementwise", "float32")) == ["torch"]


def test_means_are_without_refused_figures():
    from benchmarks.report import summary

    rows = [
        {"case": "exp-1", "op": "exp", "size": 1000, "r_torch": 2.0, "refused": ""},
        {"case": "exp-2", "op": "exp", "size": 1000, "r_torch": 30.0, "r_cupy": 3.0, "refused": "torch: spread 50%"},
    ]
    found = summary(rows, "torch")
    assert (found["geomean"], found["cases"]) == (pytest.approx(2), 1)
    assert found["refused"] == ["exp-2 (spread 50%)"]
    assert summary(rows, "cupy")["geomean"] == pytest.approx(3)
    assert summary(rows[1:], "torch")["geomean"] is None


def test_inputs_are_those_of_networks():
    from benchmarks.build import by_hand
    from benchmarks.cases import plans
    from benchmarks.domains import timed
    from benchmarks.inputs import Pool

    pool, found = Pool(1, 1), {}
    for plan in plans(False):
        if plan.op in ("attention", "batch_norm", "conv2d") and (plan.dtype, plan.size) == ("float32", 1_000_000):
            found[plan.op, plan.variant] = [x.shape for x in by_hand(None, plan).inputs(plan, pool, 0)]
    assert [len(shape) for shape in found["attention", ""]] == [4, 4, 4]
    assert [found["batch_norm", variant][0][1] for variant in ("", "deep")] == [64, 512]
    assert found["conv2d", "depthwise"][1] == (128, 1, 3, 3)
    assert found["conv2d", "first"] == [(6, 3, 224, 224), (64, 3, 7, 7)]
    x = pool.array((100, 100), "float32", timed("gelu")[0], 0)
    assert abs(np.mean(x)) < 0.05 and abs(np.std(x) - 1) < 0.05 and np.abs(x).max() <= 3
