# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Programs and user kernels: compiling, and launches whose arguments are checked."""
from collections import namedtuple

import numpy as np
from libc.stdint cimport int64_t, uint32_t

from stator._array cimport Array
from stator._backend cimport Backend, enter_stream
from stator._convert cimport shown, to_flag, to_int, to_text
from stator.cpp cimport program as cpp
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.std cimport decoded, string, vector

from stator.errors import BackendMismatchError, DTypeError, InvalidValueError, StatorError, renamed

KernelParameter = namedtuple("KernelParameter", ("type", "kind", "offset", "size"), module="stator.programs._program")
KernelAttributes = namedtuple(
    "KernelAttributes", ("registers", "max_threads", "shared_bytes", "max_dynamic_shared_bytes", "local_bytes"),
    module="stator.programs._program")

cdef tuple kinds = ("bytes", "integer", "floating", "pointer")


cdef string text_of(object value, str op, str name):
    cdef bytes encoded = to_text(value, op, name)
    return string(<const char*>encoded, len(encoded))


cdef int to_texts(object values, vector[string]& out, str op, str name) except -1:
    for value in values:
        out.push_back(text_of(value, op, name))
    return 0


cdef int to_size(object value, str op, str name) except? -1:
    cdef int64_t size = to_int(value, op, name)
    if not 0 <= size < 2**31:
        raise InvalidValueError(f"{name}={size}", op=op, remedy="Give a number of bytes from 0 to 2**31 - 1.")
    return <int>size


cdef int to_extent(object value, uint32_t* out, str op, str name) except -1:
    """One to three numbers, from x on; the others are 1."""
    cdef int64_t n
    cdef int i
    parts = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(parts) <= 3:
        raise InvalidValueError(f"{name}={shown(value)}", op=op, remedy="Give one to three numbers: x, y, z.")
    for i in range(3):
        n = to_int(parts[i], op, name) if i < len(parts) else 1
        if not 0 <= n < 2**32:
            raise InvalidValueError(f"{name}={shown(value)}", op=op, remedy="Pass numbers from 1 to 2**32 - 1.")
        out[i] = <uint32_t>n
    return 0


def compile_code(source: str, names: tuple[str, ...], options: tuple[str, ...], file: str,
                 architecture: int) -> tuple[bytes, bytes, tuple[str, ...], str]:
    """PTX, machine code, symbols and warnings of CUDA C++, in the order of the names. Used by stator.programs."""
    cdef cpp.CompiledCode made
    cdef vector[string] expressions, flags
    cdef string text = text_of(source, "Backend.compile", "source"), name = text_of(file, "Backend.compile", "file")
    cdef int number = architecture
    cdef size_t i
    to_texts(names, expressions, "Backend.compile", "name")
    to_texts(options, flags, "Backend.compile", "options")
    with nogil:
        made = cpp.compile_code(text, cpp.NameSpan(expressions.data(), expressions.size()), number,
                                cpp.NameSpan(flags.data(), flags.size()), name)
    symbols = tuple([decoded(made.symbols[i]) for i in range(made.symbols.size())])
    return made.ptx.data()[:made.ptx.size()], made.machine_code.data()[:made.machine_code.size()], symbols, \
        decoded(made.log)


def compiler_version() -> str:
    """The version of NVRTC, which this opens. Used by stator.programs."""
    cdef string found
    with nogil:
        found = cpp.compiler_version()
    return decoded(found)


def architecture_of(backend: Backend) -> int:
    """10 * major + minor of the device's compute capability. Used by stator.programs."""
    return cpp.program_architecture((<Backend>backend).c)


def load_compiled(backend: Backend, names: tuple[str, ...], ptx: bytes, machine_code: bytes,
                  symbols: tuple[str, ...], log: str) -> Program:
    """A program of what compile_code() returned. Used by stator.programs."""
    cdef Program out = Program.__new__(Program)
    cdef cpp.CompiledCode code
    code.ptx = string(<const char*>ptx, len(ptx))
    code.machine_code = string(<const char*>machine_code, len(machine_code))
    code.log = text_of(log, "Backend.compile", "log")
    to_texts(names, code.names, "Backend.compile", "name")
    to_texts(symbols, code.symbols, "Backend.compile", "symbols")
    with nogil:
        out.c = cpp.load_compiled((<Backend>backend).c, code)
    return out


