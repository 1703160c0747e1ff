# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Element types."""
import reprlib

import numpy as np

from stator.cpp.std cimport vector

from stator.errors import DTypeError, InvalidValueError, LibraryNotFoundError, StatorError, renamed


cdef class DType:
    """DType()\n--\n
    An element type, which makes arrays when it is called.

    Equal to the NumPy dtype, the scalar type and the names ("float32", "f4") of the same type, with the NumPy dtype's
    hash. Its attributes that NumPy's have, such as kind, char, str and type, are those of the NumPy dtype; of bfloat16,
    which NumPy does not have, kind is "f", char "E" and str "<V2", as of ml_dtypes but for the kind."""

    def __init__(self) -> None:
        raise TypeError("DType has no constructor. Use stator.float32, ... or stator.dtype('float32').")

    def numpy(self) -> numpy.dtype:
        """The NumPy dtype; for bfloat16 that of ml_dtypes."""
        if self.code == cpp.bfloat16:
            return np.dtype(find_bfloat16())
        if self.numpy_dtype is None:
            self.numpy_dtype = np.dtype(self.name)
        return self.numpy_dtype

    @property
    def dtype(self) -> numpy.dtype:
        """The NumPy dtype, as numpy(): the attribute that numpy.dtype() reads."""
        return self.numpy()

    @property
    def type(self) -> Any:
        """NumPy's class of scalars of this type, as numpy.dtype.type."""
        return self.numpy().type

    @property
    def kind(self) -> str:
        """A letter, as numpy.dtype.kind: "b" for bool, "i", "u", "f" or "c"; isdtype has the array API's names."""
        return kinds[<int>cpp.kind_of(self.code)]

    @property
    def char(self) -> str:
        """A letter for each type, as numpy.dtype.char."""
        return "E" if self.code == cpp.bfloat16 else self.numpy().char

    def __call__(self, value: object, /) -> Array:
        """An array of this type with the value: numpy.float32(x), with a 0-d array where NumPy has a scalar.

        Of an array as astype, of anything else as asarray, on the current backend.
        """
        from stator._array import Array
        from stator._creation import asarray
        try:
            return value.astype(self) if isinstance(value, Array) else asarray(value, dtype=self)
        except StatorError as error:
            raise renamed(error, self.name) from None

    def __getattr__(self, name: str) -> Any:
        # As an attribute of the class it would be the signature of the constructor.
        if name == "__signature__":
            import inspect
            return inspect.Signature([inspect.Parameter("value", inspect.Parameter.POSITIONAL_ONLY)])
        if not isinstance(name, str):
            raise TypeError("The name of an attribute is a string")
        if name in numpy_attributes:  # "str" as a property of the class would hide the type in annotations
            return "<V2" if name == "str" and self.code == cpp.bfloat16 else getattr(self.numpy(), name)
        raise AttributeError(f"A DType has no attribute {name!r}", name=name, obj=self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self is other
        try:
            return find(other) is self
        except (TypeError, ValueError):  # what NumPy raises for an object that looks like a dtype, and is none
            return False

    def __hash__(self) -> int:
        try:
            return hash(self.numpy())
        except LibraryNotFoundError:  # of bfloat16, which then equals no other object but its name
            return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"stator.{self.name}"

    def __reduce__(self):
        return dtype, (self.name,)


cdef object find_bfloat16():
    try:
        import ml_dtypes
    except ImportError:
        raise LibraryNotFoundError("NumPy has no bfloat16 of its own", op="DType.numpy",
                                   remedy="Run pip install ml_dtypes, or use astype('float32') first.") from None
    return ml_dtypes.bfloat16


cdef str kinds = "biufc"  # in the order of Kind
cdef frozenset numpy_attributes = frozenset(("str", "num", "alignment", "byteorder", "isnative", "hasobject", "fields",
                                             "names", "shape", "ndim", "base", "subdtype", "isbuiltin", "descr"))


cdef tuple make_dtypes():
    cdef list out = []
    cdef DType made
    cdef int i
    for i in range(cpp.dtype_count):
        made = DType.__new__(DType)
        made.code = <cpp.DType>i
        made.name = cpp.name(made.code).data().decode()[:cpp.name(made.code).size()]
        made.itemsize = cpp.itemsize(made.code)
        out.append(made)
    return tuple(out)


all_dtypes = make_dtypes()
cdef tuple table = all_dtypes
cdef dict lookup = {d.name: d for d in all_dtypes}
lookup.update({bool: lookup["bool"], int: lookup["int64"], float: lookup["float64"], complex: lookup["complex128"]})


cdef DType find(object value):
    # None for a dtype that stator does not have, and for what is not a dtype at all.
    try:
        found = lookup.get(value)
        if found is not None or value is None:
            return found
        spec = np.dtype(value)
    except Exception:  # of any type: NumPy reads the attributes of any object
        return None
    found = lookup.get(spec.name) if spec.isnative else None
    # NumPy takes microseconds for a name. Other spellings are few, but for invented ones.
    if found is not None and len(lookup) < 200 and (type(value) is str or isinstance(value, (np.dtype, type))):
        lookup[value] = found
    return found


cdef DType wrap_dtype(cpp.DType code):
    return <DType>table[<int>code]


cdef int as_dtype(object value, str op="dtype", str name="dtype") except -1:
    if isinstance(value, DType):
        return <int>(<DType>value).code
    try:
        found = find(value)
    except (TypeError, ValueError):
        found = None
    if found is None:
        given = f"of type {type(value).__name__}" if hasattr(type(value), "__array__") else reprlib.repr(value)
        raise DTypeError(f"The {name} {given} is not an element type of stator", op=op,
                         remedy=f"Pass one of {', '.join(d.name for d in all_dtypes)}.")
    return <int>(<DType>found).code


def dtype(value: DTypeLike, /) -> DType:
    """The DType of a name ("float32", or as NumPy has it "f4", "single"), a NumPy dtype or a Python type.

    >>> stator.dtype("f4"), stator.dtype(int)
    (stator.float32, stator.int64)
    """
    return table[as_dtype(value, "dtype")]


cdef cpp.DType with_number(cpp.DType code, int number):
    """The promoted dtype of arrays and a weak Python number."""
    cdef cpp.Kind kind = cpp.kind_of(code)
    if number == 1 and kind == cpp.boolean:
        return cpp.int64
    if number == 2 and kind not in (cpp.floating, cpp.complex_floating):
        return cpp.float64
    if number == 3 and kind != cpp.complex_floating:
        return cpp.complex64 if code in (cpp.float16, cpp.bfloat16, cpp.float32) else cpp.complex128
    return code


def result_type(*dtypes: DTypeLike | Array | complex) -> DType:
    """The dtype that numpy.result_type gives for these dtypes, arrays and Python numbers, which are weak.

    A NumPy scalar counts by its dtype.

    >>> stator.result_type("int32", "float32")
    stator.float64
    """
    cdef vector[cpp.DType] codes
    cdef int number = 0  # 1 integer, 2 float, 3 complex
    for entry in dtypes:
        if isinstance(entry, (bool, int, float, complex)) and not isinstance(entry, np.generic):
            number = max(number, 0 if isinstance(entry, bool) else 1 if isinstance(entry, int)
                         else 2 if isinstance(entry, float) else 3)
            continue
        spec = entry if isinstance(entry, (DType, str, type, np.dtype)) else getattr(entry, "dtype", entry)
        codes.push_back(<cpp.DType>as_dtype(spec, "result_type"))
    if codes.empty():
        raise InvalidValueError("no dtype given", op="result_type", remedy="Give arrays or dtypes.")
    return wrap_dtype(with_number(cpp.promote(codes), number))
