"""The changes that a line of PTX admits, by kind."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

INSTRUCTION = re.compile(r"^(\s*)(@!?%p\d+\s+)?([a-z][\w.:]*)\s+([^;]*);\s*$")
BARE = re.compile(r"^(\s*)(@!?%p\d+\s+)?((?:membar|fence)[\w.:]*);\s*$")
ALONE = re.compile(r"^(\s*)(@!?%p\d+\s+)?(ret|exit|trap|brkpt);\s*$")
NAME = re.compile(r"\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)")
CALLED = re.compile(r"^\s*([\w$]+),?\s*$")

COMPARISONS = {"lt": "le", "le": "lt", "gt": "ge", "ge": "gt", "lo": "ls", "ls": "lo", "hi": "hs", "hs": "hi"}
COMPARISONS |= {"ltu": "leu", "leu": "ltu", "gtu": "geu", "geu": "gtu"}
MASKED = ("shfl.sync", "vote.sync", "match.any.sync", "match.all.sync", "redux.sync", "bar.warp.sync")


@dataclass(frozen=True)
class Place:
    module: str
    function: str
    line: int  # in the module, from 0
    kind: str
    change: str
    text: str  # the line before
    new: str
    between: str  # the opcodes of the two instructions before it and after it
    ordinal: int  # among those of the function whose keys would be the same

    @property
    def key(self) -> str:
        """The same for the instances of a template, whatever numbers registers have, and as long as the instructions
        around it are what they are."""
        where = f"{base_name(self.function)} | {plain(self.text)} | {self.change}"
        return f"{self.kind} {self.ordinal} | {where} | {self.between}"


@cache
def base_name(mangled: str) -> str:
    """The names of a mangled function, without its template arguments and parameters."""
    parts, rest = [], mangled[3:] if mangled.startswith("_ZN") else mangled[2:] if mangled.startswith("_Z") else ""
    while match := re.match(r"[rVK]*(\d+)", rest):
        size, start = int(match[1]), match.end()
        parts.append(rest[start : start + size])
        rest = rest[start + size :]
    return "::".join(p for p in parts if p not in ("stator", "cuda") and not p.startswith("_GLOBAL__N_")) or mangled


def plain(line: str) -> str:
    return " ".join(re.sub(r"%[a-z]+[0-9]+", "%", re.sub(r"\$L_\w+", "$L", line)).split())


def opcode(line: str) -> str:
    """The opcode of an instruction, empty for labels, directives and the rest of a call."""
    found = INSTRUCTION.match(line) or BARE.match(line) or ALONE.match(line)
    return found[3] if found else ""


def operands(text: str) -> list[str]:
    return [part.strip() for part in re.split(r",(?![^{\[]*[}\]])", text)]


def changes(line: str) -> Iterator[tuple[str, str, str]]:
    """(kind, change, new line) of every change of the line. pmevent tells that it was reached."""
    if bare := BARE.match(line):
        yield "fence", "removed", f"{bare[2] or ''}pmevent 0;"
        return
    found = INSTRUCTION.match(line)
    if not found:
        return
    _, guard, opcode, rest = found.groups()
    guard = guard or ""
    mark = f"{guard}pmevent 0; "
    words, parts = opcode.split("."), operands(rest)
    if opcode.startswith(("bar.sync", "barrier.sync", "bar.warp.sync")):
        yield "barrier", "removed", mark
    if opcode.startswith(MASKED):
        shifted = ", ".join([*parts[:-1], "%mutant"])
        new = f"{{ .reg .b32 %mutant; shr.u32 %mutant, {parts[-1]}, 1; {guard}{opcode} {shifted}; }}"
        yield "mask", "members shifted by one", mark + new
    if opcode in ("and.b32", "and.b64") and re.fullmatch(r"\d+", parts[-1]) and int(parts[-1]) > 1:
        new = ", ".join([*parts[:-1], str(int(parts[-1]) >> 1)])
        yield "mask", f"{parts[-1]} shifted by one", f"{mark}{guard}{opcode} {new};"
    if words[0] in ("ld", "st") and {"global", "shared"} & {*words} and {"v2", "v4"} & {*words}:
        yield from vector_changes(mark, guard, words, parts)
    if words[0] == "setp" and words[1] in COMPARISONS:
        new = ".".join(["setp", COMPARISONS[words[1]], *words[2:]])
        yield "comparison", f"{words[1]} to {COMPARISONS[words[1]]}", f"{mark}{guard}{new} {rest};"
    if guard:
        yield "predicate", "dropped", f"pmevent 0; {opcode} {rest};"


def vector_changes(mark: str, guard: str, words: list[str], parts: list[str]) -> Iterator[tuple[str, str, str]]:
    count = 4 if "v4" in words else 2
    bits = int(words[-1][1:])
    vector, address = (parts[0], parts[1]) if words[0] == "ld" else (parts[1], parts[0])
    elements = operands(vector.strip("{} "))
    base, _, offset = address.strip("[] ").partition("+")
    opcode = ".".join(words)

    def access(code: str, what: str, where: str) -> str:
        return f"{guard}{code} {what}, {where};" if words[0] == "ld" else f"{guard}{code} {where}, {what};"

    if re.fullmatch(r"-?\d*", offset):
        moved = f"[{base}+{int(offset or 0) + count * bits // 8}]"
        yield "vector", "moved to the next", mark + access(opcode, vector, moved)
    narrow = ".".join(w if w not in ("v2", "v4") else "v2" for w in words if count == 4 or w != "v2")
    half = f"{{{', '.join(elements[:2])}}}" if count == 4 else elements[0]
    rest = elements[count // 2 :]
    zeros = " ".join(f"{guard}mov.b{bits} {e}, 0;" for e in rest if e != "_") if words[0] == "ld" and bits > 8 else ""
    if bits > 8 or words[0] == "st":
        yield "vector", "only its first half", f"{mark}{access(narrow, half, address)} {zeros}"


def functions(text: str) -> Iterator[tuple[str, bool, int, int]]:
    """(name, whether it is a kernel, first line, line after) of the functions that a module defines."""
    lines = text.split("\n")
    name, entry, start, depth = "", False, 0, 0
    header = ""
    for number, line in enumerate(lines):
        if depth == 0 and re.match(r"^(\.\w+ )*\.(entry|func)\b", line):
            header = ""
            name = "?"
        if name and depth == 0:
            header += line + " "
            if line.rstrip().endswith(";"):
                name = ""  # a declaration
                continue
            if line.startswith("{"):
                found = NAME.search(header)
                name, entry, start = found[1] if found else "?", ".entry" in header, number
        if name:
            depth += line.count("{") - line.count("}")
            if depth == 0 and line.startswith("}"):
                yield name, entry, start + 1, number
                name = ""


def choices(lines: list[str]) -> set[str]:
    """The comparisons that do nothing but choose the smaller or the larger of their operands: with the equality they
    choose the other one of two equal numbers."""
    compared, uses = {}, Counter()
    for line in lines:
        uses.update({*re.findall(r"%p\d+", line)})
        if (found := INSTRUCTION.match(line)) and re.match(r"setp\..*[su]\d+$", found[3]):  # equal floats may differ
            predicate, *numbers = operands(found[4])
            compared[predicate] = line, {*numbers}
    result = set()
    for line in lines:
        if (found := INSTRUCTION.match(line)) and found[3].startswith("selp."):
            _, *numbers, predicate = operands(found[4])
            if predicate in compared and compared[predicate][1] == {*numbers} and uses[predicate] == 2:
                result.add(compared[predicate][0])
    return result


def find_places(module: str, text: str) -> tuple[list[Place], dict[str, set[str]], set[str]]:
    """All faults of a module, the functions that each function names, and the kernels."""
    lines, places, calls, kernels = text.split("\n"), [], {}, set()
    spans = list(functions(text))
    names = {s[0] for s in spans}
    for name, entry, first, behind in spans:
        if entry:
            kernels.add(name)
        called, seen = set(), Counter()
        codes = [(number, opcode(lines[number])) for number in range(first, behind) if opcode(lines[number])]
        order = {number: i for i, (number, _) in enumerate(codes)}
        chosen = choices(lines[first:behind])
        for number in range(first, behind):
            line = lines[number]
            if (match := CALLED.match(line)) and match[1] in names:
                called.add(match[1])
            for kind, change, new in changes(line):
                if kind == "comparison" and line in chosen:
                    continue
                i = order[number]
                near = [" ".join(code for _, code in codes[a:b]) for a, b in ((max(0, i - 2), i), (i + 1, i + 3))]
                between = " _ ".join(near)
                same = (kind, change, plain(line), between)
                seen[same] += 1
                places.append(Place(module, name, number, kind, change, line, new, between, seen[same]))
        calls[name] = called
    return places, calls, kernels
