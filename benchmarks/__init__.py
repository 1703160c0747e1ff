"""Benchmarks: the cases of one table, validated before they are timed, side by side with peers."""

import os

# Idle threads of NumPy's OpenBLAS spin for 2^28 cycles, which slows down the library that is timed next. 2^21 cycles
# are a millisecond: longer than the pause between two calls of a burst, shorter than the untimed start of the next
# burst. OpenBLAS reads the variable when it is loaded.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "21")
