"""What the kernels of cases need, counted at home on an emulated device: a line of JSON for each case of argument 1.

registers and resident_blocks (of a multiprocessor) are those of the machine code, of the launch that issues the most.
issue_us: the instructions of its warps at one for each scheduler and clock, as if nothing else took time. The emulator
counts those of the PTX; each kernel's are multiplied by its SASS over its PTX instructions, which are in the file of
argument 2.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from .log import ROOT

sys.path.insert(0, str(ROOT / "tests" / "support"))


def facts(launches: list[Any], sass_per_ptx: dict[str, float], most: float) -> dict[str, Any]:
    """most: instructions of warps that the device issues in a second."""

    def seconds(launch: Any) -> float:
        issued = sum(n for name, n in launch.counters.items() if name.startswith("warp_instructions_"))
        busy = min(launch.counters["blocks"], launch.multiprocessors) / launch.multiprocessors
        return issued * sass_per_ptx.get(launch.kernel, 1.0) / most / busy

    longest = max(launches, key=seconds)
    issue = sum(map(seconds, launches)) * 1e6
    return {"registers": longest.registers, "resident_blocks": longest.resident, "issue_us": issue}


def main() -> None:
    import emulator_records as records

    import stator
    from benchmarks.__main__ import Pool, build, plans

    wanted, sass_per_ptx = set(json.loads(sys.argv[1])), json.loads(Path(sys.argv[2]).read_text())
    for plan in plans(False):
        if plan.name not in wanted:
            continue
        with stator.Backend("cuda") as be, be.use():
            try:
                case = build(be, plan, {}, Pool(1, 1))
                with records.watched(be.synchronize) as launches:
                    case.ours.call(*case.ours.sets[0])
                del case
            except Exception as error:  # a case that cannot be built has no facts, and run.py says why it fails
                print(f"{plan.name}: {error}", file=sys.stderr)
                launches = []
        found = facts(launches, sass_per_ptx, records.peaks()[1]) if launches else {}
        print(json.dumps({"case": plan.name} | found), flush=True)


if __name__ == "__main__":
    main()
