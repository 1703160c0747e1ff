"""Generators of stator.numpy.random: seeds, shapes, dtypes, integers, order, legacy functions, errors."""

import copy
import inspect

import numpy as np
import pytest
from scipy import stats

import stator
import stator.numpy as snp
from stator.errors import DTypeError, InvalidValueError, StatorError


@pytest.fixture
def rng(be):
    return snp.random.default_rng(12)


def test_seeds(be):
    draw = lambda seed: snp.random.default_rng(seed).random(3).to_numpy()  # noqa: E731
    assert (draw(5) == draw(np.int64(5))).all()
    for one, other in ((5, 6), (None, None), ([1, 2], [1, 3]), (2**70, 2**71), (5, [5])):
        assert (draw(one) != draw(other)).all()
    assert (draw([1, 2]) == draw(np.random.SeedSequence([1, 2]))).all()
    generator = snp.random.default_rng(5)
    assert snp.random.default_rng(generator) is generator
    bits = stator.random.Generator(be, seed=5)
    assert snp.random.default_rng(bits).bit_generator is bits
    assert (snp.random.Generator(bits).random(3).to_numpy() == draw(5)).all()
    with pytest.raises(ValueError, match="at least 0"):
        snp.random.default_rng(-1)
    with pytest.raises(TypeError):
        snp.random.default_rng(1.5)
    with pytest.raises(TypeError, match="default_rng"):
        snp.random.Generator(5)


def test_children_differ(rng):
    first, second = rng.spawn(2)
    assert type(first) is snp.random.Generator
    assert (first.random(5).to_numpy() != second.random(5).to_numpy()).all()


SIZES = [(None, ()), (3, (3,)), ((2, 3), (2, 3)), ([4], (4,)), ((), ()), (0, (0,)), (np.int64(2), (2,))]


@pytest.mark.parametrize(("size", "shape"), SIZES)
def test_sizes(rng, size, shape):
    for name in (
        "random",
        "standard_normal",
        "standard_exponential",
        "standard_cauchy",
        "normal",
        "poisson",
        "laplace",
    ):
        assert getattr(rng, name)(size=size).shape == shape
    for name in ("standard_gamma", "vonmises", "zipf", "binomial", "hypergeometric", "integers", "multinomial"):
        more = {"vonmises": (1, 2), "zipf": (3,), "binomial": (5, 0.5), "hypergeometric": (3, 4, 5)}
        args = more.get(name, (5, [0.5, 0.5]) if name == "multinomial" else (5,))
        drawn = getattr(rng, name)(*args, size=size)
        assert drawn.shape == (*shape, 2) if name == "multinomial" else drawn.shape == shape


def test_parameters_broadcast(rng):
    assert rng.normal([0.0, 1.0], [[1.0], [2.0]]).shape == (2, 2)
    assert rng.gamma(stator.ones((3, 1)), [1, 2]).shape == (3, 2)
    assert rng.uniform([0, 10], [1, 11], size=(5, 2)).to_numpy()[:, 1].min() >= 10
    assert rng.binomial(5, [0.1, 0.2]).shape == (2,)
    assert rng.poisson(stator.ones((2, 0))).shape == (2, 0)
    for size in ((3,), 2, (2, 3)):
        with pytest.raises(ValueError, match="broadcast"):
            rng.normal(stator.ones((4,)), 1.0, size)


@pytest.mark.parametrize("name", ["random", "standard_normal", "standard_exponential", "standard_gamma"])
def test_dtypes_and_out(rng, name):
    args = (2.0,) if name == "standard_gamma" else ()
    method = getattr(rng, name)
    assert method(*args, size=3).dtype == np.float64
    assert method(*args, size=3, dtype=np.float32).dtype == np.float32
    out = stator.zeros((4,))
    assert method(*args, out=out) is out
    assert (out.to_numpy() != 0).all()
    with pytest.raises(ValueError, match="out"):
        method(*args, size=3, out=out)
    with pytest.raises(TypeError, match="Out of type list"):
        method(*args, out=[1.0])


