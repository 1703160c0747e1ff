"""The headers of kernels that stator installs: each compiles by itself, and functors compute what the ops compute."""

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import stator

CSRC = Path(__file__).resolve().parents[2] / "csrc"
INCLUDE = Path(stator.get_include())
EXACT = ["--fmad=false"]  # as the built-in kernels are compiled


def below(root):
    return {p.relative_to(root).as_posix() for p in root.rglob("*.*h*")}


HEADERS = sorted(f"stator/device/{h}" for h in below(INCLUDE / "stator/device"))


def run(*command, cwd):
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_the_headers_are_installed():
    assert below(INCLUDE / "stator/device") == below(CSRC / "device") | below(CSRC / "include/stator/device")


def test_each_header_compiles_under_nvrtc(cuda):
    for header in HEADERS:
        cuda.compile(f"#include <{header}>\n__global__ void empty() {{}}", "empty")
    cuda.programs.clear_cache()


def test_each_header_compiles_with_gcc(tmp_path):
    def compile_alone(header):
        source = tmp_path / (header.replace("/", "_") + ".cpp")
        source.write_text(f"#include <{header}>\n")
        run("g++", "-std=c++17", "-Wall", "-Wextra", "-fsyntax-only", f"-I{INCLUDE}", source, cwd=tmp_path)

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(compile_alone, HEADERS))


@pytest.mark.skipif(not shutil.which("nvcc"), reason="there is no nvcc")
@pytest.mark.parametrize("order", [1, -1])
def test_the_headers_compile_with_nvcc(tmp_path, order):
    lines = [f"#include <{header}>" for header in HEADERS[::order]]
    (tmp_path / "kernel.cu").write_text("\n".join([*lines, "__global__ void empty() {}", ""]))
    run("nvcc", "-std=c++17", "-arch=compute_80", "-ptx", f"-I{INCLUDE}", "kernel.cu", cwd=tmp_path)


def test_the_headers_meet_no_names_of_a_user(cuda):
    source = """
    typedef long long int64_t;
    namespace std { template <class T> struct is_integral; template <class T, T v> struct integral_constant; }
    #include <stator/device/convert.cuh>
    #include <cuda/std/type_traits>
    __global__ void rounded(const double* x, long* y) { y[0] = stator::device::convert<long>(x[0]); }
    """
    x, y = cuda.full(1, 1e300), cuda.zeros(1, dtype="int64")
    cuda.compile(source, "rounded").launch(1, 1, x, y)
    assert int(y[0]) == 2**63 - 1


UNARY = """
#include <stator/device/convert.cuh>
#include <stator/device/functors/activation.cuh>
#include <stator/device/functors/math.cuh>
#include <stator/device/functors/hyperbolic.cuh>
#include <stator/device/functors/special_error.cuh>
#include <stator/device/functors/trigonometry.cuh>
namespace functors = stator::device::elementwise::functors;
template <class F, class T> __global__ void apply(const T* x, T* y, int n) {
  using namespace stator::device;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = convert<T>(F{}(convert<opmath_t<T>>(x[i])));
}
"""
BINARY = """
#include <stator/device/convert.cuh>
#include <stator/device/functors/arithmetic.cuh>
namespace functors = stator::device::elementwise::functors;
template <class F, class T> __global__ void apply(const T* x, const T* y, T* z, int n) {
  using namespace stator::device;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  using C = opmath_t<T>;
  if (i < n) z[i] = convert<T>(F{}(convert<C>(x[i]), convert<C>(y[i])));
}
"""
TYPES = {
    "float16": "stator::float16",
    "bfloat16": "stator::bfloat16",
    "float32": "float",
    "float64": "double",
    "int8": "signed char",
    "uint64": "unsigned long",
}
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-310, 1e-42, 65504.0, 3e38, -1.5]


def operand(backend, dtype, seed=0):
    rng = np.random.default_rng(seed)
    if "int" in dtype:
        return backend.asarray(rng.integers(0, 256, 1000).astype(dtype))
    with np.errstate(over="ignore"):
        x = np.concatenate([rng.normal(0, 4, 1000), SPECIAL, SPECIAL[:seed], SPECIAL[seed:]]).astype("float32")
    return backend.asarray(x).astype(dtype)


def bits(array):
    return array.to_numpy().view(f"uint{8 * array.itemsize}")


OPS = {"gelu": stator.nn.gelu, "erf": stator.special.erf, "exp": stator.exp, "sin": stator.sin, "tanh": stator.tanh}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("op", OPS)
def test_a_functor_computes_what_the_op_computes(cuda, op, dtype):
    x = operand(cuda, dtype)
    y = stator.empty_like(x)
    kernel = cuda.compile(UNARY, f"apply<functors::{op}, {TYPES[dtype]}>", EXACT)
    kernel.launch(-(-x.size // 128), 128, x, y, x.size)
    np.testing.assert_array_equal(bits(y), bits(OPS[op](x)))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("op", ["add", "multiply", "remainder", "maximum"])
def test_a_functor_of_two_operands_computes_what_the_op_computes(cuda, op, dtype):
    x, y = operand(cuda, dtype), operand(cuda, dtype, 3)
    z = stator.empty_like(x)
    kernel = cuda.compile(BINARY, f"apply<functors::{op}, {TYPES[dtype]}>", EXACT)
    kernel.launch(-(-x.size // 128), 128, x, y, z, x.size)
    if "int" in dtype and op == "remainder":
        y = stator.maximum(y, 1)  # the op reports a division by zero, the functor gives 0
        kernel.launch(-(-x.size // 128), 128, x, y, z, x.size)
    np.testing.assert_array_equal(bits(z), bits(getattr(stator, op)(x, y)))


FLOAT8 = """
#include <stator/device/float8.cuh>
using namespace stator;
__global__ void encode(const float* x, const float* scale, uint8_t* q, float* back, int format) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  q[i] = device::float8_encoded(x[i] / scale[0], Float8(format));
  back[i] = device::float8_decoded(q[i], Float8(format));
}
"""


@pytest.mark.parametrize("format, dtype", [("e4m3", ml_dtypes.float8_e4m3fn), ("e5m2", ml_dtypes.float8_e5m2)])
def test_float8_conversions_are_those_of_quantize_fp8(cuda, format, dtype):
    x = operand(cuda, "float32")
    values, scale = stator.nn.quantize_fp8(x, format=format)
    q, back = cuda.empty(x.shape, dtype="uint8"), stator.empty_like(x)
    kernel = cuda.compile(FLOAT8, "encode")
    kernel.launch(x.size, 1, x, scale, q, back, ["e4m3", "e5m2"].index(format))
    np.testing.assert_array_equal(q.to_numpy(), values.to_numpy())
    np.testing.assert_array_equal(back.to_numpy(), values.to_numpy().view(dtype).astype("float32"))


GROUP = """
#include <stator/device/group.cuh>
__global__ void sums(const long* x, long* total, int n) {
  const stator::device::Group<256> group;
  x += group.block() * n;
  const long sum = group.map_sum<long>(n, [=](long i) { return x[i]; });
  if (group.rank() == 0) total[group.block()] = sum;
}
"""


def test_a_group_adds_the_elements_of_its_block(cuda):
    x = cuda.arange(3000, dtype="int64").reshape(3, 1000)
    total = cuda.empty(3, dtype="int64")
    cuda.compile(GROUP, "sums").launch(3, 256, x, total, 1000)
    np.testing.assert_array_equal(total.to_numpy(), x.to_numpy().sum(axis=1))
