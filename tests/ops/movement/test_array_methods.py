"""Array's methods are NumPy's: values, dtypes and forms of arguments; each is an op of stator."""

import ast
from pathlib import Path

import numpy as np
import pytest

import stator
import stator.numpy as snp
from stator._array_methods import METHODS
from stator.errors import HostCopyError, StatorError

X = np.array([[3.5, -1.25, 2.0, 0.0], [0.5, 7.75, -2.5, 4.0], [1.0, 2.0, 8.5, -6.0]])
N = np.arange(24, dtype=np.int32).reshape(2, 3, 4) * 7 % 11
Z = (X + 1j * X[::-1]).astype(np.complex64)

# By method: the array and what is done with it, written once for both.
CALLS = {
    "sum": (N, "x.sum() x.sum(0) x.sum(axis=-1) x.sum((0,2)) x.sum(1,'f4') x.sum(1,None,None,True)"),
    "prod": (N, "x.prod() x.prod(1) x.prod(axis=(0,1),dtype='f8') x.prod(0,keepdims=True)"),
    "mean": (X, "x.mean() x.mean(0) x.mean(1,'f4') x.mean(axis=1,keepdims=True)"),
    "max": (X, "x.max() x.max(0) x.max(axis=1,keepdims=True) x.max((0,1))"),
    "min": (X, "x.min() x.min(0) x.min(axis=1,keepdims=True)"),
    "any": (N, "x.any() x.any(0) x.any(axis=2,keepdims=True)"),
    "all": (N, "x.all() x.all(0) x.all(axis=(0,2))"),
    "std": (X, "x.std() x.std(0) x.std(ddof=1) x.std(1,'f8',None,1,True) x.std(axis=0,ddof=2,keepdims=True)"),
    "var": (X, "x.var() x.var(0) x.var(ddof=1) x.var(1,ddof=1)"),
    "argmax": (X, "x.argmax() x.argmax(0) x.argmax(axis=1,keepdims=True)"),
    "argmin": (X, "x.argmin() x.argmin(0) x.argmin(axis=1)"),
    "cumsum": (N, "x.cumsum() x.cumsum(1) x.cumsum(axis=2,dtype='f8') x[0,0].cumsum()"),
    "cumprod": (X, "x.cumprod() x.cumprod(0) x.cumprod(axis=1)"),
    "copy": (N, "x.copy() x.copy('F') x.mT.copy(order='K') x[:,::2].copy()"),
    "item": (X, "x[:1,:1].item() x.item(5) x.item(-1) x.item(1,2) x.item((2,0)) x[0].item(-2)"),
    "tolist": (X, "x.tolist() x[0].tolist() x[0,0].tolist() x[:0].tolist()"),
    "transpose": (N, "x.transpose() x.transpose(None) x.transpose(2,0,1) x.transpose((1,0,2)) x.transpose(0,-1,1)"
                     " x.transpose([2,1,0])"),
    "swapaxes": (N, "x.swapaxes(0,1) x.swapaxes(-1,0) x.swapaxes(1,1)"),
    "flatten": (N, "x.flatten() x.flatten('F') x.mT.flatten(order='A') x.mT.flatten()"),
    "ravel": (N, "x.ravel() x.ravel('F') x.mT.ravel(order='K') x[:,::2].ravel()"),
    "squeeze": (N[:1], "x.squeeze() x.squeeze(0) x.squeeze(axis=(0,))"),
    "dot": (X, "x.dot(x.T) x[0].dot(x[1]) x.dot(2.0)"),
    "conj": (Z, "x.conj() x[0].conj()"),
    "conjugate": (Z, "x.conjugate()"),
    "real": (Z, "x.real x.T.real"),
    "imag": (Z, "x.imag"),
    "nonzero": (N, "x.nonzero()[0] x.nonzero()[2] x[0,0].nonzero()[0]"),
    "clip": (X, "x.clip(0,3) x.clip(min=1) x.clip(max=0.5) x.clip(None,2) x.clip(-1,max=1)"),
    "round": (X, "x.round() x.round(1) x.round(decimals=-1) (x/3).round(2)"),
    "argsort": (X, "x.argsort() x.argsort(0) x.argsort(axis=None) x.argsort(kind='stable') x.argsort(stable=True)"),
    "take": (N, "x.take([1,0]) x.take(2) x.take([[0,1],[2,0]],1) x.take([-1],axis=2) x.take([9,-9],1,mode='wrap')"
                " x.take([9,-9],1,None,'clip')"),
    "repeat": (N, "x.repeat(2) x.repeat(2,1) x.repeat([1,2],axis=0) x.repeat([0,1,2],1)"),
    "diagonal": (N, "x.diagonal() x.diagonal(1) x.diagonal(0,1,2) x.diagonal(offset=-1,axis1=2,axis2=0)"),
    "trace": (N, "x.trace() x.trace(1) x.trace(0,1,2) x.trace(axis1=0,axis2=2,dtype='f8')"),
    "compress": (N, "x.compress([True,False],0) x.compress([False,True,True],axis=1) x.compress([True])"
                    " x.compress([0,2],1)"),
    "searchsorted": (np.arange(5.0), "x.searchsorted(x) x.searchsorted(2.0) x.searchsorted(x[::2],'right')"
                                     " x.searchsorted(x,side='left')"),
    "tobytes": (N, "x.tobytes() x.tobytes('F') x.mT.tobytes(order='C') x[:,::2].tobytes() x.tobytes('A')"),
    "flat": (N, "x.flat[5] x.flat[2:9:3] len(x.flat) x.mT.flat[[0,3]] list(x.mT.flat) x.flat.copy()"),
    "view": (N, "x.view('f4') x.view('u1')[0] x.view(x.dtype)"),
    "astype": (N, "x.astype('f8') x.astype(float) x.astype('int16')"),
    "__format__": (X, "f'{x[0,0]:.3f}' f'{x.sum()}' '{:>9}'.format(x[1,1])"),
    "__contains__": (X, ["7.75 in x", "99 in x"]),
    "__divmod__": (X, "divmod(x,2)[0] divmod(x,2)[1] divmod(7.0,x[2])[0] divmod(7.0,x[2])[1] divmod(x,x[:1,:1])[1]"),
    "__iter__": (X, ["list(x[0])", "list(x[:,0][:0])", "[v for v in x[:,1]]", "sum(x[0])"]),
}  # fmt: skip

