"""How many generated faults of the cuda target the suite notices.

    python -m tests.mutants learn [--output FOLDER] [--tests tests/ops ...]
    python -m tests.mutants run --count 400 --seed 1 [--jobs 2] [--seconds 20] [--output FOLDER]
    python -m tests.mutants show ID [--output FOLDER]

`learn` runs the tests of device cuda once on the emulated device and notes what each touches. `run` draws faults by a
seed, as many of each kind: a barrier, fence, wait or record that is gone, a mask or vector access that is shifted, a
comparison, a predicate, arguments of a vendor call, a status that nobody sees. Each is applied without a rebuild, in a
process of its own, to the tests that touch its place, the shortest first and up to `--seconds` of them, until one fails
that passes without it. A fault whose place no test reached is listed and not counted. The table goes to
FOLDER/mutants.tsv. Survivors that change nothing are listed in tests/mutants/redundant.tsv, with the reason.
"""

import argparse
import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from fnmatch import fnmatchcase
from pathlib import Path

import numpy  # noqa: F401 - imported once, for all children
import pytest  # noqa: F401
import scipy.linalg
import scipy.special  # noqa: F401

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from places import base_name, find_places  # noqa: E402
from session import Learner, Mutated, run_tests  # noqa: E402

PLAIN, RACES = "h200:seed=1:threads=1", "h200:races:seed=1:threads=1"
ORDERED = ("barrier", "fence")  # what only the search for races is sure to notice
KINDS = ("barrier", "fence", "mask", "vector", "comparison", "predicate", "wait", "record", "synchronize")
KINDS += ("runtime status", "vendor swap", "vendor move", "vendor status")
CALLS = {"stream_wait": "wait", "event_record": "record"}
CALLS |= {"stream_synchronize": "synchronize", "event_synchronize": "synchronize"}
LEARNED = ["tests/ops", "tests/interop", "tests/runtime"]


def child(mode, tests, make, log, limit):
    """Runs tests in a child of this process; the exit status, or None where it had to be ended."""
    pid = os.fork()
    if pid == 0:
        os.setsid()
        run_tests(mode, tests, make, log)
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def learn(folder, tests):
    folder.mkdir(parents=True, exist_ok=True)
    for old in [*folder.glob("learned*.json"), *folder.glob("*.ptx")]:
        old.unlink()
    start = time.monotonic()
    log = folder / "learn.log"
    files = [sorted(Path(part).rglob("test_*.py")) if Path(part).is_dir() else [Path(part)] for part in tests]
    for file in [file for part in files for file in part]:
        without = []
        while True:
            child(PLAIN, ["-k", "cuda", str(file), *without], lambda hooks: Learner(hooks, folder), log, 3600)
            print(f"{file}: {log.read_text().splitlines()[-1]}", flush=True)
            found = json.loads(max(folder.glob("learned-*.json"), key=os.path.getmtime).read_text())
            if not found["lost"] or len(without) > 10:
                break
            without.append(f"--deselect={found['lost']}")
    known = {"tests": {}, "failing": [], "samples": defaultdict(list), "library": ""}
    for part in folder.glob("learned-*.json"):
        data = json.loads(part.read_text())
        known["tests"] |= data["tests"]
        known["failing"] += data["failing"]
        known["library"] = data["library"]
        for name, samples in data["samples"].items():
            known["samples"][name] += samples
        part.unlink()
    (folder / "learned.json").write_text(json.dumps(known))
    print(f"{len(known['tests'])} tests in {time.monotonic() - start:.0f} s")


class Catalogue:
    """The places that tests touch, by kind and name, and the tests of each."""

    def __init__(self, folder):
        known = json.loads((folder / "learned.json").read_text())
        self.seconds = {test: facts["seconds"] for test, facts in known["tests"].items()}
        self.touch = {what: defaultdict(list) for what in ("kernels", "vendor", "calls")}
        for test, facts in known["tests"].items():
            for what, by_name in self.touch.items():
                for name in facts[what]:
                    by_name[name].append(test)
        self.places = {kind: defaultdict(list) for kind in KINDS}
        for file in sorted(folder.glob("*.ptx")):
            self.add_module(file.stem, file.read_text())
        self.library = known["library"]
        for site, tests in self.touch["calls"].items():
            name = site.split("@")[0]
            if name in CALLS:
                self.places[CALLS[name]][site].append({"call": name, "site": site, "where": site, "of": tests})
        names = {site.split("@")[0] for site in self.touch["calls"]}
        for name in sorted(names):
            tests = sorted({t for s, ts in self.touch["calls"].items() if s.split("@")[0] == name for t in ts})
            self.places["runtime status"][name].append({"call": name, "where": name, "of": tests})
        for name, samples in sorted(known["samples"].items()):
            self.add_vendor(name, samples, self.touch["vendor"][name])

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

    def draw(self, count, seed):
        """As many of each kind, of each name before any twice, without repetition."""
        chance = random.Random(seed)
        orders = {}
        for kind in KINDS:
            groups = [
                sorted(g, key=lambda p: json.dumps(p, sort_keys=True)) for _, g in sorted(self.places[kind].items())
            ]
            chance.shuffle(groups)
            for group in groups:
                chance.shuffle(group)
            longest = max(map(len, groups), default=0)
            orders[kind] = [g[i] for i in range(min(longest, count)) for g in groups if i < len(g)]
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
    def __init__(self, catalogue, folder, seconds):
        self.catalogue, self.folder, self.seconds = catalogue, folder, seconds

    def outcome(self, mutant, name, mode, tests, seconds):
        result, log = self.folder / f"{name}.json", self.folder / f"{name}.log"
        result.unlink(missing_ok=True)
        slower = 12 if mode == RACES else 4
        status = child(mode, ["-x", *tests], lambda h: Mutated(h, mutant, result), log, 30 + slower * seconds)
        found = json.loads(result.read_text()) if result.exists() else {"reached": 0, "noticed": None}
        return status, found

    def passes(self, name, mode, test):
        """Whether the test passes in this mode without a mutant."""
        cache = self.folder / "baseline.json"
        known = json.loads(cache.read_text()) if cache.exists() else {}
        if f"{mode} {test}" not in known:
            status, _ = self.outcome({"kind": "none"}, name + "-base", mode, [test], self.catalogue.seconds[test])
            known = json.loads(cache.read_text()) if cache.exists() else {}
            known[f"{mode} {test}"] = status == 0
            cache.write_text(json.dumps(known))
        return known[f"{mode} {test}"]

    def judge(self, number, mutant):
        """(verdict, by what, tests run, seconds)"""
        mode, without, start = RACES if mutant["kind"] in ORDERED else PLAIN, set(), time.monotonic()
        name = f"{number:04}"
        for _ in range(12):
            tests, spent = self.catalogue.tests_of(mutant, self.seconds, without)
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