def load_code(backend: Backend, code: bytes, names: tuple[str, ...]) -> Program:
    """A program of PTX, a cubin or a fat binary, with kernels in the order of the names. Used by stator.programs."""
    cdef Program out = Program.__new__(Program)
    cdef vector[string] symbols
    cdef string image = string(<const char*>code, len(code))
    to_texts(names, symbols, "Backend.compile", "name")
    with nogil:
        out.c = cpp.load_program((<Backend>backend).c, image, cpp.NameSpan(symbols.data(), symbols.size()))
    return out


def has_cooperative_launch(backend: Backend) -> bool:
    """Whether the device can keep all blocks of a launch resident. Used by stator.programs."""
    return cpp.has_cooperative_launch((<Backend>backend).c)


cdef int check_extents(Array grid, Backend backend) except -1:
    """Whether the array can be the grid of an indirect launch."""
    cdef str op = "Kernel.launch"
    if grid.backend is not backend:
        raise BackendMismatchError("the grid is an array of another backend", op=op,
                                   remedy="Make it with the kernel's backend.")
    if grid.dtype.name not in ("int32", "uint32"):
        raise DTypeError(f"The array that gives the grid is of {grid.dtype.name}", op=op,
                         remedy="Convert it on the device: grid.astype('int32').")
    if grid.ndim > 1 or not 1 <= grid.size <= 3:
        raise InvalidValueError(f"The array that gives the grid has the shape {grid.shape}", op=op,
                                remedy="Give one to three numbers: x, y, z.")
    return 0


cdef object extents_of(Array grid, Backend backend):
    """The numbers of an indirect grid, copied from the device."""
    check_extents(grid, backend)
    try:
        return tuple(int(n) for n in grid.to_numpy().reshape(-1))
    except StatorError as error:
        raise renamed(error, "Kernel.launch") from None


def check_launch(kernel: Kernel, grid: int | tuple[int, ...] | Array, block: int | tuple[int, ...],
                 args: tuple[object, ...], shared: int, cooperative: bool) -> None:
    """Raises what Kernel.launch() would raise before it reads an indirect grid. Used by stator.programs."""
    cdef Kernel of = <Kernel?>kernel
    cdef cpp.LaunchConfig config
    cdef vector[cpp.KernelArgument] arguments
    kept = []
    if isinstance(grid, Array):
        check_extents(grid, of.backend)
        grid = 1
    prepare(of, grid, block, args, shared, cooperative, config, arguments, kept)
    with nogil:
        of.c.check(config, cpp.ArgumentSpan(arguments.data(), arguments.size()))


cdef int prepare(Kernel kernel, object grid, object block, tuple args, object shared, object cooperative,
                 cpp.LaunchConfig& config, vector[cpp.KernelArgument]& arguments, list kept) except -1:
    """The launch as C++ takes it. `kept` has the bytes of values, which live as long as the arguments."""
    cdef cpp.KernelArgument argument
    cdef bytes value
    to_extent(block, config.block(), "Kernel.launch", "block")
    config.shared_bytes = to_size(shared, "Kernel.launch", "shared")
    config.cooperative = to_flag(cooperative, "Kernel.launch", "cooperative")
    to_extent(grid, config.grid(), "Kernel.launch", "grid")
    for i, arg in enumerate(args):
        argument.array = NULL
        argument.value = NULL
        argument.size = 0
        if isinstance(arg, Array):
            argument.array = &(<Array>arg).c
        elif i < len(kernel.parameters):
            value = bytes_of(arg, kernel.parameters[i], i, kernel)
            kept.append(value)
            argument.value = <const char*>value
            argument.size = len(value)
        arguments.push_back(argument)
    return 0


cdef class Program:
    """Program()\n--\n
    Loaded code, which its kernels and the cache of stator.programs keep."""
    cdef cpp.Program c

    def __init__(self) -> None:
        raise TypeError("Program has no constructor. Use Backend.compile().")

    @property
    def log(self) -> str:
        """What the compiler warned of."""
        return decoded(self.c.log())

    def kernels(self, backend: Backend, names: tuple[str, ...]) -> tuple[Kernel, ...]:
        """The kernels, as objects that keep the backend. Used by stator.programs."""
        cdef Kernel kernel
        made = []
        for i in range(self.c.size()):
            kernel = Kernel.__new__(Kernel)
            kernel.c = self.c.kernel(i)
            kernel.backend = backend
            kernel.name = names[i]
            kernel.parameters = parameters_of(kernel.c)
            made.append(kernel)
        return tuple(made)


