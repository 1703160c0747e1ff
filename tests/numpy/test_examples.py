"""The programs of examples/ give on stator.numpy what they give on NumPy, with nothing changed but the module."""

import ast
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import stator
import stator.numpy as snp

FOLDER = Path(__file__).resolve().parents[2] / "examples"
# By the program: the largest difference relative to a result's largest value.
PROGRAMS = {
    "01_k_means": 1e-12,
    "02_principal_components": 1e-11,
    "03_logistic_regression": 1e-3,
    "04_heat_equation": 1e-12,
    "05_game_of_life": 0,
    "07_mandelbrot": 0,
    "08_conjugate_gradients": 1e-6,
    "09_transformer_block": 1e-4,
    "10_spectrogram": 1e-9,
    "20_denoising": 1e-11,
}
ALL = sorted(p.stem for p in FOLDER.glob("[0-9]*.py"))
NEEDS = {  # beside matplotlib
    "11_residual_network": "sklearn",
    "12_lstm": "sklearn",
    "15_nearest_neighbours": "sklearn",
    "19_dask_climate": "dask.array",
}


def program(name):
    return runpy.run_path(str(FOLDER / f"{name}.py"))


def results(name, module):
    names = program(name)
    return names["run"](module, *names["make"](module, **names["SMALL"]))


def test_every_program_is_compared():
    random = {"06_option_prices"}  # which has a test of its own
    written = {name for name in ALL if "def make(np" in (FOLDER / f"{name}.py").read_text()}
    assert written == {*PROGRAMS, *random}


@pytest.mark.parametrize("name", ALL)
def test_an_example_is_fit_for_the_gallery(name):
    """sphinx-gallery takes the title and the first paragraph from the docstring."""
    text = (FOLDER / f"{name}.py").read_text()
    title, line, empty, paragraph, *_ = ast.get_docstring(ast.parse(text)).splitlines()
    assert line == "=" * len(title) and not empty and paragraph
    assert len(text.splitlines()) <= 80


@pytest.mark.parametrize("name", ALL)
def test_an_example_runs_and_draws(name, device, monkeypatch, capsys, tmp_path):
    """As a program in a small size, with its picture. The gallery runs it in its full size, without arguments."""
    for module in ("matplotlib", NEEDS.get(name, "numpy")):
        pytest.importorskip(module)
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    picture = tmp_path / "picture.png"
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.setenv("STATOR_DEVICE", device)
    monkeypatch.setattr(sys, "argv", [f"{name}.py", "--small", "--save", str(picture)])
    monkeypatch.setitem(sys.modules, "torch", None)  # twins have tests of their own
    try:
        with matplotlib.rc_context({"savefig.dpi": 20}):
            runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
        assert len(pyplot.get_fignums()) == 1
    finally:
        pyplot.close("all")
        sys.modules.pop("command", None)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out.splitlines()[-1] == f"picture: {picture}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_it_gives_on_numpy(be, name):
    tolerance = PROGRAMS[name]
    wanted, found = results(name, np), results(name, snp)
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
    wanted, found = (results("06_option_prices", m) for m in (np, snp))
    spread = 5 * float(found["error of european"])
    assert 0 < spread < 2
    assert float(found["european"]) == pytest.approx(found["by formula"], abs=spread)
    assert float(found["asian"]) == pytest.approx(float(wanted["asian"]), abs=spread)
    np.testing.assert_allclose(found["quartiles"].to_numpy(), wanted["quartiles"], atol=5)


def test_the_network_learns_as_its_twin_in_torch(be):
    for name in ("sklearn", "torch"):
        pytest.importorskip(name)
    names = program("11_residual_network")
    inputs = names["make"](**names["SMALL"])
    twin = runpy.run_path(str(FOLDER / "command.py"))["residual_network"]
    (found, share), (wanted, there) = names["run"](*inputs), twin(*inputs)
    np.testing.assert_allclose(found, wanted, rtol=1e-3)
    assert found[-1] < found[0] and share == pytest.approx(there, abs=0.02)


@pytest.mark.parametrize("module", ["numpy", "stator.numpy"])
def test_a_program_takes_the_module_from_the_command_line(module):
    """And needs no matplotlib, which is hidden from it here."""
    hide = "import runpy, sys; sys.modules['matplotlib'] = None; sys.path.insert(0, sys.argv[1]); "
    hide += "sys.argv = sys.argv[2:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    path = str(FOLDER / "05_game_of_life.py")
    command = [sys.executable, "-c", hide, str(FOLDER), path, "--module", module]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith(f"{module}: ") and "living: shape (100,)" in done.stdout


def test_the_help_of_a_program_has_no_line_under_a_title():
    done = subprocess.run(
        [sys.executable, FOLDER / "05_game_of_life.py", "--help"], capture_output=True, text=True, timeout=100
    )
    assert "Cells live and die on a torus" in done.stdout and "===" not in done.stdout, done.stderr
