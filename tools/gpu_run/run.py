"""The run on the machine with the GPU: nothing is built or fetched, and no step outlives the time that is given.

    cd FOLDER/tree && python -m tools.gpu_run.run --until 540 --log results.jsonl

A later call with the same log goes on where this one ended: what passed on the same card with the same digest is left
out. Exit status: 0 all passed, 1 something failed, 3 the installation failed, 4 time was over before all had run.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from contextlib import suppress
from pathlib import Path

from . import steps
from .log import ABSENT, CUT, FAILED, PASSED, ROOT, Log, Row
from .programs import NOT_AVAILABLE

INSTALL_FAILED, UNFINISHED = 3, 4
OUTPUT = 4000  # characters that are kept of a failure's
KINDS = ("programs", "verify", "tests", "pace", "racecheck", "synccheck", "ncu", "cpp")
SHOWN = 40  # names of a list that are printed; the log has all


def with_site(prepared: Path) -> dict[str, str]:
    """The environment of all processes: the installed wheel comes before any other stator."""
    return os.environ | {"PYTHONPATH": f"{prepared / 'site'}{os.pathsep}{ROOT}", "PYTHONUNBUFFERED": "1"}


class Processes:
    """Runs steps in the tree; keeps the output of each in a folder."""

    def __init__(self, prepared: Path, output: Path) -> None:
        self.environment, self.output = with_site(prepared), output
        output.mkdir(parents=True, exist_ok=True)

    def __call__(self, step: steps.Step, seconds: float) -> tuple[str, Row]:
        """The status, and what else belongs into the row. The whole process group is ended when its time is over."""
        path = self.output / f"{step.step}-{step.name[:80]}.txt".replace("/", "-").replace(" ", "-")
        environment = self.environment | step.environment
        with path.open("wb") as file:
            child = subprocess.Popen(
                step.command, cwd=ROOT, env=environment, stdout=file, stderr=subprocess.STDOUT, start_new_session=True
            )
            code: int | None = None
            try:
                with suppress(subprocess.TimeoutExpired):
                    code = child.wait(seconds)
            finally:  # also what the child left, and when this process is interrupted
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        return outcome(code, path.read_text(errors="replace"))


def outcome(code: int | None, text: str) -> tuple[str, Row]:
    """What the end of a process means. Its last line of JSON is its result; code None: its time was over."""
    status = {0: PASSED, NOT_AVAILABLE: ABSENT, None: CUT}.get(code, FAILED)
    for line in reversed(text.splitlines()):
        with suppress(ValueError):
            if line.startswith("{"):
                return status, {"result": json.loads(line)}
    if status in (FAILED, CUT):
        return status, {"exit": code, "output": text[-OUTPUT:]}
    table = text.find('"ID"')  # ncu's
    return status, {"table": text[table : table + 5 * OUTPUT]} if table >= 0 else {}


def install(prepared: Path, wheel: str, python: str, seconds: float) -> Row | str:
    """Installs the wheel into a folder of its own and describes the card; a text where that fails."""
    site = str(prepared / "site")
    pip = [python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--upgrade", "--target", site]
    describe = [python, "-m", "tools.gpu_run.programs.card", site]
    try:
        for command in ([*pip, str(prepared / wheel)], describe):
            done = subprocess.run(
                command, cwd=ROOT, env=with_site(prepared), capture_output=True, text=True, timeout=seconds / 2
            )
            if done.returncode:
                return done.stdout + done.stderr
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    card: Row = json.loads(done.stdout.splitlines()[-1])
    return card


def arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--until", type=float, required=True, metavar="SECONDS", help="all is over after this time")
    add("--log", type=Path, required=True, help="the file of results, made or added to")
    add("--prepared", type=Path, default=ROOT.parent, help="the folder of prepare.py")
    add("--python", default=sys.executable, help="the interpreter of all steps")
    add("--processes", type=int, default=14, help="of tests at once")
    add("--limit", type=float, default=30, metavar="SECONDS", help="of one test")
    add("--tests", default="cuda", help="the tests that pytest's -k selects")
    add("--sizes", choices=["auto", "small", "full"], default="auto", help="auto: small on an emulated device")
    add("--only", nargs="+", default=[""], metavar="NAME", help="steps that begin so: programs tests/ops/sort")
    args = parser.parse_args(argv)
    for name in args.only:
        if not any(f"{kind}/".startswith(name) or name.startswith(f"{kind}/") for kind in KINDS):
            parser.error(f"no step begins with {name!r}; the kinds are {', '.join(KINDS)}")
    return args


def interrupted(number: int, _: object) -> None:
    """Ends the process by an exception, so that the step that runs ends with it."""
    print("interrupted: a later run with the same log goes on here", file=sys.stderr)
    raise SystemExit(128 + number)


def main(argv: list[str] | None = None) -> int:
    start = time.monotonic()

    def say(text: str) -> None:
        print(f"[{time.monotonic() - start:4.0f} s] {text}", flush=True)

    args = arguments(argv)
    prepared, only = args.prepared.resolve(), tuple(args.only)
    manifest: Row = json.loads((prepared / "manifest.json").read_text())
    card = install(prepared, manifest["wheel"], args.python, min(args.until, 120))
    if isinstance(card, str):
        print(card, "the installation failed", sep="\n", file=sys.stderr)
        return INSTALL_FAILED
    say(f"{card['name']}, driver {card['driver']}: installed")
    log = Log(args.log.resolve(), card["name"])
    small = card["emulated"] if args.sizes == "auto" else args.sizes == "small"
    log.add("run", "machine", manifest["commit"], PASSED, machine=card, small=small)

    options = steps.Options(prepared, args.python, small, args.processes, args.limit, args.tests)
    left = args.until - (time.monotonic() - start)
    outputs = log.path.with_suffix(".output")
    deadline = steps.Deadline(time.monotonic, left, log, Processes(prepared, outputs), say)

    def run(found: list[steps.Step], share: float = 1.0) -> None:
        deadline.run([s for s in found if f"{s.step}/{s.name}".startswith(only)], share)

    run(steps.opening(manifest, options))
    some = manifest | {"tests": {f: t for f, t in manifest["tests"].items() if f"tests/{f}".startswith(only)}}
    given = log.path.with_suffix(".tests.json")
    found, each = steps.tests(some, log, options, given)
    given.write_text(json.dumps(each))
    deadline.run(found, 1.0 if args.only != [""] else 0.5)  # so that pace, races and profiles have some
    deadline.left_out += [f"tests/{folder}" for folder in steps.new_folders(some, log)]
    run(steps.pace(manifest, log, options), 0.6)
    run(steps.sanitizers(manifest, log, options))
    run(steps.profiles(manifest, log, options))
    if "cpp".startswith(only) and manifest["cpp"]["programs"] and not (prepared / "cpp").exists():
        with tarfile.open(prepared / "cpp.tar.xz") as packed:
            packed.extractall(prepared / "cpp", filter="data")
    run(steps.cpp(manifest, log, options))

    now = {folder["digest"] for folder in manifest["tests"].values()}
    failed = [n for n, row in log.last("test").items() if row["status"] == FAILED and row["digest"] in now]
    failed = [name for name in failed if name.startswith(only)]
    failed += deadline.failed
    for title, names in (("failed", failed), ("did not run to the end", deadline.left_out)):
        log.add("run", title, manifest["commit"], PASSED, names=names)
        if names:
            print(f"{title}: {len(names)}", *names[:SHOWN], *["..."] * (len(names) > SHOWN), sep="\n  ")
    say(f"done; the output of each step is in {outputs}")
    return 1 if failed else UNFINISHED if deadline.left_out else 0


if __name__ == "__main__":
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, interrupted)
    raise SystemExit(main())
