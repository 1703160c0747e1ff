"""The report of a verification as a page of Markdown."""

from __future__ import annotations

from typing import Any

from stator._catalogue.given import LAYOUTS

PART_NAMES = {"calls": "runtime calls", "exits": "exits", "timings": "timings", "ops": "ops"}
SHOWN = 200  # failures on the page; the JSON file has all
SAID = 20  # failures that the command itself says


def summary(report: dict[str, Any]) -> str:
    """The result in a line."""
    cells = report["cells"]
    parts = [f"{cells['passed']} of {cells['cells']} cells of {len(report['ops'])} ops passed"]
    if cells["failed"]:
        parts.append(f"{cells['failed']} failed")
    if cells["not_finished"]:
        parts.append(f"{cells['not_finished']} were not finished{within(report)}")
    calls, exits = report.get("runtime_calls"), report.get("exits")
    if calls:
        lost = len(calls["failed"])
        parts.append(
            f"{lost} of {calls['calls']} failing runtime calls had consequences"
            if lost
            else f"each of {calls['calls']} failing runtime calls was survived"
        )
    if exits:
        wrong = sum(bool(x["failed"]) for x in exits)
        parts.append(f"{len(exits) - wrong} of {len(exits)} processes ended as they should")
    if report["ops_without_a_case"]:
        parts.append(f"{len(report['ops_without_a_case'])} ops have no case")
    if "error" in report:
        parts.append(report["error"])
    state = report["result"] + (", interrupted" if report["interrupted"] and report["result"] == "failed" else "")
    return f"{state} in {report['seconds']} s: {'; '.join(parts)}."


def within(report: dict[str, Any]) -> str:
    """The time that was given, if that is why cells are not finished."""
    limit = report["limit"]
    return f" within {limit / 60:g} min" if 0 < limit <= report["seconds"] else ""


def shown_failures(report: dict[str, Any]) -> list[str]:
    """The first failures of cells, each in a line, with how to run it again."""
    found = report["failures"]
    lines = [f"{f['op']} {f['dtype']} {f['layout']}: {f['message']}\n  {f['reproduce']}" for f in found[:SAID]]
    return lines + ([f"and {len(found) - SAID} more, which --output writes"] if len(found) > SAID else [])


def contract(op: dict[str, Any]) -> str:
    """What the op table says of an op's results."""
    bounds = op["tolerance"]
    if op["determinism"] == "bit_exact" or bounds == {"float32": 0, "float64": 0}:
        return "equal"
    growth = f", {op['error_per_term']} more for each term" if op["error_per_term"] else ""
    return f"{bounds['float32']} / {bounds['float64']} ulp{growth}"


def layouts(op: dict[str, Any]) -> str:
    """The layouts in which an op passed: in all dtypes that ran, or in some."""
    found = op["passed_layouts"]
    every = [x for x in LAYOUTS if found and all(x in passed for passed in found.values())]
    some = [x for x in LAYOUTS if x not in every and any(x in passed for passed in found.values())]
    return ", ".join(every) + (f"; of some dtypes {', '.join(some)}" if some else "")


def table(header: list[str], rows: list[list[Any]]) -> list[str]:
    """A table of Markdown; a bar in a cell would end it."""
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(str(x).replace("|", "\\|").replace("\n", " ") for x in line) + " |" for line in lines]


def ratio(value: list[float]) -> str:
    return f"{value[0]:.2f} ± {value[1]:.2f}"


def text(report: dict[str, Any]) -> str:
    """The whole page."""
    lines = ["# stator verify", "", summary(report), ""]
    lines += machine(report.get("machine", {})) + failures(report)
    lines += calls(report.get("runtime_calls")) + exits(report.get("exits")) + timings(report.get("timings"))
    lines += ops(report)
    return "\n".join(lines) + "\n"


