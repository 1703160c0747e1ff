// The sparse ops by cuSPARSE. Each returns false, with nothing done, where our own kernels are used: on a device other
// than cuda, without the library, on a backend that was asked to be deterministic, for a matrix that is not known to be
// valid, and for dtypes or layouts that the library does not support. The call has declared its operands.
#pragma once

#include "libs/sparse.hpp"
#include "ops/sparse/parts.hpp"
#include "params/sparse.hpp"

#include <optional>

namespace stator::sparse {

bool product_by_vendor(OpCall& call, const Csr& a, const Array& x, const Array& out);
bool sampled_by_vendor(OpCall& call, const Csr& pattern, const Array& x, const Array& y, const Array& out,
                       libs::SparseFactors factors, const Stream& stream);
// Writes x and info of `found`; b has the dtype of both.
bool solve_by_vendor(OpCall& call, const Csr& a, const Array& b, const params::SparseSolve& p,
                     const TriangularSolution& found, const Stream& stream);
// The result is sorted. Declares its operands itself.
std::optional<Csr> times_by_vendor(OpCall& call, const Csr& a, const Csr& b, const Stream& stream);

}  // namespace stator::sparse
