"""Says whether two builds generate the same PTX, whatever names their kernels, functions, types and files have.

    python tools/compare_ptx.py BEFORE AFTER [--rename OLD=NEW ...] [--diff LINES] [--names]

BEFORE and AFTER are folders of .ptx files. Make one before a change and one after it: run `nvcc -ptx` on each kernel
file with the build's own flags and one fixed `-arch`, or `cuobjdump -xptx all` on each object of a build that embeds
PTX. Both need the same compiler. Kernels may be divided into files differently.

Each entry (kernel) is compared with its closure: its text, then those of the functions and variables that it names,
directly or through others, in order of first reference. Names that the code chooses do not count: in a closure symbols,
labels, stack frames and prototypes are replaced by numbers in order of appearance, parameters by their position.
Comments, line information, linkage and white space are dropped, and a shared variable that the compiler moved into the
only function that uses it counts as one of the file. Registers stay, since each function numbers its own.

The closures of both folders are compared as multisets, so that kernels may change files. The remaining entries are
paired by demangled name (c++filt): first as it is after the --rename rules, which are regular expressions applied to
the names of BEFORE, then without namespaces. --names lists entries that equal one of another name: if all renames are
given as rules there is none, unless two kernels were exchanged. Exits with 1 when anything differs.
"""

import argparse
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import unified_diff
from functools import lru_cache
from hashlib import blake2b
from itertools import zip_longest
from pathlib import Path

# Comments are removed first, then white space around line ends, so that for the third pattern lines start with text.
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
LINE_END = re.compile(r"[ \t\r]*\n\s*")
LINE_INFORMATION = re.compile(r"\n(?:\.loc\b|\$L__(?:tmp|func_begin|func_end)\w*:)[^\n]*")

HEADER = re.compile(r"\s*(\.(?:version|target|address_size|pragma)\b[^\n]*)|\s*\.file\b[^\n]*")
LINKAGE = r"((?:\.(?:visible|extern|weak|common)\s+)*)"
LEAD = re.compile(rf"\s*{LINKAGE}\.(entry|func|global|const|shared|section)\b", re.ASCII)
FUNCTION_NAME = re.compile(r"\s*(?:\([^)]*\)\s*)?([\w$]+)", re.ASCII)
VARIABLE_NAME = re.compile(r"([\w$]+)\s*[\[=;]", re.ASCII)
BLOCK_OR_END = re.compile(r"[{;]")
BRACE = re.compile(r"[{}]")

# A shared variable that only one function uses is declared in the body of that function.
OWN_SHARED = re.compile(r"\n(\.shared\b[^;=\n]*?\b(_Z[\w$]+)\s*(?:\[[^;\n]*)?;)(?=\n)", re.ASCII)
# Names that start with _ or $: symbols, labels and stack frames. The lookbehind comes after the first character, so
# that the search can skip to that character.
NAME = r"[_$](?<![\w$%.][_$])[\w$]*"
# Labels of inline assembly, which may end in a number that counts through the file, and prototypes of calls.
PLAIN_LABEL = re.compile(r"^[{ \t]*([A-Za-z][\w$]*)[ \t]*:(?!:)", re.ASCII | re.MULTILINE)
DIRECTIVE = re.compile(r"(?:^|[{;])\s*\.[a-z]|:\s*\.(?:callprototype|branchtargets|calltargets)\b", re.MULTILINE)

NAMESPACE = re.compile(r"(?:\(anonymous namespace\)|\b[A-Za-z_]\w*)::", re.ASCII)


@dataclass(slots=True, eq=False)
class Piece:
    """An entry, a function or a variable of a file."""

    path: Path
    kind: str
    linkage: str
    name: str
    defined: bool
    digest: bytes = b""
    names: list[str] = field(default_factory=list)  # the symbols that it names, in order of their numbers in its text
    instructions: int = 0


@dataclass(slots=True, eq=False)
class Entry:
    piece: Piece
    closure: list[Piece]
    digest: bytes
    name: str = ""  # demangled and, in BEFORE, renamed
    bare: str = ""  # without namespaces


def block_end(text: str, start: int, path: Path) -> int:
    depth = 0
    for brace in BRACE.finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.end()
    sys.exit(f"{path}: the file ends inside a block")


