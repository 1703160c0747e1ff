"""NumPy's names that are not here, and why."""

from __future__ import annotations

from stator.numpy._rows import absent

absent("There are no matrices apart from arrays of two axes.", "asmatrix", "bmat", "matrix")
absent(
    "There are no dates on a device.",
    *("busday_count", "busday_offset", "busdaycalendar", "is_busday", "datetime_as_string", "datetime_data"),
    *("isnat", "datetime64", "timedelta64"),
)
absent(
    "Kernels keep no state of floating-point errors; integer division by zero warns.",
    *("seterr", "geterr", "seterrcall", "geterrcall", "errstate"),
)
absent("Ops have no buffer to size.", "setbufsize", "getbufsize")
absent("It would call Python for each element.", "frompyfunc", "vectorize", "nditer", "nested_iters", "ndenumerate")
absent("It would call Python for each element.", "flatiter", "broadcast")
absent("It parses text with regular expressions; use numpy.fromregex and asarray.", "fromregex")
absent("It describes NumPy's own build.", "get_include", "show_config", "show_runtime", "test", "info", "testing")
absent("It describes NumPy's own build.", "__version__", "__array_namespace_info__", "f2py", "ctypeslib")
absent(
    "There are no texts, objects, structures or longer floats on a device.",
    *("character", "char", "str_", "bytes_", "void", "object_", "flexible", "strings", "rec", "recarray", "record"),
    *("longdouble", "clongdouble", "float128", "complex256"),
)
absent("There are no masked arrays; use nan-functions or where=.", "ma")
absent("Memory is not mapped from files; use load.", "memmap")
absent(
    "There are no scalar classes; dtypes are stator's.", "sctypeDict", "ScalarType", "dtypes", "exceptions", "typing"
)
absent("It is an internal or an outdated namespace of NumPy.", "core", "emath", "polynomial")
absent(
    "Polynomials are vectors of coefficients here; use polyval, polyadd, polymul, polyder, polyint and roots.", "poly1d"
)