def named(library, site):
    """The functions of a call's frames, from the inside: "Pool::allocate < OpCall::empty < ..."."""
    frames = [frame for frame in site.partition("@")[2].split("+") if frame]
    found = subprocess.run(["addr2line", "-Cfse", library, *frames], capture_output=True, text=True, check=True)
    return " < ".join(name.split("(")[0].removeprefix("stator::") for name in found.stdout.splitlines()[::2])


def reason_of(mutant, known):
    return next((reason for place, reason in known.items() if fnmatchcase(key_of(mutant), place)), "")


def redundant():
    """By patterns of places, why a mutant there changes nothing."""
    with (HERE / "redundant.tsv").open() as file:
        return {row["place"]: row["reason"] for row in csv.DictReader(file, delimiter="\t")}


def key_of(mutant):
    if "site" in mutant:
        return f"{mutant['kind']} | {mutant['named']}"
    return mutant.get("key") or f"{mutant['kind']} | {mutant['where']} | {mutant.get('change', '')}"


def worker(job, jobs, mutants, judge, write):
    for number in range(job, len(mutants), jobs):
        verdict, by, tests, seconds = judge.judge(number, mutants[number])
        write.write(json.dumps([number, verdict, by, tests, round(seconds, 1)]) + "\n")
        write.flush()


def run(folder, count, seed, jobs, seconds):
    catalogue = Catalogue(folder)
    mutants = catalogue.draw(count, seed)
    for mutant in mutants:
        if "site" in mutant:
            mutant["named"] = named(catalogue.library, mutant["site"])
    (folder / "drawn.json").write_text(json.dumps([{**m, "of": len(m["of"])} for m in mutants]))
    judge = Judge(catalogue, folder, seconds)
    start = time.monotonic()
    outputs = [folder / f"verdicts-{j}.jsonl" for j in range(jobs)]
    workers = []
    for job, output in enumerate(outputs):
        pid = os.fork()
        if pid == 0:
            with output.open("w") as write:
                worker(job, jobs, mutants, judge, write)
            os._exit(0)
        workers.append(pid)
    for pid in workers:
        os.waitpid(pid, 0)
    verdicts = sorted(json.loads(line) for o in outputs for line in o.read_text().splitlines())
    return report(folder, mutants, verdicts, time.monotonic() - start)


def report(folder, mutants, verdicts, seconds):
    known = redundant()
    by_kind = defaultdict(Counter)
    with (folder / "mutants.tsv").open("w", newline="") as file:
        table = csv.writer(file, delimiter="\t")
        table.writerow(["number", "kind", "verdict", "by", "tests", "seconds", "change", "place", "reason"])
        for number, verdict, by, tests, spent in verdicts:
            mutant = mutants[number]
            reason = reason_of(mutant, known) if verdict == "survived" else ""
            verdict = "redundant" if reason else verdict
            by_kind[mutant["kind"]][verdict] += 1
            table.writerow(
                [number, mutant["kind"], verdict, by, tests, spent, mutant.get("change", ""), key_of(mutant), reason]
            )
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
    parser.add_argument("--tests", nargs="*", default=LEARNED)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    if options.command == "learn":
        return learn(options.output, options.tests)
    if options.command == "show":
        mutant = json.loads((options.output / "drawn.json").read_text())[options.id]
        print("\n".join(f"{k}: {v}" for k, v in mutant.items()))
        if "module" in mutant:
            lines = (options.output / f"{mutant['module']}.ptx").read_text().split("\n")
            print("\n".join(lines[max(0, mutant["line"] - 25) : mutant["line"] + 26]))
        return 0
    return run(options.output, options.count, options.seed, options.jobs, options.seconds)


if __name__ == "__main__":
    sys.exit(main())