cdef tuple parameters_of(const cpp.Kernel& kernel):
    cdef const vector[cpp.KernelParameter]* found = &kernel.parameters()
    cdef const cpp.KernelParameter* p
    cdef size_t i
    out = []
    for i in range(found.size()):
        p = found.data() + i
        out.append(KernelParameter(decoded(p.type), kinds[<int>p.kind], p.offset, p.size))
    return tuple(out)


cdef class Kernel:
    """Kernel()\n--\n
    A kernel of a user on one backend, made by Backend.compile(). Thread-safe."""
    cdef cpp.Kernel c
    cdef readonly Backend backend
    cdef readonly str name
    cdef readonly tuple parameters
    cdef object __weakref__

    def __init__(self) -> None:
        raise TypeError("Kernel has no constructor. Use Backend.compile().")

    @property
    def attributes(self) -> KernelAttributes:
        """Registers of a thread, threads of a block at most, shared and local memory in bytes."""
        cdef const cpp.KernelAttributes* a = &self.c.attributes()
        return KernelAttributes(a.registers, a.max_threads, a.shared_bytes, a.max_dynamic_shared_bytes, a.local_bytes)

    def occupancy(self, block: int | tuple[int, ...], /, *, shared: int = 0) -> int:
        """The number of blocks of `block` threads that a multiprocessor holds at once.

        shared: bytes of dynamic shared memory. InvalidValueError for a block that does not have 1 to 1024 threads.
        """
        cdef uint32_t threads[3]
        cdef int out, size = to_size(shared, "Kernel.occupancy", "shared")
        to_extent(block, threads, "Kernel.occupancy", "block")
        count = int(threads[0]) * int(threads[1]) * int(threads[2])
        if not 1 <= count <= 1024:
            raise InvalidValueError(f"block={shown(block)}", op="Kernel.occupancy",
                                    remedy="Pass a block of 1 to 1024 threads.")
        cdef int all_threads = count
        with nogil:
            out = self.c.resident_blocks(all_threads, size)
        return out

    def suggest_block(self, *, shared: int = 0) -> int:
        """The number of threads per block that keeps most threads resident; of several the smallest."""
        cdef int out, size = to_size(shared, "Kernel.suggest_block", "shared")
        with nogil:
            out = self.c.suggested_threads(size)
        return out

    def launch(self, grid: int | tuple[int, ...] | Array, block: int | tuple[int, ...], /, *args: object,
               shared: int = 0, cooperative: bool = False, stream: StreamLike | None = None) -> None:
        """Enqueues the kernel. Asynchronous, unless the grid is an Array.

        grid, block: blocks, and threads of a block, as numbers or (x, y, z). args: one per parameter. An Array gives
        the address of its first element and must be contiguous; a Python number takes the parameter's type; a NumPy
        scalar, bytes, or an object with a buffer (a ctypes structure) must have its size; None is a null pointer.
        Arguments are checked by count, size and, where the code tells it, type. shared: bytes of dynamic shared
        memory. cooperative: all blocks are resident at once, so that the grid may synchronise. stream: by default the
        current one.
        An indirect launch has an Array of one to three int32 or uint32 as its grid, which earlier work may still be
        computing. CUDA takes grids from the host: the call waits for the array and copies its 4 to 12 bytes, which
        forbid_host_copies() refuses. A grid with a 0 among its numbers has no blocks, and nothing is launched.
        Raises: DTypeError for an argument that does not fit its parameter, InvalidValueError for a limit that is
        exceeded or an array that is not contiguous, BackendMismatchError.
        """
        cdef cpp.LaunchConfig config
        cdef vector[cpp.KernelArgument] arguments
        cdef CppStream on
        if self.backend is None:
            raise InvalidValueError("The kernel was not compiled", op="Kernel.launch",
                                    remedy="Take one from Backend.compile().")
        if isinstance(grid, Array):
            grid = extents_of(grid, self.backend)
            if 0 in grid:
                return
        enter_stream(self.backend, stream, on, "Kernel.launch")
        kept = []
        prepare(self, grid, block, args, shared, cooperative, config, arguments, kept)
        with nogil:
            self.c.launch(config, cpp.ArgumentSpan(arguments.data(), arguments.size()), on)

    def __repr__(self) -> str:
        types = ", ".join(p.type or f"{p.size} bytes" for p in self.parameters or ())
        return f"<stator.Kernel {self.name}({types})>"


cdef object misfit(Kernel kernel, int i, str given, str remedy):
    """The error for an argument that does not fit its parameter."""
    try:
        kernel.c.refuse(<size_t>i, text_of(given, "Kernel.launch", "argument"),
                        text_of(remedy, "Kernel.launch", "remedy"))
    except DTypeError as error:
        return error


