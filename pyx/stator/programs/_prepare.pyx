# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""What first calls would load and make, done before them."""
from difflib import get_close_matches

from stator._backend cimport Backend, as_backend, enter
from stator._convert cimport wrong_type
from stator.cpp cimport prepare as cpp
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.op_table cimport Op
from stator.cpp.std cimport vector

from stator._table import rows
from stator.errors import InvalidValueError


def numbers_of(ops: Sequence[str]) -> list[int]:
    """The numbers of ops in the op table, by the names of calls and of families."""
    cdef dict found = {}
    cdef list out = []
    for number, row in enumerate(rows()):
        for name in {row["call"], row["family"]}:
            found.setdefault(name, []).append(number)
    if not isinstance(ops, (list, tuple, set, frozenset)):
        raise wrong_type(ops, "Backend.graphs.prepare", "ops", "a list of names of ops")
    for name in ops:
        if not isinstance(name, str):
            raise wrong_type(name, "Backend.graphs.prepare", "ops", "a list of names of ops")
        if name not in found:
            near = " or ".join(get_close_matches(name, found, 3, 0.5)) or "one of stator.op_table()"
            raise InvalidValueError(f"There is no op {name!r}", op="Backend.graphs.prepare", remedy=f"Name {near}.")
        out += found[name]
    return out


def prepare(backend: Backend, ops: Sequence[str] | None) -> None:
    """What Backend.graphs.prepare does, on the current stream."""
    cdef Backend owner = as_backend(backend, "Backend.graphs.prepare")
    cdef vector[Op] chosen
    cdef CppStream stream
    cdef int number
    if ops is not None:
        for number in numbers_of(ops):
            chosen.push_back(<Op>number)
        if chosen.empty():
            return
    enter(owner, stream)
    with nogil:
        cpp.prepare(owner.c, chosen, stream)
