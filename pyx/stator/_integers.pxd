# Integers of stator.nn, where True is a mistake and not 1.
from libc.stdint cimport int64_t

from stator._convert cimport to_int as to_any_int, wrong_type
from stator.cpp.std cimport optional


cdef inline int64_t to_int(object value, str op, str name="axis") except? -1:
    if isinstance(value, bool):
        raise wrong_type(value, op, name, "an integer")
    return to_any_int(value, op, name)


# None: nothing.
cdef inline int to_optional_int(object value, optional[int64_t]& out, str op, str name) except -1:
    if value is not None:
        (&out)[0] = optional[int64_t](to_int(value, op, name))
    return 0
