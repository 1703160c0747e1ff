"""sin, cos, tan and complex functions with an angle, of float64 next to multiples of pi/2, which take many digits."""

import mpmath as mp
import numpy as np
import pytest
from cases import bound, function
from reference import assert_matches

import stator

DIGITS = 420


def hard_angles() -> np.ndarray:
    """Doubles of which a whole number of quarter turns is as near as any: convergents of 2^e / (pi/2)."""
    found = []
    with mp.workdps(DIGITS):
        for e in range(-50, 971, 9):
            rest = mp.mpf(2) ** e / (mp.pi / 2)
            before, last = 0, 1
            rest = 1 / (rest - mp.floor(rest))
            while True:
                before, last = last, int(mp.floor(rest)) * last + before
                if last >= 2**53:
                    break
                if last >= 2**49:
                    found.append(float(last) * 2.0**e)
                rest = 1 / (rest - mp.floor(rest))
    rng = np.random.default_rng(3)
    others = np.exp2(rng.uniform(14, 1023, 200)) * rng.choice([-1, 1], 200)
    return np.concatenate([found, [-found[3], 2.0**26, 2.0**1023, np.finfo(float).max], others])


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_next_to_quarter_turns(be, name):
    x = hard_angles()
    with mp.workdps(DIGITS):
        want = np.array([float(getattr(mp, name)(mp.mpf(v))) for v in x])
    assert_matches(getattr(stator, name)(be.asarray(x)).to_numpy(), want, bound(name, "float64"), name, operands=[x])


@pytest.mark.parametrize("name", ["exp", "sinh", "cosh", "tanh", "sin", "cos", "tan"])
def test_complex_functions_next_to_quarter_turns(be, name):
    """Both parts, each with its own size."""
    angle = hard_angles()[::3]
    size = np.random.default_rng(4).uniform(-3, 3, angle.size)
    z = angle + 1j * size if name in ("sin", "cos", "tan") else size + 1j * angle
    with mp.workdps(DIGITS):
        want = [getattr(mp, name)(mp.mpc(complex(v))) for v in z]
        real, imag = (np.array([float(part(w)) for w in want]) for part in (mp.re, mp.im))
    got = getattr(stator, name)(be.asarray(z)).to_numpy()
    for part, wanted in ((got.real, real), (got.imag, imag)):
        np.testing.assert_array_less(np.abs(part - wanted), 16 * np.spacing(np.abs(wanted)))


@pytest.mark.parametrize("name", ["expm1", "expit"])
def test_complex_functions_of_sums_next_to_quarter_turns(be, name):
    """Terms of their parts may cancel, so that errors have the size of the whole number."""
    angle = hard_angles()[::3]
    z = np.random.default_rng(4).uniform(-3, 3, angle.size) + 1j * angle
    with mp.workdps(DIGITS):
        power = [mp.exp(mp.mpc(complex(v if name == "expm1" else -v))) for v in z]
        want = np.array([complex(p - 1 if name == "expm1" else 1 / (1 + p)) for p in power])
    got = function(name)(be.asarray(z)).to_numpy()
    np.testing.assert_array_less(np.abs(got - want), 16 * np.spacing(np.abs(want)))
