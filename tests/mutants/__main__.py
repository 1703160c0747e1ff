"""How many generated faults of the cuda target the suite notices.

    python -m tests.mutants learn [--jobs 2] [--output FOLDER] [--tests tests/ops ...]
    python -m tests.mutants run --count 400 --seed 1 [--jobs 2] [--seconds 20] [--output FOLDER]
    python -m tests.mutants run --count 400 --seed 1 --only 17 [--tests tests/streams/test_streams.py]
    python -m tests.mutants run --match "wait | *Pool::settle*" [--tests tests/streams/test_streams.py]
    python -m tests.mutants show ID [--output FOLDER]

`learn` runs the tests of device cuda once on the emulated device and notes what each touches; with `--tests` it renews
what is known of only these files. `run` draws faults by a seed, as many of each kind: a barrier, fence, wait or record
that is gone, a mask or vector access that is shifted, a comparison, a predicate, arguments of a vendor call, a status
that no test sees. A longer draw begins with a shorter one. Each is applied without a rebuild, in a process of its own,
to the tests that reach it, the shortest first and up to `--seconds` of processor time, until one fails that
passes without it; a status that no test sees, to the tests in which each call fails. A fault that no test reached
is listed and not counted. The table goes to FOLDER/mutants.tsv.

`--only` judges some of those drawn, `--match` all that fit a pattern, with `--tests` by these tests. `--symbols`
names the build folder's libstator.so where the installed one is stripped. Survivors that change nothing are listed in
tests/mutants/redundant.tsv, with the reason; a line there that fits none is an error.
"""

import argparse
import contextlib
import csv
import json
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from fnmatch import fnmatchcase, translate
from functools import partial
from pathlib import Path

import numpy  # noqa: F401 - imported once, for all children
import pytest  # noqa: F401
import scipy.linalg
import scipy.special  # noqa: F401

with contextlib.suppress(ImportError):
    import torch  # noqa: F401 - two seconds of each child whose tests compare with it

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from places import base_name, find_places  # noqa: E402
from session import FAILED_TO_START, Learner, Mutated, build_of, run_tests  # noqa: E402

PLAIN, RACES = "h200:seed=1:threads=1", "h200:races:seed=1:threads=1"
LATEST = "h200:threads=1"  # work runs as late as it may, so that a reader that does not wait for it meets it undone
MODES = {"barrier": RACES, "fence": RACES, "wait": LATEST, "record": LATEST, "synchronize": LATEST}
KINDS = ("barrier", "fence", "mask", "vector", "comparison", "predicate", "wait", "record", "synchronize")
KINDS += ("runtime status", "vendor swap", "vendor move", "vendor status")
CALLS = {"stream_wait": "wait", "event_record": "record"}
CALLS |= {"stream_synchronize": "synchronize", "event_synchronize": "synchronize"}
FAILING = {  # a status that is not checked matters where a call fails
    "runtime status": "tests/runtime/test_runtime_failures.py",
    "vendor status": "tests/runtime/test_vendor_failures.py",
}
LEARNED = [
    "tests/graphs",
    "tests/programs",
    "tests/streams",
    "tests/telemetry",
    "tests/transfers",
    "tests/config",
    "tests/runtime",
    "tests/memory",
    "tests/ops",
    "tests/interop",
]
TASK = {}  # what the workers of run() inherit; as arguments, it would be copied for each mutant
WAITS = 8  # times its processor time is what a child may take, on a machine that has other work


def child(mode, tests, make, log, limit):
    """Runs tests in a child of this process, which may use `limit` seconds of processor time; the exit status, or None
    where it had to be ended."""
    pid = os.fork()
    if pid == 0:
        os.setsid()
        run_tests(mode, tests, make, log, limit)
    end = time.monotonic() + WAITS * limit
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return None if code == -signal.SIGXCPU else code
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def learn_file(folder, file):
    """Whether it could be learned, and what pytest printed."""
    part = folder / "learned" / (str(file).replace(os.sep, "-") + ".json")
    log, without = part.with_suffix(".log"), []
    while True:
        part.unlink(missing_ok=True)
        status = child(PLAIN, ["-k", "cuda", str(file), *without], lambda h: Learner(h, folder, part), log, 3600)
        if not part.exists():
            return False, f"{file}: the process ended with {status}, see {log}"
        found = json.loads(part.read_text())
        if not found["lost"] or len(without) > 10:
            return True, f"{file}: {log.read_text().splitlines()[-1]}"
        without.append(f"--deselect={found['lost']}")


