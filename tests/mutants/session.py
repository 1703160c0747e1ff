"""What runs in a child process: tests with one mutant, or without any to learn what each test touches."""

import ctypes
import json
import os
import resource
import signal
import sys
import time
from collections import defaultdict

import pytest

FAILED_TO_START = 70  # the exit status of a child whose tests did not begin


def build_of(library):
    """Tells two builds of a library apart: the addresses of calls are offsets into it."""
    facts = os.stat(library)
    return f"{facts.st_size} {facts.st_mtime_ns}"


class Learner:
    """Writes for each test the kernels, vendor functions and calls of the runtime that it reached."""

    def __init__(self, hooks, folder, part):
        self.hooks, self.folder, self.part = hooks, folder, part
        self.tests, self.modules, self.samples = {}, set(), defaultdict(list)
        self.calls = set()
        self.failing, self.lost = [], None
        hooks.rewrite(self.on_ptx)
        hooks.watch_runtime(self.on_call)
        hooks.watch_vendor(self.on_vendor, lambda name, result: result)
        self.kernels, self.vendor = hooks.launches(), {}

    def on_ptx(self, text):
        from hooks import digest

        module = digest(text)
        self.modules.add(module)
        if not (path := self.folder / f"{module}.ptx").exists():
            unfinished = path.with_suffix(f".{os.getpid()}")  # another process may write the same module
            unfinished.write_bytes(text)
            unfinished.rename(path)

    def on_call(self, name, site, original, arguments):
        self.calls.add(f"{name}@{site()}")
        return original(*arguments)

    def on_vendor(self, name, arguments):
        seen = self.samples[name]
        values = [int.from_bytes(bytes_at(a), "little") if a.bytes <= 8 else None for a in arguments]
        if values not in seen and len(seen) < 8:
            seen.append(values)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.calls.clear()
        start = time.process_time()  # what a test needs, whatever else the machine does
        result = yield
        kernels, vendor = self.hooks.launches(), self.hooks.vendor_calls()
        if item.nodeid not in self.failing:
            self.tests[item.nodeid] = {
                "seconds": round(time.process_time() - start, 4),
                "kernels": [k for k, n in kernels.items() if n != self.kernels.get(k)],
                "vendor": [k for k, n in vendor.items() if n != self.vendor.get(k, 0)],
                "calls": sorted(self.calls),
            }
        self.kernels, self.vendor = kernels, vendor
        return result

    def pytest_runtest_logreport(self, report):
        if report.failed:
            if report.when == "setup" and self.lost is None and self.failing:
                self.lost = self.failing[-1]  # the test that lost the device
            self.failing.append(report.nodeid)

    def pytest_sessionfinish(self):
        data = {
            "tests": self.tests,
            "failing": self.failing,
            "lost": self.lost,
            "library": str(self.hooks.library),
            "build": build_of(self.hooks.library),
            "modules": sorted(self.modules),
            "samples": self.samples,
        }
        self.part.write_text(json.dumps(data))


def bytes_at(argument):
    return ctypes.string_at(argument.address, argument.bytes)


class Mutated:
    """Applies a mutant, and writes which test noticed it and whether it was reached."""

    def __init__(self, hooks, mutant, result):
        self.hooks, self.mutant, self.result = hooks, mutant, result
        self.reached, self.noticed = 0, None
        if "module" in mutant:
            hooks.rewrite(self.on_ptx)
        elif "symbol" in mutant:
            hooks.watch_vendor(self.on_vendor, self.after_vendor)
        elif "call" in mutant:
            hooks.watch_runtime(self.on_call)

    def on_ptx(self, text):
        from hooks import digest

        if digest(text) != self.mutant["module"]:
            return None
        lines = text.split(b"\n")
        assert lines[self.mutant["line"]].decode() == self.mutant["text"]
        lines[self.mutant["line"]] = self.mutant["new"].encode()
        return b"\n".join(lines)

    def on_call(self, name, site, original, arguments):
        mutant = self.mutant
        if mutant["kind"] == "runtime status":
            code = original(*arguments)
            if name == mutant["call"] and code not in (0, 600):
                self.reached += 1
                return 0
            return code
        if name != mutant["call"] or not self.is_site(site()):
            return original(*arguments)
        self.reached += 1
        return 0

    def is_site(self, frames):
        return any(f"{frames}+".startswith(f"{site}+") for site in self.mutant["sites"])

    def on_vendor(self, name, arguments):
        mutant = self.mutant
        if name != mutant["symbol"] or mutant["kind"] == "vendor status":
            return
        first = arguments[mutant["first"]]
        before = bytes_at(first)
        if mutant["kind"] == "vendor swap":
            second = arguments[mutant["second"]]
            after, other = bytes_at(second), before
            self.reached += before != after
            ctypes.memmove(second.address, other, second.bytes)
        else:
            self.reached += 1
            value = int.from_bytes(before, "little") + mutant["by"]
            after = (value % (1 << (8 * first.bytes))).to_bytes(first.bytes, "little")
        ctypes.memmove(first.address, after, first.bytes)

    def after_vendor(self, name, result):
        if self.mutant["kind"] != "vendor status" or name != self.mutant["symbol"] or result == 0:
            return result
        self.reached += 1
        return 0

    def save(self):
        reached = self.hooks.events() if "module" in self.mutant else self.reached
        self.result.write_text(json.dumps({"reached": reached, "noticed": self.noticed}))

    def pytest_runtest_logreport(self, report):
        if report.failed and self.noticed is None:
            self.noticed = report.nodeid
        if report.when == "teardown" or report.failed:
            self.save()

    def pytest_sessionfinish(self):
        self.save()


def run_tests(mode, tests, make, log, limit):
    """In a child, which may use `limit` seconds of processor time: never returns."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: ends with the process that started it
    limit = int(limit) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    with log.open("w") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
    os.environ["STATOR_EMULATE"] = mode
    sys.path.insert(0, os.path.dirname(__file__))
    try:
        from hooks import Hooks

        plugin = make(Hooks())
        code = pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:randomly", *tests], plugins=[plugin])
    except BaseException as error:  # the child ends here whatever happens
        print(repr(error), flush=True)
        code = FAILED_TO_START
    sys.stdout.flush()
    os._exit(int(code))
