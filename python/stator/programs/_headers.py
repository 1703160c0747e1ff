"""The headers that a source includes, so that a change of one is a change of the key of what was compiled.

NVRTC does not list them. They are found in the text, whether or not the preprocessor would come to the line, so that a
key may depend on a header that the compiler does not read, but never misses one that it does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include\b[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>|(?!["<])(\S+))', re.MULTILINE)
_FOLDER = re.compile(r"(?:--include-path|-I)=?(.*)", re.DOTALL)
_FIRST = re.compile(r"(?:--pre-include|-include)=?(.*)", re.DOTALL)


class UnknownHeader(Exception):
    """A header is named by a macro, whose value only the compiler knows."""


def digest(source: str, options: Sequence[str], trusted: Sequence[str] = ()) -> str:
    """A digest of the headers that the source includes, directly and through others.

    options: the compiler's, which name the folders of headers and headers to include first. trusted: folders whose
    headers change only together with `cuda_fp16.h` in them or with a toolkit's folder, and are not read.
    Headers that no folder has are the compiler's own. Raises: UnknownHeader.
    """
    folders, first = _read(options)
    total = sha256()
    seen: set[str] = set()
    waiting = [(os.curdir, name, True) for name in first]
    waiting += [(os.curdir, name, quoted) for name, quoted in _names(source.encode())]
    for folder, name, quoted in waiting:  # grows during the loop
        searched = [folder, *folders] if quoted else folders
        path = next((p for p in (os.path.join(f, name) for f in searched) if os.path.isfile(p)), None)
        if path is None or path in seen:
            continue
        seen.add(path)
        home = next((f for f in trusted if path.startswith(f + os.sep)), None)
        if home is not None:
            total.update(f"{name}\0{_version(home)}\0".encode())
            continue
        status = os.stat(path)
        content, included = _file(path, status.st_mtime_ns, status.st_size)
        total.update(f"{name}\0{content}\0".encode())
        waiting += [(os.path.dirname(path), one, as_quoted) for one, as_quoted in included]
    return total.hexdigest()


def _read(options: Sequence[str]) -> tuple[list[str], list[str]]:
    """The folders of headers, and the headers that are included first."""
    folders: list[str] = []
    first: list[str] = []
    rest = iter(options)
    for option in rest:
        for pattern, values in ((_FOLDER, folders), (_FIRST, first)):
            if match := pattern.fullmatch(option):
                values.append(match[1] or next(rest, ""))
    return folders, first


def _names(text: bytes) -> Iterator[tuple[str, bool]]:
    """The names of included headers, and whether each is in quotes."""
    for quoted, angled, macro in _INCLUDE.findall(text):
        if macro:
            raise UnknownHeader(macro.decode(errors="replace"))
        yield os.fsdecode(quoted or angled), bool(quoted)


@lru_cache(maxsize=4096)
def _file(path: str, modified: int, size: int) -> tuple[str, tuple[tuple[str, bool], ...]]:
    """The digest of a file and the headers that it includes; read again only after a change."""
    text = Path(path).read_bytes()
    return sha256(text).hexdigest(), tuple(_names(text))


@lru_cache(maxsize=16)
def _version(folder: str) -> str:
    """What tells one toolkit's headers from another's."""
    for name in ("cuda_fp16.h", "../cuda_fp16.h"):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return sha256(Path(path).read_bytes()).hexdigest()
    return folder
