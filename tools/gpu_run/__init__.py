"""One prepared run on a machine with a GPU: docs/gpu_runs.md says how."""
