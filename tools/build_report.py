"""Reports the cost of a build: kernel instances per target and seconds per translation unit.

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


def instances(target: Path) -> int:
    """The number of kernel instances in a target's objects, summed over the translation units.

    nvcc's host stubs and the lambdas inside kernels, which unoptimised objects name, do not count.
    """
    kernel = re.compile(rf"[0-9a-f]+ [tTwWuV] (?:void )?(stator::\w+::.*?\b(?:{'|'.join(kernel_names())})[<(].*)")
    others = ("run_blocks", "{lambda")
    count = 0
    for unit in target.rglob("*.o"):
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
    targets = sorted(p for p in build.rglob("kernels_*.dir") if p.is_dir())
    counts = {p.name.removeprefix("kernels_").removesuffix(".dir"): instances(p) for p in targets}
    spent = {name: value for name, value in seconds(build).items() if name.endswith(".o") and (build / name).exists()}
    per_target = Counter()
    for name, value in spent.items():
        found = re.search(r"kernels_(\w+)\.dir", name)
        per_target[found[1] if found else "the rest"] += value

    print(f"{'target':<16}{'kernel instances':>18}{'seconds':>10}")
    for target, value in sorted(per_target.items()):
        print(f"{target:<16}{counts.get(target, '-'):>18}{value:>10.1f}")
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