def learn(folder, tests, jobs):
    (folder / "learned").mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    found = [sorted(Path(part).rglob("test_*.py")) if Path(part).is_dir() else [Path(part)] for part in tests]
    files = sorted({file for part in found for file in part}, key=lambda file: -file.stat().st_size)
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        results = []
        for learned, line in pool.imap_unordered(partial(learn_file, folder), files):
            print(line, flush=True)
            results.append(learned)
    print(f"{sum(results)} of {len(files)} files in {time.monotonic() - start:.0f} s")
    return 0 if all(results) else 1


def named(library, sites):
    """By sites, as many of a call's frames as tell it from others, from the inside, and the names of their functions:
    those of the layer above the runtime, the function that calls these, and its caller."""
    frames = {site: [frame for frame in site.partition("@")[2].split("+") if frame] for site in sites}
    all_frames = sorted({frame for of_site in frames.values() for frame in of_site})
    sections = subprocess.run(["readelf", "-SW", library], capture_output=True, text=True, check=True).stdout
    if ".symtab" not in sections:
        raise SystemExit(f"{library} has no names of functions: give the one of the build folder as --symbols.")
    found = subprocess.run(
        ["addr2line", "-Cfse", library], input="\n".join(all_frames), capture_output=True, text=True, check=True
    )
    names = (line.split("(")[0].removeprefix("stator::") for line in found.stdout.splitlines()[::2])
    name = dict(zip(all_frames, names, strict=True))
    result = {}
    for site, of_site in frames.items():
        outer = next((i for i, f in enumerate(of_site) if not name[f].startswith("runtime::")), len(of_site))
        kept = of_site[: outer + 2]
        result[site] = "+".join(kept), " < ".join(name[frame] for frame in kept)
    return result


def order_of(place):
    return json.dumps({**place, "of": None}, sort_keys=True)