def split(path: Path) -> tuple[frozenset[str], list[tuple[Piece, str]]]:
    """The header lines of a file, and its pieces with their texts, which start after the linkage."""
    text = COMMENT.sub("", path.read_text(encoding="latin-1"))
    text = LINE_INFORMATION.sub("", LINE_END.sub("\n", text)).rstrip()
    header, pieces, at = set(), [], 0
    while at < len(text):
        if line := HEADER.match(text, at):
            header |= {line[1]} - {None}
            at = line.end()
            continue
        lead = LEAD.match(text, at)
        stop = BLOCK_OR_END.search(text, at)
        if lead is None or stop is None:
            sys.exit(f"{path}: not understood: {text[at : at + 80].strip()!r}")
        linkage, kind, block = " ".join(lead[1].split()), lead[2], stop[0] == "{"
        at = block_end(text, stop.start(), path) if block else stop.end()
        if kind == "section":
            continue
        function = kind in ("entry", "func")
        if block and not function:
            at = text.index(";", at) + 1
        name = FUNCTION_NAME.match(text, lead.end()) if function else VARIABLE_NAME.search(text, lead.end(), at)
        if name is None:
            sys.exit(f"{path}: no name: {text[lead.start() : lead.start() + 80].strip()!r}")
        defined = block if function else "extern" not in linkage or kind == "shared"
        pieces.append((Piece(path, kind, linkage, name[1], defined), text[lead.start(2) - 1 : at]))
    return frozenset(header), pieces


def complete(piece: Piece, text: str, symbols: dict[str, Piece], plain: list[str], own: list[str]) -> str:
    """The canonical text of the piece, whose digest, names and instructions it sets."""
    if piece.defined or piece.name.startswith("_Z"):
        plain = plain + sorted(set(PLAIN_LABEL.findall(text)))
        words = "|".join(map(re.escape, sorted(plain, key=len, reverse=True)))
        pattern = re.compile(rf"{NAME}|(?<![\w$%.])(?:{words})(?:_param_\d+)?(?![\w$])" if words else NAME, re.ASCII)
        numbers: dict[str, str] = {}
        local: dict[str, str] = {}
        parameter = f"{piece.name}_param_"

        def canonical(match: re.Match[str]) -> str:
            word = match[0]
            if word in symbols:
                return numbers.setdefault(word, f"@{len(numbers)}")
            if word.startswith(parameter):
                return f"$param_{word.removeprefix(parameter)}"
            return word if word == "_" else local.setdefault(word, f"${len(local)}")  # "_" is an omitted operand

        text = pattern.sub(canonical, text)
        piece.names = [*numbers, *(name for name in own if name not in numbers)]
    # Otherwise the symbol belongs to the driver, such as vprintf, and its name says what is called.
    piece.digest = blake2b(text.encode(), digest_size=16).digest()
    if piece.defined and piece.kind in ("entry", "func"):
        body = text[text.index("{") :]
        piece.instructions = body.count(";") - len(DIRECTIVE.findall(body))
    return text


def read(path: Path) -> tuple[frozenset[str], dict[str, Piece], dict[str, str]]:
    """The header lines of a file, its pieces and their canonical texts, by name."""
    header, found = split(path)
    symbols: dict[str, Piece] = {}
    raw: dict[str, str] = {}
    own: dict[str, list[str]] = {}
    for piece, text in found:
        if piece.name in symbols and not piece.defined:
            continue  # a function may be declared before or after it is defined
        if piece.kind in ("entry", "func") and piece.defined:
            for declaration, name in OWN_SHARED.findall(text):
                symbols[name], raw[name] = Piece(path, "shared", "", name, True), declaration
                own.setdefault(piece.name, []).append(name)
            text = OWN_SHARED.sub("", text)
        symbols[piece.name], raw[piece.name] = piece, text
    plain = [name for name in symbols if name[0] not in "_$"]
    texts = {n: complete(p, raw.pop(n), symbols, plain, own.get(n, [])) for n, p in symbols.items()}
    return header, symbols, texts


@lru_cache(maxsize=4)
def texts_of(path: Path) -> dict[str, str]:
    """The canonical texts of a file, read again, since those of all files may not fit in memory."""
    return read(path)[2]


