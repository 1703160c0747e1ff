"""The house rules as assertions over the text of the tree: no compiler, no import of stator. See docs/design.md."""

import re
import subprocess
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).resolve().parents[2]
CSRC = ROOT / "csrc"
CODE = {".cpp", ".hpp", ".cu", ".cuh", ".def", ".S", ".pyx", ".pxd", ".py", ".cmake", ".sh"}


def tracked() -> list[Path]:
    """Files of the project: what git knows or would add; everything in a source archive."""
    git = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        names = subprocess.run(git, capture_output=True, text=True, check=True).stdout.splitlines()
        files = [ROOT / n for n in names]
    except (OSError, subprocess.CalledProcessError):
        files = [p for p in ROOT.rglob("*") if not {"build", ".venv", ".git"} & set(p.relative_to(ROOT).parts)]
    return sorted(p for p in files if p.is_file())


FILES = tracked()
SOURCES = [p for p in FILES if p.suffix in CODE]


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def under(*folders: str, suffixes: tuple[str, ...] = (".cpp", ".hpp", ".cu", ".cuh", ".def", ".S")) -> list[Path]:
    return [p for p in FILES if p.suffix in suffixes and any(name(p).startswith(f + "/") for f in folders)]


def code(path: Path) -> str:
    """The text without C++ comments (strings stay)."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    return re.sub(r"//[^\n]*", "", text)


def found(pattern: str, paths: list[Path]) -> list[str]:
    rx = re.compile(pattern, re.MULTILINE)
    return [f"{name(p)}: {m.group(0)!r}" for p in paths for m in rx.finditer(code(p))]


def includes(path: Path) -> list[str]:
    return re.findall(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', path.read_text(), re.MULTILINE)


# The rooms of csrc/ from the lowest up, and what each may include besides the standard library and its own files.
PUBLIC = r"stator/.*"
VALUES = r"stator/(dtype|half|complex|export)\.hpp"  # what a user and a kernel must agree on
ALLOWED = {
    "include/stator": PUBLIC,
    "params": rf"params/.*|{PUBLIC}",
    "host": rf"host/.*|params/launch\.hpp|{VALUES}",
    "device": rf"device/.*|host/.*|params/(launch|launcher)\.hpp|{VALUES}",
    "kernels": rf"kernels/.*|device/.*|params/.*|{PUBLIC}",
    "runtime": rf"runtime/.*|params/launch\.hpp|{PUBLIC}",
    "core": rf"core/.*|runtime/.*|params/.*|{PUBLIC}",
    "libs": rf"libs/.*|core/.*|runtime/.*|params/.*|{PUBLIC}",
    "ops": rf"ops/.*|libs/.*|core/.*|runtime/.*|params/.*|{PUBLIC}",
}
# CUDA headers enter at the runtime layer and in libs/cuda, nowhere else.
CUDA_HEADER = r"cuda.*\.h|nv.*\.h|cublas.*|driver_types\.h"
CUDA_FILE = re.compile(r"csrc/(runtime/cuda_|libs/cuda/)\w+\.[ch]pp")


@pytest.mark.parametrize("room", ALLOWED)
def test_imports_run_downward(room):
    bad = []
    for path in under(f"csrc/{room}"):
        for target in includes(path):
            ours = "/" in target and not target.startswith(("sys/", "sanitizer/"))
            if ours and not re.fullmatch(ALLOWED[room], target):
                bad.append(f"{name(path)} includes {target}")
            if re.fullmatch(CUDA_HEADER, target) and not CUDA_FILE.fullmatch(name(path)):
                bad.append(f"{name(path)} includes {target}")
    assert not bad


def test_every_include_exists():
    bad = []
    for path in under("csrc"):
        for target in includes(path):
            if re.fullmatch(rf"({'|'.join(r for r in ALLOWED if '/' not in r)})/.*", target):
                bad += [f"{name(path)}: {target}"] * (not (CSRC / target).is_file())
            if target.startswith("stator/"):
                bad += [f"{name(path)}: {target}"] * (not (CSRC / "include" / target).is_file())
    assert not bad


def test_only_pyx_knows_python():
    assert not found(r"\bPython\.h\b|\bPyObject\b", under("csrc"))


def test_pyx_sees_the_public_headers_alone():
    bad = []
    for path in under("pyx", suffixes=(".pyx", ".pxd")):
        for header in re.findall(r"cdef extern from\s+[\"']([^\"']+)", path.read_text()):
            hooks = path.name == "testing.pxd" and header == "core/testing.hpp"
            if not hooks and not re.fullmatch(r"stator/\w+\.hpp|Python\.h|<\w+>", header):
                bad.append(f"{name(path)}: {header}")
    assert not bad


def test_pyx_and_csrc_do_not_import_the_python_layer():
    """But for the exception types, which are defined there and import nothing."""
    public = {p.stem for p in under("python", suffixes=(".py",))} - {"__init__", "errors"}
    bad = []
    for path in under("pyx", suffixes=(".pyx", ".pxd")):
        for module in re.findall(r"^(?:from|import|cimport)\s+stator\.(\w+)", path.read_text(), re.MULTILINE):
            bad += [f"{name(path)}: stator.{module}"] * (module in public)
    assert not bad


def test_device_code_lives_in_two_folders():
    rooms = ("csrc/kernels/", "csrc/device/")
    assert not [name(p) for p in FILES if p.suffix in (".cu", ".cuh") and not name(p).startswith(rooms)]


def test_columns_are_told_apart_below_kernels_only():
    assert not found(
        r"\bSTATOR_(HOST|CHECKED)\b",
        [p for p in under("csrc") if not re.match(r"csrc/(device|host|runtime|libs)/", name(p))],
    )
    assert not found(r"^\s*#\s*(if|ifdef|ifndef|elif)\b(?!.*STATOR_SHARD)", under("csrc/kernels"))


BANNED_IN_KERNELS = {
    "launch syntax": r"<<<",
    "constant memory": r"__constant__",
    "CUDA keywords": r"__(global|device|shared|host|launch_bounds)__",
    "static variables": r"^\s*static\s+(?!_assert)(?!constexpr)(?!inline)[\w:<>,\s\*&]+(=|;)",
    "warp width": r"\bwarpSize\b|\bthreadIdx\b|\bblockIdx\b|\bblockDim\b",
    "runtime calls": r"\bcuda[A-Z]\w+\s*\(",
}


@pytest.mark.parametrize("rule", BANNED_IN_KERNELS)
def test_kernels_are_written_in_device_words(rule):
    assert not found(BANNED_IN_KERNELS[rule], under("csrc/kernels"))


def test_host_compilers_see_no_cuda_intrinsic_outside_cuda_files():
    assert not found(
        r"\bcuda[A-Z]\w*\s*\(|\bcu(blas|fft|solver|sparse|rand)[A-Z]\w*\s*\(",
        [p for p in under("csrc") if not CUDA_FILE.fullmatch(name(p)) and not name(p).startswith("csrc/device/")],
    )


def test_kernels_and_device_code_are_inside_their_column():
    sources = [p for p in under("csrc/kernels", "csrc/device", "csrc/host") if p.suffix in (".cu", ".cuh")]
    declares = re.compile(r"^\s*(namespace|template|struct|inline|STATOR_(FN|KERNEL))\b", re.MULTILINE)
    target = "namespace stator::STATOR_TARGET"
    assert not [name(p) for p in sources if declares.search(code(p)) and target not in code(p)]
    first = {name(p): re.search(r"^namespace ([\w:]+)", code(p), re.MULTILINE) for p in sources}
    inside = re.compile(r"stator::(STATOR_TARGET|abi|kernels)\b")
    assert not {n: m.group(1) for n, m in first.items() if m and not inside.match(m.group(1))}


def test_headers_are_guarded():
    assert not [name(p) for p in under("csrc", suffixes=(".hpp", ".cuh")) if "#pragma once" not in p.read_text()]


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def test_files_are_small():
    sizes = {name(p): lines(p) for p in SOURCES if p.suffix not in (".sh", ".cmake")}
    assert not {n: s for n, s in sizes.items() if s > 500}
    assert median(sizes.values()) <= 120


def rows() -> list[str]:
    return re.findall(r"^OP\((\w+),", (CSRC / "include/stator/ops.def").read_text(), re.MULTILINE)


def test_op_rows_are_unique():
    table = rows()
    calls = re.findall(r'^OP\(\w+,\s*"([\w.]+)"', (CSRC / "include/stator/ops.def").read_text(), re.MULTILINE)
    assert table
    assert len(set(table)) == len(table)
    # A variant of another row (gelu_tanh of nn.gelu) is called as that one; nothing else is called twice.
    own = [call for name, call in zip(table, calls, strict=True) if call.rpartition(".")[2] == name]
    others = [call for call in calls if call not in own]
    assert len(set(own)) == len(own)
    by_key = {"Array.__getitem__", "Array.__setitem__"}  # of views, and of arrays of indices
    assert sorted(call for call in set(others) if others.count(call) > 1) == sorted(by_key)


def test_every_elementwise_row_has_a_functor():
    text = (CSRC / "include/stator/ops.def").read_text()
    wanted = re.findall(r'^OP\((\w+),\s*"[\w.]+",\s*(?:unary|binary|ternary|quaternary|select),', text, re.MULTILINE)
    functors = "\n".join(code(p) for p in under("csrc/kernels/functors", suffixes=(".cuh",)))
    assert wanted
    assert not [op for op in wanted if not re.search(rf"\b{op}\b", functors)]


def test_no_machine_is_named():
    pattern = re.compile(r"/(?:home|root|Users|work|opt)/\w|/tmp/\w+/")
    texts = [p for p in FILES if p.suffix in CODE | {".md", ".toml", ".yaml", ".txt", ".in", ".pyi"} or p.name == "run"]
    texts.remove(Path(__file__).resolve())
    assert not [f"{name(p)}: {m.group(0)}" for p in texts for m in pattern.finditer(p.read_text())]


def test_nothing_is_left_for_later():
    pattern = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    assert not [name(p) for p in SOURCES if p != Path(__file__).resolve() and pattern.search(p.read_text())]