class Catalogue:
    """The instructions that tests reach, by kind and name, and the tests of each."""

    def __init__(self, folder, symbols):
        parts = [json.loads(file.read_text()) for file in sorted((folder / "learned").glob("*.json"))]
        if not parts:
            raise SystemExit(f"Nothing is known in {folder}: python -m tests.mutants learn comes first.")
        self.library = parts[0]["library"]
        old = [part for part in parts if part["build"] != build_of(self.library)]
        if old:  # the addresses of calls are offsets into the library
            print(f"{len(old)} files were learned with another build: their calls of the runtime do not count.")
        for facts in (facts for part in old for facts in part["tests"].values()):
            facts["calls"] = []
        known = {test: facts for part in parts for test, facts in part["tests"].items()}
        self.seconds = {test: facts["seconds"] for test, facts in known.items()}
        self.touch = {what: defaultdict(list) for what in ("kernels", "vendor", "calls")}
        for test, facts in known.items():
            for what, by_name in self.touch.items():
                for name in facts[what]:
                    by_name[name].append(test)
        self.places = {kind: defaultdict(list) for kind in KINDS}
        self.keys = set()  # of all, also of those in kernels that no test touches
        for module in sorted({module for part in parts for module in part["modules"]}):
            self.add_module(module, (folder / f"{module}.ptx").read_text())
        by_name = defaultdict(lambda: {"sites": set(), "of": set()})
        names = named(symbols or self.library, self.touch["calls"])
        for site, tests in self.touch["calls"].items():
            if (call := site.split("@")[0]) in CALLS:
                frames, where = names[site]
                by_name[call, where]["sites"].add(frames)
                by_name[call, where]["of"].update(tests)
        for (call, where), facts in by_name.items():
            place = {"call": call, "where": where, "sites": sorted(facts["sites"]), "of": sorted(facts["of"])}
            self.places[CALLS[call]][where].append(place)
        samples = defaultdict(list)
        for part in parts:
            for name, values in part["samples"].items():
                samples[name] += values
        names = {site.split("@")[0] for site in self.touch["calls"]}
        for name in sorted(names):
            tests = sorted({t for s, ts in self.touch["calls"].items() if s.split("@")[0] == name for t in ts})
            self.places["runtime status"][name].append({"call": name, "where": name, "of": tests})
        for name in sorted(samples):
            self.add_vendor(name, samples[name], self.touch["vendor"][name])
        for kind, by_name in self.places.items():
            self.keys |= {key_of({"kind": kind, **place}) for places in by_name.values() for place in places}

    def add_module(self, module, text):
        places, calls, kernels = find_places(module, text)
        callers = defaultdict(set)
        for kernel in kernels:
            seen, left = set(), [kernel]
            while left:
                name = left.pop()
                if name not in seen:
                    seen.add(name)
                    left += calls.get(name, ())
            for name in seen:
                callers[name].add(kernel)
        tests = {}
        self.keys |= {place.key for place in places}
        for place in places:
            name = place.function
            if name not in tests:
                tests[name] = sorted({t for k in callers[name] for t in self.touch["kernels"].get(k, ())})
            if tests[name]:
                facts = {**vars(place), "where": f"{place.function}: {place.text.strip()}", "key": place.key}
                facts.pop("kind")
                self.places[place.kind][base_name(name)].append({**facts, "of": tests[name]})

    def add_vendor(self, name, samples, tests):
        samples = [s for s in samples if len(s) == len(samples[0])]
        for i, values in enumerate(zip(*samples, strict=True)):
            if any(v is None for v in values):
                continue
            by = 16 if max(values) > 1 << 32 else 1
            change = f"argument {i} moved by {by}"
            self.places["vendor move"][name].append(
                {"symbol": name, "first": i, "by": by, "where": name, "change": change, "of": tests}
            )
            for j in range(i):
                others = [s[j] for s in samples]
                alike = [v is not None and (v > 1 << 32) == (o > 1 << 32) for v, o in zip(others, values, strict=True)]
                if all(alike) and any(v != o for v, o in zip(others, values, strict=True)):
                    change = f"arguments {j} and {i} swapped"
                    self.places["vendor swap"][name].append(
                        {"symbol": name, "first": j, "second": i, "where": name, "change": change, "of": tests}
                    )
        self.places["vendor status"][name].append({"symbol": name, "where": name, "of": tests})

    def matching(self, pattern):
        """The mutants whose keys fit a pattern, of the instances of a template the one that most tests touch."""
        found = {}
        for kind, by_name in self.places.items():
            for place in (place for group in by_name.values() for place in group):
                key = key_of({"kind": kind, **place})
                if fnmatchcase(key, pattern) and (key not in found or len(found[key]["of"]) < len(place["of"])):
                    found[key] = {"kind": kind, **place}
        return [found[key] for key in sorted(found)]

    def draw(self, count, seed):
        """As many of each kind, of each name before any twice, without repetition."""
        chance = random.Random(seed)
        orders = {}
        for kind in KINDS:
            groups = [sorted(g, key=order_of) for _, g in sorted(self.places[kind].items())]
            chance.shuffle(groups)
            for group in groups:
                chance.shuffle(group)
            longest = max(map(len, groups), default=0)
            orders[kind] = [g[i] for i in range(longest) for g in groups if i < len(g)]
        drawn = []
        for i in range(count):
            drawn += [{"kind": kind, **orders[kind][i]} for kind in KINDS if i < len(orders[kind])]
        return drawn[:count]

    def tests_of(self, mutant, seconds, without):
        """The shortest first, a file at a time, until their time is spent."""
        by_file = defaultdict(list)
        for test in sorted(set(mutant["of"]) - without, key=lambda t: self.seconds[t]):
            by_file[test.split("[")[0]].append(test)
        chosen, spent = [], 0.0
        while by_file:
            for name in sorted(by_file):
                test = by_file[name].pop(0)
                if not by_file[name]:
                    del by_file[name]
                if chosen and spent + self.seconds[test] > seconds:
                    continue
                chosen.append(test)
                spent += self.seconds[test]
        return chosen, spent


