// The vendor libraries in a build without CUDA. No context is on cuda, so only the functions named *_available are
// called.
#include "libs/blas.hpp"
#include "libs/compiler.hpp"
#include "libs/fft.hpp"
#include "libs/solver.hpp"
#include "libs/sparse.hpp"

namespace stator::libs {
namespace {

[[noreturn]] void refuse() { throw DeviceUnavailableError({}, "stator was built without CUDA (STATOR_CUDA=OFF)"); }

}  // namespace

const Blas& cuda_blas() { refuse(); }
const Solver& cuda_solver() { refuse(); }

bool cuda_fft_available(const OpCall&) { return false; }
void cuda_fft_prepare(OpCall&) { refuse(); }
void cuda_fft(OpCall&, const VendorFft&) { refuse(); }

bool cuda_sparse_available(const OpCall&) { return false; }
void cuda_sparse_prepare(OpCall&) { refuse(); }
void cuda_sparse_product(OpCall&, const SparseMatrix&, const DenseMatrix&, const DenseMatrix&) { refuse(); }
void cuda_sparse_sampled(OpCall&, const SparseMatrix&, const DenseMatrix&, const DenseMatrix&, SparseFactors) {
  refuse();
}
void cuda_sparse_solve(OpCall&, const SparseMatrix&, bool, bool, const DenseMatrix&, const DenseMatrix&) { refuse(); }
bool cuda_sparse_times(OpCall&, const SparseMatrix&, const SparseMatrix&, void*,
                       const std::function<SparseRoom(int64_t)>&) {
  refuse();
}

Compiled compile(std::string_view, const std::string&, const std::string&, const std::vector<std::string>&,
                 const std::vector<std::string>&, int) {
  refuse();
}

std::string compiler_version(std::string_view) { refuse(); }

bool cuda_sparse_lt_available() { return false; }
void cuda_sparse_lt_prepare(OpCall&) { refuse(); }
void cuda_structured_product(OpCall&, const DenseMatrix&, const DenseMatrix&, const DenseMatrix&, bool, DType) {
  refuse();
}

}  // namespace stator::libs