def close(piece: Piece, symbols: dict[str, Piece]) -> Entry:
    """The entry with its closure, whose digest covers the texts of its pieces and the numbers of their symbols."""
    numbers = {piece.name: 0}
    closure, sums = [piece], blake2b(digest_size=16)
    for member in closure:  # grows during the loop
        for name in member.names:
            if name not in numbers:
                numbers[name] = len(numbers)
                closure.append(symbols[name])
        sums.update(member.digest + repr([numbers[name] for name in member.names]).encode())
    return Entry(piece, closure, sums.digest())


class Folder:
    """The header lines, pieces and entries of all files of a folder."""

    def __init__(self, path: Path) -> None:
        self.headers: set[frozenset[str]] = set()
        self.pieces: list[Piece] = []
        self.entries: list[Entry] = []
        files = sorted(path.rglob("*.ptx"))
        if not files:
            sys.exit(f"{path}: no .ptx files")
        for file in files:
            header, symbols, _ = read(file)
            self.headers.add(header)
            self.pieces += symbols.values()
            self.entries += [close(p, symbols) for p in symbols.values() if p.kind == "entry"]
        self.instructions = sum(p.instructions for p in self.pieces)
        used = {id(p) for e in self.entries for p in e.closure}
        self.unused = sum(p.defined and id(p) not in used for p in self.pieces)
        self.undefined = {p.name for p in self.pieces if id(p) in used and not p.defined and p.name.startswith("_Z")}


def demangle(names: Iterable[str]) -> dict[str, str]:
    ordered = sorted(set(names))
    output = subprocess.run(["c++filt"], input="\n".join(ordered), capture_output=True, text=True, check=True).stdout
    return dict(zip(ordered, output.splitlines(), strict=True))


def pair(before: list[Entry], after: list[Entry]) -> tuple[list[tuple[Entry, Entry]], list[Entry], list[Entry]]:
    """Pairs of the same name, and the unpaired entries of both. Whole names are tried first."""
    pairs = []
    for attribute in ("name", "bare"):
        waiting: dict[str, list[Entry]] = defaultdict(list)
        for entry in reversed(after):
            waiting[getattr(entry, attribute)].append(entry)
        left = []
        for entry in before:
            partners = waiting.get(getattr(entry, attribute))
            if partners:
                pairs.append((entry, partners.pop()))
            else:
                left.append(entry)
        taken = {id(a) for _, a in pairs}
        before, after = left, [a for a in after if id(a) not in taken]
    return pairs, before, after


def lines_of(piece: Piece) -> list[str]:
    text = texts_of(piece.path)[piece.name]
    return (text if piece.kind in ("entry", "func") else text.replace(", ", ",\n")).split("\n")


def difference(before: Piece, after: Piece, limit: int) -> Iterator[str]:
    """The number of lines that differ, and a diff of at most `limit` lines from the first difference on."""
    left, right = lines_of(before), lines_of(after)
    removed, added = Counter(left) - Counter(right), Counter(right) - Counter(left)
    same = next((i for i, (x, y) in enumerate(zip_longest(left, right)) if x != y), 0)
    yield f"from line {same + 1} on, {removed.total()} lines only before, {added.total()} only after"
    # A window bounds the time that difflib takes for functions of many thousand lines.
    window = slice(max(same - 2, 0), same + max(4 * limit, 100))
    diff = [line for line in unified_diff(left[window], right[window], lineterm="", n=2) if line[:2] != "@@"][2:]
    yield from (f"    {line[:160]}" for line in diff[:limit])
    if len(diff) > limit:
        yield "    ..."