def test_integers(rng):
    drawn = rng.integers(3, size=3000).to_numpy()
    assert (drawn.dtype, set(drawn.tolist())) == (np.dtype("int64"), {0, 1, 2})
    assert set(rng.integers(-2, 1, 1000, np.int8, True).to_numpy().tolist()) == {-2, -1, 0, 1}
    assert rng.integers(0, 256, 5, dtype="uint8").dtype == np.uint8
    assert set(rng.integers(0, 2, 100, dtype=bool).to_numpy().tolist()) == {False, True}
    with pytest.raises(ValueError):
        rng.integers(3, 3)
    with pytest.raises(ValueError):
        rng.integers(0, 300, dtype=np.uint8)
    with pytest.raises(TypeError):
        rng.integers(0, 2.5)


def test_integers_between_arrays_of_bounds(rng):
    drawn = rng.integers([0, 10, -5], [7, 11, 1], (7000, 3))
    found = drawn.to_numpy()
    assert (found.min(0) == [0, 10, -5]).all()
    assert (found.max(0) == [6, 10, 0]).all()
    assert stats.chisquare(np.bincount(found[:, 0])).pvalue > 1e-4
    wide = rng.integers([0], [3 * 2**61], 20000).to_numpy()  # a modulo of only 63 bits would favour the lower ones
    assert stats.kstest(wide / (3 * 2**61), "uniform").pvalue > 1e-4
    assert (rng.integers(stator.asarray([1, 2]), endpoint=True, size=(50, 2)).to_numpy() <= [1, 2]).all()
    every = rng.integers([-(2**63)], [2**63 - 1], 20000, endpoint=True).to_numpy()
    assert stats.kstest(every / 2**64 + 0.5, "uniform").pvalue > 1e-4
    upper = rng.integers(stator.asarray([2**63], dtype="uint64"), [2**64 - 1], 1000, np.uint64).to_numpy()
    assert upper.min() >= 2**63
    assert len(set(upper)) == 1000
    for low, high, dtype in (([5, 0], 3, int), ([0, 3], [2, 3], int), ([0], [300], np.uint8)):
        with pytest.raises(ValueError, match="low"):
            rng.integers(low, high, dtype=dtype)


def test_choice(rng):
    assert set(rng.choice([10, 20, 30], 200).to_numpy().tolist()) == {10, 20, 30}
    assert sorted(rng.choice(5, 5, False).to_numpy().tolist()) == [0, 1, 2, 3, 4]
    assert (rng.choice(3, 100, p=[0.0, 1.0, 0.0]).to_numpy() == 1).all()
    assert rng.choice(stator.ones((2, 5)), 3, axis=1).shape == (2, 3)
    assert rng.choice(stator.asarray(4), 2, shuffle=False).shape == (2,)
    for args in ((3, 5, False), (3, 2, True, [0.5, 0.5]), (0, 2)):
        with pytest.raises(ValueError):
            rng.choice(*args)
    with pytest.raises(TypeError, match="asarray"):
        rng.choice(np.arange(3))
    with pytest.raises(TypeError, match="asarray"):
        rng.choice(3, p=np.ones(3) / 3)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_shuffle_moves_slices_and_loses_none(rng, axis):
    x = stator.reshape(stator.arange(40 * 30), (40, 30))
    before = x.to_numpy()
    assert rng.shuffle(x, axis) is None
    after = x.to_numpy()
    assert (after != before).any()
    order = np.argsort(after.min(1 - axis % 2))
    assert (np.take(after, order, axis) == before).all()


def test_shuffles_are_random(rng):
    places = np.zeros((6, 6))
    for _ in range(600):
        x = stator.arange(6)
        rng.shuffle(x)
        places[np.arange(6), x.to_numpy()] += 1
    assert stats.chisquare(places.ravel(), np.full(36, 100), ddof=10).pvalue > 1e-4


