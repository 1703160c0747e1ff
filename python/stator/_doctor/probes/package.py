"""stator itself: its files, its import, and a product of matrices on the cpu."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from stator._doctor import elf
from stator._doctor.environment import Environment
from stator._doctor.finding import Finding, error, warning
from stator._version import __version__

IMPORT_FAILS = error(
    "import-fails",
    "a process that imports stator's compiled modules fails, or ends by a signal",
    "Nothing of stator can be used.",
    "Reinstall stator: pip install --force-reinstall --no-deps stator, or build it again on this machine.",
)
NOT_BUILT = error(
    "not-built",
    "the package stator that Python finds has no compiled modules",
    "Python finds a folder of sources before the installed package, or the package was never built.",
    "Start Python in another folder than the one that has the sources, remove it from PYTHONPATH, or run pip install.",
)
FILES_MISSING = error(
    "files-missing",
    "shared objects that belong to stator are missing or broken",
    'The compiled modules need libstator.so, device "cpu" one libstator_host_*.so, '
    'and device "cuda" libstator_cuda.so.',
    "Reinstall stator: its folder lib was changed, or copied in part.",
)
VERSIONS_DIFFER = error(
    "versions-differ",
    "the Python files, the library and the installed metadata of stator are not of one version",
    "Files of two installations are mixed; calls between them fail in any way.",
    "Uninstall stator until pip says that it is not installed, and install it once. Rebuild an editable install.",
)
TWO_STATORS = warning(
    "two-stators",
    "several folders of Python's path have a package stator",
    "Which one is imported depends on the current folder and on PYTHONPATH.",
    "Uninstall or rename all but one.",
)
DEPENDENCY = error(
    "dependency",
    "a package that stator requires is missing or too old",
    "stator, or its command line, fails at import.",
    "Run pip install with the requirement that was seen.",
)
CPU_FAILS = error(
    "cpu-fails",
    'a backend on device "cpu" does not open, or does not multiply two matrices',
    'Device "cpu" is what everything falls back to.',
    "Do as the error says.",
)

_HINTS = (  # the first that a failure of the import has
    ("GLIBC", "Build stator on this machine: the installed one was built for a newer system (glibc, libstdc++)."),
    ("SIGILL", "Build stator on this machine: the installed one has instructions that this CPU does not know."),
    ("undefined symbol", "Reinstall stator: its compiled modules and its library are not of one build."),
    ("numpy", 'Run pip install --force-reinstall "numpy>=1.26": NumPy itself does not import, or is too old.'),
)


def _installed(env: Environment, name: str) -> metadata.Distribution | None:
    """The package of that name on the path; None where there is none."""
    return next(iter(metadata.distributions(name=name, path=list(env.path))), None)


def package(env: Environment) -> Iterator[Finding]:
    """Whether stator can be imported, and whether its parts belong together."""
    if env.extension is None:
        yield NOT_BUILT.found(f"No compiled module is beside {Path(__file__).parents[2]}; the path is {list(env.path)}")
        return
    seen = env.package
    if seen.failure:
        hint = next((text for sign, text in _HINTS if sign in seen.failure), "")
        yield IMPORT_FAILS.found(f"Of a process that imports {env.extension}: {seen.failure}", hint)
        return
    versions = {"Python files": __version__, "library": seen.version}
    if found := _installed(env, "stator"):
        versions["metadata"] = found.version
    if len(set(versions.values())) > 1:
        yield VERSIONS_DIFFER.found(", ".join(f"{part} {version}" for part, version in versions.items()))
    if seen.cpu_error:
        yield CPU_FAILS.found(seen.cpu_error)


def files(env: Environment) -> Iterator[Finding]:
    """The shared objects of stator."""
    if env.folder is None:
        return
    missing = [] if env.levels("stator_host") else [f"{env.folder}/libstator_host_*.so (none of v2, v3, v4)"]
    needed = [env.folder / "libstator.so"]
    if env.package.cuda_built:
        needed.append(env.folder / "libstator_cuda.so")
    missing += [str(path) for path in needed if not path.is_file()]
    for path in sorted(env.folder.glob("libstator*.so")):
        if path.is_file():
            try:
                elf.sections(path)
            except elf.BrokenFileError as broken:
                missing.append(f"{path}: {broken}")
    if missing:
        yield FILES_MISSING.found("; ".join(missing))


def copies(env: Environment) -> Iterator[Finding]:
    """The folders that an import of stator may take."""
    folders = dict.fromkeys(Path(entry or ".").resolve() / "stator" for entry in env.path)
    found = [folder for folder in folders if (folder / "__init__.py").is_file()]
    if len(found) > 1:
        yield TWO_STATORS.found(f"{', '.join(map(str, found))}; the first is imported")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def dependencies(env: Environment) -> Iterator[Finding]:
    """What the metadata of stator requires, of NumPy and rich."""
    own = _installed(env, "stator")
    for requirement in (own.requires or []) if own else []:
        match = re.match(r"(numpy|rich)>=([\d.]+)$", requirement)
        if match is None:
            continue
        found = _installed(env, match[1])
        if found is None:
            yield DEPENDENCY.found(f"{requirement} is required, and {match[1]} is not installed")
        elif _numbers(found.version) < _numbers(match[2]):
            yield DEPENDENCY.found(f"{requirement} is required, and {match[1]} {found.version} is installed")
