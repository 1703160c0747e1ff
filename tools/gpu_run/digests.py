"""Digests that say what a result was measured of.

A family's is of its kernels' PTX in the normal form of tools/compare_ptx.py with the compiler's version, so that moved
and renamed code keeps it. Those of tests and sources are of the contents of files, whatever their names are.
"""

from __future__ import annotations

import ctypes
import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

from .log import ROOT

COMPILER = re.compile(r"^// (?:Compiler Build ID|Cuda compilation tools).*$", re.MULTILINE)


def digest(parts: Iterable[bytes]) -> str:
    """Of a multiset of parts."""
    whole = blake2b(digest_size=8)
    for part in sorted(blake2b(p, digest_size=16).digest() for p in parts):
        whole.update(part)
    return whole.hexdigest()


def of_files(root: Path, *folders: str, suffixes: tuple[str, ...] = (".py", ".cpp", ".hpp", ".def")) -> str:
    """Of the contents of the files of these kinds below the folders, and of files that are named."""
    paths = [p for f in folders for p in ([root / f] if (root / f).is_file() else sorted((root / f).rglob("*")))]
    return digest(p.read_bytes() for p in paths if p.suffix in suffixes)


def of_kernels(ptx: Path) -> tuple[dict[str, dict[str, object]], dict[str, int]]:
    """By family: the digest of the kernels in a folder of .ptx files, and their number. By kernel: its instructions."""
    sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "support")]
    from compare_ptx import close, read
    from emulator_records import family

    found: defaultdict[str, list[bytes]] = defaultdict(list)
    instructions = {}
    for path in sorted(ptx.rglob("*.ptx")):
        header, symbols, _ = read(path)
        version = " ".join([*sorted(header), *COMPILER.findall(path.read_text())]).encode()
        for piece in symbols.values():
            if piece.kind == "entry":
                entry = close(piece, symbols)
                found[family(piece.name)].append(entry.digest + version)
                instructions[piece.name] = sum(member.instructions for member in entry.closure)
    families: dict[str, dict[str, object]] = {
        name: {"digest": digest(entries), "kernels": len(entries)}
        for name, entries in sorted(found.items())
        if name != "other"
    }
    return families, instructions


def write_ptx(folder: Path) -> None:
    """Writes the PTX of the stator that this process imports; needs STATOR_EMULATE, whose device would load it."""
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    from emulator_records import emulator

    visit = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)
    texts: list[bytes] = []
    emulator().stator_emulator_ptx(visit(lambda _, text: texts.append(text)), None)
    for number, text in enumerate(texts):
        (folder / f"{number}.ptx").write_bytes(text)


def main() -> None:
    """Prints what of_kernels finds of the stator that is imported."""
    with tempfile.TemporaryDirectory() as folder:
        write_ptx(Path(folder))
        print(json.dumps(of_kernels(Path(folder))))


if __name__ == "__main__":
    main()
