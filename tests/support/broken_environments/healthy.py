"""A healthy environment for tests of `python -m stator doctor`: a machine with one H200, made of files of the test."""

import os
import struct
import subprocess

from stator import __version__
from stator._doctor.environment import Environment, Space
from stator._doctor.facts import Device, Driver, Library, Package

H200 = Device("NVIDIA H200", (9, 0))
DRIVER = "580.65.06"
CUDA_LIBRARIES = {
    "cublasLt": ("libcublasLt.so.13", ""),
    "cublas": ("libcublas.so.13", ""),
    "cusparse": ("libcusparse.so.12", "products take stator's own kernels"),
    "cusolver": ("libcusolver.so.12", ""),
    "cufft": ("libcufft.so.12", "stator.fft takes stator's own kernels"),
    "nvrtc": ("libnvrtc.so.13", ""),
    "cusparseLt": ("libcusparseLt.so.0", ""),
}
_FLAGS = {"v2": "sse4_2 popcnt", "v3": "avx2 fma bmi2", "v4": "avx512f avx512bw avx512cd avx512dq avx512vl"}


def flags(*levels):
    """The text of /proc/cpuinfo of a CPU that has these x86-64 levels."""
    return "processor\t: 0\nflags\t\t: fpu sse2 " + " ".join(_FLAGS[level] for level in levels) + "\n"


def fat_binary(*images):
    """Code for GPUs, of (kind, architecture, bytes): "ptx" or "code"."""
    body = b""
    for kind, architecture, size in images:
        number = {"ptx": 1, "code": 2}[kind]
        body += struct.pack("<2HIQ4I3QQ", number, 257, 64, 8, 0, 0, 0, architecture, 0, 0, 0, size) + bytes(8)
    return struct.pack("<I2HQ", 0xBA55ED50, 1, 16, len(body)) + body


def shared_object(path, machine=62, **sections):
    """Writes a file with the parts of an ELF file that are read without loading it."""
    names, data, rows = b"\0", b"", [bytes(64)]
    for name, content in {**sections, "shstrtab": None}.items():
        offset = len(names)
        names += f".{name}".encode() + b"\0"
        content = names if content is None else content
        rows.append(struct.pack("<2I4Q2I2Q", offset, 1, 0, 0, 64 + len(data), len(content), 0, 0, 1, 0))
        data += content
    head = (
        b"\x7fELF\2\1\1"
        + bytes(9)
        + struct.pack("<2HI3QI6H", 3, machine, 1, 0, 0, 64 + len(data), 0, 64, 0, 0, 64, len(rows), len(rows) - 1)
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(head + data + b"".join(rows))
    return path


def compiled(path, source):
    """A shared object of C source."""
    path.parent.mkdir(parents=True, exist_ok=True)
    command = [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-x", "c", "-", "-o", str(path)]
    subprocess.run(command, input=source, text=True, check=True)
    return path


def write(path, text=""):
    """A file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def libraries(site):
    """The vendor libraries in wheels, as stator's loader reports them, and their files."""
    found = []
    for name, (soname, substitute) in CUDA_LIBRARIES.items():
        path = shared_object(site / "nvidia/cu13/lib" / soname)
        found.append(Library(name, str(path), "Install it", substitute, f"nvidia/cu13/lib/{soname}"))
    below = "scipy_openblas32/lib/libscipy_openblas.so"
    path = shared_object(site / below, dynstr=b"\0scipy_cblas_sgemm\0")
    return (*found, Library("openblas", str(path), "Install it", "", below))


def healthy(folder):
    """An environment in which nothing is to be found."""
    root, site = folder / "root", folder / "site"
    for name in ("nvidiactl", "nvidia-uvm", "nvidia0"):
        write(root / "dev" / name)
    kernel = f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {DRIVER}  Sun Jul 27 07:03:27 UTC 2025\n"
    write(root / "proc/driver/nvidia/version", kernel)
    write(root / "proc/cpuinfo", flags("v2", "v3", "v4"))
    write(root / "proc/self/cgroup", "0::/\n")
    write(site / "stator/__init__.py")
    write(
        site / f"stator-{__version__}.dist-info/METADATA",
        "Name: stator\n" + f"Version: {__version__}\n" + "Requires-Dist: numpy>=1.26\n",
    )
    write(site / "numpy-2.3.0.dist-info/METADATA", "Name: numpy\nVersion: 2.3.0\n")
    lib = site / "stator/lib"
    shared_object(lib / "libstator.so")
    shared_object(lib / "libstator_cuda.so", nv_fatbin=fat_binary(("ptx", 80, 1000), ("code", 90, 900)))
    for level in _FLAGS:
        shared_object(lib / f"libstator_host_{level}.so")
    (folder / "home").mkdir()
    env = Environment(root, {"HOME": str(folder / "home")}, [str(site)])
    env.extension = write(site / "stator/_backend.abi3.so")
    env.driver = env.driver_of_all = Driver(
        path=f"/usr/lib/libcuda.so.{DRIVER}", init=0, version=13000, devices=(H200,)
    )
    variables = ("STATOR_DEVICE", "STATOR_MEMORY_LIMIT")
    env.package = Package(
        version=__version__, cuda_built=True, cuda_usable=True, libraries=libraries(site), variables=variables
    )
    env.machine, env.allowed_cpus, env.start_method = "x86_64", 8, "spawn"
    env.shared_memory = Space(8 << 30, 4 << 30)
    env.limits = {"locked memory": None, "open files": 4096, "address space": None}
    return env
