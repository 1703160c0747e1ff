"""Reports the cost of a build: kernel instances, and seconds per part and per translation unit.

    python tools/build_report.py BUILD_DIR

Fails when a target has more than 2,500 kernel instances, since compile time and download size grow with them.
"""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

LIMIT = 2500


def kernel_names() -> set[str]:
    sources = (Path(__file__).resolve().parents[1] / "csrc/kernels").rglob("*.cu*")
    return {
        n for p in sources for n in re.findall(r"^STATOR_KERNEL\w*\([^)]*\) void (\w+)\(", p.read_text(), re.MULTILINE)
    }


def objects(build: Path) -> list[Path]:
    """What the compilers make, precompiled headers included. Objects of an earlier configuration do not count."""
    found = re.findall(r"^build (\S+\.(?:o|gch)): ", (build / "build.ninja").read_text(), re.MULTILINE)
    return [Path(name) for name in found if (build / name).exists()]


def part_of(name: Path) -> str:
    """cuda, host_v4, ... for kernels; else the folder that has the sources: csrc, csrc/emulator, pyx."""
    kernels = re.search(r"kernels_(\w+)\.dir", name.as_posix())
    return kernels[1] if kernels else name.as_posix().split("/CMakeFiles")[0].removeprefix("csrc/emulator/")


def instances(units: list[Path]) -> int:
    """The number of kernel instances in the units, each of which has its own.

    nvcc's host stubs and the lambdas inside kernels, which unoptimised objects name, do not count.
    """
    kernel = re.compile(rf"[0-9a-f]+ [tTwWuV] (?:void )?(stator::\w+::.*?\b(?:{'|'.join(kernel_names())})[<(].*)")
    others = ("run_blocks", "{lambda")
    count = 0
    for unit in units:
        table = subprocess.run(["nm", "-C", "--defined-only", unit], capture_output=True, text=True, check=True).stdout
        found = (kernel.match(line) for line in table.splitlines() if "__device_stub__" not in line)
        count += len({re.sub(r" \[clone .*", "", m[1]) for m in found if m and not any(o in m[1] for o in others)})
    return count


def seconds(build: Path) -> dict[str, float]:
    """Wall-clock seconds of the last build of each output, from ninja's log."""
    spent = {}
    for line in (build / ".ninja_log").read_text().splitlines()[1:]:
        start, end, _, output, _ = line.split("\t")
        spent[output] = (int(end) - int(start)) / 1000
    return spent


def main() -> int:
    build = Path(sys.argv[1])
    made = objects(build)
    spent = {name: value for name, value in seconds(build).items() if Path(name) in {*made}}
    per_part = Counter()
    for name, value in spent.items():
        per_part[part_of(Path(name))] += value
    targets = sorted({part_of(name) for name in made if "kernels_" in name.as_posix()})
    units = {
        target: [build / name for name in made if name.suffix == ".o" and part_of(name) == target] for target in targets
    }
    counts = {target: instances(of_target) for target, of_target in units.items()}

    print(f"{'part':<16}{'kernel instances':>18}{'seconds':>10}")
    for part, value in sorted(per_part.items()):
        print(f"{part:<16}{counts.get(part, '-'):>18}{value:>10.1f}")
    print(f"{'all':<16}{'':>18}{sum(per_part.values()):>10.1f}")
    print(f"\n{'seconds':>8}  translation unit")
    for name, value in sorted(spent.items(), key=lambda item: -item[1]):
        print(f"{value:>8.1f}  {re.sub(r'csrc/CMakeFiles/|.dir', '', name)}")

    over = {target: count for target, count in counts.items() if count > LIMIT}
    for target, count in over.items():
        print(f"build_report: {target} has {count} kernel instances, more than {LIMIT}", file=sys.stderr)
    if not targets or not all(counts.values()):
        print(f"build_report: no kernels found below {build}: {counts}", file=sys.stderr)
        return 1
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