IN_PLACE = {
    "sort": (X, "x.sort() x.sort(0) x.sort(axis=1,kind='stable') x.sort(stable=True) x[:,::-1].sort() x.T.sort()"),
    "fill": (X, "x.fill(3) x[0].fill(-1.5) x[:,1].fill(x[0,0])"),
    "put": (N, "x.put([0,5],[-1,-2]) x.put(3,9) x.put([1,2,3],[7,8]) x.put([-1],[5]) x.mT.put([1,2],[5,6])"
               " x.put([99,-99],[1,2],mode='wrap') x.put([99,-99],[1,2],'clip')"),
    "flat": (N, "x.flat.__setitem__(5,-1) x.mT.flat.__setitem__(slice(0,4),[1,2,3,4]) setattr(x,'flat',[1,2,3])"),
    "out": (X, "x[:2].sum(0,out=x[2]) x.cumsum(1,out=x) x.round(0,x) x.clip(0,1,x)"),
}  # fmt: skip


def host(value):
    if isinstance(value, stator.Array):
        return value.to_numpy()
    return [host(v) for v in value] if isinstance(value, (list, tuple)) else value


def split(calls):
    return calls.split(" ") if isinstance(calls, str) else calls


@pytest.mark.parametrize("name", CALLS)
def test_a_method_is_that_of_numpy(be, name):
    array, calls = CALLS[name]
    x = be.asarray(array)
    for text in split(calls):
        got, want = eval(text, {"x": x}), eval(text, {"x": array})
        if isinstance(got, stator.Array):
            assert got.shape == np.shape(want), text
            assert got.dtype == want.dtype, text
            np.testing.assert_allclose(host(got), want, rtol=1e-6, err_msg=text)
        else:
            assert type(got) is type(want) or isinstance(want, np.generic) or isinstance(got, list), text
            assert got == want if isinstance(got, (str, bytes, bool)) else np.allclose(host(got), want), text
    np.testing.assert_array_equal(x.to_numpy(), array)


@pytest.mark.parametrize("name", IN_PLACE)
def test_a_method_that_changes_the_array_changes_it_as_numpy(be, name):
    array, calls = IN_PLACE[name]
    for text in split(calls):
        x, want = be.asarray(array), array.copy()
        eval(text, {"x": x})
        eval(text, {"x": want})
        np.testing.assert_allclose(x.to_numpy(), want, err_msg=text)


def test_every_method_of_the_table_is_compared():
    # tests/transfers/test_transfers.py and tests/interop
    elsewhere = {"copy_from", "copy_to", "argpartition", "choose", "__dask_tokenize__"}
    compared = {
        *CALLS,
        *IN_PLACE,
        *elsewhere,
        "partition",
        "__round__",
        "__copy__",
        "__deepcopy__",
        "__reduce_ex__",
        "_repr_html_",
    }
    assert set(METHODS) - compared == set()