class Judge:
    def __init__(self, catalogue, folder, seconds, tests):
        self.catalogue, self.folder, self.seconds, self.tests = catalogue, folder, seconds, tests
        self.known = {}  # which tests pass without a mutant

    def outcome(self, mutant, name, mode, tests, seconds):
        result, log = self.folder / f"{name}.json", self.folder / f"{name}.log"
        result.unlink(missing_ok=True)
        slower = 12 if mode == RACES else 4
        status = child(mode, ["-x", *tests], lambda h: Mutated(h, mutant, result), log, 30 + slower * seconds)
        if status == FAILED_TO_START:  # which is not a verdict on the mutant
            raise RuntimeError(f"The tests could not be started: {log.read_text()[-2000:]}")
        found = json.loads(result.read_text()) if result.exists() else {"reached": 0, "noticed": None}
        return status, found

    def passes(self, name, mode, test):
        """Whether the test passes in this mode without a mutant."""
        if (mode, test) not in self.known:
            seconds = self.catalogue.seconds.get(test, self.seconds)
            status, _ = self.outcome({"kind": "none"}, name + "-base", mode, [test], seconds)
            self.known[mode, test] = status == 0
        return self.known[mode, test]

    @staticmethod
    def of_files(files, without):
        return ["-k", "cuda", *files, *(f"--deselect={test}" for test in without)]

    def tests_of(self, mutant, without):
        if self.tests:
            return self.of_files(self.tests, without), self.seconds
        if failing := FAILING.get(mutant["kind"]):
            touch = sorted(t for t in mutant["of"] if t.startswith(failing) and t not in without)
            return touch or self.of_files([failing], without), self.seconds
        return self.catalogue.tests_of(mutant, self.seconds, without)

    def judge(self, number, mutant):
        """(verdict, by what, tests run, seconds)"""
        mode, without, start = MODES.get(mutant["kind"], PLAIN), set(), time.monotonic()
        name = f"{number:04}"
        for _ in range(12):
            tests, spent = self.tests_of(mutant, without)
            if not tests:
                return "no test", "", 0, time.monotonic() - start
            status, found = self.outcome(mutant, name, mode, tests, spent)
            by = found["noticed"]
            if by and not self.passes(name, mode, by):
                without.add(by)
                continue
            if by:
                return "caught", by, len(tests), time.monotonic() - start
            if status is None or status < 0 or status > 5:
                how = "time" if status is None else f"the process ended with {status}"
                return "caught", how, len(tests), time.monotonic() - start
            verdict = "survived" if found["reached"] else "not reached"
            return verdict, "", len(tests), time.monotonic() - start
        return "not reached", "tests fail without it", len(tests), time.monotonic() - start


def reason_of(mutant, known):
    return next((reason for place, reason in known.items() if fnmatchcase(key_of(mutant), place)), "")


def redundant():
    """By patterns, why a mutant there changes nothing."""
    with (HERE / "redundant.tsv").open() as file:
        return {row["place"]: row["reason"] for row in csv.DictReader(file, delimiter="\t")}


def stale_lines(patterns, keys):
    """The patterns that fit nothing."""
    matches = {pattern: re.compile(translate(pattern)).match for pattern in patterns}
    return [pattern for pattern, match in matches.items() if not any(map(match, keys))]


def key_of(mutant):
    return mutant.get("key") or f"{mutant['kind']} | {mutant['where']} | {mutant.get('change', '')}"


def judged(number):
    verdict, by, tests, seconds = TASK["judge"].judge(number, TASK["mutants"][number])
    return number, verdict, by, tests, round(seconds, 1)


