"""The folder of every public name follows from the name: the section Names of docs/architecture.md."""

import ast
import re

import pytest

from tests.layout.test_layout import CSRC, ENTRY, FAMILIES, FILES, OPS, ROOT, SERVICES, code, name, under

PUBLIC = CSRC / "include/stator"
GENERATED = {"UNARY", "BINARY", "TERNARY", "QUATERNARY", "SELECT", "REDUCE"}
PAGE = (ROOT / "docs/architecture.md").read_text().partition("\n## Names\n")[2].partition("\n## ")[0]


def listed(row: str) -> set[str]:
    """The names in backticks of a row of the page."""
    return set(re.findall(r"`([\w.]+)`", re.search(rf"^\| {row} \| (.*) \|$", PAGE, re.MULTILINE)[1]))


def calls() -> list[tuple[str, str, bool]]:
    """(family, name below stator, whether it is bound by hand) of the entries of the op table, but methods."""
    found = []
    for path in sorted((PUBLIC / "ops").glob("*.def")):
        for block in re.split(r"^(?=#define MODULE )", path.read_text(), flags=re.MULTILINE):
            module = re.match(r'#define MODULE "(.*)"', block)
            for kind, op, rest in ENTRY.findall(block):
                call = re.search(r'\bcall\("([\w.]+)"\)', rest)
                if kind != "METHOD":
                    below = call[1] if call else (module[1] if module else "") + op
                    found.append((path.stem, below, kind not in GENERATED))
    return found


CALLS = calls()
OF_NN = [family for family in FAMILIES if (PUBLIC / f"nn/{family}.hpp").is_file()]
PYX = {name(p): p.read_text() for p in FILES if p.suffix in (".pyx", ".pxi") and name(p).startswith("pyx/")}


def folder_of(family: str) -> str:
    return "pyx/stator/nn/" if family in OF_NN else "pyx/stator/"


@pytest.mark.parametrize("family", FAMILIES)
def test_functions_are_bound_in_the_modules_of_their_family(family):
    texts = [t for n, t in PYX.items() if re.fullmatch(rf"{folder_of(family)}_{family}(_\w+)?\.pyx", n)]
    names = {
        call.rpartition(".")[2]
        for f, call, by_hand in CALLS
        if by_hand and f == family and not call.startswith("Array.")
    }
    defined = {n for text in texts for n in re.findall(r"^ *(?:c|cp)?def (?:\w+ )?(\w+)\(", text, re.MULTILINE)}
    assert texts
    assert not names - defined


def test_every_op_is_read():
    assert len(CALLS) == len(ENTRY.findall(OPS)) - len(re.findall(r"^METHOD\(", OPS, re.MULTILINE))
    assert {family for family, _, _ in CALLS} == {*FAMILIES}


def test_names_of_stator_are_those_of_their_family():
    """What the package imports from a module of a family is in the family's part of the op table, or helps with it."""
    tree = ast.parse((ROOT / "python/stator/__init__.py").read_text())
    for node in ast.walk(tree):
        module = node.module if isinstance(node, ast.ImportFrom) and node.module else ""
        family = next((f for f in FAMILIES if re.fullmatch(rf"stator\._{f}(_\w+)?", module)), None)
        if family and not module.startswith("stator._table"):
            ours = {call for f, call, _ in CALLS if f == family}
            assert {alias.name for alias in node.names} - ours <= listed("functions without an entry"), module


DECLARED = re.compile(r"\bSTATOR_API\s+(?!class|struct)[\w:<>,&*\s]+?\b(\w+)\(")


@pytest.mark.parametrize("header", [name(p) for p in under("csrc/include/stator", suffixes=(".hpp",))])
def test_headers_are_defined_in_the_folder_of_their_name(header):
    """Of a family in csrc/ops, of a service in its folder. Headers of kernels declare nothing of the library."""
    folder, _, stem = header.removeprefix("csrc/include/stator/").removesuffix(".hpp").rpartition("/")
    names = set(DECLARED.findall(code(ROOT / header)))
    if stem in FAMILIES and folder == ("nn" if stem in OF_NN else ""):
        room = f"csrc/ops/{stem}"
    elif folder in SERVICES:
        room = f"csrc/{folder}"
    else:
        assert folder in ("", "device")
        assert not names if folder else stem in listed("headers of no family and no service")
        return
    text = "\n".join(code(p) for p in under(room, suffixes=(".cpp", ".hpp")))
    defined = set(re.findall(r"\b(\w+)\(", text))
    for macro in set(re.findall(r"#define (\w+)\(name\b", text)):  # STATOR_CONVOLUTION(conv1d, ...)
        made = re.findall(rf"^{macro}\((\w+)", text, re.MULTILINE)
        defined |= {*made, *(f"{n}_backward" for n in made)}
    assert names - defined <= listed("functions defined elsewhere"), room


def test_listed_headers_exist():
    assert not {
        stem for stem in listed("headers of no family and no service") if not (PUBLIC / f"{stem}.hpp").is_file()
    }


def test_public_modules_are_families_services_or_listed():
    modules = {n.split("/")[2].removesuffix(".py") for n in map(name, FILES) if re.match(r"python/stator/[a-z]", n)}
    modules.remove("py.typed")
    ops = {call.partition(".")[0] for _, call, _ in CALLS if "." in call}
    assert modules - set(FAMILIES) - set(SERVICES) - ops == listed("modules of no family and no service")


def test_pages_are_services_folders_or_listed():
    pages = {name(p)[len("docs/") : -len(".md")] for p in FILES if p.suffix == ".md" and name(p).startswith("docs/")}
    single = {page for page in pages if "/" not in page}
    folders = {page.partition("/")[0] for page in pages - single}
    assert folders - set(SERVICES) == listed("folders of pages by kind")
    assert single - set(SERVICES) == listed("pages of no service")
