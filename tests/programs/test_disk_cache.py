"""Compiled code that later processes read from disk."""

import fcntl
import os
import resource
import signal
import subprocess
import sys
import warnings
from types import SimpleNamespace

import pytest

from stator.errors import CompileError, ConfigurationError, DTypeError
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
    before = os.umask(0)
    try:
        cache.put("a", b"code")
    finally:
        os.umask(before)
    assert cache.folder.stat().st_mode & 0o077 == 0
    assert (cache.folder / "a.code").stat().st_mode & 0o077 == 0


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
    cache.put("a", b"code")
    cache.put("b", bytes(10_001))
    assert entries(cache) == ["a.code"]


def test_an_entry_close_to_the_limit_stays(cache):
    cache.put("a", bytes(2400))
    os.utime(cache.folder / "a.code", (1, 1))
    cache.put("b", bytes(9500))
    assert entries(cache) == ["b.code"]


def test_entries_are_removed_when_a_smaller_cache_is_opened(cache, monkeypatch):
    monkeypatch.setenv("STATOR_CACHE_DIR", str(cache.folder.parent))
    monkeypatch.setenv("STATOR_CACHE_SIZE", "5000")
    for i, name in enumerate("abc"):
        cache.put(name, bytes(2400))
        os.utime(cache.folder / f"{name}.code", (i, i))
    assert disk_cache("compile").size() <= 5000
    assert entries(cache) == ["c.code"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_warns_once(cache):
    cache.folder.mkdir(parents=True, mode=0o500)
    with pytest.warns(RuntimeWarning, match="Cannot write the cache of compiled kernels"):
        cache.put("a", b"code")
    with warnings.catch_warnings(action="error"):
        cache.put("a", b"code")


def test_a_folder_that_cannot_be_made_warns_once(cache):
    cache.folder.parent.write_text("a file")
    with pytest.warns(RuntimeWarning, match="Cannot write the cache of compiled kernels"):
        cache.put("a", b"code")
    with warnings.catch_warnings(action="error"):
        cache.put("a", b"code")
        assert cache.get("a") is None


@pytest.mark.parametrize(
    ("limit", "most"), [(resource.RLIMIT_NOFILE, 0), (resource.RLIMIT_FSIZE, 4)], ids=["open", "write"]
)
def test_a_failed_write_warns_once_and_leaves_no_file(cache, limit, most):
    cache.folder.mkdir(parents=True)
    soft, hard = resource.getrlimit(limit)
    files = len(os.listdir("/proc/self/fd"))
    with pytest.warns(RuntimeWarning, match="Every process compiles them again") as warned:
        resource.setrlimit(limit, (most, hard))
        try:
            cache.put("a", b"code")
            cache.put("b", b"code")
        finally:
            resource.setrlimit(limit, (soft, hard))
    assert len(warned) == 1
    assert entries(cache) == [] and len(os.listdir("/proc/self/fd")) == files


def test_a_full_disk_warns_once_and_leaves_no_file(cache, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(RuntimeWarning, match="No space left on device. Every process compiles them again") as warned:
        cache.put("a", b"code")
        cache.put("b", b"code")
    assert len(warned) == 1 and entries(cache) == []


def test_what_another_process_removes_is_not_kept(cache, monkeypatch):
    def remove_first(file, operation):
        if operation == fcntl.LOCK_EX:
            os.unlink(file.name)

    monkeypatch.setattr(fcntl, "flock", remove_first)
    with warnings.catch_warnings(action="error"):
        cache.put("a", b"code")
    assert entries(cache) == []


def test_incomplete_files_are_removed_unless_they_are_being_written(cache, monkeypatch):
    monkeypatch.setenv("STATOR_CACHE_DIR", str(cache.folder.parent))
    cache.put("a", b"code")
    for name in ("killed.tmp", "written.tmp"):
        (cache.folder / name).write_bytes(bytes(1 << 20))
    with open(cache.folder / "written.tmp", "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        monkeypatch.setenv("STATOR_CACHE_SIZE", "1 MiB")
        assert disk_cache("compile").size() < 100
        assert entries(cache) == ["a.code", "written.tmp"]
        cache.clear()
        assert entries(cache) == ["written.tmp"]
    cache.put("b", b"code")
    assert entries(cache) == ["b.code"]


def test_a_writer_has_a_lock_until_the_entry_is_complete(cache, monkeypatch):
    replace, seen = os.replace, []

    def replaced(path, to):
        cache.tidy()
        seen.append(path.endswith(".tmp"))
        replace(path, to)

    monkeypatch.setattr(os, "replace", replaced)
    cache.put("a", b"code")
    assert seen == [True] and cache.get("a") == b"code"


@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_a_folder_that_others_write_into_is_not_used(cache, mode):
    cache.put("a", b"code")
    cache.folder.chmod(mode)
    with pytest.warns(RuntimeWarning, match="other users may write into it"):
        assert cache.get("a") is None
    cache.put("b", b"code")
    assert entries(cache) == ["a.code"]


def test_a_folder_of_another_user_is_not_used(cache, monkeypatch):
    cache.put("a", b"code")
    monkeypatch.setattr(os, "geteuid", lambda: cache.folder.stat().st_uid + 1)
    with pytest.warns(RuntimeWarning, match="other users may write into it"):
        assert cache.get("a") is None
    assert cache.size() == 0


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.setenv("STATOR_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("STATOR_CACHE_SIZE", "2 MiB")
    assert (disk_cache("compile").folder, disk_cache("compile").limit) == (tmp_path / "programs", 2 << 20)
    monkeypatch.delenv("STATOR_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert disk_cache("compile").folder == tmp_path / "xdg/stator/programs"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert disk_cache("compile").folder == tmp_path / "home/.cache/stator/programs"
    monkeypatch.setenv("STATOR_CACHE_SIZE", "0")
    assert disk_cache("compile") is None


def test_a_size_that_is_not_one_is_an_error(monkeypatch):
    monkeypatch.setenv("STATOR_CACHE_SIZE", "much")
    with pytest.raises(ConfigurationError, match="compile: Got STATOR_CACHE_SIZE='much', but it is a number"):
        disk_cache("compile")


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


KILLED = """
import os, random, signal, sys
from hashlib import sha256
from pathlib import Path
from stator.programs._disk_cache import DiskCache

folder, limit, seed, deaths = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "killed"
draw = random.Random(seed)
value = lambda key: sha256(key.encode()).digest() * (20 + len(key))
if deaths:  # at one of the calls that write, before it or after it
    left, before = draw.randrange(40), draw.random() < 0.5
    def dying(call):
        def called(*args, **keywords):
            global left
            left -= 1
            if left < 0 and before:
                os.kill(os.getpid(), signal.SIGKILL)
            result = call(*args, **keywords)
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return result
        return called
    import fcntl
    os.replace, os.unlink, fcntl.flock = dying(os.replace), dying(os.unlink), dying(fcntl.flock)
cache = DiskCache(Path(folder), limit)
cache.tidy()
for _ in range(60):
    key = "k" * draw.randrange(1, 21)
    found = cache.get(key)
    assert found in (None, value(key)), key
    if found is None:
        cache.put(key, value(key))
"""


def test_processes_that_are_killed_leave_a_usable_cache(tmp_path):
    folder, limit = tmp_path / "programs", 5000  # four entries
    command = [sys.executable, "-W", "error", "-c", KILLED, str(folder), str(limit)]
    started = [
        subprocess.Popen([*command, str(i), "killed" if i % 2 else "lives"], stderr=subprocess.PIPE, text=True)
        for i in range(8)
    ]
    ends = [(process.communicate(timeout=300)[1], process.returncode) for process in started]
    assert [end for end in ends if end not in (("", 0), ("", -signal.SIGKILL))] == []
    assert -signal.SIGKILL in {code for _, code in ends} and 0 in {code for _, code in ends}
    DiskCache(folder, limit).tidy()
    assert {path.suffix for path in folder.iterdir()} == {".code"}
    assert 0 < sum(path.stat().st_size for path in folder.iterdir()) <= limit


KEY = {
    "source": "source",
    "names": ("f", "g"),
    "options": ("-I.", "-w"),
    "toolkit": (),
    "architecture": 90,
}


@pytest.fixture
def compiler(monkeypatch, tmp_path):
    """NVRTC's file, as the key takes it."""
    path = tmp_path / "libnvrtc.so"
    path.write_text("1")
    monkeypatch.setattr(_code._libraries, "register", lambda: None)
    monkeypatch.setattr(_code._table, "libraries", lambda load: [{"name": "nvrtc", "path": str(path)}])
    return path


@pytest.mark.parametrize(
    "part",
    [{"source": "x"}, {"names": ("g", "f")}, {"options": ("-w", "-I.")}, {"options": ("-I.",)}, {"architecture": 80}],
)
def test_each_argument_is_a_part_of_the_key(compiler, part):
    assert _code._key(**KEY) == _code._key(**KEY)
    assert _code._key(**KEY) != _code._key(**{**KEY, **part})


def test_the_version_and_the_compiler_are_parts_of_the_key(compiler, monkeypatch):
    keys = [_code._key(**KEY)]
    os.utime(compiler, (1, 1))
    keys.append(_code._key(**KEY))
    compiler.write_text("12")
    os.utime(compiler, (1, 1))
    keys.append(_code._key(**KEY))
    other = compiler.rename(compiler.with_name("other.so"))
    monkeypatch.setattr(_code._table, "libraries", lambda load: [{"name": "nvrtc", "path": str(other)}])
    keys.append(_code._key(**KEY))
    monkeypatch.setattr(_code, "__version__", "0.0.0")
    keys.append(_code._key(**KEY))
    assert len(set(keys)) == 5 and None not in keys


def test_the_toolkit_is_a_part_of_the_key(compiler, tmp_path):
    toolkit = tmp_path / "toolkit"
    toolkit.mkdir()
    keys = []
    for version in ("13.0", "13.1"):
        (toolkit / "cuda_fp16.h").write_text(version)
        (toolkit / "used.h").write_text("")
        _headers._version.cache_clear()
        keys.append(_code._key('#include "used.h"', (), (f"-I{toolkit}",), (str(toolkit),), 90))
    assert len(set(keys)) == 2 and None not in keys


@pytest.mark.parametrize("option", ["--create-pch=a", "--use-pch=a", "-pch", "--time=a", "-fdevice-time-trace=a"])
def test_no_key_is_known_with_options_that_name_files(compiler, option):
    assert _code._key(**{**KEY, "options": (option,)}) is None


def test_no_key_is_known_of_a_header_that_a_macro_names(compiler):
    assert _code._key(**{**KEY, "source": "#include HEADER"}) is None


def test_saved_seconds_are_those_of_the_compiler_less_those_of_key_and_file(monkeypatch, tmp_path):
    now = [0]

    def taking(seconds, call):
        def timed(*args):
            now[0] += seconds
            return call(*args)

        return timed

    cache = DiskCache(tmp_path, 10_000)
    cache.get = taking(1, cache.get)
    monkeypatch.setattr(_code, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    monkeypatch.setattr(_code, "disk_cache", lambda op: cache)
    monkeypatch.setattr(_code, "_key", taking(2, lambda *args: "key"))
    monkeypatch.setattr(_code._program, "compile_code", taking(100, lambda *args: (b"ptx", b"cubin", ("f",), "")))
    given = "source", ("f",), (), _code.IncludeFolders((), ()), 90
    code, saved = _code.compiled_code(*given)
    assert (code.seconds, saved) == (100, None)
    assert _code.compiled_code(*given) == (code, 97)


def test_code_is_read_from_disk(cuda, folder):
    before = cuda.programs.info().seconds_saved
    assert compiled(cuda, folder) == (3, False)
    assert cuda.programs.info().seconds_saved == before
    assert compiled(cuda, folder) == (3, True)
    assert cuda.programs.info().seconds_saved != before


def test_the_files_are_removed_on_request(be, folder):
    files = disk_cache("compile")
    files.put("a", b"code")
    be.programs.clear_cache()
    assert entries(files) == ["a.code"]
    with pytest.raises(DTypeError, match="Got on_disk of type int"):
        be.programs.clear_cache(on_disk=1)
    be.programs.clear_cache(on_disk=True)
    assert entries(files) == []


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
