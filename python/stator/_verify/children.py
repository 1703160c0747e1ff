"""Child processes of the verification: started, read, ended, and what their ends mean."""

from __future__ import annotations

import contextlib
import json
import math
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any

WORKER = (sys.executable, "-m", "stator._verify.worker")


class ChildError(Exception):
    """A child process ended before its work did, or was ended because it took too long."""


class Silence(ChildError):
    """A child process gave no sign for too long."""


class Child:
    """A worker on one request; iterating gives the messages that it writes.

    It is a session of its own, so that an interrupt from the keyboard reaches only this process.
    """

    def __init__(self, request: dict[str, Any], worker: Sequence[str] = WORKER, silence: float = 60.0) -> None:
        self.silence = silence
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed in end)
        self.process = subprocess.Popen(
            worker, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, start_new_session=True
        )
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the child's status says what was wrong
            self.process.stdin.write(json.dumps(request).encode())
            self.process.stdin.close()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The messages, until the child has ended. Raises ChildError, Silence if it says nothing."""
        assert self.process.stdout is not None
        out = self.process.stdout.fileno()
        buffer = b""
        with selectors.DefaultSelector() as ready:
            ready.register(out, selectors.EVENT_READ)
            while True:
                if not ready.select(None if self.silence == math.inf else self.silence):
                    raise Silence(f"gave no sign for {self.silence:.0f} seconds")
                read = os.read(out, 1 << 16)
                if not read:
                    break
                *lines, buffer = (buffer + read).split(b"\n")
                for line in lines:
                    yield json.loads(line)
        status = self.process.wait()
        if status:
            raise ChildError(f"{ended(status)}{self.last_words()}")

    def last_words(self) -> str:
        """The end of what the child wrote to stderr."""
        self.errors.seek(0)
        text = self.errors.read().decode(errors="replace").strip()
        return f": {text[-800:]}" if text else ""

    def end(self) -> None:
        """Ends the child if it still runs, and waits for it."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.errors.close()

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()


def ended(status: int) -> str:
    """An exit status in words."""
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"ended by {signal.Signals(-status).name}"
    return f"ended with status {status}"


def result_of(request: dict[str, Any], worker: Sequence[str] = WORKER, silence: float = 120.0) -> Any:
    """The result of a request that has one. Raises ChildError."""
    result = None
    with Child(request, worker, silence) as child:
        for message in child:
            result = message.get("result", result)
    return result


def run_way(way: str, device: str, seconds: float = 60.0) -> dict[str, Any]:
    """What a process did that ends in one of the ways of exits.py."""
    from stator._verify.exits import WAYS

    command = [sys.executable, "-m", "stator._verify.exits", way, device]
    start = time.perf_counter()
    failed = ""
    try:
        done = subprocess.run(command, capture_output=True, timeout=seconds, start_new_session=True)
        said = done.stderr.decode(errors="replace").strip()
        if done.returncode != WAYS[way][1] or said:
            failed = f"{ended(done.returncode)}, not {WAYS[way][1]}" if done.returncode != WAYS[way][1] else "wrote"
            failed += f": {said[-800:]}" if said else ""
    except subprocess.TimeoutExpired:
        failed = f"did not end in {seconds:.0f} seconds"
    return {"way": way, "seconds": round(time.perf_counter() - start, 2), "failed": failed}
