"""What to use for a name that is not there: the names of NumPy, CuPy and torch, and the nearest name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from stator._package import root

# By the module ("Array" for its attributes): the name that was asked for, and what there is.
HINTS: dict[str, dict[str, str]] = {
    "Array": {
        "get": "to_numpy()",
        "numpy": "to_numpy()",
        "asnumpy": "to_numpy()",
        "cpu": "to_device('cpu')",
        "cuda": "to_device('cuda')",
        "type": "astype(dtype)",
        "float": "astype('float32')",
        "double": "astype('float64')",
        "half": "astype('float16')",
        "int": "astype('int32')",
        "long": "astype('int64')",
        "bool": "astype('bool')",
        "detach": "the array itself: arrays have no gradients",
        "requires_grad": "the functions named _backward in stator.nn",
        "grad": "the functions named _backward in stator.nn",
        "backward": "the functions named _backward in stator.nn",
        "clone": "copy()",
        "numel": "the attribute size",
        "element_size": "the attribute itemsize",
        "dim": "the attribute ndim",
        "contiguous": "copy(), which is row-major",
        "is_cuda": "device.type",
        "unsqueeze": "stator.expand_dims(x, axis)",
        "permute": "transpose(*axes)",
        "t": "the attribute T",
        "mm": "the operator @",
        "bmm": "the operator @",
        "matmul": "the operator @",
        "ptp": "x.max() - x.min()",
        "base": "data_ptr: views share memory",
        "ctypes": "data_ptr",
        "flags": "is_contiguous",
        "resize": "reshape(), or stator.concat",
        "setfield": "view(dtype)",
        "getfield": "view(dtype)",
        "byteswap": "arrays of native byte order: there is no other",
        "newbyteorder": "arrays of native byte order: there is no other",
        "tofile": "to_numpy().tofile(file)",
        "dump": "pickle.dump",
        "dumps": "pickle.dumps",
        "tostring": "tobytes()",
        "norm": "stator.linalg.vector_norm(x) or stator.linalg.matrix_norm(x)",
        "exp": "stator.exp(x)",
        "log": "stator.log(x)",
        "sqrt": "stator.sqrt(x)",
        "abs": "abs(x)",
        "median": "stator.median(x)",
        "unique": "stator.unique_values(x)",
        "expand": "stator.broadcast_to(x, shape)",
        "scatter_": "stator.scatter",
        "zero_": "fill(0)",
        "fill_": "fill(value)",
        "add_": "the operator +=",
        "mul_": "the operator *=",
    },
    "stator": {
        "array": "asarray",
        "tensor": "asarray",
        "from_numpy": "asarray",
        "as_tensor": "asarray",
        "asnumpy": "x.to_numpy()",
        "ndarray": "Array",
        "Tensor": "Array",
        "concatenate": "concat",
        "cat": "concat",
        "hstack": "concat(arrays, axis=1)",
        "vstack": "concat or stack",
        "cumsum": "cumulative_sum",
        "cumprod": "cumulative_prod",
        "transpose": "permute_dims",
        "swapaxes": "moveaxis or permute_dims",
        "unsqueeze": "expand_dims",
        "unique": "unique_values, unique_counts, unique_inverse or unique_all",
        "absolute": "abs",
        "power": "pow",
        "arcsin": "asin",
        "arccos": "acos",
        "arctan": "atan",
        "arctan2": "atan2",
        "arcsinh": "asinh",
        "arccosh": "acosh",
        "arctanh": "atanh",
        "invert": "bitwise_invert",
        "bitwise_not": "bitwise_invert",
        "left_shift": "bitwise_left_shift",
        "right_shift": "bitwise_right_shift",
        "mod": "remainder",
        "true_divide": "divide",
        "conjugate": "conj",
        "rint": "round",
        "percentile": "quantile(x, q / 100)",
        "clamp": "clip",
        "mm": "matmul",
        "bmm": "matmul",
        "rand": "random.uniform",
        "randn": "random.normal",
        "randint": "random.integers",
        "manual_seed": "random.seed",
        "relu": "nn.relu",
        "softmax": "nn.softmax",
        "norm": "linalg.vector_norm or linalg.matrix_norm",
        "trace": "linalg.trace",
        "diagonal": "linalg.diagonal",
        "inv": "linalg.inv",
        "svd": "linalg.svd",
        "erf": "special.erf",
        "igamma": "special.gammainc",
        "igammac": "special.gammaincc",
        "float_": "float64",
        "int_": "int64",
        "bool_": "bool",
        "single": "float32",
        "double": "float64",
        "half": "float16",
        "no_grad": "nothing: arrays have no gradients",
    },
    "stator.linalg": {
        "norm": "vector_norm or matrix_norm",
        "multi_dot": "the operator @",
        "einsum": "stator.einsum",
        "dot": "stator.dot",
        "LinAlgWarning": "LinAlgError",
    },
    "stator.random": {
        "rand": "uniform(size=shape)",
        "randn": "normal(size=shape)",
        "random": "uniform(size=shape)",
        "random_sample": "uniform(size=shape)",
        "standard_normal": "normal(size=shape)",
        "randint": "integers",
        "shuffle": "permutation",
        "default_rng": "Generator(backend, seed=...)",
        "manual_seed": "seed",
    },
    "stator.special": {
        "igamma": "gammainc",
        "igammac": "gammaincc",
    },
    "stator.sparse": {
        "csr_matrix": "CSR, csr_from_dense or from_scipy",
        "csc_matrix": "CSC, csc_from_dense or from_scipy",
        "coo_matrix": "COO, coo_from_dense or from_scipy",
        "csr_array": "CSR, csr_from_dense or from_scipy",
        "csc_array": "CSC, csc_from_dense or from_scipy",
        "coo_array": "COO, coo_from_dense or from_scipy",
    },
}


class MissingAttributeError(AttributeError):
    """An attribute that is not there. Its text, which says what to use, is made when it is read."""

    def __init__(self, owner: str, name: str, names: Callable[[], Iterable[str]], obj: object = None) -> None:
        super().__init__(owner, name, name=name, obj=obj)
        self._owner, self._missing, self._names = owner, name, names

    def __str__(self) -> str:
        kind = "An Array" if self._owner == "Array" else f"The module {self._owner}"
        return f"{kind} has no attribute {self._missing!r}.{self._hint()}"

    def _hint(self) -> str:
        if self._owner.startswith("stator.numpy"):
            return _of_numpy(self._owner, self._missing) or self._nearest()
        hint = HINTS.get(self._owner, {}).get(self._missing)
        numpys = _in_numpy(self._owner, self._missing)
        if numpys:
            return f" Use {hint}, or NumPy's, which is {numpys}." if hint else f" Use {numpys}."
        return f" Use {hint}." if hint else self._nearest()

    def _nearest(self) -> str:
        from difflib import get_close_matches

        public = [name for name in self._names() if name[0] != "_"]
        found = " or ".join(get_close_matches(self._missing, public, 2, 0.75))
        return f" Use {found}." if found else ""

    def __reduce__(self) -> tuple[Any, ...]:
        return AttributeError, (str(self),)


class MissingAttribute:
    """An attribute that Array does not have: reading it raises MissingAttributeError, which names what to use.

    A __getattr__ of the class would see every name, but Python makes a method object at each call of a method of a
    class that has one.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, obj: object, owner: type) -> Any:
        if obj is None:
            return self
        raise MissingAttributeError("Array", self._name, lambda: dir(owner), obj)