def test_shuffle_of_views_and_lists(rng):
    x = stator.arange(100)
    rng.shuffle(x[::2])
    assert (x.to_numpy()[1::2] == np.arange(1, 100, 2)).all()
    assert sorted(x.to_numpy()[::2]) == list(range(0, 100, 2))
    items = list("abcdefghij")
    rng.shuffle(items)
    assert items != sorted(items)
    assert sorted(items) == list("abcdefghij")
    with pytest.raises(TypeError, match="asarray"):
        rng.shuffle(np.arange(3))
    with pytest.raises(TypeError, match="list"):
        rng.shuffle((1, 2))


def test_permutations(rng):
    assert sorted(rng.permutation(50).to_numpy()) == list(range(50))
    assert sorted(rng.permutation([3, 1, 2]).to_numpy()) == [1, 2, 3]
    x = stator.reshape(stator.arange(600), (20, 30))
    each = rng.permuted(x, axis=1).to_numpy()
    assert (np.sort(each, 1) == x.to_numpy()).all()
    assert len({tuple(row % 30) for row in each}) == 20
    every = rng.permuted(x).to_numpy()
    assert sorted(every.ravel()) == list(range(600))
    assert len(set(every[0] // 30)) > 1
    assert rng.permuted(x, axis=0, out=x) is x
    assert (np.sort(x.to_numpy(), 0) == np.arange(600).reshape(20, 30)).all()


def test_bytes(rng):
    found = rng.bytes(1000)
    assert type(found) is bytes
    assert len(found) == 1000
    assert len(set(found)) > 200


REFUSED = [
    ("normal", (0, -1)),
    ("exponential", (-1,)),
    ("gamma", (-1,)),
    ("gamma", ([1, -1],)),
    ("beta", (0, 1)),
    ("chisquare", (0,)),
    ("f", (0, 1)),
    ("noncentral_chisquare", (1, -1)),
    ("standard_t", (0,)),
    ("laplace", (0, -1)),
    ("pareto", (0,)),
    ("power", (0,)),
    ("weibull", (-1,)),
    ("rayleigh", (-1,)),
    ("triangular", (1, 0, 2)),
    ("triangular", (1, 1, 1)),
    ("vonmises", (0, -1)),
    ("wald", (0, 1)),
    ("dirichlet", (1.0,)),
    ("dirichlet", ([-1.0, 1.0],)),
    ("poisson", (-1,)),
    ("binomial", (-1, 0.5)),
    ("binomial", (3, 1.5)),
    ("binomial", (3, [0.5, float("nan")])),
    ("negative_binomial", (0, 0.5)),
    ("negative_binomial", (1, 0)),
    ("geometric", (0,)),
    ("hypergeometric", (1, 1, 3)),
    ("logseries", (1,)),
    ("zipf", (1,)),
    ("multinomial", (3, [0.9, 0.9, 0.1])),
    ("multinomial", (3, 0.5)),
    ("multivariate_hypergeometric", ([1, 2], 4)),
    ("multivariate_hypergeometric", ([1, 2], 2, None, "both")),
    ("multivariate_normal", ([0, 0], [[1.0]])),
    ("random", (-1,)),
]


@pytest.mark.parametrize(("name", "args"), REFUSED)
def test_what_numpy_refuses_is_refused_alike(rng, name, args):
    with pytest.raises((ValueError, TypeError)) as wanted:
        getattr(np.random.default_rng(1), name)(*args)
    with pytest.raises(wanted.type) as found:
        getattr(rng, name)(*args)
    assert isinstance(found.value, StatorError)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("uniform", (-1e308, 1e308)),
        ("uniform", (0, float("inf"))),
        ("normal", (10**400, 1)),
        ("exponential", (10**400,)),
        ("gamma", (1, 10**400)),
        ("triangular", (0, 1, 10**400)),
        ("binomial", (float("inf"), 0.5)),
        ("binomial", (2**63, 0.5)),
        ("multinomial", (float("inf"), [0.5, 0.5])),
        ("hypergeometric", (float("inf"), 1, 1)),
        ("integers", (0, 2**70)),
    ],
)
def test_numbers_out_of_range_are_errors_of_stator(rng, name, args):
    with pytest.raises(InvalidValueError, match=rf"^random\.{name}: ") as found:
        getattr(rng, name)(*args)
    assert len(str(found.value)) < 300
    assert name == "integers" or isinstance(found.value, OverflowError)