cdef bytes bytes_of(object value, object parameter, int i, Kernel kernel):
    """The value as the parameter takes it."""
    cdef str kind = parameter.kind
    if value is None:
        if kind != "pointer" and not (kind == "integer" and parameter.size == 8):
            raise misfit(kernel, i, "None", "None stands for a null pointer.")
        return bytes(8)
    if isinstance(value, np.generic) and not isinstance(value, np.void):
        return scalar_bytes(value, parameter, i, kernel)
    if isinstance(value, bool):
        if kind in ("integer", "bytes"):
            return int(value).to_bytes(parameter.size, "little")
    elif isinstance(value, int):
        return integer_bytes(value, parameter, i, kernel)
    elif isinstance(value, float):
        return float_bytes(value, parameter, i, kernel)
    elif isinstance(value, complex):
        if kind == "bytes" and parameter.size in (8, 16):
            return np.asarray(value, "complex64" if parameter.size == 8 else "complex128").tobytes()
    else:
        return buffer_bytes(value, parameter, i, kernel)
    raise misfit(kernel, i, shown(value), "Give a NumPy scalar or bytes of the parameter's layout.")


cdef bytes scalar_bytes(object value, object parameter, int i, Kernel kernel):
    cdef str kind = parameter.kind, given = value.dtype.kind
    fits = {"floating": "f", "integer": "iub", "pointer": "u", "bytes": "fciubV"}[kind]
    if given not in fits or value.dtype.itemsize != parameter.size:
        raise misfit(kernel, i, f"a NumPy {value.dtype.name}", "Convert it to the parameter's type.")
    return value.tobytes()


cdef bytes integer_bytes(object value, object parameter, int i, Kernel kernel):
    cdef str kind = parameter.kind, type = parameter.type
    if kind == "floating":
        return float_bytes(float(value), parameter, i, kernel)
    if kind == "bytes" and parameter.size not in (1, 2):
        raise misfit(kernel, i, "an int", "Give bytes or a NumPy scalar of the parameter's layout.")
    bits = 8 * parameter.size
    unsigned = kind == "pointer" or type.startswith("unsigned") or type == "bool"
    signed = not unsigned and kind == "integer" and type in ("signed char", "short", "int", "long", "long long")
    low, high = (0 if unsigned else -2**(bits - 1)), 2**(bits - 1 if signed else bits)
    if type == "bool":
        high = 2
    if not low <= value < high:
        raise InvalidValueError(f"The argument {i} of {kernel.name} is {shown(value)}, out of the range of "
                                f"{type or bits}", op="Kernel.launch",
                                remedy=f"Give a number from {low} to {high - 1}.")
    return value.to_bytes(parameter.size, "little", signed=value < 0)


cdef bytes float_bytes(object value, object parameter, int i, Kernel kernel):
    if parameter.kind == "floating":
        with_overflow = np.float32 if parameter.size == 4 else np.float64
        return scalar_of(with_overflow, value)
    if parameter.type == "__half":
        return scalar_of(np.float16, value)
    if parameter.type == "__nv_bfloat16":
        return bfloat16_bytes(value)
    raise misfit(kernel, i, "a float", "Give an int, a NumPy scalar or bytes of the parameter's layout.")


cdef bytes scalar_of(object kind, object value):
    quiet = np.errstate(over="ignore")
    quiet.__enter__()
    try:
        return kind(value).tobytes()
    finally:
        quiet.__exit__(None, None, None)


cdef bytes bfloat16_bytes(object value):
    """Rounded to nearest, ties to even."""
    bits = int.from_bytes(scalar_of(np.float32, value), "little")
    if value == value:
        bits += 0x7fff + (bits >> 16 & 1)
    return (bits >> 16).to_bytes(2, "little")


cdef bytes buffer_bytes(object value, object parameter, int i, Kernel kernel):
    if isinstance(value, np.ndarray) and (value.ndim or value.dtype.kind != "V"):
        raise misfit(kernel, i, "a NumPy array", "Copy it to the device with asarray().")
    try:
        raw = bytes(memoryview(value).cast("B"))
    except TypeError:
        raise misfit(kernel, i, f"of type {type(value).__name__}",
                     "Give an Array, a number, a NumPy scalar, bytes or None.") from None
    if len(raw) != parameter.size:
        raise misfit(kernel, i, f"{len(raw)} bytes", "Give a value of the parameter's layout.")
    return raw
