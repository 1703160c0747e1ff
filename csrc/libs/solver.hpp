// Decompositions of one device: cuSOLVER or LAPACK with one interface.
#pragma once

#include "core/op_call.hpp"

#include <stator/dtype.hpp>

#include <cstdint>

namespace stator::libs {

// `count` column-major matrices: columns are `leading` elements apart, matrices `stride`. Row-major storage of A is
// column-major storage of its transpose: the callers in ops/ say where they use that and where they copy.
struct Batch {
  void* data = nullptr;
  int64_t leading = 0, stride = 0;
};

// Of float32, float64, complex64 or complex128; n, m, columns and count are at least 1.
struct Decomposition {
  DType dtype = DType::float64;
  int64_t count = 1, m = 0, n = 0;
  Batch a;
  int32_t* info = nullptr;  // [count]: LAPACK's, 0 is success
};

enum class Transposition : uint8_t { none, transpose, adjoint };
enum class SvdVectors : uint8_t { none, reduced, full };

// Each function enqueues, on the stream of the call and with the accesses that the call has declared, work that
// overwrites its operands. Workspaces come from the call's scratch. LibraryNotFoundError, CudaError; UnsupportedError
// beyond the library's index range.
class Solver {
 public:
  // Opens the library, and makes what the calls on the stream share. LibraryNotFoundError, CudaError.
  virtual void prepare(OpCall& call) const = 0;
  // a (n, n) becomes the factor in the triangle named; the other one must be zero and is zero again afterwards. info is
  // not 0 where a pivot is NaN.
  virtual void cholesky(OpCall& call, const Decomposition& d, bool upper) const = 0;
  // a (m, n) becomes L below and U on and above the diagonal. pivots [count, min(m, n)]: 0-based.
  virtual void lu(OpCall& call, const Decomposition& d, int32_t* pivots) const = 0;
  // Solves op(A) x = b by the factors from `lu` in a (n, n); x overwrites b (n, columns).
  virtual void lu_solve(OpCall& call, const Decomposition& d, const int32_t* pivots, Transposition how, const Batch& b,
                        int64_t columns) const = 0;
  struct Triangle {
    bool upper = false, unit = false;
    Transposition how = Transposition::none;
  };
  // Solves op(A) x = b; x overwrites b (n, columns). info, if not null: the first zero on the diagonal counted from 1,
  // else 0.
  virtual void triangular(OpCall& call, const Decomposition& d, const Triangle& triangle, const Batch& b,
                          int64_t columns) const = 0;
  // a (m, n) becomes R on and above the diagonal and reflectors below it; tau [count, min(m, n)].
  virtual void qr(OpCall& call, const Decomposition& d, void* tau) const = 0;
  // q (m, columns) becomes the first columns of Q, from what `qr` left in a (m, n). It has the memory of a, unless
  // `forms_q_apart`: then it has its own.
  virtual bool forms_q_apart(const Decomposition&) const { return false; }
  virtual void form_q(OpCall& call, const Decomposition& d, const void* tau, const Batch& q, int64_t columns) const = 0;
  struct Svd {
    SvdVectors vectors = SvdVectors::none;
    void* s = nullptr;  // [count, min(m, n)] of the real dtype, descending
    Batch u, vt;        // (m, k) and (k, n), or (m, m) and (n, n); null without vectors
  };
  // a (m, n) is destroyed. cuda: m >= n, unless `rotates`: then u is (m, m), and vt is V (n, n), not its adjoint.
  virtual bool rotates(const Decomposition&) const { return false; }
  virtual void svd(OpCall& call, const Decomposition& d, const Svd& svd) const = 0;
  // a (n, n) becomes its eigenvectors if wanted, else it is destroyed; values [count, n] of the real dtype, ascending.
  virtual void eigh(OpCall& call, const Decomposition& d, bool upper, bool vectors, void* values) const = 0;
  // a (n, n) is destroyed; values [count, n] and vectors (n, n; none if data is null) are complex. cuda: a is complex.
  virtual void eig(OpCall& call, const Decomposition& d, void* values, const Batch& vectors) const = 0;

 protected:
  ~Solver() = default;
};

const Solver& cuda_solver();
const Solver& host_solver();
inline const Solver& solver(const Context& context) {
  return context.runtime().is_host() ? host_solver() : cuda_solver();
}

}  // namespace stator::libs
