"""examples/12_lstm.py trains as torch does, on every device; in a small size."""

import runpy
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")
pytest.importorskip("torch")
PROGRAM = Path(__file__).resolve().parents[3] / "examples" / "12_lstm.py"


def test_the_losses_are_those_of_torch(be):
    names = runpy.run_path(str(PROGRAM))
    given = names["make"](**{**names["SMALL"], "epochs": 2})
    twin = runpy.run_path(str(PROGRAM.parent / "command.py"))["lstm"]
    (ours, right), (theirs, share) = names["run"](*given), twin(*given)
    assert len(ours) == 8
    np.testing.assert_allclose(ours, theirs, rtol=2e-5)
    assert right == pytest.approx(share)
