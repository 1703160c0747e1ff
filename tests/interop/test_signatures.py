"""inspect.signature works for every public callable, and says what the stubs say."""

import ast
import inspect
from pathlib import Path

import pytest

import stator

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("errors", "fft", "linalg", "memory", "nn", "random", "sparse", "special", "testing")
NAMESPACES = {"stator": stator, **{name: getattr(stator, name) for name in NAMES}}


def public():
    """Every public function, class and method by its dotted name."""
    found = {}
    for prefix, module in NAMESPACES.items():
        for name in module.__all__:
            value = getattr(module, name)
            if not callable(value):
                continue
            found[f"{prefix}.{name}"] = value
            if isinstance(value, type) and not issubclass(value, (tuple, BaseException)):
                for member in dir(value):
                    if not member.startswith("_") and callable(getattr(value, member)):
                        found[f"{prefix}.{name}.{member}"] = getattr(value, member)
    return found


PUBLIC = public()


def has_signature(value):
    try:
        inspect.signature(value)
    except ValueError:
        return False
    return True


def test_every_public_callable_has_a_signature():
    assert len(PUBLIC) > 400
    assert [name for name, value in PUBLIC.items() if not has_signature(value)] == []


def parameters(signature):
    """Name, kind and default of each parameter."""
    return [(p.name, p.kind, p.default) for p in signature.parameters.values()]


def declared(node):
    """The signature of a function of a stub."""
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    scope = {}
    exec(f"def f({ast.unparse(node.args)}): pass", scope)
    return parameters(inspect.signature(scope["f"]))


def built(owner, name):
    if not isinstance(owner, type):
        return parameters(inspect.signature(getattr(owner, name)))
    if name == "__init__":  # the class has the signature of its constructor
        return parameters(inspect.signature(owner))
    return parameters(inspect.signature(getattr(owner, name)))[1:]


def last_overloads(body):
    """What a stub declares, of a function with overloads the last one, which takes all arguments."""
    functions = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
    return [node for node in body if not isinstance(node, ast.FunctionDef) or functions[node.name] is node]


def pairs(module, tree):
    """The functions and methods of a stub, with the objects that have them."""
    for node in last_overloads(tree.body):
        if isinstance(node, ast.FunctionDef):
            yield module, node
        elif isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and not member.decorator_list:
                    yield getattr(module, node.name), member


def stubs():
    tables = {"": stator, "_linalg": stator.linalg, "_nn": stator.nn, "_special": stator.special}
    package = ROOT / "python" / "stator"
    for path in sorted([*package.glob("*.pyi"), *package.glob("nn/*.pyi")]):
        name = path.stem.removeprefix("_table_functions")
        module = ".".join(("stator", *path.relative_to(package).with_suffix("").parts))
        yield path, tables[name] if name != path.stem else __import__(module, fromlist=["_"])


@pytest.mark.parametrize(("path", "module"), [pytest.param(*m, id=m[0].stem) for m in stubs()])
def test_signatures_are_those_of_the_stub(path, module):
    for owner, node in pairs(module, ast.parse(path.read_text())):
        if node.name == "__init__" or not node.name.startswith("_"):
            without_self = declared(node)[isinstance(owner, type) :]
            assert built(owner, node.name) == without_self, f"{path.stem}: {owner.__name__}.{node.name}"


def test_a_bound_method_leaves_out_its_array(be):
    assert list(inspect.signature(be.zeros((2,)).astype).parameters) == ["dtype", "order", "casting", "subok", "copy"]
