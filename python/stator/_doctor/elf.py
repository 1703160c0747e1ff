"""What files of code are made for: shared objects, and the images for GPUs inside of them. Nothing is loaded."""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

_X86_64 = 62
_FAT_MAGIC = 0xBA55ED50
_KINDS = {1: "ptx", 2: "code"}


class BrokenFileError(Exception):
    """The file is not a shared object for x86-64, or not a whole one."""


@dataclass(frozen=True)
class Image:
    """Code for GPUs. kind: "code" runs on `architecture` (90 is 9.0) and later minors, "ptx" from there on.

    bytes: the length of what the driver loads, with compression undone.
    """

    kind: str
    architecture: int
    bytes: int


def sections(path: Path) -> dict[str, tuple[int, int]]:
    """The offset and the length of each section, by name. Raises BrokenFileError, and OSError."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(64)
        if len(head) < 64 or head[:4] != b"\x7fELF":
            raise BrokenFileError(f"it has {size} bytes and does not begin as a shared object does")
        if head[4] != 2 or struct.unpack_from("<H", head, 18)[0] != _X86_64:
            raise BrokenFileError("it is a shared object for another processor than x86-64")
        table = struct.unpack_from("<Q", head, 40)[0]
        entry, count, names = struct.unpack_from("<3H", head, 58)
        if table + entry * count > size:
            raise BrokenFileError(f"it has {size} bytes and should have {table + entry * count} at least")
        file.seek(table)
        rows = [struct.unpack("<2I4Q2I2Q", file.read(entry)[:64]) for _ in range(count)]
        if not rows:
            return {}
        file.seek(rows[names][4])
        text = file.read(rows[names][5])
    return {text[r[0] : text.index(b"\0", r[0])].decode(errors="replace"): (r[4], r[5]) for r in rows}


def images(path: Path) -> list[Image]:
    """The images for GPUs of a shared object. Raises BrokenFileError, and OSError."""
    start, length = sections(path).get(".nv_fatbin", (0, 0))
    found: list[Image] = []
    if not length:
        return found
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at, end = start, min(start + length, len(data))
        while at + 16 <= end:
            magic, _, header, size = struct.unpack_from("<I2HQ", data, at)
            if magic != _FAT_MAGIC:
                at += 8  # padding between the binaries of two files
                continue
            found += _images_of(data, at + header, min(at + header + size, end))
            at += header + size
    return found


def _images_of(data: mmap.mmap, at: int, end: int) -> list[Image]:
    found = []
    while at + 64 <= end:
        kind, _, header, stored, _, _, _, architecture = struct.unpack_from("<2HIQ4I", data, at)
        whole = struct.unpack_from("<Q", data, at + 56)[0]
        if kind in _KINDS:
            found.append(Image(_KINDS[kind], architecture, whole or stored))
        if not header + stored:
            break
        at += header + stored
    return found
