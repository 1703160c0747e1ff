"""Embeddings, their bags and gradients against their formulas in wide NumPy."""

import inputs
import numpy as np
import oracles
import pytest
from cases import tolerance
from reference import assert_matches, widen

import stator
from stator import errors

nn = stator.nn
LAYOUTS = inputs.layouts()


def table(dtype, rows=20, d=5, seed=0):
    return inputs.random(np.random.default_rng(seed), (rows, d), dtype, -2, 2)


def drawn(shape, rows, seed=1, dtype="int64"):
    return np.random.default_rng(seed).integers(0, rows, shape).astype(dtype)


def close(got, want, name, terms=1):
    """Errors count in the last place of the largest sum of magnitudes, which are below 2 for each term."""
    assert_matches(got.to_numpy(), want, tolerance(name), name, np.full(np.shape(want), 2.0 * terms))


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("shape", [(), (7,), (3, 4), (0,), (2, 0)])
def test_rows_of_a_table(be, dtype, shape):
    weight, at = table(dtype), drawn(shape, 20)
    got = nn.embedding(be.asarray(weight), be.asarray(at), padding_idx=3)
    np.testing.assert_array_equal(got.to_numpy(), weight[at])


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_indices_of_any_integer_dtype(be, kind):
    weight, at = table("float32"), drawn((9,), 20, dtype=kind)
    on, where = be.asarray(weight), be.asarray(at)
    np.testing.assert_array_equal(nn.embedding(on, where).to_numpy(), weight[at])
    grad = table("float32", 9)
    want = oracles.embedding_backward(widen(grad), at.astype(int), 20)
    close(nn.embedding_backward(be.asarray(grad), where, 20), want, "embedding_backward", 9)
    np.testing.assert_array_equal(nn.one_hot(where, 20).to_numpy(), np.eye(20)[at])


def test_negative_indices_count_from_the_end(be):
    weight, at = table("float64"), np.array([-1, -20, 0, 19, -1])
    where = be.asarray(at)
    np.testing.assert_array_equal(nn.embedding(be.asarray(weight), where).to_numpy(), weight[at])
    grad = table("float64", 5)
    for padding in (None, -1):
        want = oracles.embedding_backward(grad, at, 20, padding)
        close(nn.embedding_backward(be.asarray(grad), where, 20, padding_idx=padding), want, "embedding_backward", 5)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_operands_of_any_layout(be, layout):
    weight, at = LAYOUTS[layout](table("float32")), LAYOUTS[layout](drawn((4, 6), 20))
    grad = LAYOUTS[layout](inputs.random(np.random.default_rng(3), (4, 6, 5), "float32", -2, 2))
    on = [inputs.on_device(be, x) for x in (weight, at, grad)]
    np.testing.assert_array_equal(nn.embedding(*on[:2]).to_numpy(), weight[at])
    want = oracles.embedding_backward(widen(grad), at, 20)
    close(nn.embedding_backward(on[2], on[1], 20), want, "embedding_backward", 24)
    close(nn.embedding_bag(*on[:2]), oracles.embedding_bag(widen(weight), at), "embedding_bag")
    np.testing.assert_array_equal(nn.one_hot(on[1], 20).to_numpy(), np.eye(20)[at])


# Rows, columns, and how many indices there are: chunks of one level, of two, and of three; keys of three widths.
SIZES = [(20, 5, 33), (300, 3, 129), (20, 300, 400), (70000, 2, 1000), (5, 1, 20000)]


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("frequency", [False, True])
@pytest.mark.parametrize(("rows", "d", "n"), SIZES)
def test_the_gradient_of_a_table(be, rows, d, n, frequency, dtype):
    at = drawn((n,), rows)
    grad = inputs.random(np.random.default_rng(5), (n, d), dtype, -2, 2)
    got = nn.embedding_backward(be.asarray(grad), be.asarray(at), rows, padding_idx=2, scale_grad_by_freq=frequency)
    assert got.dtype.name == dtype
    want = oracles.embedding_backward(widen(grad), at, rows, 2, frequency)
    close(got, want, "embedding_backward", 1 if frequency else np.bincount(at).max())


