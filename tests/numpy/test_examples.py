"""The programs of examples/ give on stator.numpy what they give on NumPy, with nothing changed but the module."""

import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import stator
import stator.numpy as snp

FOLDER = Path(__file__).resolve().parents[2] / "examples"
# By the program: arguments that make its inputs small, and the largest difference relative to a result's largest value.
PROGRAMS = {
    "01_k_means": ({"points": 300, "axes": 4, "groups": 3}, 1e-12),
    "02_principal_components": ({"rows": 60, "columns": 12}, 1e-11),
    "03_logistic_regression": ({"rows": 200, "columns": 5}, 1e-3),
    "04_heat_equation": ({"size": 24}, 1e-12),
    "05_game_of_life": ({"size": 20}, 0),
    "07_mandelbrot": ({"height": 20, "width": 30}, 0),
    "08_conjugate_gradients": ({"size": 12}, 1e-6),
    "09_transformer_block": ({"batch": 2, "length": 12, "width": 32}, 1e-4),
    "10_spectrogram": ({"seconds": 0.5}, 1e-9),
}


def program(name):
    return runpy.run_path(str(FOLDER / f"{name}.py"))


def results(name, module, sizes):
    names = program(name)
    return names["run"](module, *names["make"](module, **sizes))


def test_every_program_is_compared():
    others = {"06_option_prices", "11_residual_network", "12_lstm"}  # with tests of their own
    assert sorted(p.stem for p in FOLDER.glob("[0-9]*.py")) == sorted({*PROGRAMS, *others})


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_it_gives_on_numpy(be, name):
    sizes, tolerance = PROGRAMS[name]
    wanted, found = results(name, np, sizes), results(name, snp, sizes)
    assert list(found) == list(wanted)
    for key, value in wanted.items():
        if not np.ndim(value):
            assert float(found[key]) == pytest.approx(float(value), rel=max(tolerance, 1e-12), abs=1e-6), key
            continue
        assert isinstance(found[key], stator.Array) and found[key].backend is be, key
        assert (found[key].dtype, found[key].shape) == (value.dtype, value.shape), key
        scale = np.abs(value).max()
        np.testing.assert_allclose(found[key].to_numpy(), value, rtol=0, atol=tolerance * scale, err_msg=key)


def test_prices_of_drawn_paths_are_those_of_the_formula(be):
    """The generators of the two modules draw other numbers, so prices agree within their standard errors."""
    wanted, found = (results("06_option_prices", m, {"paths": 4000, "steps": 8}) for m in (np, snp))
    spread = 5 * float(found["error of european"])
    assert 0 < spread < 2
    assert float(found["european"]) == pytest.approx(found["by formula"], abs=spread)
    assert float(found["asian"]) == pytest.approx(float(wanted["asian"]), abs=spread)
    np.testing.assert_allclose(found["quartiles"].to_numpy(), wanted["quartiles"], atol=5)


def test_the_network_learns_as_its_twin_in_torch(be):
    for name in ("sklearn", "torch"):
        pytest.importorskip(name)
    names = program("11_residual_network")
    inputs = names["make"](width=4, images=100, epochs=2, batch=25)
    twin = runpy.run_path(str(FOLDER / "command.py"))["residual_network"]
    (found, share), (wanted, there) = names["run"](*inputs), twin(*inputs)
    np.testing.assert_allclose(found, wanted, rtol=1e-3)
    assert found[-1] < found[0] and share == pytest.approx(there, abs=0.02)


@pytest.mark.parametrize("module", ["numpy", "stator.numpy"])
def test_a_program_takes_the_module_from_the_command_line(module):
    command = [sys.executable, FOLDER / "05_game_of_life.py", "--module", module]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith(f"{module}: ") and "living: shape (100,)" in done.stdout
