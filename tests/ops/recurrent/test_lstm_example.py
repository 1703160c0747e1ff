"""examples/12_lstm.py trains as torch does, on every device; in a small size."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")
pytest.importorskip("torch")
PROGRAM = Path(__file__).resolve().parents[3] / "examples" / "12_lstm.py"


def test_the_losses_are_those_of_torch(be):
    names = runpy.run_path(str(PROGRAM))
    given = names["make"](80, 8, 16, 2)
    (ours, right), (theirs, share) = names["train"](be, *given), names["train_torch"](*given)
    assert len(ours) == 8
    np.testing.assert_allclose(ours, theirs, rtol=2e-5)
    assert right == pytest.approx(share)


def test_it_is_a_program(be, monkeypatch, capsys, tmp_path):
    pytest.importorskip("matplotlib").use("agg")
    plot = tmp_path / "losses.png"
    monkeypatch.setattr(sys, "argv", ["12_lstm.py", "--small", "--device", be.device_name, "--plot", str(plot)])
    runpy.run_path(str(PROGRAM), run_name="__main__")
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == ["stator", "torch"]
    assert plot.read_bytes().startswith(b"\x89PNG")
