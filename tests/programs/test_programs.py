"""User kernels: compiling, arguments, launches, and what is refused."""

import ctypes
import gc
import struct

import numpy as np
import pytest

import stator
from stator import _backend
from stator.backends.traits import adapt
from stator.errors import (
    BackendClosedError,
    BackendMismatchError,
    CompileError,
    CudaError,
    DTypeError,
    InvalidValueError,
    UnsupportedError,
)
from stator.programs import programs

AXPY = """
template <class T> __global__ void axpy(T a, const T* x, T* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
__global__ void slow_add(float* x, int rounds) {
  for (int i = 0; i < rounds; ++i) x[threadIdx.x] += 1;
}
extern "C" __global__ void fill(float* x, long long value) { x[threadIdx.x] = value; }
__global__ void sum_of_tile(const float* x, float* y) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) for (int i = 0; i < blockDim.x; ++i) y[0] += tile[i];
}
"""
PTX = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry three(.param .u64 .ptr .global .align 4 out, .param .f32 scale)
{
  .reg .b64 %a; .reg .f32 %f;
  ld.param.u64 %a, [out];
  ld.param.f32 %f, [scale];
  mul.rn.f32 %f, %f, 0f40400000;
  st.global.f32 [%a], %f;
  ret;
}
"""


@pytest.fixture
def axpy(cuda):
    return cuda.compile(AXPY, "axpy<float>")


def arrays(backend, n=10):
    return backend.arange(n, dtype="float32"), backend.ones(n, dtype="float32")


def test_a_template_and_an_extern_c_kernel_of_one_source_run(cuda):
    axpy, fill = cuda.compile(AXPY, ["axpy<double>", "fill"])
    x, y = cuda.arange(1000, dtype="float64"), cuda.ones(1000, dtype="float64")
    axpy.launch(4, 256, 2.5, x, y, 1000)
    np.testing.assert_array_equal(y.to_numpy(), 1 + 2.5 * np.arange(1000))
    z = cuda.zeros(10, dtype="float32")
    fill.launch(1, 10, z, -(2**40))
    assert (z.to_numpy() == -(2.0**40)).all()


def test_a_kernel_says_what_it_takes(axpy):
    assert [p.type for p in axpy.parameters] == ["float", "float const*", "float*", "int"]
    assert [p.kind for p in axpy.parameters] == ["floating", "pointer", "pointer", "integer"]
    assert [(p.offset, p.size) for p in axpy.parameters] == [(0, 4), (8, 8), (16, 8), (24, 4)]
    assert repr(axpy) == "<stator.Kernel axpy<float>(float, float const*, float*, int)>"
    assert axpy.attributes.max_threads == 1024 and axpy.attributes.shared_bytes == 0


def test_ptx_is_loaded_and_its_declaration_read(cuda):
    three = cuda.compile(PTX, "three")
    assert [(p.type, p.kind) for p in three.parameters] == [("u64", "pointer"), ("f32", "floating")]
    out = cuda.zeros(1, dtype="float32")
    three.launch(1, 1, out, 2)
    assert float(out[0]) == 6
    cuda.compile(PTX.encode(), "three").launch(1, 1, out, 3)
    assert float(out[0]) == 9


def test_headers_of_cuda_are_found(cuda):
    source = """#include <cuda_fp16.h>
    #include <cuda_bf16.h>
    #include <cuda/std/complex>
    __global__ void f(__half h, __nv_bfloat16 b, cuda::std::complex<float> c, float* out) {
      out[0] = __half2float(h); out[1] = __bfloat162float(b); out[2] = c.real(); out[3] = c.imag();
    }"""
    out = cuda.zeros(4, dtype="float32")
    cuda.compile(source, "f").launch(1, 1, 0.1, 0.1, 2 - 3j, out)
    np.testing.assert_array_equal(out.to_numpy(), [np.float32(np.float16(0.1)), 0.10009765625, 2, -3])


class Pair(ctypes.Structure):
    _fields_ = (("a", ctypes.c_float), ("n", ctypes.c_int))


VALUES = """
struct Pair { float a; int n; };
__global__ void f(bool b, signed char c, unsigned short s, Pair p, double d, unsigned long long u, const float* none,
                  double* out) {
  out[0] = b; out[1] = c; out[2] = s; out[3] = p.a; out[4] = p.n; out[5] = d; out[6] = u; out[7] = none == nullptr;
}"""


@pytest.mark.parametrize(
    "pair", [Pair(1.5, -7), struct.pack("fi", 1.5, -7), np.array((1.5, -7), dtype=[("a", "f4"), ("n", "i4")])[()]]
)
def test_values_take_the_types_of_parameters(cuda, pair):
    out = cuda.zeros(8, dtype="float64")
    cuda.compile(VALUES, "f").launch(1, 1, True, -3, np.uint16(65535), pair, np.float64(0.1), 2**63, None, out)
    np.testing.assert_array_equal(out.to_numpy(), [1, -3, 65535, 1.5, -7, 0.1, 2.0**63, 1])


def test_shared_memory_beyond_the_default_limit_is_opted_in_to(cuda):
    kernel = cuda.compile(AXPY, "sum_of_tile")
    x, y = arrays(cuda, 256)
    kernel.launch(1, 256, x, y, shared=100_000)
    assert float(y[0]) == 1 + 255 * 128


def test_a_cooperative_grid_synchronises(cuda):
    source = """#include <cooperative_groups.h>
    __global__ void turn(const int* x, int* y, int* z, int n) {
      auto grid = cooperative_groups::this_grid();
      for (int i = grid.thread_rank(); i < n; i += grid.size()) y[i] = x[i] + 1;
      grid.sync();
      for (int i = grid.thread_rank(); i < n; i += grid.size()) z[i] = y[n - 1 - i];
      grid.sync();
      if (grid.thread_rank() == 0) z[0] = -z[n - 1];
    }"""
    n = 5000
    x, y, z = cuda.arange(n, dtype="int32"), cuda.empty(n, dtype="int32"), cuda.empty(n, dtype="int32")
    kernel = cuda.compile(source, "turn")
    assert cuda.devices.capabilities().grid_sync
    for blocks in (1, 7, 16):
        kernel.launch(blocks, 64, x, y, z, n, cooperative=True)
        expected = np.arange(n, 0, -1)
        expected[0] = -1
        np.testing.assert_array_equal(z.to_numpy(), expected)


def test_a_launch_goes_to_the_stream_that_is_given_or_current(cuda):
    slow, fill = cuda.compile(AXPY, ["slow_add", "fill"])
    x = cuda.zeros(32, dtype="float32")
    one, two = cuda.stream(1), cuda.stream(2)
    two.wait(cuda.stream(0).record())
    fill.launch(1, 32, x, 5, stream=two)
    one.wait(two.record())
    with one:
        slow.launch(1, 32, x, 100)
        assert float(x.sum()) == 32 * 105


def test_what_was_compiled_is_kept(cuda):
    before = cuda.programs.info()
    source = "__global__ void nothing() {}"
    cuda.compile(source, "nothing").launch(1, 1)
    cuda.compile(source, "nothing", ["-DX=1"])
    cuda.compile(source, "nothing")
    after = cuda.programs.info()
    assert (after.hits - before.hits, after.misses - before.misses) == (1, 2)
    assert after.limit >= after.programs == before.programs + 2
    cuda.programs.clear_cache()
    assert cuda.programs.info().programs == 0


def test_the_program_used_longest_ago_is_dropped(monkeypatch):
    monkeypatch.setattr(programs, "_LIMIT", 2)
    cache = programs.ProgramCache()
    for name in "abac":
        if cache.get((name,)) is None:
            cache.put((name,), name)
    assert (cache.get(("a",)), cache.get(("b",)), cache.get(("c",))) == ("a", None, "c")
    assert cache.info()[:5] == (3, 4, 1, 2, 2)  # hits, misses, evictions, programs, limit


def test_code_is_unloaded_after_the_work_that_uses_it(cuda):
    kernel = cuda.compile(AXPY, "slow_add")
    x = cuda.zeros(32, dtype="float32")
    kernel.launch(1, 32, x, 1000)
    cuda.programs.clear_cache()
    assert [r["origin"] for r in cuda.resources() if r["kind"] == "program"] == ["Backend.compile"]
    del kernel
    gc.collect()
    assert not [r for r in cuda.resources() if r["kind"] == "program"]
    assert (x.to_numpy() == 1000).all()


def test_occupancy_and_the_block_that_it_suggests(cuda):
    kernel = cuda.compile(AXPY, "sum_of_tile")
    most = kernel.occupancy(kernel.suggest_block()) * kernel.suggest_block()
    assert all(kernel.occupancy(threads) * threads <= most for threads in range(32, 1025, 32))
    assert kernel.occupancy(128, shared=100_000) < kernel.occupancy((32, 4))
    assert kernel.occupancy(128, shared=2**30) == 0


def test_a_descriptor_and_the_bytes_of_uniform_data(cuda):
    kernel = cuda.programs.create_kernel(
        programs.KernelDescriptor("f", VALUES.replace("double* out", "double* out, int last"))
    )
    with pytest.raises(BackendMismatchError), stator.Backend("cuda") as other:
        adapt(other).execute_kernel(kernel, [], b"", (1,), (1,))
    source = """__global__ void f(float* x, const float* y, int n, double a) {
      if (threadIdx.x < n) x[threadIdx.x] += a * y[1];
    }"""
    kernel = cuda.programs.create_kernel(programs.KernelDescriptor("f", source, ("--use_fast_math",)))
    x, y = arrays(cuda)
    with pytest.raises(DTypeError, match="12 bytes, and the parameters after 2 buffers have 16"):
        adapt(cuda).execute_kernel(kernel, [x, y], struct.pack("<id", 4, 0.5), (10, 1, 1), (1, 1, 1))
    with pytest.raises(InvalidValueError, match=r"^BackendAdapter\.execute_kernel: .*above the limit"):
        adapt(cuda).execute_kernel(kernel, [x, y], struct.pack("@id", 4, 0.5), (2048, 1, 1), (1, 1, 1))
    adapt(cuda).execute_kernel(kernel, [x, y], struct.pack("@id", 4, 0.5), (10, 1, 1), (1, 1, 1))
    np.testing.assert_array_equal(x.to_numpy(), np.arange(10) + 0.5 * (np.arange(10) < 4))


REFUSED = {
    "threads beyond the kernel's": (lambda k, x, y: k.launch(1, (64, 32), 1, x, y, 9), "2048 threads, 1024 above"),
    "an empty grid": (lambda k, x, y: k.launch(0, 32, 1, x, y, 9), "Every axis must have at least one"),
    "a negative block": (lambda k, x, y: k.launch(1, -1, 1, x, y, 9), "block=-1"),
    "four axes": (lambda k, x, y: k.launch((1, 1, 1, 1), 1, 1, x, y, 9), "one to three numbers"),
    "shared memory": (lambda k, x, y: k.launch(1, 32, 1, x, y, 9, shared=10**6), "above the limit of"),
    "a cooperative grid": (lambda k, x, y: k.launch(10**6, 32, 1, x, y, 9, cooperative=True), "Launch at most"),
    "a view with gaps": (lambda k, x, y: k.launch(1, 32, 1, x[::2], y, 5), "not contiguous"),
    "an int that does not fit": (lambda k, x, y: k.launch(1, 32, 1, x, y, 2**31), "out of the range of int"),
}
MISFITS = {
    "too few": (lambda k, x, y: k.launch(1, 32, 1, x, y), "3 arguments, and has 4"),
    "another dtype": (lambda k, x, y: k.launch(1, 32, 1, x, y.astype("int32"), 9), "array of int32"),
    "an array for a number": (lambda k, x, y: k.launch(1, 32, x, x, y, 9), "array of float32"),
    "a float for an int": (lambda k, x, y: k.launch(1, 32, 1, x, y, 9.0), "is a float"),
    "a wide scalar": (lambda k, x, y: k.launch(1, 32, np.float64(1), x, y, 9), "a NumPy float64"),
    "a NumPy array": (lambda k, x, y: k.launch(1, 32, 1, x.to_numpy(), y, 9), "asarray"),
    "None for a number": (lambda k, x, y: k.launch(1, 32, None, x, y, 9), "null pointer"),
    "bytes of another size": (lambda k, x, y: k.launch(1, 32, b"12345", x, y, 9), "5 bytes"),
    "an object": (lambda k, x, y: k.launch(1, 32, object(), x, y, 9), "of type object"),
    "a complex number": (lambda k, x, y: k.launch(1, 32, 1j, x, y, 9), "1j"),
}


@pytest.mark.parametrize("what", [*REFUSED, *MISFITS])
def test_a_launch_that_cannot_be_is_refused_and_the_next_one_works(axpy, cuda, what):
    call, text = (REFUSED | MISFITS)[what]
    x, y = arrays(cuda)
    with pytest.raises(InvalidValueError if what in REFUSED else DTypeError, match=text) as seen:
        call(axpy, x, y)
    assert seen.value.op == "Kernel.launch" and seen.value.remedy
    axpy.launch(1, 32, 1, x, y, 10)
    np.testing.assert_array_equal(y.to_numpy(), 1 + np.arange(10))


@pytest.mark.parametrize("axis", range(3))
def test_blocks_and_grids_reach_the_limits_of_the_capabilities(cuda, axis):
    source = """__global__ void threads(float* y) {
      if (threadIdx.x + threadIdx.y + threadIdx.z == 0) y[0] = blockDim.x * blockDim.y * blockDim.z;
    }"""
    kernel, y = cuda.compile(source, "threads"), cuda.zeros(1, dtype="float32")
    caps = cuda.devices.capabilities()

    def along(count):
        return tuple(count if i == axis else 1 for i in range(3))

    block, grid = caps.max_workgroup_size[axis], caps.max_grid_size[axis]
    kernel.launch(1, along(block), y)
    assert float(y[0]) == block
    if grid < 2**20:
        kernel.launch(along(grid), 1, y)
        assert float(y[0]) == 1
    for launch, limit in (
        (lambda: kernel.launch(1, along(block + 1), y), block),
        (lambda: kernel.launch(along(grid + 1), 1, y), grid),
    ):
        with pytest.raises(InvalidValueError, match=f"axis {'xyz'[axis]}: .* 1 above the limit of {limit}"):
            launch()


def test_a_block_has_no_more_threads_than_the_capabilities_say(cuda):
    kernel = cuda.compile("__global__ void nothing(float* y) {}", "nothing")
    caps, y = cuda.devices.capabilities(), cuda.zeros(1, dtype="float32")
    most = caps.max_threads_per_workgroup
    kernel.launch(1, (most // 2, 2), y)
    with pytest.raises(InvalidValueError, match=rf"{most + 2} threads, 2 above"):
        kernel.launch(1, (most // 2 + 1, 2), y)


def test_arrays_and_streams_of_another_backend_are_refused(axpy, cuda):
    x, y = arrays(cuda)
    with stator.Backend("cuda") as other:
        with pytest.raises(BackendMismatchError):
            axpy.launch(1, 32, 1, other.zeros(10, dtype="float32"), y, 10)
        with pytest.raises(BackendMismatchError):
            axpy.launch(1, 32, 1, x, y, 10, stream=other.stream(0))
        kernel = other.compile(AXPY, "axpy<float>")
    with pytest.raises(BackendClosedError):
        kernel.launch(1, 1, 1, x, y, 1)


@pytest.mark.parametrize(
    ("source", "name", "text"),
    [
        ("__global__ void f() { undefined_name; }", "f", r"program.cu\(1\): error: identifier \"undefined_name\""),
        ("__global__ void f() {}", "g", 'identifier "g" is undefined'),
        ("__global__ void f() {}", "f<int>", "error"),
        (PTX, "four", "no kernel four"),
        (PTX.replace("mul.rn", "mull.rn"), "three", "mull"),
        (".version 8.0\n.target sm_80\n.address_size 64\nnonsense", "f", "nonsense"),
        (b"\x7fELF" + bytes(60), "f", "cannot be loaded"),
    ],
)
def test_source_that_does_not_compile_is_shown(cuda, source, name, text):
    # CUDA compiles PTX when it is first used, and may keep what it says of it to itself.
    with pytest.raises(CompileError, match=text if _backend.emulated("cuda") else f"{text}|cannot be loaded"):
        cuda.compile(source, name)
    gc.collect()
    assert [r["kind"] for r in cuda.resources()].count("program") == cuda.programs.info().programs


@pytest.mark.parametrize("name", ["g", "f<int>", "h"])
def test_a_name_that_is_no_kernel_is_told_from_source_that_is_wrong(cuda, name):
    source = "__global__ void f() {} template <class T> __global__ void h(T* x) {}"
    with pytest.raises(CompileError, match=f"no kernel for one of the names f, {name}:\n.*error") as seen:
        cuda.compile(source, ["f", name])
    assert "axpy<float>" in seen.value.remedy
    with pytest.raises(CompileError, match="does not compile") as seen:
        cuda.compile(source + " nonsense", ["f", name])
    assert seen.value.remedy == "Fix the lines that the log names"


def test_options_reach_the_compiler(cuda):
    with pytest.raises(CompileError, match="--no-such-option"):
        cuda.compile("__global__ void f() {}", "f", ["--no-such-option"])
    out = cuda.zeros(1, dtype="int32")
    cuda.compile("__global__ void f(int* x) { *x = VALUE; }", "f", ["-DVALUE=42"]).launch(1, 1, out)
    assert int(out[0]) == 42


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((3, "f"), DTypeError),
        (("", 3), DTypeError),
        (("", ()), InvalidValueError),
        (("", "f", "-O3"), DTypeError),
        (("", "f", [3]), DTypeError),
    ],
)
def test_arguments_of_other_types_are_refused(cuda, arguments, error):
    with pytest.raises(error):
        cuda.compile(*arguments)


def test_the_cpu_says_that_it_has_no_programs(cpu):
    with pytest.raises(UnsupportedError, match="STATOR_EMULATE"):
        cpu.compile(AXPY, "axpy<float>")


def test_every_failing_call_of_the_runtime_leaves_nothing_behind(cuda):
    """Compile, load, look up, launch and unload, with each call failed once."""

    def work():
        kernel = cuda.compile(PTX, "three")
        out = cuda.zeros(1, dtype="float32")
        kernel.launch(1, 1, out, 1)
        kernel.occupancy(64)
        return float(out[0])

    work()
    for at in range(100):
        cuda.programs.clear_cache()
        gc.collect()
        stator.testing.inject(cuda, fail_at=at)
        try:
            work()
            failed = False
        except (CudaError, stator.errors.OutOfMemoryError):
            failed = True
        finally:
            count = stator.testing.lift(cuda)
        cuda.programs.clear_cache()
        gc.collect()
        assert not [r for r in cuda.resources() if r["kind"] in ("program", "buffer")]
        if count <= at:
            break
    assert at > 10 and not failed
    assert work() == 3
