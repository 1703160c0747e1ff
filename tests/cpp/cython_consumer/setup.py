"""A Cython module of another project: `cimport stator`, linked to the libstator of the installed package."""

from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

import stator

include = Path(stator.get_include())
library = str(include.parent / "lib")

setup(
    name="cython_consumer",
    ext_modules=cythonize(
        Extension(
            "cython_consumer",
            ["cython_consumer.pyx"],
            language="c++",
            include_dirs=[str(include)],
            library_dirs=[library],
            runtime_library_dirs=[library],
            libraries=["stator"],
            extra_compile_args=["-std=c++20"],
        ),
        build_dir="build",
    ),
)
