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
import time
import zipfile
from pathlib import Path
from typing import Any

from .digests import digest, of_files
from .log import ROOT
from .steps import DTYPES, PROGRAMS

LIMIT = 64 << 20
MODEL_SIZE = 1_000_000  # elements of the cases that model.py counts
CASES_AT_ONCE, CHUNK_SECONDS = 50, 45.0
OTHER_TESTS = (
    "graphs",
    "programs",
    "streams",
    "telemetry",
    "transfers",
    "config",
    "runtime",
    "memory",
    "scopes",
    "interop",
    "devices",
    "exit",
    "numpy",
    "onnx",
    "backends",
)
RUNTIME = (
    "core",
    "devices",
    "graphs",
    "include",
    "libs",
    "memory",
    "ops",
    "ownership",
    "params",
    "programs",
    "runtime",
    "scopes",
    "streams",
    "telemetry",
    "transfers",
)  # of csrc, without kernels
FACTS = """
import json, stator
from benchmarks.cases import plans
print(json.dumps({
    "ops": [[row["name"], row["family"]] for row in stator.op_table() if any(row["launches"].values())],
    "plans": [[p.name, p.op, p.family, p.dtype, p.size] for p in plans(False) if p.layout == "contiguous"],
}))
"""


def output_of(*command: str, seconds: float | None = None, **environment: str) -> str:
    """What a command prints; with a time limit, what it printed until it was over or failed."""
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, timeout=seconds
        )
    except subprocess.TimeoutExpired as error:
        return (error.stdout or b"").decode()
    if done.returncode and seconds:
        print(done.stderr[-1000:], file=sys.stderr)
    elif done.returncode:
        raise SystemExit(f"{' '.join(command)[:200]}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


def build_wheel(output: Path) -> Path:
    settings = "--config-settings=cmake.define.STATOR_HOST_ISA=v3"
    output_of(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(output), settings, ".")
    return next(output.glob("stator-*.whl"))


def with_site(site: Path, *command: str, seconds: float | None = None) -> str:
    """What Python prints with the unpacked wheel; -S keeps an editable installation from being imported."""
    path = os.pathsep.join([str(site), str(ROOT), *(p for p in sys.path if p)])
    return output_of(sys.executable, "-S", *command, seconds=seconds, PYTHONPATH=path, STATOR_EMULATE="h200:threads=1")


def changed(*paths: str) -> int:
    """When the last commit changed one of the paths."""
    return int(output_of("git", "log", "-1", "--format=%ct", "--", *paths).strip() or 0)


def sass_per_ptx(library: Path, ptx: dict[str, int]) -> dict[str, float]:
    """By kernel of 9.0: instructions of its machine code over those of its PTX; nothing where cuobjdump is missing."""
    tool = shutil.which("cuobjdump")
    listing = output_of(tool, "-arch", "sm_90", "-sass", str(library)) if tool else ""
    found = {}
    for part in re.split(r"^\s+Function : ", listing, flags=re.MULTILINE)[1:]:
        name = part.split(None, 1)[0]
        instructions = len(re.findall(r"^\s+/\*[0-9a-f]{4,}\*/ +(?!NOP)", part, re.MULTILINE))
        if ptx.get(name):
            found[name] = instructions / ptx[name]
    return found


def count(site: Path, names: list[str], ratios: dict[str, float], seconds: float) -> dict[str, Any]:
    """What model.py finds of the cases in `seconds`. A case that stops a process for too long is left out."""
    found: dict[str, Any] = {}
    end = time.monotonic() + seconds
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(json.dumps(ratios))
        file.flush()
        while names and (left := end - time.monotonic()) > 0:
            some = names[:CASES_AT_ONCE]
            command = ("-m", "tools.gpu_run.model", json.dumps(some), file.name)
            text = with_site(site, *command, seconds=min(CHUNK_SECONDS, left))
            rows = [json.loads(line) for line in text.rpartition("\n")[0].splitlines()]
            found |= {row.pop("case"): row for row in rows}
            names = [name for name in some if name not in found][1:] + names[CASES_AT_ONCE:]
    return found


def add_facts(cases: list[dict[str, Any]], known: dict[str, Any]) -> None:
    """Adds what is known at MODEL_SIZE. issue_us grows with the elements, and is left out of cases that are small."""
    for case in cases:
        row = known.get(case["case"].replace(f"-{case['size']}-", f"-{MODEL_SIZE}-"))
        if row:
            case["facts"] = dict(row)
            issue = case["facts"].pop("issue_us")
            if case["size"] >= MODEL_SIZE:
                case["facts"]["issue_us"] = issue * case["size"] / MODEL_SIZE


def describe(site: Path, before: dict[str, Any], minutes: float) -> dict[str, Any]:
    """The manifest but for the files: families, tests, programs and cases, with their digests.

    before: the last one, whose facts stay true of families that have not changed. minutes: for facts of others.
    """
    facts = json.loads(with_site(site, "-c", FACTS).splitlines()[-1])
    families, instructions = json.loads(with_site(site, "-m", "tools.gpu_run.digests"))
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
    cases = [case for case in cases if case["dtype"] in DTYPES and case["family"] in families]
    same = {f for f in families if families[f]["digest"] == before.get("families", {}).get(f, {}).get("digest")}
    known = {c["case"]: c["facts"] for c in before.get("pace", ()) if c["family"] in same and "facts" in c}
    if minutes > 0:
        ratios = sass_per_ptx(site / "stator/lib/libstator_cuda.so", instructions)
        if not ratios:
            print("cuobjdump is not installed: issue times are those of PTX")
        new = [c for c in cases if c["size"] == MODEL_SIZE and c["case"] not in known]
        names = [c["case"] for c in sorted(new, key=lambda c: -families[c["family"]]["changed"])]
        known |= count(site, names, ratios, 60 * minutes)
    add_facts(cases, known)
    return {
        "commit": output_of("git", "rev-parse", "HEAD").strip(),
        "library": library,
        "families": families,
        "tests": tests,
        "programs": programs,
        "pace": cases,
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
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="new, or one of an earlier run")
    parser.add_argument("--wheel", type=Path, help="takes this one instead of building it")
    parser.add_argument("--cpp", type=Path, metavar="BUILD", help="a build folder with the C++ tests")
    parser.add_argument(
        "--model", type=float, default=5, metavar="MINUTES", help="for what model.py counts; 0: nothing new"
    )
    args = parser.parse_args(argv)
    output: Path = args.output.resolve()
    if args.wheel and output in args.wheel.resolve().parents:
        parser.error("--wheel must lie outside of --output, which is emptied first")
    before: dict[str, Any] = {}
    if (output / "manifest.json").exists():
        before = json.loads((output / "manifest.json").read_text())
        shutil.rmtree(output)
    output.mkdir(parents=True)  # where anything else is, that stays and this fails
    (output / "manifest.json").write_text(json.dumps(before))
    wheel = Path(shutil.copy2(args.wheel, output)) if args.wheel else build_wheel(output)
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(wheel).extractall(folder)
        manifest = describe(Path(folder), before, args.model) | {"wheel": wheel.name}
    copy_tree(output / "tree")
    if args.cpp:
        manifest["cpp"]["programs"] = take_programs(args.cpp, output / "cpp.tar.xz")
    (output / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    for path in sorted(output.iterdir()):
        print(f"{size_of(path) / 2**20:7.1f} MiB  {path.name}")
    print(f"{size_of(output) / 2**20:7.1f} MiB  in all, of at most {LIMIT >> 20}")
    counted = sum("facts" in case for case in manifest["pace"])
    print(f"{counted} of {len(manifest['pace'])} cases with registers, resident blocks and issue times")
    return int(size_of(output) > LIMIT)


if __name__ == "__main__":
    raise SystemExit(main())
