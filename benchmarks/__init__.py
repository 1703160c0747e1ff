"""Benchmarks: one case table, validated before it is timed, side by side with peers."""

import os

# Idle threads of NumPy's OpenBLAS spin for 2^28 cycles, which slows down whoever is next; here for 2^21, a millisecond:
# longer than the pause between two calls of a burst, shorter than the untimed start of the next. Read when it loads.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "21")