@pytest.mark.parametrize("size", [1.5, (2, 1.5), "ab"])
def test_sizes_must_be_integers(rng, size):
    with pytest.raises(DTypeError, match=r"^random\.normal: .*sequence of integers"):
        rng.normal(float("inf"), 1, size)


@pytest.mark.parametrize("a", [float("inf"), float("nan"), 2.5])
def test_choice_of_a_number_takes_integers(rng, a):
    with pytest.raises(InvalidValueError, match=r"^random\.choice: Got a="):
        rng.choice(a)


def test_numpy_arrays_of_parameters_are_refused(rng):
    with pytest.raises(TypeError, match="asarray"):
        rng.normal(np.zeros(3))


def test_draws_of_numbers_wait_for_nothing(be, rng):
    with be.forbid_host_copies():
        for name, args in (("normal", (0, 1)), ("beta", (2, 3)), ("binomial", (9, 0.5)), ("wald", (1, 1))):
            getattr(rng, name)(*args, size=10)


def test_draws_of_finite_numbers_take_one_launch(be, rng):
    for name, args in (("normal", (1, 2)), ("uniform", (1, 2)), ("exponential", (2,)), ("gamma", (2, 3))):
        before = be.statistics()["kernel_launches"]
        getattr(rng, name)(*args, size=10)
        assert be.statistics()["kernel_launches"] == before + 1
    assert np.isinf(rng.normal(float("inf"), 1, 2).to_numpy()).all()
    assert (rng.gamma(0, 2, 3).to_numpy() == 0).all()
    assert (rng.exponential(0, 3).to_numpy() == 0).all()
    down = rng.uniform(3, 1, 1000).to_numpy()
    assert (down > 1).all() and (down <= 3).all()


def test_legacy_functions(be):
    random = snp.random
    random.seed(7)
    first = random.rand(2, 3)
    random.seed(7)
    assert (random.random_sample((2, 3)).to_numpy() == first.to_numpy()).all()
    assert random.rand().shape == random.randn().shape == ()
    assert random.randn(4).shape == (4,)
    assert random.randint(5, size=(2,)).dtype == np.int64
    assert set(random.randint(2, 4, 100).to_numpy().tolist()) == {2, 3}
    assert set(random.random_integers(2, size=100).to_numpy().tolist()) == {1, 2}
    state = random.get_state()
    before = random.normal(size=3).to_numpy()
    random.set_state(state)
    assert (random.normal(size=3).to_numpy() == before).all()
    for alias in (random.ranf, random.sample, random.random):
        assert alias(3).shape == (3,)
    x = stator.arange(20)
    random.shuffle(x)
    assert sorted(x.to_numpy()) == list(range(20))
    assert random.normal().backend is be
    random.seed()


def test_random_state(be):
    one, other = snp.random.RandomState(3), snp.random.RandomState(3)
    assert (one.rand(4).to_numpy() == other.random_sample(4).to_numpy()).all()
    one.seed(3)
    assert (one.tomaxint(3).to_numpy() >= 0).all()
    assert copy.copy(one).bit_generator is one.bit_generator


def test_every_name_of_numpy_has_a_row():
    from stator.numpy._rows import ROWS

    assert {f"random.{n}" for n in np.random.__all__} <= set(ROWS)
    methods = {n for n in dir(np.random.Generator) if not n.startswith("_")}
    assert methods <= set(dir(snp.random.Generator))


def test_methods_take_the_arguments_of_numpy():
    names = [n for n in dir(np.random.Generator) if not n.startswith("_") and n not in ("bit_generator",)]
    for name in names:
        ours = inspect.signature(getattr(snp.random.Generator, name))
        theirs = inspect.signature(getattr(np.random.Generator, name))
        assert list(ours.parameters) == list(theirs.parameters), name
    for name in ("rand", "randint", "normal", "choice"):
        assert "self" not in inspect.signature(getattr(snp.random, name)).parameters
