"""The installed shared objects: their exports, their dependencies, and that no target uses the code of another."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cpp.test_consumers import installed

FAST = sorted(path.stem.removeprefix("libstator_") for path in (installed() / "lib").glob("libstator_host_v*.so"))
HOST_LIBRARIES = ["libstator.so", *(f"libstator_{target}.so" for target in FAST)]
CUDA = "libstator_cuda.so"
LIBRARIES = [*HOST_LIBRARIES, CUDA] if (installed() / "lib" / CUDA).exists() else HOST_LIBRARIES
# Public functions are in these namespaces; all other symbols of stator are internal.
TARGETS = ("cuda", "host_v2", "host_v3", "host_v4", "host_checked")


def tool(*command: object) -> str:
    if shutil.which(str(command[0])) is None:
        pytest.skip(f"{command[0]} (binutils) is not installed")
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True).stdout


def library(name: str) -> Path:
    return installed() / "lib" / name


def exported(name: str) -> list[str]:
    table = tool("nm", "-DC", "--defined-only", library(name))
    return [line.split(maxsplit=2)[2] for line in table.splitlines()]


def test_libstator_exports_its_api_alone():
    # The two C functions are found by other libraries by their names: stator/memory/allocator.hpp.
    ours = r"\bstator(::|_target_)|^stator_(de)?allocate$"
    foreign = [s for s in exported("libstator.so") if not re.search(ours, s)]
    # Every C++ library has weak copies of the standard library's templates, which resolve to one another.
    foreign = [
        s
        for s in foreign
        if not re.match(
            r"(std::|\w[\w:<>, *&]* std::|void std::|operator|guard variable for std::|"
            r"(typeinfo|vtable|typeinfo name) for std::|__gnu_cxx::|bool std::)",
            s,
        )
    ]
    assert not foreign


def test_private_rooms_are_not_exported():
    private = [
        s
        for s in exported("libstator.so")
        if re.match(rf"stator::(runtime|params|kernels|libs|{'|'.join(TARGETS)})::", s)
    ]
    assert not private


def test_a_fast_host_target_is_installed():
    assert FAST


@pytest.mark.parametrize("target", FAST)
def test_a_host_target_exports_one_function(target):
    assert exported(f"libstator_{target}.so") == [f"stator_target_{target}"]


def test_the_cuda_target_exports_its_kernels_and_its_runtime():
    if CUDA not in LIBRARIES:
        pytest.skip("this build has no cuda target")
    assert sorted(exported(CUDA)) == ["stator_cuda_runtime", "stator_target_cuda"]


@pytest.mark.parametrize("name", HOST_LIBRARIES)
def test_host_libraries_have_no_symbol_of_cuda(name):
    symbols = [line.split()[-1] for line in tool("nm", library(name)).splitlines()]
    symbols += [line.split()[-1] for line in tool("nm", "-D", library(name)).splitlines()]
    assert not [symbol for symbol in symbols if re.match(r"_*(cuda|cu[A-Z]|nv)", symbol)]
    assert "nv_fatbin" not in tool("readelf", "-SW", library(name))


@pytest.mark.parametrize("name", LIBRARIES)
def test_device_code_stays_in_its_target(name):
    """No function of device/ is weak outside its target, where the linker would merge it with another target's."""
    root = Path(__file__).resolve().parents[2] / "csrc"
    words = set()
    for header in [*(root / "device").rglob("*.*"), *(root / "host").rglob("*.hpp")]:
        words |= set(re.findall(r"^(?:STATOR_FN|inline)\b[^(=;]*?(\w+)\(", header.read_text(), re.MULTILINE))
    assert words
    symbols = tool("nm", "-C", "--defined-only", library(name)).splitlines()
    weak = [m for line in symbols if (m := re.search(r" [WVu] (?:[\w:<>]+ )?stator::(\w+)[(<]", line))]
    assert not [m.group(0) for m in weak if m.group(1) in words]


@pytest.mark.parametrize("name", LIBRARIES)
def test_nothing_of_cuda_is_linked(name):
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", tool("readelf", "-d", library(name)))
    allowed = r"lib(stdc\+\+|gcc_s|c|m|mvec|dl|rt|pthread|stator)\.so(\.\d+)?|ld-linux-x86-64\.so\.2"
    assert needed
    assert not [n for n in needed if not re.fullmatch(allowed, n)]


def test_extension_modules_find_their_library_in_the_package():
    folder = {
        ".": "[$ORIGIN/lib]",
        **dict.fromkeys(("graphs", "memory", "nn", "programs", "scopes", "telemetry", "transfers"), "[$ORIGIN/../lib]"),
    }
    paths = installed().rglob("*.abi3.so")
    dynamic = {path.relative_to(installed()): tool("readelf", "-d", path) for path in paths}
    linked = {path: text for path, text in dynamic.items() if "[libstator.so]" in text}
    assert {str(path.parent) for path in linked} == set(folder)
    assert not [path for path, text in linked.items() if folder[str(path.parent)] not in text]


@pytest.mark.parametrize("name", LIBRARIES)
def test_nothing_is_newer_than_the_systems_of_the_wheels(name):
    """What depends on our sources, whatever system builds them; .ci/run asks auditwheel about the rest."""
    imported = [line.split()[-1] for line in tool("nm", "-D", "--undefined-only", library(name)).splitlines()]
    assert imported
    vector_forms = [symbol for symbol in imported if symbol.startswith("_ZGV")]
    assert not [symbol for symbol in vector_forms if not re.search(r"v_(sin|cos)f?(@|$)", symbol)]
    assert not [symbol for symbol in imported if symbol.startswith("_ZNSt18condition_variable4wait")]