def test_what_numpy_has_for_device_arrays_is_there():
    absent = {
        "argpartition", "base", "byteswap", "choose", "ctypes", "dump", "dumps", "flags", "getfield", "resize",
        "setfield", "setflags", "tofile", "to_device",
    }  # fmt: skip
    public = {name for name in dir(np.ndarray) if not name.startswith("_")}
    assert public - set(dir(stator.zeros(1, device="cpu"))) - {"device"} <= absent


def test_a_method_is_the_op_of_the_function(be):
    x = be.asarray(X)
    for method, function in (("sum", stator.sum), ("argmax", stator.argmax), ("cumsum", stator.cumulative_sum)):
        counts = []
        for call in (lambda m=method: getattr(x, m)(0), lambda f=function: f(x, 0)):
            before = be.statistics()["kernel_launches"]
            call()
            counts.append(be.statistics()["kernel_launches"] - before)
        assert counts[0] == counts[1], method


READS = {
    "item": lambda x: x.item(0),
    "tolist": lambda x: x.tolist(),
    "tobytes": lambda x: x.tobytes(),
    "iteration": lambda x: list(x),
    "repr": repr,
    "html": lambda x: x._repr_html_(),
    "format": lambda x: f"{x[0]:.2f}",
    "in": lambda x: 1.0 in x,
    "pickle": lambda x: x.__reduce_ex__(5),
}


@pytest.mark.parametrize("name", READS)
def test_what_reads_values_is_a_host_copy(be, name):
    x = be.asarray(X[0])
    with be.forbid_host_copies(), pytest.raises(HostCopyError):
        READS[name](x)
    before = be.statistics()["d2h_bytes"]
    READS[name](x)
    assert be.statistics()["d2h_bytes"] > before


def test_iteration_over_elements_is_no_copy_per_element(be):
    x = be.zeros((1000,))
    before = be.statistics()
    assert len(list(x)) == 1000
    after = be.statistics()
    assert after["kernel_launches"] == before["kernel_launches"]
    assert after["d2h_bytes"] - before["d2h_bytes"] == x.nbytes


def test_rows_are_views(be):
    x = be.zeros((2, 3))
    for row in x:
        row += 1
    np.testing.assert_array_equal(x.to_numpy(), 1)


BAD = {
    "item of several": lambda x: x.item(),
    "item beyond": lambda x: x.item(99),
    "item of too many": lambda x: x.item(0, 0, 0),
    "transpose": lambda x: x.transpose(0),
    "swapaxes": lambda x: x.swapaxes(0, 2),
    "swapaxes of floats": lambda x: x.swapaxes(0.5, 1),
    "order": lambda x: x.flatten("X"),
    "mode": lambda x: x.take([0], mode="x"),
    "trace": lambda x: x.trace(0, 1, 1),
    "format": lambda x: f"{x:.2f}",
    "transpose by no axes": lambda x: x.transpose(1, 1),
    "diagonal of a vector": lambda x: x[0].diagonal(),
    "one axis twice": lambda x: x.diagonal(0, 1, -1),
    "axis": lambda x: x.sum(5),
    "axis of cumsum": lambda x: x.cumsum(5),
    "sort kind": lambda x: x.sort(kind="bogo"),
    "unknown keyword": lambda x: x.sum(foo=1),
    "twice": lambda x: x.sum(0, axis=1),
    "twice by keyword": lambda x: x.sum(0, "f4", dtype="f4"),
    "too many": lambda x: x.argmax(0, None, True),
}


@pytest.mark.parametrize("name", BAD)
def test_what_numpy_refuses_is_refused_alike(be, name):
    with pytest.raises(Exception) as theirs:
        BAD[name](X.copy())
    with pytest.raises(theirs.type):
        BAD[name](be.asarray(X))
    if not issubclass(theirs.type, TypeError):
        with pytest.raises(StatorError):
            BAD[name](be.asarray(X))


def test_round_of_an_array_is_the_method(be):
    np.testing.assert_allclose(round(be.asarray(X / 3), 1).to_numpy(), np.round(X / 3, 1))
    assert round(be.asarray(2.5)).dtype == stator.float64


