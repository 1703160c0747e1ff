"""Functions with products of matrices, captured once and called with other arguments."""

import numpy as np
import pytest

import stator


def numbers(be, shape, seed, dtype="float64"):
    return be.asarray(np.random.default_rng(seed).uniform(-1, 1, shape)).astype(dtype)


PRODUCTS = {
    "matrices": (lambda a, b: a @ b, ((40, 30), (30, 20))),
    "vector": (lambda a, b: a @ b, ((40, 30), (30,))),
    "batch": (lambda a, b: a @ b, ((3, 20, 30), (3, 30, 10))),
    "pieces": (lambda a, b: a @ b, ((300, 200), (200, 300))),  # large enough to be divided among workers
    "own transpose": (lambda a: a @ a.T, ((300, 40),)),
    "half": (lambda a, b: a.astype("float16") @ b.astype("float16"), ((40, 30), (30, 20))),
    "complex": (lambda a, b: a.astype("complex64") @ b.astype("complex64"), ((20, 30), (30, 10))),
    "twice": (lambda a, b: (a @ b) @ (b.T @ a.T), ((40, 30), (30, 20))),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_are_those_of_the_arguments_of_each_call(be, name):
    function, shapes = PRODUCTS[name]
    f = be.graph(function)
    kept = []
    for seed in range(4):
        arguments = [numbers(be, shape, 10 * seed + i) for i, shape in enumerate(shapes)]
        kept.append((f(*arguments), function(*arguments), arguments))
    for got, expected, _ in kept:
        np.testing.assert_array_equal(got.to_numpy(), expected.to_numpy())


@pytest.mark.parametrize("name", PRODUCTS)
def test_on_the_cpu_a_product_is_captured_twice_and_then_given_its_arguments(name):
    function, shapes = PRODUCTS[name]
    with stator.Backend("cpu") as be:
        f = be.graph(function)
        for seed in range(5):
            f(*[numbers(be, shape, seed) for shape in shapes])
        before = f.cache_info().captures
        f(*[numbers(be, shape, 9) for shape in shapes])
        assert f.cache_info().captures == before <= 4


def test_a_launch_under_way_keeps_the_arguments_that_it_was_given():
    with stator.Backend("cpu") as be:
        f = be.graph(lambda a, b: a @ b)
        pairs = [(numbers(be, (256, 256), i), numbers(be, (256, 256), 50 + i)) for i in range(12)]
        made = [f(a, b) for a, b in pairs]  # none is waited for
        for (a, b), got in zip(pairs, made, strict=True):
            np.testing.assert_array_equal(got.to_numpy(), (a @ b).to_numpy())
