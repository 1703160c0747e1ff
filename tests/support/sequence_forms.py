"""What the tests of sequences share: work, the forms in which it runs, and what the plain loop makes of it."""

import asyncio

import numpy as np

SOURCE = """
__global__ void add(float* x, const float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += y[i];
}
__global__ void twice(float* x, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] *= 2; }
__global__ void mark(int* x) { x[blockIdx.x] = blockDim.x; }
"""
N = 70


def add(x, y):
    x += y


def twice(x):
    x *= 2


def steps(be, kind, x, y):
    """The steps of y += 1 doubled, and of x += y, as functions or as kernels."""
    if kind == "functions":
        return (twice, y), (add, x, y)
    plus, times = be.compile(SOURCE, ["add", "twice"])
    return (times, 1, 32, y, N), (plus, 3, 32, x, y, N)


def kinds(be):
    return ("functions", "kernels") if be.device.type == "cuda" else ("functions",)


class Work:
    """x from the host, y twice itself, then n times x += y; and what the plain loop makes of it."""

    def __init__(self, be, kind="functions", n=3, stream=None):
        self.x, self.y = be.zeros(N, dtype="float32"), be.zeros(N, dtype="float32")
        rng = np.random.default_rng(1)
        self.a, self.b = rng.integers(0, 9, (2, N)).astype("float32")
        self.out, self.part = np.zeros(N, "float32"), bytearray(8)
        prefix, step = steps(be, kind, self.x, self.y)
        self.sequence = be.programs.sequence(stream=stream).upload(self.x, self.a).upload(self.y, self.b)
        self.sequence.prefix(prefix).repeat(n, step)
        self.sequence.read(self.x, self.out).read(self.y, self.part, 4, 8)
        self.n = n

    def expected(self):
        y = 2 * self.b
        x = self.a.copy()
        for _ in range(self.n):
            x += y
        return x, y[1:3].tobytes()

    def assert_done(self, outputs=None):
        x, y = self.expected()
        out, part = (self.out, self.part) if outputs is None else outputs
        np.testing.assert_array_equal(out, x)
        assert bytes(part) == y


FORMS = {
    "run": lambda s: s.run(),
    "submit": lambda s: s.submit().result(),
    "await": lambda s: asyncio.run(awaited(s)),
    "run_borrowed": lambda s: s.run_borrowed(),
    "run_into": lambda s: s.run_into([np.zeros(N, "float32"), bytearray(8)]),
    "run_timed": lambda s: s.run_timed(),
}


async def awaited(sequence):
    return await sequence.submit()


def untouched(*arrays):
    return all((x.to_numpy() == 0).all() for x in arrays)
