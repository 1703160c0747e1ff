"""The stubs equal what tools/generate_stubs.py writes for this build."""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_stubs_are_up_to_date():
    command = [sys.executable, str(ROOT / "tools" / "generate_stubs.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_class_of_a_product_with_a_sparse_matrix_is_typed():
    """A dense operand gives an Array, a sparse one CSR."""
    tree = ast.parse((ROOT / "python/stator/_sparse.pyi").read_text())
    (matrix,) = (n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "SparseMatrix")
    products = [n for n in matrix.body if isinstance(n, ast.FunctionDef) and n.name == "__matmul__"]
    typed = {ast.unparse(p.args.args[1].annotation): ast.unparse(p.returns) for p in products}
    assert typed == {"Array": "Array", "SparseMatrix": "CSR"}
    assert all(ast.unparse(d) == "overload" for p in products for d in p.decorator_list)
