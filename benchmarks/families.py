"""The family of each op: one row of the plot, one target of the CSV."""

from __future__ import annotations

from .table import AXIS, TABLE, in_family, kind

# Of the rows bound by hand. What its shape class describes has that family: elementwise, or nn where its call is
# stator.nn's; reduce; scan.
FAMILIES: dict[str, str] = {
    "creation": "zeros full arange linspace eye tri copy astype",
    "sort": "sort argsort topk partition kthvalue median quantile mode",
    "sets": "unique_all unique_counts unique_inverse unique_values unique_consecutive isin searchsorted"
    " histc histogram bincount",
    "indexing": "take index_get index_put take_along_axis put_along_axis scatter scatter_add index_add segment_sum"
    " segment_mean segment_min segment_max masked_fill masked_fill_backward masked_select masked_select_backward"
    " masked_scatter masked_scatter_backward nonzero compress",
    "movement": "setitem concat stack roll tile repeat pad triu tril diag",
    "linalg": "cholesky cho_solve solve solve_triangular inv pinv det slogdet lu_factor lu_solve lu qr svd svdvals eigh"
    " eigvalsh eig eigvals lstsq matrix_rank matrix_norm cond matrix_power expm linalg_trace linalg_cross cdist",
    "matmul": "matmul dot vecdot outer tensordot einsum kron addmm baddbmm linear scaled_matmul",
    "fft": "fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn fftshift ifftshift fftfreq"
    " rfftfreq fftconvolve stft istft",
    "random": "uniform normal integers bernoulli exponential gamma poisson permutation choice multinomial",
    "sparse": "csr_matmul csr_from_dense csr_to_dense csc_to_dense csr_to_csc coo_to_csr csr_to_coo sparse_add sddmm"
    " spgemm spsolve_triangular prune_2to4 matmul_2to4",
    "nn": "softmax softmax_backward log_softmax log_softmax_backward cross_entropy cross_entropy_backward adam_step"
    " sum_backward mean_backward prod_backward dropout dropout_backward quantize_fp8",
}
_OF_OP = {op: family for family, ops in FAMILIES.items() for op in ops.split()}


def family(op: str) -> str:
    if not in_family(op):
        if op not in _OF_OP:
            raise NotImplementedError(f"no family for {op}: add it to benchmarks/families.py")
        return _OF_OP[op]
    if kind(op) in AXIS:
        return kind(op)
    return "nn" if TABLE[op]["call"].startswith("nn.") else "elementwise"
