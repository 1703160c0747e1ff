"""Benchmarks: one case table, validated before it is timed, side by side with peers."""
