"""Whether the driver compiles the kernels of this build for a GPU, and the message about it."""

import logging
import os
from collections.abc import Sequence

from stator import _backend, _devices, _table

log = logging.getLogger("stator")
_told: set[str] = set()  # devices


def has_machine_code(codes: Sequence[str], capability: tuple[int, int]) -> bool:
    """Whether code of one of these architectures ("80", "90a") runs on a GPU of the compute capability.

    It runs on its own major version from its minor version on, and with a letter after it on no other GPU at all.
    """
    major, minor = capability
    return any(
        code == f"{major}{minor}a"
        if code.endswith("a")
        else divmod(int(code), 10) in ((major, m) for m in range(minor + 1))
        for code in codes
    )


def tell_first_use(device: str) -> None:
    """Logs a warning, once per device such as "cuda:0", where the driver compiles each kernel when it is first used."""
    kind, _, index = device.partition(":")
    if kind != "cuda" or device in _told or _backend.emulated("cuda"):
        return
    _told.add(device)
    report = _devices.device_report("cuda", int(index))
    codes: list[str] = _table.build()["machine_code"]
    forced = os.environ.get("CUDA_FORCE_PTX_JIT") == "1"
    if not forced and has_machine_code(codes, report["compute_capability"]):
        return
    major, minor = report["compute_capability"]
    log.warning(
        "%s (%s) has compute capability %d.%d, and %s: the driver compiles each kernel when it is first used, and "
        "keeps it in its cache. be.graphs.prepare(ops) lets it do so at once; python -m stator doctor says how to "
        "avoid it",
        device,
        report["name"],
        major,
        minor,
        "CUDA_FORCE_PTX_JIT is 1" if forced else f"this build has machine code only for {', '.join(codes) or 'none'}",
    )
