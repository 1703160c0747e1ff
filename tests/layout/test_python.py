"""Imports of the Python package, by its sources: those inside functions and under TYPE_CHECKING count too."""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "python"
LONGEST = 12
# The package itself imports what it exports, so that only what stands above it may import it.
ABOVE = (
    *("stator.numpy", "stator.demo", "stator.prove", "stator.__main__"),
    *("stator._catalogue", "stator._verify", "stator._doctor"),
)


def name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {name(path): path for path in sorted(ROOT.glob("stator/**/*.py"))}


def module_of(dotted: str) -> str:
    """The module of a dotted name, which may be of something in it; "" for compiled and for foreign modules."""
    while dotted and dotted not in MODULES:
        if (ROOT / dotted.replace(".", "/")).with_suffix(".pyi").exists():
            return ""
        dotted = dotted.rpartition(".")[0]
    return dotted


def imports(module: str) -> set[str]:
    package = module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.Import):
            found |= {module_of(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parent = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1]) if node.level else ""
            base = ".".join(part for part in (parent, node.module) if part)
            found |= {module_of(f"{base}.{alias.name}") for alias in node.names}
    return found - {"", module}


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one module, by Tarjan's algorithm."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        number[module] = low[module] = len(number)
        stack.append(module)
        for other in edges[module]:
            if other not in number:
                visit(other)
            if other in stack:
                low[module] = min(low[module], low[other])
        if low[module] == number[module]:
            at = stack.index(module)
            found.append(stack[at:])
            del stack[at:]

    sys.setrecursionlimit(max(sys.getrecursionlimit(), 10 * len(edges)))
    for module in edges:
        if module not in number:
            visit(module)
    return [sorted(component) for component in found if len(component) > 1]


EDGES = {module: imports(module) for module in MODULES}


def test_imports_form_no_large_circle():
    below = {module: others - {"stator"} for module, others in EDGES.items() if module != "stator"}
    assert not [circle for circle in circles(below) if len(circle) > LONGEST]


def test_only_what_stands_above_the_package_imports_it():
    assert not [m for m, others in EDGES.items() if "stator" in others and not m.startswith(ABOVE)]


def test_a_circle_is_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]
