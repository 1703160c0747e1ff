"""The ways in which a process that uses stator can end.

Each cell takes the name of the device that it uses, and runs in a child that ends as a script does.
"""

import os
import signal
import sys
import threading
import time

KEPT = []  # arrays that live in globals


def _work(be, rounds=3):
    import stator

    x = be.zeros((64, 64), dtype="float32")
    for _ in range(rounds):
        x = stator.add(stator.multiply(x, 0.5), 1.0)
    return x


def normal_end(device):
    import stator

    with stator.Backend(device) as be:
        _work(be).to_numpy()


def unhandled_exception(device):
    import stator

    be = stator.Backend(device)
    KEPT.append(_work(be))
    raise RuntimeError("planned")


def sys_exit_in_a_thread(device):
    import stator

    be = stator.Backend(device)

    def run():
        KEPT.append(_work(be))
        sys.exit(3)

    t = threading.Thread(target=run)
    t.start()
    t.join()


def sys_exit(device):
    import stator

    KEPT.append(_work(stator.Backend(device)))
    sys.exit(5)


def sigterm(device):
    import stator

    KEPT.append(_work(stator.Backend(device)))
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(10)


def sigterm_handler(device):
    import stator

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
    KEPT.append(_work(stator.Backend(device)))
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(10)


def arrays_in_globals(device):
    import stator

    be = stator.Backend(device)
    KEPT.append(_work(be))
    be.close()


def never_closed(device):
    import stator

    be = stator.Backend(device)
    KEPT.extend([be, _work(be), be.stream(1), be.stream(2).record(), stator.zeros((3,), device=device)])


def pending_work_in_8_threads(device):
    import stator

    be = stator.Backend(device)

    def run(i):
        with be.stream(be.streams[i % len(be.streams)]):
            x = be.zeros((1 << 18,))
            for _ in range(20):
                x = stator.exp(stator.multiply(x, 0.5))
            KEPT.append(x)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def daemon_threads_still_running(device):
    import stator

    be = stator.Backend(device)
    started = threading.Barrier(5)

    def run():
        x = be.zeros((1 << 12,))
        started.wait()
        try:
            while True:
                x = stator.add(x, 1.0)
        except stator.errors.StatorError:
            return

    for _ in range(4):
        threading.Thread(target=run, daemon=True).start()
    started.wait()


def a_foreign_consumer_outlives(device):
    import numpy as np

    import stator

    be = stator.Backend(device)
    x = be.full((1000,), 2.0)
    KEPT.append(np.from_dlpack(x) if device == "cpu" else x.__dlpack__())
    KEPT.append(stator.from_dlpack(np.ones(1000), device=be))
    be.close()


def user_atexit_uses_arrays(device):
    import atexit

    import stator

    be = stator.Backend(device)
    x = _work(be)
    atexit.register(lambda: x.to_numpy())


def daemon_threads_that_catch_nothing(device):
    import stator

    be = stator.Backend(device)
    started = threading.Barrier(5)

    def run():
        x = be.zeros((1 << 12,))
        started.wait()
        while True:
            x = stator.add(x, 1.0)

    for _ in range(4):
        threading.Thread(target=run, daemon=True).start()
    started.wait()


class UsesArraysLate:
    """Writes the errors of calls in its destructor, which runs when the interpreter takes its module apart."""

    def __init__(self, write, device):
        import stator

        be = stator.Backend(device)
        x = be.ones((3, 3))
        sparse, generator, event = stator.sparse.csr_from_dense(x), be.random, be.stream(1).record()
        self.error = stator.errors.StatorError
        self.write = write
        self.calls = (
            lambda: x + 1,
            lambda: x[x > 0],
            lambda: float(x[0, 0]),
            lambda: x.to_numpy(),
            lambda: x.data,
            lambda: x.__dlpack__(),
            lambda: x.T,
            lambda: sparse @ x,
            lambda: stator.linalg.solve(x, x),
            lambda: generator.normal(size=3),
            lambda: event.synchronize(),
            lambda: be.synchronize(),
            lambda: be.zeros((3,)),
            lambda: stator.Backend(device),
        )

    def __del__(self):
        seen = []
        for call in self.calls:
            try:
                call()
                seen.append("none")
            except self.error:
                pass
            except BaseException as error:  # written
                seen.append(repr(error))
        self.write(2, f"errors without a type: {seen}".encode())


def a_destructor_uses_arrays_after_the_end(device):
    KEPT.append(UsesArraysLate(os.write, device))


def a_leak_behind_the_tracker(device):
    import stator

    be = stator.Backend(device)
    stator.testing.leak_buffer(be, 4096)
    be.close()


def callbacks_wait_for_their_turn(device):
    import stator

    be = stator.Backend(device)
    called = []
    with be.stream(1) as stream:
        KEPT.append(_work(be))
        for _ in range(2):
            stream.add_callback(lambda: called.append(time.sleep(0.01)))
        stream.add_callback(lambda: os.write(2, f"called {len(called)} before".encode()))


def daemon_threads_add_callbacks(device):
    import stator

    be = stator.Backend(device)

    def forever(stream):
        while True:
            stream.add_callback(lambda: time.sleep(0))
            stream.synchronize()

    for i in range(3):
        threading.Thread(target=forever, args=(be.stream(i),), daemon=True).start()
    time.sleep(0.05)


# cell: (function, exit status of the child [negative: signal], a text that stderr must contain, or None for silence)
CELLS = {
    "normal_end": (normal_end, 0, None),
    "unhandled_exception": (unhandled_exception, 1, "RuntimeError: planned"),
    "sys_exit_in_a_thread": (sys_exit_in_a_thread, 0, None),
    "sys_exit": (sys_exit, 5, None),
    "sigterm": (sigterm, -15, None),
    "sigterm_handler": (sigterm_handler, 7, None),
    "arrays_in_globals": (arrays_in_globals, 0, None),
    "never_closed": (never_closed, 0, None),
    "pending_work_in_8_threads": (pending_work_in_8_threads, 0, None),
    "daemon_threads_still_running": (daemon_threads_still_running, 0, None),
    "a_foreign_consumer_outlives": (a_foreign_consumer_outlives, 0, None),
    "user_atexit_uses_arrays": (user_atexit_uses_arrays, 0, None),
    "daemon_threads_that_catch_nothing": (daemon_threads_that_catch_nothing, 0, None),
    "a_destructor_uses_arrays_after_the_end": (a_destructor_uses_arrays_after_the_end, 0, "errors without a type: []"),
    "callbacks_wait_for_their_turn": (callbacks_wait_for_their_turn, 0, "called 2 before"),
    "daemon_threads_add_callbacks": (daemon_threads_add_callbacks, 0, None),
    "a_leak_behind_the_tracker": (a_leak_behind_the_tracker, 0, "stator: leak"),
}
