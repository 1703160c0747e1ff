"""What the examples share: their command line, which chooses the module that stands for NumPy."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any


def main(text: str, make: Callable[..., tuple[Any, ...]], run: Callable[..., dict[str, Any]]) -> None:
    """Makes a program's inputs with the module, runs it on them, and prints what it found and the time."""
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("--module", default="stator.numpy", help="numpy, or stator.numpy, the default")
    np = import_module(parser.parse_args().module)
    inputs = make(np)
    start = time.perf_counter()
    for name, value in run(np, *inputs).items():
        shown = f"shape {value.shape}, mean {float(value.mean()):.6g}" if getattr(value, "ndim", 0) else f"{value:.6g}"
        print(f"{name}: {shown}")
    print(f"{np.__name__}: {time.perf_counter() - start:.3f} s")
