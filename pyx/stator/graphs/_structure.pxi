# Nested tuples, lists and dicts as the arrays in them, and as what they are beside these. Included by _graph.pyx.

cdef enum:
    deepest = 200  # levels, since each takes a part of the thread's stack

cdef object generic = np.generic, float64 = np.float64, complex128 = np.complex128
cdef tuple extended = (np.longdouble, np.clongdouble)  # some bytes of these have no meaning
cdef tuple plain = (bool, int, str, bytes, type(None), type(...))

cdef extern from *:
    """
    namespace {
    void put(std::string& to, char tag) { to.push_back(tag); }
    void put_address(std::string& to, const void* address) {
      to.append(reinterpret_cast<const char*>(&address), sizeof address);
    }
    bool is_equal(const std::string& a, const std::string& b) { return a == b; }
    size_t hash_of(const std::string& text) { return std::hash<std::string>()(text); }
    }
    """
    void put(string&, char) except +translate_exception
    void put_address(string&, const void*) except +translate_exception
    bint is_equal(const string&, const string&) noexcept
    size_t hash_of(const string&) noexcept


cdef int require_room(int depth) except -1:
    if depth == deepest:
        raise InvalidValueError(f"Tuples, lists and dicts are nested deeper than {deepest} levels", op="graph",
                                remedy="Give flatter ones.")
    return 0


cdef class Structure:
    """Structure()\n--\n
    Nested tuples, lists and dicts without their arrays. Two are equal if a function cannot tell the values in them
    apart: of one type, and of the same bits."""
    # One tag for each value: a (array), u (str), i (int), b (bool), c (another constant), { and }, ( and ), [ and ),
    # or s and ) of a class derived from tuple or list. A key has the kinds of the arrays after them.
    cdef string tags
    cdef list keys    # of the constants, and the classes of s: what is compared; None if there are none
    cdef list values  # the constants, and the classes of s; None if there are none
    cdef list kinds   # positions and classes of those derived from dict, which only keys distinguish; or None
    cdef Py_hash_t hashed  # 0 until it is known

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Structure) and is_equal(self.tags, (<Structure>other).tags)
                and self.keys == (<Structure>other).keys)

    def __hash__(self) -> int:
        if self.hashed == 0:
            self.hashed = hash(tuple(self.keys or ())) ^ <Py_hash_t>hash_of(self.tags)
        return self.hashed


cdef int64_t bits_of(double value) noexcept:
    cdef int64_t out
    memcpy(&out, &value, sizeof(out))
    return out


# Equal for values that nothing tells apart. Of other classes, what their __eq__ says.
cdef object key_of(object value, int depth):
    cdef object kind = type(value)
    if kind in plain:
        return kind, value
    if kind is float or kind is float64:
        return kind, bits_of(value)
    if kind is complex or kind is complex128:
        return kind, bits_of(value.real), bits_of(value.imag)
    if isinstance(value, generic):
        return kind, value.dtype.str, repr(value) if isinstance(value, extended) else value.tobytes()
    if isinstance(value, float):
        return kind, bits_of(value), value
    if isinstance(value, Decimal):
        return kind, str(value)
    if kind is range or kind is slice:
        return kind, *keys_of((value.start, value.stop, value.step), depth)
    if kind is frozenset:
        return kind, frozenset(keys_of(value, depth))
    if kind is tuple:
        return kind, *keys_of(value, depth)
    if hasattr(kind, "__dataclass_params__") and kind.__dataclass_params__.frozen and kind.__dataclass_params__.eq:
        return kind, *keys_of([getattr(value, field.name) for field in fields(value)], depth)
    return kind, value


cdef list keys_of(object values, int depth):
    require_room(depth)
    return [key_of(value, depth + 1) for value in values]


cdef int add_key(Structure to, object key, object value) except -1:
    if to.keys is None:
        to.keys, to.values = [], []
    to.keys.append(key)
    to.values.append(value)
    return 0


cdef int add_constant(Structure to, object value, int depth) except -1:
    cdef object kind = type(value)
    cdef char tag = b"u" if kind is str else b"i" if kind is int else b"b" if kind is bool else b"c"
    put(to.tags, tag)
    return add_key(to, key_of(value, depth) if tag == b"c" else value, value)


cdef int add_items(Structure to, object items, list arrays, int depth) except -1:
    require_room(depth)
    for item in items:
        add_value(to, item, arrays, depth + 1)
    put(to.tags, b")")
    return 0


cdef int add_mapping(Structure to, object mapping, list arrays, int depth) except -1:
    require_room(depth)
    put(to.tags, b"{")
    for key, value in mapping.items():
        add_constant(to, key, depth)
        add_value(to, value, arrays, depth + 1)
    put(to.tags, b"}")
    return 0


cdef int add_value(Structure to, object value, list arrays, int depth) except -1:
    cdef object kind = type(value)
    if isinstance(value, Array):
        put(to.tags, b"a")
        arrays.append(value)
    elif kind is tuple or kind is list:
        put(to.tags, b"(" if kind is tuple else b"[")
        add_items(to, value, arrays, depth)
    elif isinstance(value, (tuple, list)):
        put(to.tags, b"s")
        add_key(to, kind, kind)
        add_items(to, value, arrays, depth)
    elif isinstance(value, dict):
        if kind is not dict:
            to.kinds = [*(to.kinds or ()), to.tags.size(), kind]
        add_mapping(to, value, arrays, depth)
    else:
        add_constant(to, value, depth)
    return 0


def flatten(value: object) -> tuple[list[Array], Structure]:
    """The arrays in nested tuples, lists and dicts, and the structure. InvalidValueError for too many levels."""
    cdef list arrays = []
    cdef Structure out = Structure.__new__(Structure)
    add_value(out, value, arrays, 0)
    return arrays, out


# Where unflatten() is in the tags, the constants and the arrays.
cdef struct Position:
    size_t tag, value, array


cdef object restored(Structure of, list arrays, Position* at):
    cdef char tag = of.tags.data()[at.tag]
    cdef object kind
    at.tag += 1
    if tag == b"a":
        at.array += 1
        return arrays[at.array - 1]
    if tag == b"{":
        mapping = {}
        while of.tags.data()[at.tag] != b"}":
            key = restored(of, arrays, at)
            mapping[key] = restored(of, arrays, at)
        at.tag += 1
        return mapping
    if tag == b"(":
        return tuple(items_of(of, arrays, at))
    if tag == b"[":
        return items_of(of, arrays, at)
    at.value += 1
    if tag != b"s":
        return of.values[at.value - 1]
    kind = of.values[at.value - 1]
    items = items_of(of, arrays, at)
    return kind(*items) if hasattr(kind, "_fields") else kind(items)


cdef list items_of(Structure of, list arrays, Position* at):
    cdef list items = []
    while of.tags.data()[at.tag] != b")":
        items.append(restored(of, arrays, at))
    at.tag += 1
    return items


def unflatten(structure: Structure, arrays: list[Array]) -> Any:
    """What was flattened, with other arrays. A class derived from dict becomes a dict."""
    cdef Position at = Position(0, 0, 0)
    return restored(structure, arrays, &at)
