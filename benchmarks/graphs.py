"""What graphs cost on the cpu, beside the same calls made one by one, and what counting costs.

    python -m benchmarks.graphs

Every figure is the best of many short bursts, taken in turn with the one that it is compared with.
"""

import gc
import time

import numpy as np

import stator


def best(*functions, bursts=40, calls=20):
    """Seconds of a call of each function: the best burst of each, taken in turn."""
    least = [float("inf")] * len(functions)
    for _ in range(bursts):
        for i, function in enumerate(functions):
            start = time.perf_counter()
            for _ in range(calls):
                function()
            least[i] = min(least[i], (time.perf_counter() - start) / calls)
    return least


def chain(x, nodes=100):
    for _ in range(nodes):
        x = x + 1
    return x


def replay(be):
    """A graph of 100 kernels on 16 elements, a thousand of which show what the kernels themselves take."""
    x = be.zeros(16)
    with be.capture() as small:
        kept = chain(x)
    with be.capture() as large:
        more = chain(x, 1100)
    of_small, of_large, eager = best(small.launch, large.launch, lambda: chain(x))
    del kept, more
    kernels = (of_large - of_small) / 10
    print(f"replay of 100 kernels     {of_small * 1e6:8.1f} us, of which the kernels {kernels * 1e6:.1f} us")
    print(f"  the same calls          {eager * 1e6:8.1f} us")


def call(be):
    """A call of a captured function of one kernel, its result a new array."""
    f, x = be.graph(lambda x: x + 1), be.zeros(16)
    for _ in range(3):
        f(x)
    graph, eager = best(lambda: f(x), lambda: x + 1, calls=200)
    print(f"call of a graph function  {graph * 1e6:8.1f} us; of the op {eager * 1e6:.2f} us")
    f, x = be.graph(lambda x: x @ x), be.zeros((16, 16))
    others = [be.zeros((16, 16)) for _ in range(3)]
    for other in others:
        f(other)
    graph, eager = best(lambda: (f(x), f(others[0])), lambda: (x @ x, others[0] @ others[0]), calls=200)
    print(f"  with a product          {graph * 5e5:8.1f} us; of the op {eager * 5e5:.2f} us")


def memory(be):
    """The bytes of a graph against the most that the same calls have at a time."""
    x = be.asarray(np.random.default_rng(0).normal(size=(512, 512)))

    def work(x):
        for _ in range(10):
            x = stator.tanh(x * 2 + 1) - stator.sum(x, axis=0)
        return stator.sum(x)

    be.memory.empty_cache()
    gc.collect()
    with stator.Backend("cpu") as fresh:
        y = fresh.asarray(x.to_numpy())
        work(y)
        peak = fresh.memory.stats()["peak_bytes"] - y.nbytes
    with be.capture() as graph:
        kept = work(x)
    print(f"memory of a graph         {graph.nbytes / 1e6:8.1f} MB; of the same calls {peak / 1e6:.1f} MB at most")
    del kept


def loop(be):
    """A loop of 1,000 rounds of two small ops, on the device and in Python."""
    x, none = be.zeros(64), be.asarray(0)

    def on_device():
        return be.graphs.while_loop(lambda c: c[1] < 1000, lambda c: (c[0] * 0.5 + 1, c[1] + 1), (x, none))[
            0
        ].to_numpy()

    def in_python():
        y, i = x, none
        while i < 1000:
            y, i = y * 0.5 + 1, i + 1
        return y.to_numpy()

    assert (on_device() == in_python()).all()
    device, python = best(on_device, in_python, bursts=10, calls=2)
    times = f"{python / device:.1f} times"
    print(f"while_loop, 1,000 rounds  {device * 1e3:8.2f} ms; in Python {python * 1e3:.2f} ms ({times})")


def telemetry(be):
    """A small op while nothing counts, which is a branch, and while calls and times are counted."""
    x = be.zeros(16)

    def add():
        return x + x

    def counted():
        be.telemetry.enable()
        start = time.perf_counter()
        for _ in range(1000):
            add()
        seconds = (time.perf_counter() - start) / 1000
        be.telemetry.disable()
        return seconds

    counting, off = [], []
    for _ in range(40):
        counting.append(counted())
        off += best(add, bursts=1, calls=1000)
    be.telemetry.reset()
    print(f"op, telemetry off         {min(off) * 1e6:8.2f} us; counting {min(counting) * 1e6:.2f} us")


def main():
    with stator.Backend("cpu") as be:
        for measure in (replay, call, memory, loop, telemetry):
            measure(be)


if __name__ == "__main__":
    main()
