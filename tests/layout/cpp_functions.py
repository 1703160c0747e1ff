"""The functions of a C++ source, found by matching brackets: no compiler, no preprocessor."""

import re
from typing import NamedTuple

BLANKED = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])*\''
    r"|^[ \t]*#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
NUMBERS = re.compile(r"[\s{},.\da-fA-FxX+-]*\d[\s{},.\da-fA-FxX+-]*;?")
# What a parenthesis after it does not make a function of.
PREFIXES = re.compile(
    r"(?:\b(?:requires|decltype|alignas|noexcept|explicit|sizeof|__attribute__|if|for|while|switch|catch|static_assert)"
    r"|\bSTATOR_[A-Z_]+)\s*$"
)
SCOPE = re.compile(
    r"^(?:inline\s+)?(?:namespace|extern\b|(?:template\b.*)?(?:struct|class|union)\b(?![^()]*\())", re.DOTALL
)


class Function(NamedTuple):
    name: str
    head: str  # all text before the parameters
    parameters: int
    line: int
    lines: int  # without tables of numbers; 0 of a declaration
    unbroken: int  # the most lines without a comment between them


def blank(text: str) -> str:
    """The text without comments, strings and directives, each line where it was."""
    return BLANKED.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def close_of(text: str, start: int, pair: str) -> int:
    """The position of the bracket that closes the one at `start`."""
    depth = 0
    for match in re.compile("[" + re.escape(pair) + "]").finditer(text, start):
        depth += 1 if match.group() == pair[0] else -1
        if depth == 0:
            return match.start()
    return len(text) - 1


def without_arguments(text: str) -> str:
    """The text without what is in brackets of any kind."""
    before = None
    while before != text:
        before, text = text, re.sub(r"<[^<>(){}]*>|\([^<>(){}]*\)|\{[^<>(){}]*\}", "", text)
    return text


def parameters_of(text: str) -> int:
    text = without_arguments(text.replace("->", "").replace("<=", "").replace(">=", "")).strip()
    return 0 if text in ("", "void") else text.count(",") + 1


def signature(statement: str) -> tuple[str, str, int] | None:
    """Name, head and number of parameters of the function that the statement declares, if it declares one."""
    start = 0
    while (start := statement.find("(", start)) >= 0:
        end = close_of(statement, start, "()")
        head = statement[:start]
        if not PREFIXES.search(head):
            named = re.search(r"(operator\s*[^\s\w]+|~?\w+)\s*$", head)
            if not named or re.search(r"(?<!operator)=(?!=)", without_arguments(head)):
                return None
            return named.group(1), head, parameters_of(statement[start + 1 : end])
        start = end
    return None


def functions(source: str) -> list[Function]:
    """Declarations and definitions in namespaces and classes; what is in bodies is theirs."""
    text = blank(source).replace("operator()", "operator__")  # no parameters yet
    found = []
    begin = position = 0
    while position < len(text):
        mark = text[position]
        if mark == "(":
            position = close_of(text, position, "()")
        elif mark in ";}" or (mark == ":" and re.fullmatch(r"\s*(public|private|protected)\s*", text[begin:position])):
            add(found, (source, text), begin, position, position)
            begin = position + 1
        elif mark == "{":
            statement = text[begin:position].strip()
            if not SCOPE.match(statement):
                end = close_of(text, position, "{}")
                following = re.compile(r"\s*[,{]").match(text, end + 1)
                if following and ")" in statement and re.search(r"\)\s*:[^:]", statement):  # initialisers of members
                    position = end + 1
                    continue
                add(found, (source, text), begin, position, end)
                position = end
            begin = position + 1
        position += 1
    return found


def add(found: list[Function], texts: tuple[str, str], begin: int, head_end: int, end: int) -> None:
    source, text = texts
    statement = text[begin:head_end]
    begin += len(statement) - len(statement.lstrip())
    if (statement := statement.strip()) and (signed := signature(statement)):
        line = text.count("\n", 0, begin) + 1
        body = source[begin : end + 1].splitlines() if text[head_end] == "{" else []
        body = [row for row in body if not NUMBERS.fullmatch(row)]
        unbroken = max((len(part) for part in phases(body)), default=0)
        found.append(Function(*signed, line, len(body), unbroken))


def phases(body: list[str]) -> list[list[str]]:
    """The lines between those that are comments."""
    parts: list[list[str]] = [[]]
    for row in body:
        if row.lstrip().startswith("//"):
            parts.append([])
        else:
            parts[-1].append(row)
    return parts
