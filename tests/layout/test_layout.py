"""The house rules as assertions over the text of the tree: no compiler, no import of stator.

docs/architecture.md describes the house.
"""

import re
import subprocess
from graphlib import TopologicalSorter
from pathlib import Path

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
    """What a file includes; a path from the file's own folder becomes one from csrc."""
    names = re.findall(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', path.read_text(), re.MULTILINE)
    beside = {n: (path.parent / n).resolve() for n in names}
    return [p.relative_to(CSRC).as_posix() if p.is_file() and CSRC in p.parents else n for n, p in beside.items()]


# The arrows of csrc/: what the files of a room may include besides their own room, the public headers and the standard
# library. There is no circle, and no arrow that nothing needs.
ARROWS = {
    "device": (),
    "params": (),
    "host": ("params/launch.hpp", "params/launcher.hpp", "device"),
    "kernels": ("params", "device", "host"),
    "emulator": (),
    "runtime": ("emulator/runtime/api.hpp", "params/launch.hpp"),
    "ownership": ("runtime",),
    "streams": ("runtime", "ownership"),
    "memory": ("runtime", "ownership", "streams"),
    "core": ("params", "runtime", "ownership", "streams", "memory"),
    "libs": ("params", "runtime", "core"),
    "programs": ("core", "libs"),
    "graphs": ("params", "memory", "core", "programs"),
    "transfers": ("runtime", "memory", "core"),
    "telemetry": ("runtime", "core", "libs"),
    "scopes": ("memory", "core"),
    "devices": ("runtime",),
    "ops": ("params", "runtime", "ownership", "memory", "core", "libs"),
}
# The rooms that Context is made of: what defines their functions may use Context.
SERVED = ("ownership", "streams", "memory")
# Rooms that know of the public headers only what a user and a kernel must agree on.
VALUES = re.compile(r"stator/(dtype|half|complex|export|device/\w+)\.hpp")
# The public headers that kernels include, and the one of them that includes the standard library.
SHARED = ("complex", "export", "half")
STANDARD = CSRC / "include/stator/device/standard.hpp"
# CUDA headers enter at the runtime layer and in libs/cuda, nowhere else.
CUDA_HEADER = r"cuda.*\.h|nv.*\.h|nvtx3/.*|cublas.*|driver_types\.h"
CUDA_FILE = re.compile(r"csrc/(runtime|libs)/cuda/\w+\.[ch]pp")


def arrows_of(path: Path) -> tuple[str, ...]:
    """The rooms, or files of rooms, that a file may include."""
    room = name(path).split("/")[1]
    if room == "include":
        return ()
    allowed = ARROWS[room]
    if room in SERVED and path.suffix == ".cpp":
        allowed += ("core", *ARROWS["core"])
    return allowed


def test_the_arrows_have_no_circle():
    graph = {room: {arrow.split("/")[0] for arrow in arrows} for room, arrows in ARROWS.items()}
    assert set(TopologicalSorter(graph).static_order()) == set(ARROWS)  # CycleError where there is one
    assert set(ARROWS) == {p.parts[len(CSRC.parts)] for p in under("csrc") if p.parent != CSRC} - {"include"}


@pytest.mark.parametrize("room", [*ARROWS, "include"])
def test_imports_run_downward(room):
    bad, needed = [], set()
    for path in under(f"csrc/{room}"):
        for target in includes(path):
            first = target.split("/")[0]
            if re.fullmatch(CUDA_HEADER, target) and not CUDA_FILE.fullmatch(name(path)):
                bad.append(f"{name(path)} includes {target}")
            if "/" not in target or target.startswith(("sys/", "sanitizer/", "nvtx3/")) or first == room:
                continue
            if first == "stator":
                right = room not in ("host", "device", "emulator") or (room != "emulator" and VALUES.fullmatch(target))
            else:
                right = first in arrows_of(path) or target in arrows_of(path)
                needed |= {first, target}
            if not right:
                bad.append(f"{name(path)} includes {target}")
    assert not bad
    assert not [arrow for arrow in ARROWS.get(room, ()) if arrow not in needed]


def test_every_include_exists():
    bad = []
    for path in under("csrc"):
        for target in includes(path):
            if re.fullmatch(rf"({'|'.join(ARROWS)})/.*", target):
                bad += [f"{name(path)}: {target}"] * (not (CSRC / target).is_file())
            if target.startswith("stator/"):
                bad += [f"{name(path)}: {target}"] * (not (CSRC / "include" / target).is_file())
    assert not bad


DEVICE_SET = [*under("csrc/device", "csrc/include/stator/device"), *(CSRC / f"include/stator/{n}.hpp" for n in SHARED)]


def test_the_headers_of_kernels_are_closed():
    """What is installed in include/stator/device includes itself and three public headers; one file has what else."""
    own = {p.relative_to(CSRC).as_posix().removeprefix("include/") for p in DEVICE_SET}
    outside = {name(p): sorted(set(includes(p)) - own) for p in DEVICE_SET}
    assert {n: targets for n, targets in outside.items() if targets} == {
        name(STANDARD): ["cstddef", "cstdint", "cstring", "type_traits", "utility"]
    }


def test_the_headers_of_kernels_name_each_other_as_installed():
    """Files of csrc/device by their path from the one that includes them, which installing keeps."""
    assert not [f"{name(p)} includes {t}" for p in under("csrc/device") for t in re.findall(r'"(device/.*)"', code(p))]


def test_what_nvrtc_lacks_is_little():
    _, _, rest = STANDARD.read_text().partition("#else\n")
    shims, _, _ = rest.partition("#endif\n")
    assert 0 < len(shims.splitlines()) <= 150


def test_only_pyx_knows_python():
    assert not found(r"\bPython\.h\b|\bPyObject\b", under("csrc"))


def test_pyx_sees_the_public_headers_alone():
    bad = []
    for path in under("pyx", suffixes=(".pyx", ".pxd")):
        for header in re.findall(r"cdef extern from\s+[\"']([^\"']+)", path.read_text()):
            hooks = path.name == "testing.pxd" and header == "core/testing.hpp"
            if not hooks and not re.fullmatch(r"stator/(\w+/)?\w+\.hpp|Python\.h|<\w+>", header):
                bad.append(f"{name(path)}: {header}")
    assert not bad


def test_cpp_exceptions_pass_one_handler():
    """Cython's own makes MemoryError of std::bad_alloc, and RuntimeError of everything else."""
    bare = re.compile(r"except \+(?!translate_exception\b)[^\n]*")
    paths = under("pyx", suffixes=(".pyx", ".pxd", ".pxi"))
    assert not [f"{name(p)}: {found}" for p in paths for found in bare.findall(p.read_text())]


def test_pyx_and_csrc_do_not_import_the_python_layer():
    """But for the exception types, which are defined there and import nothing."""
    found = [p.relative_to(ROOT / "python/stator").parts[0] for p in under("python", suffixes=(".py",))]
    public = {part.removesuffix(".py") for part in found} - {"__init__", "errors"}
    bad = []
    for path in under("pyx", suffixes=(".pyx", ".pxd")):
        for module in re.findall(r"^(?:from|import|cimport)\s+stator\.(\w+)", path.read_text(), re.MULTILINE):
            bad += [f"{name(path)}: stator.{module}"] * (module in public)
    assert not bad


def test_cython_has_no_with_statement_but_for_the_gil():
    """Compiled, it reads the traceback of an error, which an interrupt may have left out: use try and finally."""
    assert not found(r"^\s*with (?!nogil\b|gil\b).*:\s*$", under("pyx", suffixes=(".pyx", ".pxi")))


def test_every_shim_has_a_caller():
    """Those that begin with __cuda are called by what nvcc writes."""
    shims = [p for p in under("csrc/runtime", suffixes=(".cpp",)) if p.name.endswith("shims.cpp")]
    callers = {word for p in under("csrc") if p not in shims for word in re.findall(r"\bcuda\w+", code(p))}
    names = {word for p in shims for word in re.findall(r"^STATOR_SHIM\((\w+)", p.read_text(), re.MULTILINE)}
    assert names
    assert not {word for word in names - callers if not word.startswith("__cuda")}
    called = {w for p in under("csrc/runtime") if p not in shims for w in re.findall(r"\b(cuda[A-Z]\w*)\(", code(p))}
    assert called - names <= {
        "cudaError_t",
        "cudaGetLastError",
        "cudaGetErrorName",
        "cudaGetErrorString",
        "cudaRuntimeGetVersion",
    }


def test_device_code_lives_in_two_folders():
    rooms = ("csrc/kernels/", "csrc/device/")
    assert not [name(p) for p in FILES if p.suffix in (".cu", ".cuh") and not name(p).startswith(rooms)]


def test_targets_differ_below_kernels_only():
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


def test_kernels_state_the_size_of_their_blocks():
    """So that no compiler gives their threads more registers than a block has."""
    assert not found(r"\bSTATOR_KERNEL(_RESIDENT)?\b(?!\(Size\b)|__global__|__launch_bounds__", under("csrc/kernels"))


def test_no_size_of_an_item_is_taken_for_another():
    switch = r"switch \((?:item)?size\b[^{]*\{[^}]*default: (?!outside_set)"
    assert not found(switch, under("csrc/kernels", "csrc/device"))


def test_kernels_and_device_code_are_inside_their_target():
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


def test_a_header_with_one_includer_is_large():
    """Otherwise it joins the file that includes it. Kernels, device and host code choose headers by target."""
    headers = {p.relative_to(CSRC).as_posix(): p for p in under("csrc", suffixes=(".hpp",))}
    headers = {header: path for header, path in headers.items() if not header.startswith("host/")}
    where: dict[str, list[Path]] = {header: [] for header in headers}
    for path in under("csrc", "tests"):
        for header in set(includes(path)) & where.keys():
            where[header].append(path)
    alone = {headers[header]: paths[0] for header, paths in where.items() if len(paths) == 1}
    small = {
        name(header): lines(header) + lines(file) for header, file in alone.items() if header.parent == file.parent
    }
    assert alone
    assert not {header: size for header, size in small.items() if size < 400}


OP_FILES = [CSRC / "include" / file for file in includes(CSRC / "include/stator/ops.def") if file.endswith(".def")]
OPS = "".join(path.read_text() for path in OP_FILES)
FAMILIES = re.findall(r"^stator_family\((\w+)", (CSRC / "kernels/families.cmake").read_text(), re.MULTILINE)
KINDS = "UNARY|BINARY|TERNARY|QUATERNARY|SELECT|REDUCE|CREATION|VIEW|METHOD|FUNCTION"
ENTRY = re.compile(rf"^({KINDS})\((\w+),(.*?)\)$", re.MULTILINE | re.DOTALL)


def test_every_room_has_the_families():
    """One list of families, and the same name in every room."""
    assert sorted(FAMILIES) == FAMILIES
    folders = {
        room: sorted(p.name for p in (ROOT / room).iterdir() if p.is_dir() and p.name != "__pycache__")
        for room in ("csrc/kernels", "csrc/ops", "tests/ops")
    }
    assert folders == dict.fromkeys(folders, FAMILIES)
    headers = ("csrc/params/{0}.hpp", "csrc/include/stator/{1}{0}.hpp")
    wanted = (*headers, "pyx/stator/{1}_{0}.pyx", "pyx/stator/cpp/{0}.pxd")
    # Families only of stator.nn have folders of headers and modules, as those of the others could not hold them all.
    parts = re.split(r"^#define FAMILY (\w+)$", OPS, flags=re.MULTILINE)
    modules = {
        family: set(re.findall(r'^#define MODULE "(.*)"$', part, re.MULTILINE))
        for family, part in zip(parts[1::2], parts[2::2], strict=True)
    }
    nn = [family for family, named in modules.items() if named == {"nn."}]
    files = [f.format(family, "nn/" if family in nn else "") for f in wanted for family in FAMILIES]
    assert nn
    assert not [f for f in files if not (ROOT / f).is_file()]
    parameters = {p.stem for p in under("csrc/params")} - {"launch", "launcher"}
    assert sorted(parameters) == FAMILIES
    assert sorted(path.stem for path in OP_FILES) == sorted([*FAMILIES, "core"])
    assert sorted(OP_FILES) == under("csrc/include/stator/ops")
    assert not [name(path) for path in OP_FILES if not path.read_text().startswith(f"#define FAMILY {path.stem}\n")]


SERVICES = ("config", "devices", "graphs", "memory", "programs", "scopes", "streams", "telemetry", "transfers")
# Folders that are no service, by rooms.
OTHERS = {
    "csrc/include/stator": {"device", "macros", "nn", "ops"},
    "pyx/stator": {"backend", "cpp", "nn"},
}


def test_services_have_one_name():
    """A service has a folder of its name in each room where it has code."""
    for room, others in OTHERS.items():
        folders = {
            p.relative_to(ROOT / room).parts[0]
            for p in FILES
            if p.is_relative_to(ROOT / room) and p.parent != ROOT / room
        }
        assert folders <= {*SERVICES, *others}, room
    rooms = ("csrc", "csrc/include/stator", "pyx/stator", "python/stator", "tests")
    for service in SERVICES:
        found = [room for room in rooms if any(p.is_relative_to(ROOT / room / service) for p in FILES)]
        assert len(found) >= 3, service
    assert not [name(p) for p in FILES if "execution" in p.relative_to(ROOT).parts]


def test_the_umbrella_header_includes_all():
    umbrella = CSRC / "include/stator/stator.hpp"
    folder = umbrella.parent
    headers = {p.relative_to(folder.parent).as_posix() for p in folder.rglob("*.hpp")} - {"stator/stator.hpp"}
    of_kernels = {header for header in headers if header.startswith("stator/device/")}
    assert set(includes(umbrella)) == headers - of_kernels


RECORDS = ROOT / "docs/decisions"


def test_no_folder_is_large():
    """Stubs and declarations follow their modules; records are found by number, in their index."""
    counted = [p for p in FILES if p.suffix not in (".pyi", ".pxd") and p.parent != RECORDS]
    sizes = {folder: sum(p.parent == folder for p in counted) for folder in {p.parent for p in counted}}
    assert not {name(folder): size for folder, size in sizes.items() if size > 30}


def test_decisions_are_records():
    """Numbered without gaps, on one page each, with three headings, and listed in the index with their titles."""
    records = sorted(p for p in RECORDS.glob("*.md") if p.name != "index.md")
    assert [p.name[:3] for p in records] == [f"{number:02d}-" for number in range(1, len(records) + 1)]
    index = (RECORDS / "index.md").read_text()
    for path in records:
        title, *headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
        assert headings == ["Context", "Decision", "Consequences"], path.name
        assert lines(path) <= 45, path.name
        assert f"| {path.name[:2]} | [{title}]({path.name}) |" in index, path.name


DEFINITION = re.compile(
    r"^(?:(?:struct|class|enum class) (\w+)(?: final)? (?:: [^;{]*)?\{"
    r"|(?!(?:using|return|namespace|struct|class|enum)\b)[A-Za-z_][\w:<>,&* ()]*?[\s&*](\w+)\([^;]*?\)[^;{]*\{)",
    re.MULTILINE,
)


@pytest.mark.parametrize("family", FAMILIES)
def test_no_name_of_a_family_is_defined_in_two_files(family):
    """Files of a family may share a unit, where two definitions would be one too many."""
    where: dict[str, set[str]] = {}
    for path in under(f"csrc/kernels/{family}", suffixes=(".cu", ".cuh")):
        if path.parent.name == "functors":  # all of them are one unit, each name the op table's
            continue
        for match in DEFINITION.finditer(code(path)):
            defined = match.group(1) or match.group(2)
            if not defined.isupper():  # a macro before the name
                where.setdefault(defined, set()).add(name(path))
    assert where
    assert not {n: sorted(files) for n, files in where.items() if len(files) > 1}


def entries() -> dict[str, tuple[str, str]]:
    """Name to (kind, the rest of the entry)."""
    return {m.group(2): (m.group(1), m.group(3)) for m in ENTRY.finditer(OPS)}


def test_the_op_table_fits_its_form():
    table = entries()
    assert len(table) == len(ENTRY.findall(OPS)) > 350
    assert max(len(line) for line in OPS.splitlines()) <= 120
    for op, (_, rest) in table.items():
        strings = re.findall(r'"([^"]*)"', rest)
        oracle, summary = strings[0], strings[1]
        assert 1 < len(summary) <= 75, op
        assert not summary.endswith("."), op
        assert summary not in (oracle, op, f"{oracle} of the elements"), op


def test_no_function_is_called_twice():
    """But for variants of one function (gelu_tanh of nn.gelu), and what a key tells apart."""
    calls = [
        (op, call.group(1)) for op, (_, rest) in entries().items() if (call := re.search(r'\bcall\("([\w.]+)"\)', rest))
    ]
    twice = {call for _, call in calls if [c for _, c in calls].count(call) > 1}
    assert twice == {"nn.gelu", "nn.gelu_backward"} | {"Array.__getitem__", "Array.__setitem__"}


def test_every_elementwise_entry_has_a_functor():
    wanted = [
        op for op, (kind, _) in entries().items() if kind in ("UNARY", "BINARY", "TERNARY", "QUATERNARY", "SELECT")
    ]
    functors = "\n".join(code(p) for p in under("csrc/device/functors", suffixes=(".cuh",)))
    assert wanted
    assert not [op for op in wanted if not re.search(rf"\b{op}\b", functors)]


def test_every_module_has_a_stub():
    """That the stubs are fresh is asserted where the package is built: tests/interop/test_stubs.py."""
    pyx, python = ROOT / "pyx/stator", ROOT / "python/stator"
    modules = {p.relative_to(pyx).with_suffix(".pyi") for p in pyx.rglob("*.pyx")}
    generated = {p.relative_to(python) for p in python.rglob("*.pyi") if p.read_text().startswith("# Generated")}
    assert modules <= generated


def test_no_machine_is_named():
    pattern = re.compile(r"/(?:home|root|Users|work|opt)/\w|/tmp/\w+/")
    texts = [p for p in FILES if p.suffix in CODE | {".md", ".toml", ".yaml", ".txt", ".in", ".pyi"} or p.name == "run"]
    texts.remove(Path(__file__).resolve())
    assert not [f"{name(p)}: {m.group(0)}" for p in texts for m in pattern.finditer(p.read_text())]


def test_kinds_of_dtypes_are_compared_with_letters():
    """As NumPy's: a word such as "integer" is in no kind, so that the comparison would be false without an error."""
    pattern = re.compile(
        r"\"(?:\w+ )?(?:integer|floating|complex)\" (?:not )?in [^\n]*\.kind\b|(?:dtype|kind)\.kind (?:not )?in \("
    )
    assert not [name(p) for p in SOURCES if pattern.search(p.read_text())]


def test_nothing_is_left_for_later():
    pattern = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    assert not [name(p) for p in SOURCES if p != Path(__file__).resolve() and pattern.search(p.read_text())]


def included_families(family: str) -> set[str]:
    """The families whose launchers or functions the ops of a family use, those that these use included."""
    families = {folder.name for folder in (CSRC / "ops").iterdir() if folder.is_dir()}
    known = {family}
    while True:
        files = [p for f in known for p in under(f"csrc/ops/{f}")]
        used = {
            part for p in files for i in includes(p) for part in re.findall(r"^(?:stator(?:/nn)?|params|ops)/(\w+)", i)
        }
        if used & families <= known:
            return known
        known |= used & families


def test_prepare_loads_the_kernels_of_every_family_that_an_op_uses():
    text = code(CSRC / "programs/prepare.cpp")
    by_all = set(re.findall(r"Family::(\w+)", re.search(r"used_by_all\[\] = \{(.*?)\};", text, re.DOTALL)[1]))
    listed = re.findall(r"\{Family::(\w+), \{(.*?)\}\}", text)
    named = {family: set(re.findall(r"Family::(\w+)", others)) for family, others in listed}
    for folder in sorted((CSRC / "ops").iterdir()):
        if folder.is_dir():
            found = included_families(folder.name) - by_all - {folder.name}
            assert named.get(folder.name, set()) == found, folder.name
