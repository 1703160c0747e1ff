"""The fields of a configuration: what a value of each may be, and its default.

A check gives the value in its plain form, or raises Wrong with the rule and the remedy. Text is read as a value too,
since variables of the environment, properties and TOML files have text.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from operator import index

from stator import _backend
from stator.config._byte_counts import Wrong, byte_count, up_to, whole_number
from stator.config._problems import Problem, shown
from stator.errors import StatorError

Value = bool | int | str
LARGEST_JIT_CACHE = 2**32  # of CUDA_CACHE_MAXSIZE, as NVIDIA documents it
_FLAGS = {"1": True, "true": True, "0": False, "false": False}


@dataclass(frozen=True)
class Field:
    """One field: its check, its default (None: there is none), and what it is, in a line."""

    name: str
    check: Callable[[object], Value]
    default: Value | None
    summary: str

    @property
    def variable(self) -> str:
        """The variable of the environment that sets the field."""
        return f"STATOR_{self.name.upper()}"


def _flag(value: object) -> bool:
    if isinstance(value, str) and value.lower() in _FLAGS:
        return _FLAGS[value.lower()]
    try:
        number = value if isinstance(value, bool) else index(value)  # type: ignore[arg-type]
    except TypeError:
        number = -1
    if number not in (0, 1):
        raise Wrong("it is either on or off", "Give True or False; as text 0, 1, true or false.")
    return bool(number)


def _streams(value: object) -> int:
    most = _backend.most_streams()
    wanted = f"Give a number from 1 to {most}."
    number = int(value) if isinstance(value, str) and value.strip().isdecimal() else whole_number(value, wanted)
    if not 1 <= number <= most:
        raise Wrong(f"a backend has from 1 to {most} streams", wanted)
    return number


def _choice(*choices: str) -> Callable[[object], str]:
    def check(value: object) -> str:
        if not isinstance(value, str) or value not in choices:
            wanted = " or ".join(repr(choice) for choice in choices)
            raise Wrong(f"it is {wanted}", f"Give {wanted}.")
        return value

    return check


def _device(value: object) -> str:
    name = str(value)
    if name == "auto":
        return name
    try:
        return _backend.parse_device(name)
    except StatorError as error:
        raise Wrong("no device has this name", f'{error.remedy} "auto" chooses one of them.') from None


def _path(value: object) -> str:
    try:
        path = os.fspath(value)  # type: ignore[call-overload]
    except TypeError:
        path = None
    if not isinstance(path, str) or not path or "\0" in path:
        raise Wrong("it is the path of a folder", "Give the path as text that is not empty.")
    if not path.isascii() and path.encode(errors="replace").decode() != path:
        raise Wrong("a path has no lone surrogates", "Give the path as text of Unicode characters.")
    return path


FIELDS = {
    field.name: field
    for field in (
        Field("device", _device, "auto", '"auto" (cuda:0 when usable, else cpu), "cpu", "cuda" or "cuda:1"'),
        Field("allow_tf32", _flag, False, "float32 products may use TF32"),
        Field("deterministic", _flag, False, "ops give equal bits from run to run"),
        Field("check_indices", _choice("lazy", "eager"), "lazy", "when an index out of range raises"),
        Field("memory_limit", byte_count, None, "bytes of live and cached memory"),
        Field("memory_pool_size", byte_count, None, "bytes that a cuda backend takes from the device when it opens"),
        Field("pinned_memory_limit", byte_count, None, "bytes of live and cached page-locked memory"),
        Field("pool_policy", _choice("caching", "none", "driver", "arena"), "caching", "what becomes of freed memory"),
        Field("stream_pool_size", _streams, 8, "number of the backend's own streams"),
        Field("profiling", _flag, False, "telemetry counts from the beginning"),
        Field("blas_workspace_size", byte_count, None, "bytes of the workspace of a cuBLAS handle"),
        Field("jit_cache_path", _path, None, "folder in which the driver keeps what it compiled"),
        Field("jit_cache_size", up_to(LARGEST_JIT_CACHE), None, "bytes that the driver keeps there"),
        Field("require_libraries", _flag, False, "a missing library raises, where else slower kernels serve"),
    )
}


def checked(name: str, value: object, problems: list[Problem], source: str = "") -> Value | None:
    """The value of a field in its plain form; None, and a problem more, where it cannot be used."""
    try:
        return FIELDS[name].check(value)
    except Wrong as wrong:
        text = shown(value)[1:-1] if source and isinstance(value, str) else shown(value)
        problems.append(Problem(name, text, wrong.rule, wrong.remedy, source))
        return None


def check_together(values: dict[str, Value | None], problems: list[Problem]) -> None:
    """Adds what is wrong with fields that are each right by themselves."""
    size, limit = values.get("memory_pool_size"), values.get("memory_limit")
    if isinstance(size, int) and isinstance(limit, int) and size > limit:
        rule = f"memory_limit is {limit}, and what is reserved counts too"
        problems.append(Problem("memory_pool_size", str(size), rule, "Reserve no more than the limit."))


def check_arena(values: dict[str, Value | None], problems: list[Problem]) -> None:
    """Adds an arena whose size no source says. A wrong size is a problem by itself."""
    wrong = any(problem.field == "memory_pool_size" for problem in problems)
    if values.get("pool_policy") == "arena" and values.get("memory_pool_size") is None and not wrong:
        rule = "an arena needs a memory_pool_size"
        problems.append(Problem("pool_policy", "'arena'", rule, "Set memory_pool_size to its bytes."))
