"""Compiled code in files, so that later processes need not compile it again.

An entry is a file named by its key: a line that identifies the format, the digest of the rest, and the rest. It is
written under another name and renamed when it is complete, so that processes may share a folder.
"""

from __future__ import annotations

import os
import stat
import tempfile
import warnings
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from stator.config._fields import Wrong, byte_count
from stator.errors import ConfigurationError

FOLDER_VARIABLE = "STATOR_CACHE_DIR"
SIZE_VARIABLE = "STATOR_CACHE_SIZE"
DEFAULT_SIZE = 1 << 30
_FORMAT = b"stator code 1\n"
_SUFFIX = ".code"
_KEPT = 0.9  # of the limit after an eviction, so that not every entry causes one


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
            if not self._is_mine(self.folder):
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
            if not self._is_mine(self.folder):
                return
            number, temporary = tempfile.mkstemp(dir=self.folder, prefix=key[:8], suffix=".tmp")
            try:
                with os.fdopen(number, "wb") as file:
                    file.write(text)
                os.replace(temporary, self.folder / (key + _SUFFIX))
            except BaseException:
                os.unlink(temporary)
                raise
            self._evict()
        except OSError as error:
            self._warn("write", error)

    def clear(self) -> None:
        """Removes all entries."""
        for _, _, path in self._entries():
            with suppress(OSError):
                os.unlink(path)

    def size(self) -> int:
        """The bytes of all entries."""
        return sum(size for _, size, _ in self._entries())

    def _entries(self) -> list[tuple[int, int, str]]:
        """Time of last use, bytes and path of each file, the least recently used first."""
        found = []
        with suppress(OSError), os.scandir(self.folder) as files:
            for file in files:
                if file.name.endswith((_SUFFIX, ".tmp")):
                    with suppress(OSError):  # another process removed it
                        status = file.stat(follow_symlinks=False)
                        found.append((status.st_mtime_ns, status.st_size, file.path))
        return sorted(found)

    def _evict(self) -> None:
        entries = self._entries()
        total = sum(size for _, size, _ in entries)
        if total <= self.limit:
            return
        for _, size, path in entries:
            if total <= _KEPT * self.limit:
                break
            with suppress(OSError):
                os.unlink(path)
            total -= size

    def _is_mine(self, folder: Path) -> bool:
        """Whether only this user writes into the folder: what is in it will run."""
        status = folder.stat()
        if status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
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


_open: dict[tuple[str, int], DiskCache] = {}


def disk_cache() -> DiskCache | None:
    """The cache that the environment asks for; None where it has no bytes."""
    text = os.environ.get(SIZE_VARIABLE, "").strip()
    if text == "0":
        return None
    try:
        limit = byte_count(text) if text else DEFAULT_SIZE
    except Wrong as wrong:
        raise ConfigurationError(
            f"Got {SIZE_VARIABLE}={text!r}, but {wrong.rule}",
            op="Backend.compile",
            remedy=f"{wrong.remedy} 0 turns the cache off.",
        ) from None
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        folder = os.path.join(root, "stator")
    folder = os.path.join(os.path.abspath(folder), "programs")
    return _open.setdefault((folder, limit), DiskCache(Path(folder), limit))
