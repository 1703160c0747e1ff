"""python walk.py [CLASS...]: uses objects whose __init__ never ran in every way, and prints the errors without a type.

Each use is written to stderr first, so that the last line there names what ended the process.
"""

import copy
import json
import operator
import pickle
import sys

import stator
from stator._creation import PinnedMemory
from stator._hints import MissingAttribute
from stator._interop import SharedMemory
from stator.errors import StatorError
from stator.graphs import Graph
from stator.memory._managed import HostView
from stator.programs import Diagnostics, Kernel, LaunchSequence, SequenceFuture, Step, WorkQueue

CLASSES = {
    "Array": stator.Array,
    "DType": stator.DType,
    "Backend": stator.Backend,
    "Stream": stator.Stream,
    "Event": stator.Event,
    "Generator": stator.random.Generator,
    "SparseMatrix": stator.sparse.CSR.__mro__[2],
    "Compressed": stator.sparse.CSR.__mro__[1],
    "CSR": stator.sparse.CSR,
    "CSC": stator.sparse.CSC,
    "COO": stator.sparse.COO,
    "TwoToFour": stator.sparse.TwoToFour,
    "SharedMemory": SharedMemory,
    "PinnedMemory": PinnedMemory,
    "HostView": HostView,
    "Diagnostics": Diagnostics,
    "Graph": Graph,
    "Kernel": Kernel,
    "LaunchSequence": LaunchSequence,
    "SequenceFuture": SequenceFuture,
    "Step": Step,
    "WorkQueue": WorkQueue,
}
SKIPPED = {"__class__", "__init__", "__new__", "__init_subclass__", "__subclasshook__", "__getattribute__"}
INTO = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift")
OTHERS = ("and_", "or_", "xor", "iand", "ior", "ixor", "eq", "ne", "lt", "le", "gt", "ge", "contains", "getitem")
BINARY = (*INTO, *(f"i{n}" for n in INTO), *OTHERS)


def enter(x):
    with x:
        pass


def uses(cls, whole):
    """name -> function of a half-made object, for everything that Python can do with one."""
    for name in dir(cls):
        if name in SKIPPED:
            continue
        yield f".{name}", lambda x, n=name: getattr(x, n)
        if callable(getattr(cls, name)):
            for arguments in ((), (1,), ("x",), (1, 2), (None,), whole):
                yield f".{name}{arguments!r:.60}", lambda x, n=name, a=arguments: getattr(x, n)(*a)
            yield f".{name}(itself)", lambda x, n=name: getattr(x, n)(x)
            yield f".{name}(itself, 1)", lambda x, n=name: getattr(x, n)(x, 1)
    for f in (repr, str, len, iter, list, hash, bool, int, float, complex, operator.index, operator.neg, abs, reversed,
              memoryview, copy.copy, copy.deepcopy, pickle.dumps, enter, lambda x: x[0], lambda x: x.unknown,
              lambda x: operator.setitem(x, 0, 1), lambda x: operator.setitem(x, slice(None), x)):  # fmt: skip
        yield getattr(f, "__name__", "f"), f
    for name in BINARY:
        f = getattr(operator, name)
        for i, other in enumerate((1, *whole, "text")):
            yield f"{name}(x, {i})", lambda x, f=f, o=other: f(x, o)
            yield f"{name}({i}, x)", lambda x, f=f, o=other: f(o, x)
        yield f"{name}(x, x)", lambda x, f=f: f(x, x)


def functions(whole):
    """The same, for every public function with the object among its arguments."""
    modules = (
        stator,
        stator.linalg,
        stator.fft,
        stator.nn,
        stator.random,
        stator.special,
        stator.sparse,
        stator.memory,
    )
    for module in modules:
        for name in module.__all__:
            f = getattr(module, name)
            if not callable(f) or isinstance(f, type):
                continue
            for before, after in (((), ()), ((), (1,)), ((), (1, 1)), ((), (whole[0],)), ((whole[0],), ()), ((1,), ())):
                yield (
                    f"{module.__name__}.{name}{len(before)}{len(after)}",
                    lambda x, f=f, b=before, a=after: f(*b, x, *a),
                )
            yield f"{module.__name__}.{name}(x, x)", lambda x, f=f: f(x, x)
            yield f"{module.__name__}.{name}(x, x, x)", lambda x, f=f: f(x, x, x)
            yield f"{module.__name__}.{name}([x])", lambda x, f=f: f([x])
            yield f"{module.__name__}.{name}(device=x)", lambda x, f=f: f((2,), device=x)


def known(x, use, error):
    """Errors by Python's own rules: attributes that no object of the class has, and classes that are not importable."""
    if "__del" in use:
        return isinstance(error, (AttributeError, NotImplementedError))
    if isinstance(error, AttributeError):
        there = getattr(type(x), error.name, None)
        return error.obj is x and (there is None or isinstance(there, MissingAttribute))
    return isinstance(error, pickle.PicklingError)


def main():
    wrong = {}
    with stator.Backend("cpu") as be, be.use():
        whole = (be.ones((3, 3)), stator.sparse.csr_from_dense(be.ones((3, 3))))
        for name in sys.argv[1:] or CLASSES:
            cls = CLASSES[name]
            makers = {"new": lambda c=cls: c.__new__(c), "sub": type("Sub", (cls,), {"__init__": lambda self: None})}
            for made, make in makers.items():
                for use, call in (*uses(cls, whole), *functions(whole)):
                    print(name, made, use, file=sys.stderr, flush=True)
                    x = make()
                    try:
                        call(x)
                    except (StatorError, TypeError):
                        pass
                    except Exception as error:  # reported to the test
                        if not known(x, use, error):
                            wrong[f"{name} {made} {use}"] = f"{type(error).__name__}: {error}"
            assert float(stator.sum(be.ones((3, 3)))) == 9
    print(json.dumps(wrong))


if __name__ == "__main__":
    main()
