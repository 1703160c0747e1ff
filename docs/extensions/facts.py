"""What the op table says of a function, as lines of a list."""

from __future__ import annotations

from typing import Any

import stator

_GROUPS = {
    "booleans": ("bool",),
    "integers": ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    "float16, bfloat16": ("float16", "bfloat16"),
    "float32, float64": ("float32", "float64"),
    "complex64, complex128": ("complex64", "complex128"),
}
_RESULTS = {
    "same": "the promoted dtype of the operands",
    "given": "what `dtype=` or an operand says",
    "accumulate": "the operand's; integers become 64 bits wide",
    "inexact": "the promoted dtype; integers and booleans become float64",
    "boolean": "bool",
    "index": "int64",
    "real": "the real dtype of the operand's",
}
_DETERMINISM = {
    "bit_exact": "the same bits in every run and on every device",
    "run_to_run": "the same bits in every run on the same device",
    "none": "sums may be taken in another order in another run",
}
_OPS: dict[str, dict[str, Any]] = {}
for _row in stator.op_table():
    _OPS.setdefault(_row["call"], _row)


def row(name: str) -> dict[str, Any] | None:
    """The entry of a public function, by its name below stator."""
    return _OPS.get(name)


def _dtypes(given: list[str]) -> str:
    left, parts = list(given), []
    for group, names in _GROUPS.items():
        if set(names) <= set(left):
            parts.append(group)
            left = [name for name in left if name not in names]
    return ", ".join([*parts, *left])


def lines(name: str) -> list[str]:
    """Dtypes, result, determinism, launches, whether it waits, whether graphs take it, and how it is checked."""
    op = row(name)
    if op is None:
        return []
    launches = op["launches"]
    found = {
        "dtypes": _dtypes(op["dtypes"]),
        "result": _RESULTS.get(op["result"], op["result"].replace("_", " ")),
        "determinism": _DETERMINISM.get(op["determinism"], op["determinism"].replace("_", " ")),
        "kernels launched": f"{launches['cuda']} on cuda, {launches['host']} on the cpu",
        "waits": "for the result on the host" if op["sync"] == "sync" else "never; it is asynchronous",
        "in a graph": "yes" if op["capture"] == "capturable" else "no, it raises `CaptureError`",
    }
    tolerance = ", ".join(f"{value:g} ULP in {dtype}" for dtype, value in op["tolerance"].items() if value)
    if op["oracle"]:
        found["checked against"] = f"`{op['oracle']}`" + (f", within {tolerance}" if tolerance else "")
    return [f"- {what}: {text}" for what, text in found.items()]
