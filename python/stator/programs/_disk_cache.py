"""Compiled code in files, so that later processes need not compile it again.

An entry is a file named by its key: a line that identifies the format, the digest of the rest, and the rest. It is
written under another name and renamed when it is complete, so that processes may share a folder. Its writer has a lock
on it until then: a file that is neither renamed nor locked is of a process that was killed.
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
import warnings
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from stator.config._byte_counts import Wrong, byte_count
from stator.errors import ConfigurationError

FOLDER_VARIABLE = "STATOR_CACHE_DIR"
SIZE_VARIABLE = "STATOR_CACHE_SIZE"
DEFAULT_SIZE = 1 << 30
_FORMAT = b"stator code 1\n"
_SUFFIX = ".code"
_INCOMPLETE = ".tmp"
_KEPT = 0.9  # of the limit after an eviction, so that not every entry causes one


class _Entry(NamedTuple):
    """A complete file: when it was used last, in ns, its bytes and its path."""

    used: int
    size: int
    path: str


class DiskCache:
    """Entries of bytes in a folder of this user, with a limit of bytes; the least recently used go first.

    Nothing here raises an OSError: a folder that cannot be used is warned of once, and is then a cache without entries.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder, self.limit = folder, limit
        self._warned = False

    def get(self, key: str) -> bytes | None:
        """The bytes of an entry; None where there is none, or where it is damaged."""
        path = self.folder / (key + _SUFFIX)
        try:
            if not self._is_mine():
                return None
            text = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            self._warn("read", error)
            return None
        start = len(_FORMAT) + 32
        if not text.startswith(_FORMAT) or sha256(text[start:]).digest() != text[len(_FORMAT) : start]:
            with suppress(OSError):
                path.unlink()
            return None
        with suppress(OSError):
            os.utime(path)  # the time of its last use
        return text[start:]

    def put(self, key: str, value: bytes) -> None:
        """Writes an entry, and removes others if there are too many bytes."""
        text = b"".join((_FORMAT, sha256(value).digest(), value))
        if len(text) > self.limit:
            return
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._is_mine():
                self._write(key, text)
                self.tidy()
        except OSError as error:
            self._warn("write", error)

    def clear(self) -> None:
        """Removes all entries, but those that are being written."""
        for entry in self._entries():
            with suppress(OSError):
                os.unlink(entry.path)

    def size(self) -> int:
        """The bytes of all entries."""
        return sum(entry.size for entry in self._entries())

    def tidy(self) -> None:
        """Removes what processes that were killed left incomplete, and entries if there are too many bytes."""
        entries = self._entries()
        total = sum(entry.size for entry in entries)
        if total <= self.limit:
            return
        for entry in entries:
            enough = self.limit if entry is entries[-1] else _KEPT * self.limit
            if total <= enough:
                break
            with suppress(OSError):
                os.unlink(entry.path)
            total -= entry.size

    def _write(self, key: str, text: bytes) -> None:
        with tempfile.NamedTemporaryFile(dir=self.folder, prefix=key[:8], suffix=_INCOMPLETE, delete=False) as file:
            try:
                with suppress(OSError):  # a file system without locks
                    fcntl.flock(file, fcntl.LOCK_EX)
                file.write(text)
                file.flush()
                with suppress(FileNotFoundError):  # another process removed it before it was locked
                    os.replace(file.name, self.folder / (key + _SUFFIX))
            except BaseException:
                with suppress(OSError):
                    os.unlink(file.name)
                raise

    def _entries(self) -> list[_Entry]:
        """The complete files, the least recently used first. Removes incomplete ones that no process is writing."""
        found = []
        try:
            names = os.listdir(self.folder) if self._is_mine() else []
        except OSError:  # no folder, before the first entry
            names = []
        for name in names:
            path = os.path.join(self.folder, name)
            with suppress(OSError):  # another process removed it
                if name.endswith(_INCOMPLETE):
                    _remove_abandoned(path)
                elif name.endswith(_SUFFIX):
                    status = os.lstat(path)
                    found.append(_Entry(status.st_mtime_ns, status.st_size, path))
        return sorted(found)

    def _is_mine(self) -> bool:
        """Whether only this user writes into the folder: what is in it will run."""
        status = self.folder.stat()
        if status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return True
        self._warn("use", PermissionError("other users may write into it"))
        return False

    def _warn(self, what: str, error: OSError) -> None:
        if self._warned:
            return
        self._warned = True
        warnings.warn(
            f"Cannot {what} the cache of compiled kernels in {self.folder}: {error.strerror or error}. Every process "
            f"compiles them again. Set {FOLDER_VARIABLE} to a folder that only you can write, or {SIZE_VARIABLE}=0.",
            RuntimeWarning,
            stacklevel=2,
        )


def _remove_abandoned(path: str) -> None:
    """Removes an incomplete file whose writer has ended. Raises OSError where it has not."""
    with open(path, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)


_open: dict[tuple[str, int], DiskCache] = {}


def disk_cache(op: str) -> DiskCache | None:
    """The cache that the environment asks for; None where it has no bytes. op: for errors."""
    text = os.environ.get(SIZE_VARIABLE, "").strip()
    if text == "0":
        return None
    try:
        limit = byte_count(text) if text else DEFAULT_SIZE
    except Wrong as wrong:
        raise ConfigurationError(
            f"Got {SIZE_VARIABLE}={text!r}, but {wrong.rule}", op=op, remedy=f"{wrong.remedy} 0 turns the cache off."
        ) from None
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        folder = os.path.join(root, "stator")
    folder = os.path.join(os.path.abspath(folder), "programs")
    found = _open.get((folder, limit))
    if found is None:
        found = _open.setdefault((folder, limit), DiskCache(Path(folder), limit))
        found.tidy()
    return found
