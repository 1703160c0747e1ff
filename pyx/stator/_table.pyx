# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""The compiled op table, the build, and the vendor libraries."""
from stator.cpp cimport libraries as cpp_libraries
from stator.cpp cimport op_table
from stator.cpp.dtype cimport dtype_count
from stator.cpp.std cimport decoded, vector
from stator.cpp.version cimport build_info

from stator._dtype import all_dtypes


cdef extern from "stator/op_accuracy.hpp" namespace "stator" nogil:
    double error_per_term(op_table.Op)


cdef str text(op_table.string_view view):
    return view.data()[:view.size()].decode()


def rows() -> list[dict[str, Any]]:
    """One dict per op of the table, in its order."""
    cdef const op_table.OpInfo* info
    cdef int i, d
    cdef list out = []
    targets = ["cuda", "host"] if build_info().cuda else ["host"]
    for i in range(op_table.op_count):
        info = &op_table.op_info(<op_table.Op>i)
        out.append({
            "name": text(info.name),
            "call": text(info.call),
            "family": text(op_table.family_name(info.family)),
            "shape_class": text(op_table.shape_class_name(info.shape_class)),
            "dtypes": [all_dtypes[d].name for d in range(dtype_count) if info.dtypes >> d & 1],
            "result": text(op_table.result_name(info.result)),
            "oracle": text(info.oracle),
            "tolerance": {"float32": info.tolerance.float32, "float64": info.tolerance.float64},
            "error_per_term": error_per_term(<op_table.Op>i),
            "targets": targets,
            "sync": "sync" if <int>info.sync else "async",
            "capture": "not_capturable" if <int>info.capture else "capturable",
            "determinism": text(op_table.determinism_name(info.determinism)),
            "launches": {"host": info.launches.host, "cuda": info.launches.cuda},
            "summary": text(info.summary),
        })
    return out


def build() -> dict[str, Any]:
    """The version, the compiler of the host targets, whether there is a cuda target, and what has machine code."""
    return {"version": build_info().version.decode(), "cuda": build_info().cuda,
            "compiler": build_info().compiler.decode(),
            "machine_code": build_info().machine_code.decode().split()}


def libraries(load: bool = False) -> list[dict[str, Any]]:
    """One dict per vendor library: name, found, path, version, remedy, substitute and wheel_file.

    load: opens each library, which gives its version.
    """
    cdef vector[cpp_libraries.LibraryInfo] found
    cdef bint opening = load
    cdef size_t i
    with nogil:
        found = cpp_libraries.libraries(opening)
    return [{"name": decoded(found[i].name), "found": found[i].found, "path": decoded(found[i].path),
             "version": decoded(found[i].version), "remedy": decoded(found[i].remedy),
             "substitute": decoded(found[i].substitute), "wheel_file": decoded(found[i].wheel_file)}
            for i in range(found.size())]


def set_library_path(name: str, path: str) -> None:
    """Sets the path of a vendor library, for when it is opened."""
    cdef bytes first = name.encode(), second = path.encode()
    cpp_libraries.set_library_path(<const char*>first, <const char*>second)
