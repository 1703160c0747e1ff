"""What a run does, in order: steps, each with its command, its time limit, and whether the log says that it is done."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .log import CUT, FAILED, MISSING, PASSED, Log, Row

PROGRAMS = (
    "split_reductions",
    "queue_soak",
    "library_workspaces",
    "shared_memory_limits",
    "pools_under_pressure",
    "conditional_nodes",
    "cooperative_grids",
    "lazy_loading",
    "just_in_time",
    "managed_advice",  # last: managed memory that a driver mishandles may take the device with it
)
PEERS = ("torch", "cupy")
DTYPES = ("float32", "float16")
OPS_OF_A_PROCESS = 8
NCU_METRICS = (
    "gpu__time_duration.sum",
    "dram__bytes.sum",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "lts__t_sectors.sum",
    "sm__inst_issued.avg.pct_of_peak_sustained_active",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "smsp__inst_executed.sum",
    "launch__registers_per_thread",
    "launch__occupancy_limit_registers",
    "launch__occupancy_limit_shared_mem",
    "launch__grid_size",
    "launch__block_size",
)


@dataclass(frozen=True)
class Step:
    """A process. limit: seconds that it may take; with fewer left than `least` it is not begun.

    needs: a program on PATH, without which there is nothing to run. appends: the process adds rows to the log itself.
    cases: what is known of the cases in its result, which become rows of their own.
    """

    step: str
    name: str
    digest: str
    command: tuple[str, ...]
    limit: float
    least: float = 3.0
    needs: str = ""
    appends: bool = False
    cases: dict[str, Row] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Options:
    """small: for emulated devices, which have no time. limit: seconds of a test. tests: what pytest's -k selects."""

    prepared: Path
    python: str = sys.executable
    small: bool = False
    processes: int = 14
    limit: float = 30.0
    tests: str = "cuda"


def opening(manifest: Row, options: Options) -> list[Step]:
    """The ceilings of the card, the quick verification and the programs."""

    def program(name: str, limit: float) -> Step:
        sizes = "small" if options.small else "full"
        command = (options.python, "-m", f"tools.gpu_run.programs.{name}", "--sizes", sizes)
        return Step("programs", name, manifest["programs"][name], command, 120 if options.small else limit)

    verify = (options.python, "-m", "stator", "verify", "--device", "cuda", "--quick")
    verify += ("--op", "exp", "--op", "sum", "--op", "sort") * options.small
    ceilings, first = program("ceilings", 20), Step("verify", "quick", manifest["library"], verify, 60)
    return [ceilings, first, *(program(name, 10) for name in PROGRAMS)]


def new_folders(manifest: Row, log: Log) -> list[str]:
    """Folders of tests that have not passed with these digests, the one that was changed last first."""
    folders = manifest["tests"]
    new = [name for name, folder in folders.items() if name not in log.done("tests", folder["digest"])]
    return sorted(new, key=lambda name: -folders[name]["changed"])


def tests(manifest: Row, log: Log, options: Options, given: Path) -> tuple[list[Step], Row]:
    """One process of pytest over all folders that are new, and what its plugin (each_test.py) is given in a file."""
    folders = new_folders(manifest, log)
    digests = {name: manifest["tests"][name]["digest"] for name in folders}
    passed = sorted(test for digest in digests.values() for test in log.done("test", digest))
    command = (options.python, "-m", "pytest", "-q", "-p", "tools.gpu_run.each_test", "-p", "no:cacheprovider")
    command += ("-n", str(options.processes), "-k", options.tests)
    command += tuple(path for name in folders for path in manifest["tests"][name]["paths"])
    environment = {"STATOR_GPU_RUN": str(given), "STATOR_REQUIRE_DEVICE": "cuda"}
    step = Step("pytest", "new folders", "", command, 600, 20, appends=True, environment=environment)
    each = {"log": str(log.path), "card": log.card, "limit": options.limit, "digests": digests, "passed": passed}
    each["whole"] = options.tests == Options.tests  # a folder of which some tests ran has not passed
    return [step] if folders else [], each


def ratio(row: Row) -> float:
    """The lowest ratio over a peer; infinite where there was none."""
    return min((row[f"r_{peer}"] for peer in PEERS if row.get(f"r_{peer}")), default=float("inf"))