def show_difference(before: Entry, after: Entry, limit: int, shown: dict[str, str], seen: dict[tuple, str]) -> None:
    print(f"\ndiffers: {shown[before.piece.name]}")
    if shown[after.piece.name] != shown[before.piece.name]:
        print(f"  after: {shown[after.piece.name]}")
    counts = [sum(p.instructions for p in entry.closure) for entry in (before, after)]
    print(f"  {counts[0]} instructions before, {counts[1]} after, with all functions")
    both = {p.digest for p in before.closure} & {p.digest for p in after.closure}
    left, right = ([p for p in entry.closure if p.digest not in both] for entry in (before, after))
    if not left and not right:
        print("  the same functions and variables, which name each other differently")
    for x, y in zip_longest(left, right):
        if x is None or y is None:
            print(f"  only {'before' if y is None else 'after'}: {shown[(x or y).name]}")
            continue
        where = "the entry itself" if x.kind == "entry" else shown[x.name]
        if (x.digest, y.digest) in seen:
            print(f"  {where}: as shown for {seen[x.digest, y.digest]}")
            continue
        seen[x.digest, y.digest] = shown[before.piece.name]
        for i, line in enumerate(difference(x, y, limit)):
            print(line if i else f"  {where}: {line}")


def rule(text: str) -> tuple[re.Pattern[str], str]:
    old, equals, new = text.rpartition("=")  # the last =, since a regular expression may contain others
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not OLD=NEW")
    try:
        return re.compile(old), new
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{old!r}: {error}") from error


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("before", type=Path, metavar="BEFORE")
    parser.add_argument("after", type=Path, metavar="AFTER")
    parser.add_argument("--rename", type=rule, nargs="+", action="extend", default=[], metavar="OLD=NEW")
    parser.add_argument("--diff", type=int, default=12, metavar="LINES", help="lines of each diff (default 12)")
    parser.add_argument("--names", action="store_true", help="list entries that equal one of another name")
    arguments = parser.parse_args()

    before, after = Folder(arguments.before), Folder(arguments.after)
    shown = demangle(p.name for folder in (before, after) for p in folder.pieces)
    for folder, rules in ((before, arguments.rename), (after, [])):
        for entry in folder.entries:
            entry.name = shown[entry.piece.name]
            for old, new in rules:
                entry.name = old.sub(new, entry.name)
            entry.bare = NAMESPACE.sub("", entry.name)

    groups: dict[bytes, tuple[list[Entry], list[Entry]]] = defaultdict(lambda: ([], []))
    for side, folder in enumerate((before, after)):
        for entry in folder.entries:
            groups[entry.digest][side].append(entry)
    equal, others = [], []
    left_before: list[Entry] = []
    left_after: list[Entry] = []
    for group in groups.values():
        pairs, rest_before, rest_after = pair(*group)
        count = min(len(rest_before), len(rest_after))
        others += zip(rest_before[:count], rest_after[:count], strict=True)
        equal += pairs
        left_before += rest_before[count:]
        left_after += rest_after[count:]
    differing, only_before, only_after = pair(left_before, left_after)

    seen: dict[tuple, str] = {}
    for x, y in differing:
        show_difference(x, y, arguments.diff, shown, seen)
    for title, entries in (("before", only_before), ("after", only_after)):
        if entries:
            print(f"\nonly {title}:", *sorted(shown[e.piece.name] for e in entries), sep="\n  ")
    if arguments.names and others:
        print("\nequal under another name:")
        for x, y in others:
            print(f"  {shown[x.piece.name]}\n    {shown[y.piece.name]}")

    if differing or only_before or only_after or (arguments.names and others):
        print()
    for folder, title in ((before, "before"), (after, "after")):
        print(f"{title}: {len(folder.entries)} entries, {folder.instructions} instructions")
        if folder.unused:
            print(f"  not compared: {folder.unused} functions or variables that no entry names")
        if folder.undefined:
            print(f"  compared by declaration only: {len(folder.undefined)} symbols that their file does not define")
    linkage = sum(x.piece.linkage != y.piece.linkage for x, y in equal + others)
    print(
        f"equal: {len(equal) + len(others)} ({len(others)} under another name, {linkage} with another linkage), "
        f"differing: {len(differing)}, only before: {len(only_before)}, only after: {len(only_after)}"
    )
    if before.headers != after.headers:
        print("the versions or targets in the files' headers differ:")
        for folder, title in ((before, "before"), (after, "after")):
            print(f"  {title}: {' | '.join(sorted(', '.join(sorted(header)) for header in folder.headers))}")
    return int(bool(differing or only_before or only_after or before.headers != after.headers))


if __name__ == "__main__":
    sys.exit(main())