def attributes_of(x: object) -> list[str]:
    """What dir(x) gives: the names that there are."""
    found: dict[str, object] = {}
    for owner in reversed(type(x).__mro__):
        found.update(vars(owner))
    missing = {name for name, value in found.items() if isinstance(value, MissingAttribute)}
    return [name for name in object.__dir__(x) if name not in missing]


def _row(path: str) -> Any:
    """The row of a dotted name of NumPy, or None."""
    return root().numpy._rows.ROWS.get(path)


def _in_numpy(owner: str, name: str) -> str:
    """Where stator.numpy has a name that a module of stator lacks, else an empty text."""
    if owner not in ("stator", "stator.linalg", "stator.fft", "stator.random"):
        return ""
    path = f"{owner}.{name}".removeprefix("stator.")
    row = _row(path)
    return f"stator.numpy.{path}" if row is not None and not row.absent else ""


def _of_numpy(owner: str, name: str) -> str:
    """Why stator.numpy has no such name, or which function of stator has it, else an empty text."""
    path = f"{owner}.{name}".removeprefix("stator.numpy.")
    row = _row(path)
    if row is not None:
        return f" {row.how}"
    home: Any = root()
    for part in path.split("."):
        home = vars(home).get(part)
        if home is None:
            return ""
    return f" NumPy has none either. Use stator.{path}."
