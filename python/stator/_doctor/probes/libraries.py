"""The vendor libraries that stator opens at their first use. CUDA's are asked for only where a GPU is to use them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stator._doctor import elf, search
from stator._doctor.environment import Environment
from stator._doctor.facts import Library
from stator._doctor.finding import Finding, error, note, warning

LIBRARY_MISSING = error(
    "library-missing",
    "a library that stator calls on the GPU is not found",
    "Ops that need it raise LibraryNotFoundError.",
    'Run pip install "stator[cuda]", or put a CUDA toolkit of the same major version on the library path.',
)
LIBRARY_REPLACED = warning(
    "library-replaced",
    "a library is not found for which stator has slower kernels of its own",
    "Ops take these kernels, after a warning. With STATOR_REQUIRE_LIBRARIES=1 they raise LibraryNotFoundError.",
    'Run pip install "stator[cuda]", or put a CUDA toolkit of the same major version on the library path.',
)
LIBRARY_OPTIONAL = note(
    "library-optional",
    "cuSPARSELt is not found",
    "Products of 2:4 sparse matrices on the GPU raise LibraryNotFoundError. Nothing else needs it.",
    "Run pip install nvidia-cusparselt-cu13.",
)
LIBRARY_MAJOR = error(
    "library-major",
    "a library is there only in another major version",
    "Functions and structures change between major versions, so that stator does not open it.",
    'Run pip install "stator[cuda]", which has the right version and may stand beside the other one.',
)
LIBRARY_BROKEN = error(
    "library-broken",
    "the file of a library that stator would open is not a whole shared object for x86-64, or is not readable",
    "Ops that need it raise LibraryNotFoundError.",
    "Install the package of the library again, or remove the file.",
)
LIBRARY_TWICE = warning(
    "library-twice",
    "LD_LIBRARY_PATH has another copy of a library that stator takes from elsewhere",
    "Other programs, and the libraries that depend on this one, take that copy: two versions work on one device.",
    "Take the folder off LD_LIBRARY_PATH, or uninstall the other copy.",
)
LIBRARY_ELSEWHERE = note(
    "library-elsewhere",
    "the system, or a toolkit, has another copy of a library",
    "stator takes the first one. A process in which something else loads the other has both.",
    "Nothing is to be done, unless a process warns of two versions.",
)
NVRTC_MISSING = warning(
    "nvrtc-missing",
    "NVRTC, the compiler of CUDA C++, is not found",
    "Backend.compile cannot compile CUDA C++, and raises LibraryNotFoundError. All ops work.",
    'Run pip install "stator[cuda]".',
)
OPENBLAS_MISSING = error(
    "openblas-missing",
    "no OpenBLAS is found",
    'Products of matrices and stator.linalg on device "cpu" raise LibraryNotFoundError.',
    "Run pip install scipy-openblas32, install the system's OpenBLAS (libopenblas.so.0), or set STATOR_OPENBLAS to the "
    "path of one.",
)
OPENBLAS_VARIABLE = error(
    "openblas-variable",
    "STATOR_OPENBLAS names a file that cannot be opened",
    'No other OpenBLAS is tried while it is set: products of matrices on device "cpu" raise LibraryNotFoundError.',
    "Set it to the path of a shared object, or not at all.",
)
OPENBLAS_WRONG = error(
    "openblas-wrong",
    "the OpenBLAS that stator would open lacks cblas_sgemm, as builds with 64-bit integers do",
    'Products of matrices on device "cpu" raise LibraryNotFoundError.',
    "Use one with 32-bit integers, such as that of pip install scipy-openblas32.",
)

_OPENBLAS = ("libscipy_openblas.so", "libopenblas.so.0")
_SYMBOLS = (b"\0cblas_sgemm\0", b"\0scipy_cblas_sgemm\0")


def _stem(library: Library) -> str:
    return library.soname.partition(".so")[0] + ".so."


def _folders(env: Environment, library: Library) -> list[Path]:
    """Where a library is looked for, in the order of stator's loader."""
    below = library.wheel_file.rpartition("/")[0]
    wheels, system = search.from_wheels(env, below), search.from_system(env)
    return [*wheels, *search.from_toolkits(env), *search.from_variable(env), *system]