def pace(manifest: Row, log: Log, options: Options) -> list[Step]:
    """Processes of some ops each. First cases that were never measured, large ones and changed families before others.

    Then those of the lowest ratio, whose kernels have changed since. What was measured of these kernels is left out.
    """
    families, measured = manifest["families"], log.last("case")

    def order(case: Row) -> tuple[float | str, ...]:
        if row := measured.get(case["case"]):
            return 1, ratio(row)
        return 0, -case["size"], DTYPES.index(case["dtype"]), -families[case["family"]]["changed"], case["op"]

    smallest = min((case["size"] for case in manifest["pace"]), default=0)
    chunks: list[tuple[str, int, list[str]]] = []
    for case in sorted(manifest["pace"], key=order):
        digest = families[case["family"]]["digest"]
        known = measured.get(case["case"], {}).get("digest") == digest
        if known or (options.small and case["size"] > smallest):
            continue
        dtype, size, op = case["dtype"], case["size"], case["op"]
        room = chunks and chunks[-1][:2] == (dtype, size) and len({*chunks[-1][2], op}) <= OPS_OF_A_PROCESS
        if not room:
            chunks.append((dtype, size, []))
        if op not in chunks[-1][2]:
            chunks[-1][2].append(op)
    todo = []
    for dtype, size, ops in chunks:
        command = (options.python, "-m", "benchmarks", "--device", "cuda", "--json", "--only", "contiguous")
        command += ("--dtypes", dtype, "--sizes", str(size), "--peers", *PEERS, "--op", *ops)
        cases = {
            case["case"]: case.get("facts", {}) | {"digest": families[case["family"]]["digest"]}
            for case in manifest["pace"]
            if (case["dtype"], case["size"]) == (dtype, size) and case["op"] in ops
        }
        limit = 900 if options.small else 20 + 4 * len(cases)
        todo.append(Step("pace", f"{dtype} {size} {' '.join(ops)}", "", command, limit, 15, cases=cases))
    return todo


def sanitizers(manifest: Row, log: Log, options: Options) -> list[Step]:
    """racecheck and synccheck of the ops of families that they have not seen."""
    todo, families = [], manifest["families"]
    for family in sorted(families, key=lambda name: -families[name]["changed"]):
        for tool in ("racecheck", "synccheck"):
            command = ("compute-sanitizer", "--tool", tool, "--error-exitcode", "9", "--target-processes", "all")
            command += (options.python, "-m", "stator", "verify", "--device", "cuda", "--part", "ops", "--quick")
            command += ("--layout", "contiguous", "--minutes", "0", "--silence", "1200")
            command += tuple(word for op in families[family]["ops"] for word in ("--op", op))
            if families[family]["ops"]:
                digest = families[family]["digest"]
                todo.append(Step(tool, family, digest, command, 60, 10, needs="compute-sanitizer"))
    return todo


def profiles(manifest: Row, log: Log, options: Options) -> list[Step]:
    """ncu on the ten cases of the lowest ratios."""
    rows = [row for row in log.last("case").values() if ratio(row) < float("inf")]
    command = ("ncu", "--csv", "--page", "raw", "--profile-from-start", "off", "--target-processes", "all")
    command += ("--launch-count", "8", "--metrics", ",".join(NCU_METRICS))
    command += (options.python, "-m", "tools.gpu_run.programs.one_case")
    slowest = sorted(rows, key=ratio)[:10]
    return [Step("ncu", r["name"], r["digest"], (*command, r["name"]), 30, 10, needs="ncu") for r in slowest]


def cpp(manifest: Row, log: Log, options: Options) -> list[Step]:
    """The C++ test programs that were carried."""
    digest, checked = manifest["cpp"]["digest"], {"STATOR_HOST_MODE": "checked"}
    return [
        Step("cpp", name, digest, (str(options.prepared / "cpp" / name),), 120, 5, environment=checked)
        for name in manifest["cpp"]["programs"]
    ]


class Deadline:
    """Runs steps while there is time. left_out: those for which there was none; reserve: seconds kept for the end.

    execute: runs a step for at most the seconds it is given, and returns its status and what else its row has.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        seconds: float,
        log: Log,
        execute: Callable[[Step, float], tuple[str, Row]],
        say: Callable[[str], None],
        reserve: float = 3.0,
    ) -> None:
        self.clock, self.end, self.log, self.execute, self.say = clock, clock() + seconds - reserve, log, execute, say
        self.left_out: list[str] = []
        self.failed: list[str] = []

    def run(self, steps: Sequence[Step], share: float = 1.0) -> None:
        """share: of the time that is left, what these steps have at most."""
        end = self.clock() + share * (self.end - self.clock())
        for step in steps:
            start, name = self.clock(), f"{step.step}/{step.name}"
            if step.name in self.log.done(step.step, step.digest) and not step.cases and not step.appends:
                continue
            if end - start < step.least:
                self.left_out.append(name)
                continue
            if step.needs and not shutil.which(step.needs):
                status, more = MISSING, {"detail": f"{step.needs} is not on PATH"}
            else:
                status, more = self.execute(step, min(step.limit, end - start))
            seconds = round(self.clock() - start, 1)
            self._note(step, status, more | {"seconds": seconds})
            if status == FAILED:
                self.failed.append(name)
            if status == CUT:
                self.left_out.append(f"{name} (cut off after {seconds} s)")
            why = str(more.get("output", "")).strip().rpartition("\n")[2][:200] if status == FAILED else ""
            self.say(f"{name}: {status} ({seconds} s)" + f": {why}" * bool(why))

    def _note(self, step: Step, status: str, more: Row) -> None:
        if step.appends:
            self.log.reload()
            return
        for case in more.get("result", {}).pop("cases", []) if step.cases else ():
            name, status_of_case = case.pop("case"), PASSED if case.pop("valid") else FAILED
            self.log.add("case", name, status=status_of_case, **{"digest": ""} | case | step.cases.get(name, {}))
        self.log.add(step.step, step.name, step.digest, status, **more)
