"""The declarations of vendor libraries in libs/ equal those of their headers, compared at compile time."""

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def include_folder(package: str, below: str, header: str) -> Path | None:
    """The include folder of a package, which is not imported; None when it does not have the header."""
    try:
        spec = importlib.util.find_spec(package)
    except ModuleNotFoundError:
        return None
    for place in (spec and spec.submodule_search_locations) or ():
        if (Path(place) / below / header).exists():
            return Path(place) / below
    return None


def missing_header(command: list[str]) -> str | None:
    """The first file that the headers include and that is not there: what they need may be in another package."""
    told = subprocess.run([*command, "-M"], capture_output=True, text=True).stderr
    found = re.search(r"fatal error: (\S+): No such file or directory", told)
    return found and found[1]


@pytest.mark.parametrize(
    ("package", "below", "header", "flags"),
    [
        ("nvidia", "cu13/include", "cublas_v2.h", []),
        ("nvidia", "cu13/include", "cublasLt.h", []),
        ("nvidia", "cu13/include", "cufftXt.h", []),
        ("nvidia", "cu13/include", "cusparse.h", []),
        ("nvidia", "cu13/include", "cusparseLt.h", []),
        ("nvidia", "cu13/include", "nvrtc.h", []),
        ("scipy_openblas32", "include", "cblas.h", ["-DBLAS_SYMBOL_PREFIX=scipy_"]),
    ],
)
def test_prototypes(package: str, below: str, header: str, flags: list[str]) -> None:
    compiler = shutil.which("g++")
    folder = include_folder(package, below, header)
    if compiler is None or folder is None:
        pytest.skip(f"needs g++ and {header} of {package}")
    command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{ROOT / 'csrc'}", f"-I{ROOT / 'csrc/include'}"]
    command += ["-isystem", str(folder), *flags, str(ROOT / "tests/cpp/vendor_prototypes.cpp")]
    if missing := missing_header(command):
        pytest.skip(f"the headers of {package} include {missing}, which is not installed")
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_headers_without_what_they_include_are_told_from_wrong_prototypes(tmp_path: Path) -> None:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs g++")
    source = tmp_path / "source.cpp"
    source.write_text('#include "vendor.h"\nstatic_assert(vendor == 1);\n')
    command = [compiler, "-std=c++20", "-fsyntax-only", str(source)]
    (tmp_path / "vendor.h").write_text("#include <nv/absent>\nconstexpr int vendor = 2;\n")
    assert missing_header(command) == "nv/absent"
    (tmp_path / "vendor.h").write_text("constexpr int vendor = 2;\n")
    assert missing_header(command) is None