def machine(facts: dict[str, Any]) -> list[str]:
    if not facts:
        return []
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    rows = [
        ["device", f"{facts['device']}: {facts['name']}{', emulated' if facts['emulated'] else ''}"],
        ["compute capability", ".".join(map(str, facts["compute_capability"]))],
        ["memory", f"{facts['total_memory'] / 2**30:.1f} GiB"],
        ["multiprocessors", facts["multiprocessors"]],
        ["driver, runtime", f"{facts['driver_version']}, {facts['runtime_version']}"],
        ["kernels", facts["kernels"]],
        ["versions", versions],
        ["system", facts["system"]],
        ["libraries", ", ".join(name for name, path in facts["libraries"].items() if path) or "none"],
        ["libraries not found", ", ".join(name for name, path in facts["libraries"].items() if not path) or "none"],
        ["environment", " ".join(f"{k}={v}" for k, v in facts["environment"].items()) or "nothing set"],
    ]
    return ["## Machine", "", *table(["", ""], rows), ""]


def failures(report: dict[str, Any]) -> list[str]:
    lines = []
    if report["ops_without_a_case"]:
        lines += ["## Ops without a case", "", ", ".join(report["ops_without_a_case"]), ""]
    found = report["failures"]
    if not found:
        return lines
    lines += ["## Failures", "", f"Operands are drawn from seed {report['seed']}.", ""]
    rows = [[f["op"], f["dtype"], f["layout"], f["message"], f"`{f['reproduce']}`"] for f in found[:SHOWN]]
    lines += table(["op", "dtype", "layout", "what", "again"], rows)
    if len(found) > SHOWN:
        lines += ["", f"{len(found) - SHOWN} more are in the JSON file."]
    return [*lines, ""]


def calls(found: dict[str, Any] | None) -> list[str]:
    if found is None:
        return []
    raised = ", ".join(f"{count} {name}" for name, count in found["raised"].items()) or "no error"
    lines = ["## Runtime calls", "", f"Each of {found['calls']} calls of a step of work failed once: {raised}.", ""]
    lines += [f"Kinds of calls that failed: {', '.join(found['kinds'])}.", ""]
    if found.get("never_called"):
        lines += [f"Not called by the step: {', '.join(found['never_called'])}.", ""]
    if found["failed"]:
        lines += [*table(["call", "what"], [[f["call"], f["message"]] for f in found["failed"]]), ""]
    return lines


def exits(found: list[dict[str, Any]] | None) -> list[str]:
    if found is None:
        return []
    rows = [[x["way"].replace("_", " "), x["failed"] or "as it should", x["seconds"]] for x in found]
    return ["## Exits", "", *table(["end of a process", "what", "seconds"], rows), ""]


def timings(found: dict[str, Any] | None) -> list[str]:
    if found is None:
        return []
    lines = ["## Timings", ""]
    if found["left_out"]:
        lines += [found["left_out"], ""]
    if not found["rows"]:
        return lines
    peers = list(found["rows"][0]["peers"])
    lines += [
        "Medians of rounds in which all take turns, ± half of the distance between the quartiles. Of the copy: the"
    ]
    lines += [
        "rate of the bytes that must be moved against that of stator's copy. A peer's column is its time by ours.",
        "",
    ]
    rows = [
        [r["case"], f"{r['microseconds']:.1f}", f"{r['gigabytes_per_second']:.0f}", ratio(r["of_copy"])]
        + [ratio(r["peers"][p]) for p in peers]
        for r in found["rows"]
    ]
    return [*lines, *table(["case", "µs", "GB/s", "of the copy", *(f"{p} / stator" for p in peers)], rows), ""]


def ops(report: dict[str, Any]) -> list[str]:
    if not report["ops"]:
        return []
    lines = [
        "## Ops",
        "",
        "The worst error is in units of the contract's bound, which is kept up to 1. The contract is",
        "",
    ]
    lines[-1:] = ["equality with the cpu, or a bound in units in the last place (float32 / float64; halves 1).", ""]
    rows = []
    for name, op in report["ops"].items():
        worst = op["worst_error"]
        shown = worst if isinstance(worst, str) else f"{worst:.2f}"
        rest = f", {op['not_finished']} not finished" if op["not_finished"] else ""
        counts = f"{op['passed']} / {op['cells']}{rest}"
        rows.append([name, counts, contract(op), shown, op["worst_at"], len(op["passed_layouts"]), layouts(op)])
    header = ["op", "passed", "contract", "worst error", "at", "dtypes", "layouts passed"]
    return [*lines, *table(header, rows), ""]
