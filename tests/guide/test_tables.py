"""The tables of docs/from_others hold: each cell is a call, and those of both libraries give equal results.

The pages are the only source. A row has their call, ours and what differs; an empty last cell says that dtype, shape
and values are the same, any other that shape and values are. A cell that names a function of ours
without calling it says that it exists.
"""

import re
from pathlib import Path

import numpy as np
import pytest

import stator
import stator.graphs
import stator.numpy
import stator.programs

FOLDER = Path(__file__).resolve().parents[2] / "docs/from_others"
ROW = re.compile(r"^\| `(.+?)` \| `(.+?)` \| (.*)\|$", re.MULTILINE)
# Sections in which only our call is run, or only shapes are compared.
OURS = {"Others"}
SHAPES = {"Random numbers"}


def rows(library: str) -> list:
    found = []
    for section in (FOLDER / f"{library}.md").read_text().split("\n## ")[1:]:
        heading = section.split("\n", 1)[0]
        found += [
            pytest.param(heading, *(cell.replace("\\|", "|") for cell in match.groups()), id=match.group(1))
            for match in ROW.finditer(section)
        ]
    return found


def draw(shape: tuple[int, ...], seed: int, dtype: str) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.1, 1.0, shape).astype(dtype)


def inputs(dtype: str) -> dict[str, np.ndarray]:
    """The inputs that the pages describe."""
    made = {
        "x": draw((3, 4), 1, dtype),
        "y": draw((3, 4), 2, dtype),
        "v": draw((4,), 3, dtype),
        "m": draw((4, 4), 4, dtype) + np.eye(4, dtype=dtype),
        "w": draw((5, 4), 5, dtype),
        "image": draw((1, 2, 6, 6), 6, dtype),
        "kernel": draw((3, 2, 3, 3), 7, dtype),
        "i": np.array([2, 0]),
        "labels": np.array([1, 0, 3]),
    }
    made["flags"] = made["x"] > 0.5
    return made


def evaluate(code: str, names: dict) -> object:
    """The value of an expression; of a statement the array x, which it may change."""
    try:
        return eval(compile(code, code, "eval"), names)
    except SyntaxError:
        exec(compile(code, code, "exec"), names)
        return names["x"]


def exists(code: str, names: dict) -> bool:
    """Whether the dotted name is there."""
    found: object = names[code.split(".")[0]]
    for part in code.split(".")[1:]:
        found = getattr(found, part)
    return found is not None


def ours(dtype: str, be: stator.Backend) -> dict:
    arrays = {name: be.asarray(value) for name, value in inputs(dtype).items()}
    arrays |= {"r": arrays["x"].copy(), "one": be.ones((3, 4), dtype=dtype), "a": np.zeros((3, 4), dtype)}
    return {"stator": stator, "nn": stator.nn, "be": be, **arrays}


def leaves(value: object) -> list[np.ndarray]:
    if isinstance(value, tuple | list) and any(hasattr(item, "shape") for item in value):
        return [leaf for item in value for leaf in leaves(item)]
    if hasattr(value, "detach") and not isinstance(value, stator.Array):
        value = value.detach()
    return [value.to_numpy() if isinstance(value, stator.Array) else np.asarray(value)]


def compare(heading: str, theirs: object, found: object, differs: str) -> None:
    a, b = leaves(theirs), leaves(found)
    assert len(a) == len(b)
    for expected, got in zip(a, b, strict=True):
        assert expected.shape == got.shape
        if heading in SHAPES:
            continue
        np.testing.assert_allclose(got, expected, rtol=2e-5, atol=1e-5)
        if not differs:
            assert got.dtype == expected.dtype


@pytest.fixture
def host():
    with stator.Backend("cpu") as backend, backend.use():
        yield backend


@pytest.mark.parametrize(("heading", "theirs", "mine", "differs"), rows("numpy"))
def test_numpy(host, heading, theirs, mine, differs):
    names = {"np": np, **inputs("float64")}
    expected = evaluate(theirs, names)
    if expected is None:  # np.add.at writes into v
        expected = names["v"]
    compare(heading, expected, evaluate(mine, ours("float64", host)), differs.strip())


@pytest.mark.parametrize(("heading", "theirs", "mine", "differs"), rows("pytorch"))
def test_pytorch(host, heading, theirs, mine, differs):
    torch = pytest.importorskip("torch")
    names = ours("float32", host) | {"torch": torch}
    if exists_alone(mine):
        assert exists(mine, names)
        return
    found = evaluate(mine, names)
    if heading in OURS:
        return
    tensors = {name: torch.from_numpy(value) for name, value in inputs("float32").items()}
    tensors["r"] = tensors["x"].clone().requires_grad_()
    expected = evaluate(theirs, {"torch": torch, "F": torch.nn.functional, **tensors})
    compare(heading, expected, found, differs.strip())


def exists_alone(code: str) -> bool:
    return bool(re.fullmatch(r"[\w.]+", code)) and not code.startswith(("x.", "be.current"))


@pytest.mark.parametrize(("heading", "theirs", "mine", "differs"), rows("cupy"))
def test_cupy(host, heading, theirs, mine, differs):
    names = ours("float64", host)
    if exists_alone(mine):
        assert exists(mine, names)
    else:
        evaluate(mine, names)


@pytest.mark.parametrize("library", ["numpy", "cupy", "pytorch"])
def test_every_row_is_read(library):
    page = (FOLDER / f"{library}.md").read_text()
    lines = [line for line in page.splitlines() if line.startswith("| ") and not line.endswith("| what differs |")]
    assert len(rows(library)) == len(lines) > 20