def _taken(env: Environment, library: Library) -> Path | None:
    """The file that stator would open."""
    if library.path:
        return Path(library.path)
    return search.first([*search.from_variable(env), *search.from_system(env)], [library.soname])


def _library(env: Environment, library: Library) -> Iterator[Finding]:
    stem = _stem(library)
    taken, copies = _taken(env, library), search.files(_folders(env, library), stem)
    wanted = library.soname[len(stem) :].partition(".")[0]
    if taken is None:
        others = [str(path) for path in copies if search.major(path, stem) != wanted]
        if others:
            yield LIBRARY_MAJOR.found(f"{library.soname} is not there; there is {', '.join(others)}")
        elif library.name == "nvrtc":
            yield NVRTC_MISSING.found(f"{library.soname} is neither in a wheel nor on the library path")
        else:
            yield _missing(library, bool(env.package.configuration.get("require_libraries")))
        return
    try:
        elf.sections(taken)
    except (elf.BrokenFileError, OSError) as broken:
        yield LIBRARY_BROKEN.found(f"{taken}: {broken}")
    same = [p for p in copies if search.major(p, stem) == wanted and p.resolve() != taken.resolve()]
    if same:
        listed = any(p.parent.resolve() == f.resolve() for p in same for f in search.from_variable(env))
        kind = LIBRARY_TWICE if listed else LIBRARY_ELSEWHERE
        yield kind.found(f"stator takes {taken}; there is also {', '.join(map(str, same))}")


def _missing(library: Library, required: bool) -> Finding:
    seen = f"{library.soname} is neither in a wheel nor on the library path"
    if library.substitute and not required:
        return LIBRARY_REPLACED.found(f"{seen}; {library.substitute}", library.remedy + ".")
    kind = LIBRARY_OPTIONAL if library.name == "cusparseLt" else LIBRARY_MISSING
    return kind.found(seen, library.remedy + ".")


def cuda_libraries(env: Environment) -> Iterator[Finding]:
    """The libraries of CUDA. An emulated device has doubles of all but NVRTC."""
    for library in env.package.libraries:
        used = library.name == "nvrtc" if env.emulates else bool(env.driver.devices) and bool(env.images)
        if library.name != "openblas" and used:
            yield from _library(env, library)


def openblas(env: Environment) -> Iterator[Finding]:
    """The library of products and factorisations on the cpu."""
    named = env.variable("STATOR_OPENBLAS")
    linked = [*search.from_variable(env), *search.from_system(env)]
    if named:
        taken = Path(named) if "/" in named else search.first(linked, [named])
        try:
            elf.sections(taken or Path(named))
        except (elf.BrokenFileError, OSError) as broken:
            yield OPENBLAS_VARIABLE.found(f"STATOR_OPENBLAS={named}: {broken}")
            return
    else:
        known = next((x for x in env.package.libraries if x.name == "openblas"), None)
        if known is None:  # stator does not import, which is the finding
            return
        taken = Path(known.path) if known.path else search.first(linked, _OPENBLAS)
    if taken is None:
        yield OPENBLAS_MISSING.found(f"{' and '.join(_OPENBLAS)} are neither in a wheel nor on the library path")
        return
    strings = _strings(taken)
    if not any(symbol in strings for symbol in _SYMBOLS):
        yield OPENBLAS_WRONG.found(f"{taken} has neither cblas_sgemm nor scipy_cblas_sgemm")


def _strings(path: Path) -> bytes:
    """The names of the symbols that a shared object exports or needs, with zeros around each."""
    offset, size = elf.sections(path).get(".dynstr", (0, 0))
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(size)