def run(folder, options):
    catalogue = Catalogue(folder, options.symbols)
    if options.match:
        mutants = catalogue.matching(options.match)[: options.count]
    else:
        mutants = catalogue.draw(options.count, options.seed)
    known = redundant()
    # A pattern is judged by whatever was learned, which need not be all tests.
    if not options.match and (stale := stale_lines(known, catalogue.keys)):
        print("These lines of redundant.tsv fit nothing that is known:", *stale, sep="\n", file=sys.stderr)
        return 1
    numbers = options.only or range(len(mutants))
    (folder / "drawn.json").write_text(json.dumps([{**m, "of": len(m["of"])} for m in mutants]))
    work = folder / f"run-{os.getpid()}"  # only of this run: logs and results by the numbers of mutants
    work.mkdir()
    TASK["judge"], TASK["mutants"] = Judge(catalogue, work, options.seconds, options.tests), mutants
    start, verdicts = time.monotonic(), []
    with multiprocessing.get_context("fork").Pool(options.jobs) as pool:
        for verdict in pool.imap_unordered(judged, numbers):
            verdicts.append(verdict)
            report(folder / "mutants.tsv", mutants, verdicts, known)
            mutant = mutants[verdict[0]]
            said = "redundant" if verdict[1] == "survived" and reason_of(mutant, known) else verdict[1]
            print(verdict[0], said, verdict[2], key_of(mutant), sep="  ", flush=True)
    return summary(report(folder / "mutants.tsv", mutants, verdicts, known), time.monotonic() - start)


def report(path, mutants, verdicts, known):
    """Writes the table; how many mutants of each kind had each verdict."""
    by_kind = defaultdict(Counter)
    with path.open("w", newline="") as file:
        table = csv.writer(file, delimiter="\t")
        table.writerow(["number", "kind", "verdict", "by", "tests", "seconds", "change", "place", "reason"])
        for number, verdict, by, tests, spent in sorted(verdicts):
            mutant = mutants[number]
            reason = reason_of(mutant, known) if verdict == "survived" else ""
            verdict = "redundant" if reason else verdict
            by_kind[mutant["kind"]][verdict] += 1
            table.writerow(
                [number, mutant["kind"], verdict, by, tests, spent, mutant.get("change", ""), key_of(mutant), reason]
            )
    return by_kind


def summary(by_kind, seconds):
    words = ("caught", "survived", "redundant", "not reached", "no test")
    print(f"{'kind':16}" + "".join(f"{w:>13}" for w in words))
    total = Counter()
    for kind in KINDS:
        total += by_kind[kind]
        print(f"{kind:16}" + "".join(f"{by_kind[kind][w]:13}" for w in words))
    print(f"{'all':16}" + "".join(f"{total[w]:13}" for w in words))
    counted = total["caught"] + total["survived"]
    print(f"{total['caught']} of {counted} caught: {100 * total['caught'] / max(counted, 1):.1f} % in {seconds:.0f} s")
    return 0


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.split("\n")[0])
    parser.add_argument("command", choices=["learn", "run", "show"])
    parser.add_argument("id", nargs="?", type=int)
    parser.add_argument("--output", type=Path, default=Path("build/mutants"))
    parser.add_argument("--tests", nargs="*", default=[])
    parser.add_argument("--symbols", type=Path)
    parser.add_argument("--match")
    parser.add_argument("--only", nargs="*", type=int, default=[])
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    if options.command == "learn":
        return learn(options.output, options.tests or LEARNED, options.jobs)
    if options.command == "show":
        mutant = json.loads((options.output / "drawn.json").read_text())[options.id]
        print("\n".join(f"{k}: {v}" for k, v in mutant.items()))
        if "module" in mutant:
            lines = (options.output / f"{mutant['module']}.ptx").read_text().split("\n")
            print("\n".join(lines[max(0, mutant["line"] - 25) : mutant["line"] + 26]))
        return 0
    return run(options.output, options)


if __name__ == "__main__":
    sys.exit(main())
