"""Every name of stator.numpy gives NumPy's values and dtypes."""

import re

import numpy as np
import pytest
from numpy_names import HOST, assert_alike, evaluated

import stator
import stator.numpy as snp
from stator.numpy._rows import ROWS
from tests.numpy.calls_arrays import CALLS as ARRAYS
from tests.numpy.calls_numbers import BINARY, CALLS, UNARY

TEXTS = [text.strip() for text in re.split(r"[;\n]", ARRAYS + CALLS) if text.strip()]
BY_NAME: dict[str, list[str]] = {}
for _text in TEXTS:
    _name = re.search(r"\bnp\.(\w+)(?!.*\(np\.zeros)", _text) if _text.startswith("np.") else None
    for _found in re.findall(r"\bnp\.(\w+)", _text):
        BY_NAME.setdefault(_found, [])
    BY_NAME[re.findall(r"\bnp\.(\w+)", _text)[0] if _name is None else _name.group(1)].append(_text)
ELEMENTWISE = [*UNARY.split(), *BINARY.split()]
# Modules whose names have tests of their own.
ELSEWHERE = re.compile(r"stator\.numpy\.(_bits|_files|_polynomials|_products|_windows|_vectorize|[a-z])")


@pytest.mark.parametrize("name", [n for n, texts in BY_NAME.items() if texts and hasattr(np, n)])
def test_calls_give_what_numpy_gives(be, name):
    for text in BY_NAME[name]:
        assert_alike(evaluated(text, snp, be.asarray), evaluated(text, np, lambda x: x), text)


DTYPES = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "int32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
MIXED = [("int8", "float32"), ("int32", "float16"), ("bool", "int64"), ("float64", "complex64"), ("int8", "uint8")]


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_functions_have_the_dtypes_of_numpy(be, name):
    """Values, dtypes, and the same dtypes refused with a TypeError."""
    function = getattr(np, name)
    pairs = [(d, d) for d in DTYPES] + (MIXED if function.nin == 2 else [])
    text = f"np.{name}({', '.join('xy'[: function.nin])})"
    for kinds in pairs:
        low = 1 if name in ("reciprocal", "divmod") else 0
        values = [np.array([low, 1, 2, 3, 5, 7]).astype(kinds[0]), np.array([1, 3, 1, 2, 4, 6]).astype(kinds[1])]
        with np.errstate(all="ignore"):
            try:
                wanted = function(*values[: function.nin])
            except TypeError:
                with pytest.raises(TypeError):
                    getattr(snp, name)(*(be.asarray(v) for v in values[: function.nin]))
                continue
        assert_alike(getattr(snp, name)(*(be.asarray(v) for v in values[: function.nin])), wanted, f"{text} of {kinds}")


def test_every_function_is_called():
    called = {found for text in TEXTS for found in re.findall(r"\bnp\.(\w+)", text)} | set(ELEMENTWISE)
    present = [n for n, row in ROWS.items() if "." not in n and not row.absent and callable(row.value)]
    present = [n for n in present if not ELSEWHERE.match(getattr(ROWS[n].value, "__module__", None) or "")]
    kinds = (type, stator.DType)  # classes and dtypes, which tests/interop/test_dtype_calls.py calls
    assert [n for n in present if n not in called and not isinstance(ROWS[n].value, kinds) and n != "asnumpy"] == []
    assert len(present) > 300
    assert HOST


def test_asnumpy_copies_to_the_host(be):
    got = snp.asnumpy(be.asarray([1.0, 2.0]))
    assert isinstance(got, np.ndarray) and got.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: snp.sum(x),
        lambda x: snp.add(x, 1),
        lambda x: snp.add(snp.ones(3), x),
        lambda x: snp.concatenate([snp.ones(3), x]),
        lambda x: snp.where(True, x, 0),
        lambda x: snp.interp(1.0, x, x),
        lambda x: snp.unique(x),
        lambda x: snp.stack(x),
    ],
)
def test_numpy_arrays_are_refused_with_a_text_that_names_asarray(be, call):
    with pytest.raises(TypeError, match=r"stator\.asarray"):
        call(np.ones(3))


@pytest.mark.parametrize("name", ["var", "std", "nanvar"])
def test_a_real_dtype_keeps_the_spread_of_imaginary_parts(be, name):
    z = np.array([1j, 2, 3 + 2j])
    for got in (getattr(snp, name)(be.asarray(z), dtype="f4"), getattr(be.asarray(z), name.removeprefix("nan"))()):
        np.testing.assert_allclose(float(got), getattr(np, name)(z), rtol=1e-6)


def test_numpy_arrays_are_indices(be):
    assert snp.take(snp.arange(5), np.array([1, 3])).to_numpy().tolist() == [1, 3]


def test_results_are_of_the_backend_of_the_arrays(be):
    with stator.Backend(be.device) as other:
        x = other.asarray([1.0, 2.0, 4.0])
        for got in (snp.add(x, [1, 2, 3]), snp.where(x > 1, x, [0, 0, 0]), snp.diff(x), snp.interp([1.5], x, x)):
            assert got.backend is other


@pytest.mark.parametrize("name", ["floor", "round", "absolute", "positive", "nan_to_num"])
def test_results_are_not_the_operand(be, name):
    x = be.asarray([1, 2])
    getattr(snp, name)(x)[0] = 9
    assert x.to_numpy().tolist() == [1, 2]


def test_a_second_call_has_the_dtypes_of_the_first(be):
    for x in (be.asarray([1, 2], dtype="int8"), be.asarray([True, False]), be.asarray([1.5, 2])):
        host = x.to_numpy()
        for call in (lambda xp, v: xp.add(v, 1), lambda xp, v: xp.sqrt(v), lambda xp, v: xp.add(v, True)):
            for _ in range(2):
                assert call(snp, x).dtype == call(np, host).dtype


def test_sorts_are_descending_where_they_are_asked_to_be(be):
    x = np.array([[3.0, 1.0, 2.0], [5.0, 5.0, 7.0]])
    np.testing.assert_array_equal(snp.sort(be.asarray(x), descending=True).to_numpy(), -np.sort(-x))
    np.testing.assert_array_equal(
        snp.argsort(be.asarray(x), axis=None, descending=True).to_numpy(), np.argsort(-x.ravel(), kind="stable")
    )
    assert snp.argsort(be.asarray(2.5), descending=True).to_numpy() == 0
