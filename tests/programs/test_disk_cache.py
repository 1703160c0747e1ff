"""Compiled code that later processes read from disk."""

import os
import subprocess
import sys
import warnings

import pytest

from stator.errors import CompileError, ConfigurationError
from stator.programs import _code, _headers
from stator.programs._disk_cache import DiskCache, disk_cache

SOURCE = '#include "scale.h"\nextern "C" __global__ void scale(float* x) { x[threadIdx.x] *= SCALE; }'


@pytest.fixture
def cache(tmp_path):
    return DiskCache(tmp_path / "made" / "programs", 10_000)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache, in a folder that has scale.h beside it."""
    monkeypatch.setenv("STATOR_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "scale.h").write_text("#define SCALE 3\n")
    return tmp_path


def compiled(backend, folder, source=SOURCE, *more):
    """What the kernel makes of 1, and whether its code was on disk."""
    backend.programs.clear_cache()
    before = backend.programs.info()
    kernel = backend.compile(source, "scale", options=(f"--include-path={folder}", *more))
    x = backend.ones(1, dtype="float32")
    kernel.launch(1, 1, x)
    after = backend.programs.info()
    assert (after.disk_hits - before.disk_hits) + (after.disk_misses - before.disk_misses) == 1
    return float(x[0]), after.disk_hits > before.disk_hits


def entries(cache):
    return sorted(path.name for path in cache.folder.iterdir())


def test_an_entry_is_read_again(cache):
    cache.put("a", b"code")
    assert cache.get("a") == b"code" and cache.get("b") is None
    assert DiskCache(cache.folder, 1).get("a") == b"code"
    assert entries(cache) == ["a.code"]


def test_only_the_user_can_read_the_folder(cache):
    cache.put("a", b"code")
    assert cache.folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-1], lambda b: b[:10], lambda b: b"", lambda b: b"x" + b[1:], lambda b: b[:-1] + b"?"]
)
def test_a_damaged_entry_is_removed(cache, damage):
    cache.put("a", b"code")
    path = cache.folder / "a.code"
    path.write_bytes(damage(path.read_bytes()))
    assert cache.get("a") is None and not path.exists()


def test_the_least_recently_used_entries_are_removed(cache):
    for i, name in enumerate("abcd"):
        cache.put(name, bytes(2400))
        os.utime(cache.folder / f"{name}.code", (i, i))
    assert cache.get("a") is not None  # used now
    cache.put("e", bytes(2400))
    assert entries(cache) == ["a.code", "d.code", "e.code"] and cache.size() <= 10_000


def test_an_entry_above_the_limit_is_not_written(cache):
    cache.put("a", bytes(10_001))
    assert cache.size() == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_warns_once(cache):
    cache.folder.mkdir(parents=True, mode=0o500)
    with pytest.warns(RuntimeWarning, match="Cannot write the cache of compiled kernels"):
        cache.put("a", b"code")
    with warnings.catch_warnings(action="error"):
        cache.put("a", b"code")


@pytest.mark.parametrize("call", ["open", "replace"])
def test_a_full_disk_warns_once_and_leaves_no_file(cache, monkeypatch, call):
    def full(*args, **keywords):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fdopen" if call == "open" else call, full)
    with pytest.warns(RuntimeWarning, match="No space left on device. Every process compiles them again"):
        cache.put("a", b"code")
    with warnings.catch_warnings(action="error"):
        cache.put("a", b"code")
    assert entries(cache) == []


@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_a_folder_that_others_write_into_is_not_used(cache, mode):
    cache.put("a", b"code")
    cache.folder.chmod(mode)
    with pytest.warns(RuntimeWarning, match="other users may write into it"):
        assert cache.get("a") is None
    cache.put("b", b"code")
    assert entries(cache) == ["a.code"]


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.setenv("STATOR_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("STATOR_CACHE_SIZE", "2 MiB")
    assert (disk_cache().folder, disk_cache().limit) == (tmp_path / "programs", 2 << 20)
    monkeypatch.delenv("STATOR_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert disk_cache().folder == tmp_path / "xdg/stator/programs"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert disk_cache().folder == tmp_path / "home/.cache/stator/programs"
    monkeypatch.setenv("STATOR_CACHE_SIZE", "0")
    assert disk_cache() is None


def test_a_size_that_is_not_one_is_an_error(monkeypatch):
    monkeypatch.setenv("STATOR_CACHE_SIZE", "much")
    with pytest.raises(ConfigurationError, match="STATOR_CACHE_SIZE='much'"):
        disk_cache()


def test_code_is_equal_after_a_round_trip():
    code = _code.Code(b"ptx\0", b"\x7fELF", ("_Z1f", "g"), "a warning: \u00e9", 0.25)
    assert _code.Code.from_bytes(code.to_bytes()) == code


def test_a_digest_covers_headers_of_headers(tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "a.h").write_text('#include "below/b.h"')
    (tmp_path / "below/b.h").write_text('  #  include "c.h"\n')
    (tmp_path / "below/c.h").write_text("one")
    options = (f"-I{tmp_path}",)
    before = _headers.digest("#include <a.h>", options)
    assert before == _headers.digest("#include <a.h>", ("-I", str(tmp_path)))
    assert before == _headers.digest("#include <a.h>\n#include <missing.h>", options)
    (tmp_path / "below/c.h").write_text("other")
    assert before != _headers.digest("#include <a.h>", options)


def test_a_digest_covers_headers_that_an_option_includes(tmp_path):
    (tmp_path / "first.h").write_text("one")
    options = (f"--include-path={tmp_path}", "--pre-include=first.h")
    before = _headers.digest("", options)
    (tmp_path / "first.h").write_text("other")
    assert before != _headers.digest("", options)


def test_a_header_that_a_macro_names_is_unknown():
    with pytest.raises(_headers.UnknownHeader, match="HEADER"):
        _headers.digest("#define HEADER <a.h>\n#include HEADER", ())


def test_code_is_read_from_disk(cuda, folder):
    assert compiled(cuda, folder) == (3, False)
    assert compiled(cuda, folder) == (3, True)
    assert cuda.programs.info().seconds_saved > 0


def test_a_changed_header_source_or_option_is_compiled(cuda, folder):
    assert compiled(cuda, folder) == (3, False)
    (folder / "scale.h").write_text("#define SCALE 5\n")
    assert compiled(cuda, folder) == (5, False)
    assert compiled(cuda, folder, SOURCE + "\n") == (5, False)
    assert compiled(cuda, folder, SOURCE, "--fmad=false") == (5, False)
    (folder / "scale.h").write_text("#define SCALE 3\n")
    assert compiled(cuda, folder) == (3, True)


def test_a_damaged_entry_is_compiled_again(cuda, folder):
    compiled(cuda, folder)
    (path,) = (folder / "cache/programs").iterdir()
    path.write_bytes(path.read_bytes()[:-5])
    assert compiled(cuda, folder) == (3, False)
    assert compiled(cuda, folder) == (3, True)


def test_a_source_that_does_not_compile_is_not_kept(cuda, folder):
    for _ in range(2):
        with pytest.raises(CompileError, match="unknown"):
            cuda.compile('extern "C" __global__ void f() { unknown(); }', "f")
    assert not (folder / "cache/programs").exists()


def test_no_cache_is_used_where_its_size_is_0(cuda, folder, monkeypatch):
    monkeypatch.setenv("STATOR_CACHE_SIZE", "0")
    assert compiled(cuda, folder) == (3, False)
    assert compiled(cuda, folder) == (3, False)
    assert not (folder / "cache").exists()


PROCESS = """
import sys
import stator
be = stator.Backend("cuda")
kernel = be.compile(sys.argv[1], "scale", options=[f"--include-path={sys.argv[2]}"])
x = be.ones(1, dtype="float32")
kernel.launch(1, 1, x)
print(float(x[0]), be.programs.info().disk_hits)
"""


def test_processes_share_a_cache(cuda, folder):
    def start():
        command = [sys.executable, "-c", PROCESS, SOURCE, str(folder)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    together = [start() for _ in range(2)]  # each compiles, or reads what the other wrote
    assert {process.communicate(timeout=300)[0].split()[0] for process in together} == {"3.0"}
    assert start().communicate(timeout=300)[0].split() == ["3.0", "1"]
    assert len(list((folder / "cache/programs").iterdir())) == 1


def test_telemetry_counts_what_the_disk_had(cuda, folder):
    with cuda.telemetry.measure() as measured:
        compiled(cuda, folder)
        compiled(cuda, folder)
    assert measured.difference["caches"]["programs_on_disk"] == {"hits": 1, "misses": 1, "entries": None}