FUNCTIONS_TOO = {
    "round": (X > 1, ()),
    "round of complex": (np.array([complex(1.26, np.inf), complex(-np.inf, 2.25), 1.15 - 7.77j]), (1,)),
    "dot": (X[0], (X[0, 1:2].reshape(()),)),
    "take": (N, ([[-9, 9]], 2, None, "wrap")),
    "trace": (N > 3, (1, 2, 0)),
    "diagonal": (N, (-1, 2, 0)),
    "swapaxes": (N, (-1, 0)),
    "transpose": (N, ((2, 0, 1),)),
    "ravel": (N, ("F",)),
    "repeat": (N, ([1, 2], 0)),
    "argsort": (X, (None,)),
    "copy": (N.T, ("F",)),
    "clip": (X, ([[0], [-1], [1]], np.float32(3))),
    "clip of complex": (Z, (1j, 2)),
    "clip of bool": (X > 1, (False, X > 2)),
    "clip of bytes": (N.astype("int8"), (-300, 7)),
    "clip without limits": (N.astype("int8"), (None, 300)),
    "clip by wider bounds": (N.astype("int8"), (1.5, None)),
    "searchsorted": (X[0, [3, 2, 0]], ([[0.5], [2.0]], "right")),
    "searchsorted of bool": (X[0] > 5, (True,)),
    "searchsorted by a list": (X[0], (2.0, "left", [1, 3, 2, 0])),
}


@pytest.mark.parametrize("name", FUNCTIONS_TOO)
def test_a_method_and_the_function_of_its_name_give_the_same(be, name):
    array, args = FUNCTIONS_TOO[name]
    name = name.partition(" ")[0]
    on = [be.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
    want = getattr(array, name)(*args)
    with be.use():
        for got in (getattr(be.asarray(array), name)(*on), getattr(snp, name)(be.asarray(array), *on)):
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got.to_numpy(), want)


def test_many_axes_are_transposed_by_name(be):
    x = np.zeros((1,) * 19 + (2,))
    assert be.asarray(x).transpose(*range(19, -1, -1)).shape == x.transpose(*range(19, -1, -1)).shape


def test_clip_writes_to_an_array_of_another_dtype(be):
    x, out = be.asarray(X), be.zeros((3, 4), dtype="float32")
    assert x.clip(0, 1, out) is out
    np.testing.assert_array_equal(out.to_numpy(), X.clip(0, 1).astype("float32"))
    assert x.clip(0, 1, dtype="float32").dtype == "float32"


@pytest.mark.parametrize("call", ["x.clip(0, 1, o)", "x.round(1, o)", "x.dot(2.0, o)", "x.take([0, 1, 2], 0, o)"])
@pytest.mark.parametrize("out", [np.zeros((1, 3, 4)), np.zeros((3, 4), int)], ids=["shape", "dtype"])
def test_out_of_another_shape_or_kind_is_refused(be, call, out):
    on = be.asarray(out)
    with pytest.raises(StatorError, match=r"[Oo]ut|cast"):
        eval(call, {"x": be.asarray(X), "o": on})
    np.testing.assert_array_equal(on.to_numpy(), 0)


@pytest.mark.parametrize("values", [[], [5.5]], ids=str)
def test_put_of_nothing_changes_nothing(be, values):
    x = be.asarray(X)
    x.put([], values)
    np.testing.assert_array_equal(x.to_numpy(), X)


def test_partition_takes_lists_and_complex_numbers(be):
    x = be.asarray(Z)
    x.partition(np.array([0, 2]))
    np.testing.assert_array_equal(x.to_numpy(), np.sort(Z))


def test_partition_orders_in_place(be):
    x = be.asarray(X)
    x.partition(1, axis=1)
    assert (x[:, :1].to_numpy() <= x[:, 1:2].to_numpy()).all() and (x[:, 2:].to_numpy() >= x[:, 1:2].to_numpy()).all()


def test_bfloat16_comes_out_as_numbers(be):
    x = be.asarray([1.5, 2.5]).astype("bfloat16")
    assert (x.tolist(), x.item(0), f"{x[1]:.1f}") == ([1.5, 2.5], 1.5, "2.5")
    assert x.tobytes() == x.view("uint16").to_numpy().tobytes()


def test_the_stub_shows_methods_with_documentation():
    stub = Path(stator.__file__).with_name("_array.pyi")
    cls = next(n for n in ast.parse(stub.read_text()).body if isinstance(n, ast.ClassDef) and n.name == "Array")
    members = {n.name: n for n in cls.body if isinstance(n, ast.FunctionDef)}
    assert set(METHODS) <= set(members) and "__getattr__" not in members
    bare = {n for n, f in members.items() if n in METHODS and not f.decorator_list and not ast.get_docstring(f)}
    assert bare == set()