@pytest.mark.parametrize("repeats", ["one", "two", "runs"])
def test_indices_that_repeat(be, repeats):
    """A row of all positions, two rows whose boundary lies in a chunk, and runs as long as chunks."""
    n = 40000 if repeats == "one" else 1000
    at = {"one": np.zeros(n, int), "two": (np.arange(n) > 611).astype(int), "runs": np.arange(n) // 128}[repeats]
    grad = np.random.default_rng(0).integers(-4, 5, (n, 3)).astype(np.float32)  # sums are exact
    got = nn.embedding_backward(be.asarray(grad), be.asarray(at[::-1].copy()), 9)
    np.testing.assert_array_equal(got.to_numpy(), oracles.embedding_backward(grad, at[::-1], 9))


def test_the_gradient_has_equal_bits_from_run_to_run(be):
    at, grad = be.asarray(drawn((3000,), 7)), be.asarray(table("float32", 3000, 4))
    first = nn.embedding_backward(grad, at, 7).to_numpy()
    for _ in range(3):
        np.testing.assert_array_equal(nn.embedding_backward(grad, at, 7).to_numpy(), first)


def test_the_gradient_of_nothing(be):
    none = be.zeros((0,), dtype="int64")
    assert not nn.embedding_backward(be.zeros((0, 3)), none, 4).to_numpy().any()
    assert nn.embedding_backward(be.zeros((0, 3)), none, 0).shape == (0, 3)
    assert nn.embedding_backward(be.zeros((2, 0)), be.zeros((2,), dtype="int64"), 4).shape == (4, 0)


MODES = ["sum", "mean", "max"]
# Indices, and offsets or None; the second has empty bags, at the end too, and the last a long one.
BAGS = {
    "rows": (drawn((4, 6), 20), None),
    "offsets": (drawn((11,), 20), np.array([0, 0, 3, 3, 9, 11])),
    "no length": (np.zeros((3, 0), int), None),
    "long": (drawn((700,), 20), np.array([0, 650])),
}


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("padding", [None, 4, -2])
@pytest.mark.parametrize("bags", BAGS)
def test_bags_and_their_gradients(be, bags, padding, mode, dtype):
    at, offsets = BAGS[bags]
    weight = table(dtype)
    where = [be.asarray(at), be.asarray(offsets) if offsets is not None else None]
    options = {"mode": mode, "padding_idx": padding}
    terms = 650 if bags == "long" else 24
    want = oracles.embedding_bag(widen(weight), at, offsets, **options)
    close(nn.embedding_bag(be.asarray(weight), *where, **options), want, "embedding_bag", terms)
    grad = inputs.random(np.random.default_rng(7), want.shape, dtype, -2, 2)
    got = nn.embedding_bag_backward(be.asarray(grad), be.asarray(weight), *where, **options)
    want = oracles.embedding_bag_backward(widen(grad), widen(weight), at, offsets, **options)
    close(got, want, "embedding_bag_backward", terms)


@pytest.mark.parametrize("mode", MODES)
def test_bag_gradients_are_derivatives(cpu, mode):
    weight, (at, offsets) = table("float64"), BAGS["offsets"]
    where = [cpu.asarray(at), cpu.asarray(offsets)]
    grad = np.random.default_rng(1).normal(size=(len(offsets), 5))

    def loss(w):
        return np.sum(grad * nn.embedding_bag(cpu.asarray(w), *where, mode=mode).to_numpy())

    found = nn.embedding_bag_backward(cpu.asarray(grad), cpu.asarray(weight), *where, mode=mode).to_numpy()
    step = 1e-6
    for k in range(weight.size):
        change = np.zeros(weight.size)
        change[k] = step
        change = change.reshape(weight.shape)
        slope = (loss(weight + change) - loss(weight - change)) / (2 * step)
        assert found.ravel()[k] == pytest.approx(slope, abs=1e-7)


def test_nan_is_the_largest_element_of_a_bag(be):
    weight = np.array([[1.0, 2], [np.nan, 1], [3, 0]])
    where = be.asarray(np.array([[0, 1, 2]]))
    np.testing.assert_array_equal(nn.embedding_bag(be.asarray(weight), where, mode="max").to_numpy(), [[np.nan, 2]])
    got = nn.embedding_bag_backward(be.ones((1, 2)), be.asarray(weight), where, mode="max")
    np.testing.assert_array_equal(got.to_numpy(), [[0, 1], [1, 0], [0, 0]])


@pytest.mark.parametrize("dtype", [d for d in inputs.DTYPES if not d.startswith("complex")])
def test_one_hot_of_any_dtype(be, dtype):
    at = drawn((3, 4), 7)
    got = nn.one_hot(be.asarray(at), 7, dtype=dtype)
    assert got.dtype.name == dtype
    np.testing.assert_array_equal(widen(got.to_numpy()), np.eye(7)[at])


def test_one_hot_of_many_indices(be):
    at = np.random.default_rng(7).integers(0, 5, 40_000)
    np.testing.assert_array_equal(nn.one_hot(be.asarray(at), 5, dtype="int8").to_numpy(), np.eye(5)[at])


def test_one_hot_of_many_classes(be):
    at = drawn((3,), 9000)
    np.testing.assert_array_equal(nn.one_hot(be.asarray(at), 9000, dtype="int8").to_numpy(), np.eye(9000)[at])
    assert nn.one_hot(be.zeros((0,), dtype="int64"), 3).shape == (0, 3)


@pytest.mark.parametrize(
    "call",
    [
        lambda be, at: nn.embedding(be.ones((4, 3)), at),
        lambda be, at: nn.embedding_backward(be.ones((3, 3)), at, 4),
        lambda be, at: nn.embedding_bag(be.ones((4, 3)), at[None]),
        lambda be, at: nn.embedding_bag_backward(be.ones((1, 3)), be.ones((4, 3)), at[None]),
        lambda be, at: nn.one_hot(at, 4),
        lambda be, at: nn.embedding_bag(be.ones((4, 3)), be.zeros((2,), dtype="int64"), at - 5),
    ],
)
def test_an_index_or_an_offset_out_of_range_is_reported(be, call):
    at = be.asarray(np.array([1, 7, 0]))
    with pytest.raises(IndexError, match=r"nn\.(embedding|one_hot)"):  # by a later launch of the call, if it has one
        call(be, at)
        be.synchronize()
    assert float(nn.embedding(be.ones((4, 1)), be.asarray(np.array(0)))[0]) == 1


WRONG = {
    "a weight of one axis": (lambda be, i: nn.embedding(be.ones((4,)), i), errors.ShapeError, r"\(4,\)"),
    "a weight of integers": (lambda be, i: nn.embedding(be.ones((4, 3), dtype="int32"), i), errors.DTypeError, "int32"),
    "floating indices": (lambda be, i: nn.embedding(be.ones((4, 3)), be.ones((2,))), errors.DTypeError, "float64"),
    "padding": (lambda be, i: nn.embedding(be.ones((4, 3)), i, padding_idx=4), ValueError, "padding_idx=4 of 4"),
    "another gradient": (lambda be, i: nn.embedding_backward(be.ones((3, 3)), i, 4), errors.ShapeError, r"\(3, 3\)"),
    "a gradient of integers": (
        lambda be, i: nn.embedding_backward(be.ones((2, 3), dtype="int8"), i, 4),
        errors.DTypeError,
        "int8",
    ),
    "negative rows": (lambda be, i: nn.embedding_backward(be.ones((2, 3)), i, -1), ValueError, "num_embeddings=-1"),
    "bags without offsets": (lambda be, i: nn.embedding_bag(be.ones((4, 3)), i), errors.ShapeError, "without offsets"),
    "offsets of two axes": (
        lambda be, i: nn.embedding_bag(be.ones((4, 3)), i, i[None]),
        errors.ShapeError,
        r"offsets \(1, 2\)",
    ),
    "no bag": (lambda be, i: nn.embedding_bag(be.ones((4, 3)), i, i[:0]), errors.ShapeError, "2 indices"),
    "a mode": (lambda be, i: nn.embedding_bag(be.ones((4, 3)), i[None], mode="min"), ValueError, "min"),
    "a gradient of bags": (
        lambda be, i: nn.embedding_bag_backward(be.ones((2, 3)), be.ones((4, 3)), i[None]),
        errors.ShapeError,
        r"\(2, 3\).*\(1, 3\)",
    ),
    "another dtype of it": (
        lambda be, i: nn.embedding_bag_backward(be.ones((1, 3), dtype="float32"), be.ones((4, 3)), i[None]),
        errors.DTypeError,
        "float32",
    ),
    "no classes": (lambda be, i: nn.one_hot(i, 0), ValueError, "num_classes=0"),
    "complex classes": (lambda be, i: nn.one_hot(i, 3, dtype="complex64"), errors.DTypeError, "complex64"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_argument_is_named(be, case):
    function, error, text = WRONG[case]
    with pytest.raises(error, match=text) as caught:
        function(be, be.zeros((2,), dtype="int64"))
    assert caught.value.op.startswith("nn.") and caught.value.remedy
