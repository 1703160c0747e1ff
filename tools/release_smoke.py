"""What a wheel that was just installed must be able to do, run outside of the tree by tools/release.sh."""

import platform
import sys
from importlib.metadata import version

import numpy as np

import stator
from stator import nn

with stator.Backend("cpu") as be:
    x = be.asarray(np.arange(12.0).reshape(3, 4))
    assert (x @ x.T).to_numpy().tolist() == (x.to_numpy() @ x.to_numpy().T).tolist()
    assert stator.sort(be.asarray([3, 1, 2])).tolist() == [1, 2, 3]
    assert np.allclose(stator.fft.ifft(stator.fft.fft(x)).to_numpy(), x.to_numpy())
    assert np.allclose(stator.linalg.inv(stator.eye(3, dtype="float64", device=be) * 2).to_numpy(), np.eye(3) / 2)
    assert np.allclose(nn.softmax(x, axis=-1).to_numpy().sum(axis=1), 1)
    be.random.seed(1)
    assert be.random.normal(size=(1000,)).shape == (1000,)
    try:
        x.reshape(5, 5)
    except stator.errors.ShapeError:
        pass
    else:
        raise AssertionError("A wrong shape was taken")
assert stator.__version__ == version("stator")
free = "" if getattr(sys, "_is_gil_enabled", lambda: True)() else ", without the GIL"
print(f"stator {stator.__version__}, NumPy {np.__version__}, Python {platform.python_version()}{free}: right")
