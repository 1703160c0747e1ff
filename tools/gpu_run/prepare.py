"""Prepares a run at home, where no GPU is needed: all that travels is in one folder, of at most 64 MiB.

    python -m tools.gpu_run.prepare --output FOLDER [--wheel WHEEL] [--cpp BUILD]

The folder gets the wheel, the tracked files of the tree, the C++ test programs of a build folder if one is named, and
manifest.json: what is tried, with the digests of what it is tried on. Without --wheel one is built, for x86-64-v3 and
with the code that a build has where there is no GPU: machine code for 9.0, and PTX for 8.0.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from .digests import digest, of_files
from .log import ROOT
from .steps import DTYPES, PROGRAMS

LIMIT = 64 << 20
OTHER_TESTS = ("execution", "runtime", "resources", "interop", "devices", "exit", "numpy", "onnx", "backends")
RUNTIME = ("core", "execution", "include", "libs", "ops", "params", "runtime")  # of csrc, without kernels
FACTS = """
import json, stator
from benchmarks.cases import plans
print(json.dumps({
    "ops": [[row["name"], row["family"]] for row in stator.op_table() if any(row["launches"].values())],
    "plans": [[p.name, p.op, p.family, p.dtype, p.size] for p in plans(False) if p.layout == "contiguous"],
}))
"""


def output_of(*command: str, **environment: str) -> str:
    done = subprocess.run(command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)[:200]}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


def build_wheel(output: Path) -> Path:
    settings = "--config-settings=cmake.define.STATOR_HOST_ISA=v3"
    output_of(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(output), settings, ".")
    return next(output.glob("stator-*.whl"))


def with_site(site: Path, *command: str) -> Any:
    """The JSON that Python prints with the unpacked wheel; -S keeps an editable installation from being imported."""
    path = os.pathsep.join([str(site), str(ROOT), *(p for p in sys.path if p)])
    text = output_of(sys.executable, "-S", *command, PYTHONPATH=path, STATOR_EMULATE="h200")
    return json.loads(text.splitlines()[-1])


def changed(*paths: str) -> int:
    """When the last commit changed one of the paths."""
    return int(output_of("git", "log", "-1", "--format=%ct", "--", *paths).strip() or 0)


def machine_code(library: Path) -> dict[str, Any]:
    """By kernel of 9.0: registers, bytes of stack and static shared memory, SASS instructions; or why unknown."""
    tool = shutil.which("cuobjdump")
    if tool is None:
        return {"missing": "cuobjdump is not installed"}
    listing = output_of(tool, "-arch", "sm_90", "-res-usage", "-sass", str(library))
    found: dict[str, Any] = {}
    for name, *numbers in re.findall(
        r"^ Function (\S+):\n.*?REG:(\d+) STACK:(\d+) SHARED:(\d+)", listing, re.MULTILINE
    ):
        found[name] = dict(zip(("registers", "stack", "shared"), map(int, numbers), strict=True))
    for part in re.split(r"^\s+Function : ", listing, flags=re.MULTILINE)[1:]:
        instructions = len(re.findall(r"^\s+/\*[0-9a-f]{4,}\*/ ", part, re.MULTILINE))
        found.setdefault(part.split(None, 1)[0], {})["instructions"] = instructions
    return found


def describe(site: Path) -> dict[str, Any]:
    """The manifest but for the files: families, tests, programs and cases, with their digests."""
    facts = with_site(site, "-c", FACTS)
    families = with_site(site, "-m", "tools.gpu_run.digests")
    tests: dict[str, Any] = {}

    def add(name: str, base: str, *paths: str, when: int | None = None) -> None:
        when = changed(*paths) if when is None else when
        tests[name] = {"digest": f"{base}-{of_files(ROOT, *paths)}", "changed": when, "paths": paths}

    for name, family in families.items():
        family["changed"] = changed(f"csrc/kernels/{name}", f"csrc/ops/{name}", f"tests/ops/{name}")
        family["ops"] = [op for op, of in facts["ops"] if of == name]
        add(f"ops/{name}", family["digest"], f"tests/ops/{name}", when=family["changed"])
    runtime = of_files(ROOT, *(f"csrc/{room}" for room in RUNTIME))
    library = digest([runtime.encode(), *(family["digest"].encode() for family in families.values())])
    add("ops", library, *(str(p.relative_to(ROOT)) for p in sorted((ROOT / "tests/ops").glob("test_*.py"))))
    for name in OTHER_TESTS:
        add(name, runtime, f"tests/{name}")
    programs = {n: f"{runtime}-{of_files(ROOT, f'tools/gpu_run/programs/{n}.py')}" for n in ("ceilings", *PROGRAMS)}
    cases = [dict(zip(("case", "op", "family", "dtype", "size"), plan, strict=True)) for plan in facts["plans"]]
    return {
        "commit": output_of("git", "rev-parse", "HEAD").strip(),
        "library": library,
        "families": families,
        "tests": tests,
        "programs": programs,
        "pace": [case for case in cases if case["dtype"] in DTYPES and case["family"] in families],
        "cpp": {"digest": runtime, "programs": []},
    }


def copy_tree(tree: Path) -> None:
    """The tracked files, and those that git would add."""
    for name in output_of("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)


def take_programs(build: Path, archive: Path) -> list[str]:
    """Packs the C++ test programs of a build folder, stripped, in one archive, because they have much in common."""
    programs = sorted(p for p in build.rglob("*_test") if p.is_file() and os.access(p, os.X_OK))
    with tempfile.TemporaryDirectory() as folder, tarfile.open(archive, "w:xz") as packed:
        for program in programs:
            stripped = Path(folder) / program.name
            output_of("strip", "-o", str(stripped), str(program))
            packed.add(stripped, program.name)
    return [p.name for p in programs]


def size_of(path: Path) -> int:
    return path.stat().st_size if path.is_file() else sum(p.stat().st_size for p in path.rglob("*") if p.is_file())


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="new, or one of before")
    parser.add_argument("--wheel", type=Path, help="takes this one instead of building it")
    parser.add_argument("--cpp", type=Path, metavar="BUILD", help="a build folder with the C++ tests")
    args = parser.parse_args(argv)
    output: Path = args.output.resolve()
    if (output / "manifest.json").exists():
        shutil.rmtree(output)
    output.mkdir(parents=True)  # where anything else is, that stays and this fails
    wheel = Path(shutil.copy2(args.wheel, output)) if args.wheel else build_wheel(output)
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(wheel).extractall(folder)
        manifest = describe(Path(folder)) | {"wheel": wheel.name}
        manifest["machine_code"] = machine_code(Path(folder) / "stator/lib/libstator.so")
    copy_tree(output / "tree")
    if args.cpp:
        manifest["cpp"]["programs"] = take_programs(args.cpp, output / "cpp.tar.xz")
    (output / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    for path in sorted(output.iterdir()):
        print(f"{size_of(path) / 2**20:7.1f} MiB  {path.name}")
    print(f"{size_of(output) / 2**20:7.1f} MiB  in all, of at most {LIMIT >> 20}")
    if missing := manifest["machine_code"].get("missing"):
        print(f"without registers and instructions of the machine code: {missing}")
    return int(size_of(output) > LIMIT)


if __name__ == "__main__":
    raise SystemExit(main())
