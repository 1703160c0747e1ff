"""The proofs of `python -m stator demo --prove`: a training step with failing calls, permuted blocks, a lost wait."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any

import stator
from stator import testing
from stator.demo import Digits, Hyperparameters, Network, uploads
from stator.errors import StatorError, StreamOrderError

Advance = Callable[[str, int], None]
Bits = tuple[bytes, ...]

# What each table of the result proves.
CLAIMS = {
    "failed_once": "Whichever runtime call of a training step fails, the step raises a typed error or its result has "
    "the bits of an undisturbed step; nothing leaks, and the next step is exact.",
    "failed_until_lifted": "The same holds where every later call fails too, until failures end.",
    "permuted_blocks": "No kernel of the step depends on the order in which its blocks and threads run.",
    "deleted_waits": "The order checker raises when any one of the waits between streams is missing, and only then.",
}


@contextmanager
def environment(**values: str) -> Iterator[None]:
    """Sets environment variables inside a `with`; a Backend reads them when it opens."""
    before = {name: os.environ.get(name) for name in values}
    try:
        os.environ.update(values)
        yield
    finally:
        for name, old in before.items():
            if old is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = old


def bits(arrays: Iterable[stator.Array]) -> Bits:
    """The bytes of each array. Synchronises."""
    return tuple(a.to_numpy().tobytes() for a in arrays)


class FirstStep:
    """The first training step of the demo, from the same parameters each time."""

    def __init__(self, be: stator.Backend, data: Digits, config: Hyperparameters) -> None:
        self.be, self.data, self.config = be, data, config

    def network(self) -> Network:
        """A new network in its initial state."""
        return Network(self.be, self.data.train_images.shape[1], self.data.classes, self.config)

    def run(self, network: Network) -> Bits:
        """Copies the first batch on the second stream and trains on it. Returns the bits of loss and parameters."""
        x, labels = next(uploads(self.be, self.data, self.config, 0))
        loss = network.train(x, labels)
        return bits((loss, *network.params))

    def clean(self) -> Bits:
        """The result of a step from a new network without failures."""
        return self.run(self.network())


@dataclass(frozen=True)
class Injected:
    """The runtime calls of one step that were made to fail, and the consequences."""

    calls: int
    raised: int
    swallowed: int  # nothing was raised, and the result is not that of an undisturbed step
    release_warnings: int
    leaked_bytes: int
    wrong_next_steps: int


def _live(be: stator.Backend) -> int:
    gc.collect()
    return sum(r["bytes"] for r in be.resources() if r["kind"] in ("buffer", "pinned", "managed"))


def fail_every_call(step: FirstStep, until_lifted: bool, advance: Advance) -> Injected:
    """Makes the k-th runtime call of the step fail, for every k, once or until lifted.

    A failure that raises nothing must leave the exact result, and so must the step without failures after each.
    """
    be = step.be
    network = step.network()
    expected = step.run(network)
    state = bits((*network.averages, *network.squares))
    del network
    before = _live(be)
    raised = swallowed = warned = leaked = wrong = k = 0
    while True:
        network = step.network()
        be.synchronize()
        testing.hold_warnings(True)
        testing.inject(be, fail_at=k, until_lifted=until_lifted)
        result = None
        with suppress(StatorError):  # an exception that was kept would hold the step's arrays by its traceback
            result = step.run(network)
        made = testing.lift(be)
        warned += testing.hold_warnings(False)
        if result is None:
            raised += made > k
        else:
            swallowed += (result, bits((*network.averages, *network.squares))) != (expected, state)
        del network
        if made <= k:
            return Injected(k, raised, swallowed, warned, leaked, wrong)
        leaked += max(_live(be) - before, 0)
        wrong += step.clean() != expected
        k += 1
        advance("until lifted" if until_lifted else "once", k)


@dataclass(frozen=True)
class Permuted:
    """Runs of the step in the checked target with random orders of blocks and threads."""

    target: str
    orders: int
    different: int


def permute_blocks(data: Digits, config: Hyperparameters, orders: int, advance: Advance) -> Permuted:
    """Runs the step in random orders of blocks, which must all give the bits of the natural order.

    All ops of the step are declared deterministic.
    """
    with environment(STATOR_HOST_MODE="checked"), stator.Backend("cpu") as be:
        step = FirstStep(be, data, config)
        testing.set_block_seed(be, 0)
        expected = step.clean()
        different = 0
        for order in range(1, orders + 1):
            testing.set_block_seed(be, order)
            different += step.clean() != expected
            advance("block order", order)
        testing.set_block_seed(be, 0)
        return Permuted(be.kernels, orders, different)


@dataclass(frozen=True)
class Waits:
    """The stream waits of the step, each deleted once under the order checker."""

    waits: int
    caught: int
    false_alarms: int


def _checked_step(data: Digits, config: Hyperparameters, drop: int) -> tuple[bool, int]:
    """Whether the order checker raised in a step without its `drop`-th wait, and the number of waits.

    On a new backend, and without synchronising first, since work that the host has waited for needs no stream wait.
    """
    with environment(STATOR_CHECK="order"), stator.Backend("cpu") as be:
        step = FirstStep(be, data, config)
        network = step.network()
        before = be.statistics()["calls"]["stream_wait"]
        testing.inject(be, drop_wait_at=drop)
        raised = False
        try:
            step.run(network)
        except StreamOrderError:
            raised = True
        testing.lift(be)
        return raised, be.statistics()["calls"]["stream_wait"] - before


def delete_waits(data: Digits, config: Hyperparameters, advance: Advance) -> Waits:
    """The order checker must be silent with all waits, and must catch the step without any one of them."""
    false_alarm, waits = _checked_step(data, config, -1)
    caught = 0
    for at in range(waits):
        caught += _checked_step(data, config, at)[0]
        advance("deleted wait", at + 1)
    return Waits(waits, caught, int(false_alarm))


def run(device: str, advance: Advance, config: Hyperparameters | None = None, orders: int = 5) -> dict[str, Any]:
    """The results of all three proofs as plain data; `proved` is true when all of them hold."""
    config = config or Hyperparameters()
    data = Digits.load(config.seed)
    with stator.Backend(device) as be:
        step = FirstStep(be, data, config)
        once = fail_every_call(step, False, advance)
        lasting = fail_every_call(step, True, advance)
    permuted = permute_blocks(data, config, orders, advance)
    waits = delete_waits(data, config, advance)
    exact = all(i.calls > 0 and not (i.swallowed or i.leaked_bytes or i.wrong_next_steps) for i in (once, lasting))
    ordered = waits.waits > 0 and waits.caught == waits.waits and waits.false_alarms == 0
    return {
        "failed_once": asdict(once),
        "failed_until_lifted": asdict(lasting),
        "permuted_blocks": asdict(permuted),
        "deleted_waits": asdict(waits),
        "proved": exact and ordered and permuted.different == 0,
    }


__all__ = [
    "CLAIMS",
    "FirstStep",
    "Injected",
    "Permuted",
    "Waits",
    "bits",
    "delete_waits",
    "fail_every_call",
    "permute_blocks",
    "run",
]


def __dir__() -> list[str]:
    return [*__all__]
