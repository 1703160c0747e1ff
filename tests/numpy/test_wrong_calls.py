"""What NumPy refuses is refused with the same class of error."""

import numpy as np
import pytest
from numpy_names import evaluated

import stator
import stator.numpy as snp

REFUSED = """
np.sum(f, 2)
np.sum(f, (0, 0))
np.max([])
np.argmax([])
np.add(f, v)
np.add(1)
np.add(f, f, f, f)
np.add(f, 1, out=np.zeros(2))
np.add(f, 1, out=np.zeros((2, 3), int))
np.subtract(b, b)
np.sin(f, dtype=int)
np.concatenate([])
np.concatenate([f, v])
np.concatenate([f, g], 2)
np.concatenate(3)
np.stack([f, v])
np.array([[1, 2], [3]])
np.reshape(f, (4, 2))
np.reshape(f, -1, order="Q")
np.squeeze(f, 0)
np.swapaxes(f, 0, 5)
np.rollaxis(f, 4)
np.split(v, 2)
np.hsplit(1.5, 1)
np.dsplit(f, 2)
np.fliplr(v)
np.broadcast_to(f, (2, 2))
np.block([[f], g])
np.pad(f, 1, mode="mirror")
np.resize(f, (-1, 2))
np.insert(v, 9, 1)
np.delete(v, 9)
np.select([b], [f, g])
np.select([i], [f])
np.piecewise(v, [v > 1], [1, 2, 3])
np.where(b, f)
np.take(f, 0, mode="other")
np.unravel_index(9, (2, 3))
np.ravel_multi_index(([5], [1]), (2, 3))
np.fill_diagonal(v, 1)
np.putmask(f, f > 0, [])
np.ix_(f)
np.diag_indices_from(f)
np.meshgrid(w, w, indexing="zz")
np.nanargmax([np.nan])
np.quantile(f, 1.5)
np.percentile(f, -1)
np.quantile(f, 0.5, method="other")
np.average(f, weights=w)
np.average(f, 1, weights=v)
np.cov(t)
np.cov(f, ddof=1.5)
np.histogram(v, [3, 1])
np.histogram(v, 0)
np.histogram(v, 3, (4, 1))
np.histogram2d(v, w)
np.bincount([-1])
np.bincount(i)
np.diff(v, -1)
np.trapezoid(f, axis=4)
np.interp(v, [1, 2], w)
np.interp(v, [], [])
np.gradient([1.0])
np.gradient(f, 1.0, 2.0, 3.0)
np.gradient(v, edge_order=3)
np.convolve([], v)
np.convolve(v, w, "other")
np.convolve(f, w)
np.cross(w, v)
np.searchsorted(v, 1, side="up")
np.partition(v, 9)
np.argpartition(v, 9)
np.lexsort(())
np.compress(b, f)
np.clip(c, "a", None)
np.geomspace(0, 1)
np.geomspace(1, 2, -3)
np.zeros(-1)
np.zeros(2, "no dtype")
np.isneginf(c)
np.asarray_chkfinite(n)
np.common_type(b)
np.iinfo(float)
np.finfo(int)
np.can_cast("int8", "no dtype")
np.subtract.reduce([])
np.sin.reduce(f)
np.sin.accumulate(f)
np.add.reduceat(v, [9])
np.maximum.reduce([])
"""


def error_of(text, module, convert):
    try:
        got = evaluated(text, module, convert)
        if isinstance(got, stator.Array):
            got.backend.synchronize()  # where an index is found to be out of range late
    except Exception as error:
        return error
    return None


@pytest.mark.parametrize("text", REFUSED.strip().split("\n"))
def test_what_numpy_refuses_is_refused_alike(be, text):
    wanted, found = error_of(text, np, lambda x: x), error_of(text, snp, be.asarray)
    if wanted is None:  # NumPy says nothing, and neither do we
        assert found is None
        return
    bases = (TypeError, ValueError, IndexError, NotImplementedError, np.exceptions.AxisError, ZeroDivisionError)
    kinds = [k for k in bases if isinstance(wanted, k)]
    assert found is not None, f"{text}: NumPy raises {wanted!r}"
    assert isinstance(found, stator.errors.StatorError), repr(found)
    common = [k for k in kinds if k is not np.exceptions.AxisError]
    assert any(isinstance(found, k) for k in common), f"{found!r}, not {wanted!r}"


def test_after_an_error_the_next_call_works(be):
    x = be.asarray([1.0, 2.0])
    out = snp.zeros(2, int)
    with pytest.raises(TypeError):
        snp.add(x, 1, out=out)
    assert out.to_numpy().tolist() == [0, 0]
    assert snp.add(x, 1).to_numpy().tolist() == [2.0, 3.0]


def test_what_reads_back_is_refused_where_host_copies_are(be):
    x = be.asarray([1.0, 2.0])
    with be.forbid_host_copies():
        snp.cumsum(snp.add(x, [1, 2]))
        for call in (lambda: snp.allclose(x, x), lambda: snp.array2string(x), lambda: snp.unique(x)):
            with pytest.raises(stator.errors.HostCopyError):
                call()
