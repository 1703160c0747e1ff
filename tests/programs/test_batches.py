"""Many problems of different sizes in one launch, by a kernel or a function."""

import numpy as np
import pytest

import stator
from stator.errors import BackendMismatchError, DTypeError, InvalidValueError

SOURCE = """
__global__ void solve(const long long* offsets, float* matrix, const float* vector, double* product, int scale) {
  const long long* a = offsets + blockIdx.x;
  const long long* x = a + gridDim.x + 1;
  const long long* y = x + gridDim.x + 1;
  const int rows = y[1] - y[0], columns = x[1] - x[0];
  for (int i = blockIdx.y * blockDim.x + threadIdx.x; i < rows; i += gridDim.y * blockDim.x) {
    double sum = 0;
    for (int j = 0; j < columns; ++j) sum += double(matrix[a[0] + i * columns + j]) * vector[x[0] + j];
    product[y[0] + i] = scale * sum;
  }
}
"""
SHAPES = [(3, 4), (1, 1), (0, 2), (2, 0), (40, 17)]


def by_function(matrix, vector, product, scale):
    product[...] = scale * (matrix.astype("float64") @ vector.astype("float64"))


def kernels(be):
    yield by_function
    if be.device.type == "cuda":
        yield be.compile(SOURCE, "solve")


def problems(backend, place):
    rng = np.random.default_rng(0)
    host = [(rng.random((m, n), "float32"), rng.random(n, "float32"), np.full(m, np.nan)) for m, n in SHAPES]
    if place == "host":
        return host
    made = [tuple(map(backend.asarray, p)) for p in host]
    return made if place == "device" else [(a, host[i][1], y) for i, (a, _, y) in enumerate(made)]


@pytest.mark.parametrize("place", ["host", "device", "both"])
def test_each_problem_has_its_result(be, place):
    for kernel in kernels(be):
        given = problems(be, place)
        results = be.programs.batched(kernel, given, 2)
        assert [tuple(map(np.shape, r)) for r in results] == [tuple(map(np.shape, p)) for p in given]
        for (matrix, vector, product), (_, _, before) in zip(results, given, strict=True):
            a, x = matrix.to_numpy().astype("float64"), vector.to_numpy().astype("float64")
            np.testing.assert_allclose(product.to_numpy(), 2 * a @ x, rtol=1e-12)
            assert np.isnan(before if isinstance(before, np.ndarray) else before.to_numpy()).all()


def test_a_kernel_is_launched_once_with_its_grid(cuda):
    kernel = cuda.compile(SOURCE, "solve")
    many = problems(cuda, "host") * 20
    cuda.programs.batched(kernel, many, 1)
    before = cuda.statistics()
    with cuda.stream(1):
        results = cuda.programs.batched(kernel, many, 1, blocks=3, block=(8, 1), stream=cuda.stream(1))
    after = cuda.statistics()
    assert after["kernel_launches"] - before["kernel_launches"] == 1
    assert after["h2d_bytes"] - before["h2d_bytes"] == sum(a.nbytes for p in many for a in p) + 8 * 3 * 101
    a, x, y = (r.to_numpy().astype("float64") for r in results[-1])
    np.testing.assert_allclose(y, a @ x, rtol=1e-12)


def test_problems_of_one_array_need_no_tuple(be):
    def double(x):
        x[...] = 2 * x

    x = be.asarray([1.0, 2.0])
    for given in ([x], [x, be.zeros((2, 0)), np.ones((1, 1))]):
        found = be.programs.batched(double, given)
        assert [r.shape for r in found] == [np.shape(g) for g in given]
        assert found[0].to_numpy().tolist() == [2, 4] and x.to_numpy().tolist() == [1, 2]
    assert be.programs.batched(double, []) == []
    assert be.programs.batched(double, [(x,)])[0][0].to_numpy().tolist() == [2, 4]


def test_problems_that_do_not_fit_each_other_are_refused(be):
    x, n = be.ones(3), be.ones(3, dtype="int32")
    for given, error, text in (
        ([(x, n), (x,)], InvalidValueError, "The problem 1 has 1 arrays"),
        ([()], InvalidValueError, "0 arrays"),
        ([(x, n), (n, n)], DTypeError, "The problem 1 has an array of int32"),
        (["text"], DTypeError, "not an element type"),
        ([[[1], [2, 3]]], DTypeError, "The problem 0 has no array"),
        (x, DTypeError, "problems of type Array"),
    ):
        with pytest.raises(error, match=text) as seen:
            be.programs.batched(lambda *arrays: None, given)
        assert seen.value.op == "Backend.programs.batched"
    with pytest.raises(DTypeError, match="returned a value"):
        be.programs.batched(lambda x: 2 * x, [x])
    with pytest.raises(DTypeError, match="kernel of type int"):
        be.programs.batched(3, [x])
    with stator.Backend(be.device) as other, pytest.raises(BackendMismatchError):
        other.programs.batched(lambda x: None, [x])


def test_a_kernel_that_does_not_fit_the_problems_is_refused(cuda):
    kernel = cuda.compile(SOURCE, "solve")
    x = cuda.ones(3, dtype="float32")
    with pytest.raises(DTypeError, match="3 arguments, and has 5"):
        cuda.programs.batched(kernel, [(x, x)])
    with pytest.raises(DTypeError, match="array of float32"):
        cuda.programs.batched(kernel, [(x, x, x)], 1)
    with pytest.raises(InvalidValueError, match="blocks=0"):
        cuda.programs.batched(kernel, [(x, x, x)], 1, blocks=0)
