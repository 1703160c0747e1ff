// cublas<t>trsm and cublas<t>trsmBatched.
#include "emulator/vendor/blas/handle.hpp"
#include "emulator/vendor/common/call.hpp"
#include "emulator/vendor/common/dense.hpp"

#include <algorithm>
#include <complex>

using namespace stator::emulator::vendor;
using namespace stator::emulator::vendor::blas;

namespace {

struct Solve {
  Side side;
  Fill fill;
  int trans;
  Diagonal diagonal;
  int64_t m, n, lda, ldb;
  int64_t order() const { return side == Side::left ? m : n; }
  Status check() const {
    const bool known = (side == Side::left || side == Side::right) && (fill == Fill::lower || fill == Fill::upper) &&
                       valid(trans) && (diagonal == Diagonal::non_unit || diagonal == Diagonal::unit);
    if (!known || m < 0 || n < 0) return Status::invalid_value;
    if (lda < std::max<int64_t>(1, order()) || ldb < std::max<int64_t>(1, m)) return Status::invalid_value;
    return Status::success;
  }
};

// With alpha = 0 the matrix is not read, and neither are the old values of b.
template <class T>
bool solve_one(const char* what, const Solve& s, T alpha, const T* a, T* b) {
  const Range result = matrix_at(b, sizeof(T), s.m, s.n, s.ldb);
  if (!writes(what, result)) return false;
  if (alpha == T(0)) {
    for (int64_t j = 0; j < s.n; ++j) std::fill_n(b + j * s.ldb, s.m, T(0));
    wrote(result);
    return true;
  }
  const bool upper = s.fill == Fill::upper, unit = s.diagonal == Diagonal::unit;
  if (!reads_triangle(what, a, sizeof(T), upper, !unit, s.order(), s.lda) || !reads(what, result)) return false;
  solve_triangle(s.side == Side::left, upper, s.trans, unit, s.m, s.n, alpha, a, s.lda, b, s.ldb);
  wrote(result);
  return true;
}

template <class T>
Status solve(void* handle, const Solve& s, const T* alpha, const T* a, T* b) {
  constexpr const char* what = "cublas<t>trsm";
  Status status = Status::success;
  Handle* const h = use(handle, what, status);
  if (!h) return status;
  if ((status = s.check()) != Status::success) return status;
  if (!alpha) return Status::invalid_value;
  if (!readable_by_host(what, alpha, sizeof(T))) return Status::execution_failed;
  if (s.m == 0 || s.n == 0) return Status::success;
  const Range scratch = scratch_of(*h, status);
  if (status != Status::success) return status;
  return launched(enqueue(h->stream, what, "the workspace of cuBLAS", scratch,
                          [=, factor = *alpha] { solve_one(what, s, factor, a, b); }));
}

template <class T>
Status solve_batch(void* handle, const Solve& s, const T* alpha, const T* const* a, T* const* b, int64_t batches) {
  constexpr const char* what = "cublas<t>trsmBatched";
  Status status = Status::success;
  Handle* const h = use(handle, what, status);
  if (!h) return status;
  if ((status = s.check()) != Status::success) return status;
  if (!alpha || batches < 0) return Status::invalid_value;
  if (!readable_by_host(what, alpha, sizeof(T))) return Status::execution_failed;
  if (s.m == 0 || s.n == 0 || batches == 0) return Status::success;
  return launched(enqueue(h->stream, what, [=, factor = *alpha] {
    const uint64_t bytes = uint64_t(batches) * sizeof(void*);
    if (!reads(what, bytes_at(a, bytes)) || !reads(what, bytes_at(b, bytes))) return;
    for (int64_t batch = 0; batch < batches; ++batch)
      if (!solve_one(what, s, factor, a[batch], b[batch])) return;
  }));
}

}  // namespace

#define TRIANGULAR(letter, T)                                                                                \
  STATOR_VENDOR(Status, cublas##letter##trsm_v2_64,                                                          \
                (void* handle, Side side, Fill fill, int trans, Diagonal diagonal, int64_t m, int64_t n,     \
                 const T* alpha, const T* a, int64_t lda, T* b, int64_t ldb),                                \
                (handle, side, fill, trans, diagonal, m, n, alpha, a, lda, b, ldb)) {                        \
    return solve<T>(handle, {side, fill, trans, diagonal, m, n, lda, ldb}, alpha, a, b);                     \
  }                                                                                                          \
  STATOR_VENDOR(Status, cublas##letter##trsmBatched_64,                                                      \
                (void* handle, Side side, Fill fill, int trans, Diagonal diagonal, int64_t m, int64_t n,     \
                 const T* alpha, const T* const* a, int64_t lda, T* const* b, int64_t ldb, int64_t batches), \
                (handle, side, fill, trans, diagonal, m, n, alpha, a, lda, b, ldb, batches)) {               \
    return solve_batch<T>(handle, {side, fill, trans, diagonal, m, n, lda, ldb}, alpha, a, b, batches);      \
  }
TRIANGULAR(S, float)
TRIANGULAR(D, double)
TRIANGULAR(C, std::complex<float>)
TRIANGULAR(Z, std::complex<double>)
