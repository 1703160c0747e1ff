// Factorisations of batches in cuBLAS: arrays of pointers in device memory. The infos of getrs and geqrf are the host's
// and concern arguments only.
#include "emulator/vendor/blas/handle.hpp"
#include "emulator/vendor/common/call.hpp"
#include "emulator/vendor/common/dense.hpp"

#include <algorithm>
#include <complex>
#include <numeric>
#include <vector>

using namespace stator::emulator::vendor;
using namespace stator::emulator::vendor::blas;

namespace {

// The one argument that is wrong, counted from 1, or 0.
Status refuse(const char* what, int* host_info, int argument) {
  if (!host_info) return Status::invalid_value;
  if (!readable_by_host(what, host_info)) return Status::execution_failed;
  *host_info = -argument;
  return argument ? Status::invalid_value : Status::success;
}

// Without exchanges of rows. The first zero pivot's number, or 0.
template <class T>
int factor_without_pivots(int n, std::vector<T>& a) {
  const auto at = [&](int i, int j) -> T& { return a[size_t(j) * size_t(n) + size_t(i)]; };
  int info = 0;
  for (int k = 0; k < n; ++k) {
    if (at(k, k) == T(0)) {
      if (!info) info = k + 1;
      continue;
    }
    for (int i = k + 1; i < n; ++i) at(i, k) /= at(k, k);
    for (int j = k + 1; j < n; ++j)
      for (int i = k + 1; i < n; ++i) at(i, j) -= at(i, k) * at(k, j);
  }
  return info;
}

template <class T>
Status getrf(void* handle, int n, T* const* a, int lda, int* pivots, int* info, int batches) {
  constexpr const char* what = "cublas<t>getrfBatched";
  Status status = Status::success;
  Handle* const h = use(handle, what, status);
  if (!h) return status;
  if (n < 0 || batches < 0 || lda < std::max(1, n)) return Status::invalid_value;
  if (n == 0 || batches == 0) return Status::success;
  if (!lapack::available(what)) return Status::internal_error;
  return launched(enqueue(h->stream, what, [=] {
    const uint64_t count = uint64_t(batches);
    if (!reads(what, bytes_at(a, count * sizeof(void*))) || !writes(what, bytes_at(info, count * sizeof(int)))) return;
    if (pivots && !writes(what, bytes_at(pivots, count * uint64_t(n) * sizeof(int)))) return;
    for (int batch = 0; batch < batches; ++batch) {
      T* const matrix = a[batch];
      const Range range = matrix_at(matrix, sizeof(T), n, n, lda);
      if (!reads(what, range) || !writes(what, range)) return;
      std::vector<T> copy = copy_in(matrix, n, n, lda);
      if (pivots) {
        int* const own = pivots + int64_t(batch) * n;
        put_value(info + batch, lapack::getrf(n, n, copy.data(), n, own));
        wrote(bytes_at(own, uint64_t(n) * sizeof(int)));
      } else {
        put_value(info + batch, factor_without_pivots(n, copy));
      }
      copy_out(copy, matrix, n, n, lda);
    }
  }));
}

template <class T>
Status getrs(void* handle, int trans, int n, int count, const T* const* a, int lda, const int* pivots, T* const* b,
             int ldb, int* info, int batches) {
  constexpr const char* what = "cublas<t>getrsBatched";
  Status status = Status::success;
  Handle* const h = use(handle, what, status);
  if (!h) return status;
  const int wrong = !valid(trans)              ? 1
                    : n < 0                    ? 2
                    : count < 0                ? 3
                    : !a && n > 0              ? 4
                    : lda < std::max(1, n)     ? 5
                    : !b && n > 0 && count > 0 ? 7
                    : ldb < std::max(1, n)     ? 8
                    : batches < 0              ? 10
                                               : 0;
  if ((status = refuse(what, info, wrong)) != Status::success) return status;
  if (n == 0 || count == 0 || batches == 0) return Status::success;
  if (!lapack::available(what)) return Status::internal_error;
  return launched(enqueue(h->stream, what, [=] {
    const uint64_t pointers = uint64_t(batches) * sizeof(void*);
    if (!reads(what, bytes_at(a, pointers)) || !reads(what, bytes_at(b, pointers))) return;
    if (pivots && !reads(what, bytes_at(pivots, uint64_t(batches) * uint64_t(n) * sizeof(int)))) return;
    std::vector<int> unmoved(static_cast<size_t>(n));
    std::iota(unmoved.begin(), unmoved.end(), 1);
    for (int batch = 0; batch < batches; ++batch) {
      const Range result = matrix_at(b[batch], sizeof(T), n, count, ldb);
      if (!reads(what, matrix_at(a[batch], sizeof(T), n, n, lda)) || !reads(what, result) || !writes(what, result))
        return;
      const int* const order = pivots ? pivots + int64_t(batch) * n : unmoved.data();
      if (!std::all_of(order, order + n, [&](int p) { return p >= 1 && p <= n; })) {
        complain(what, "A pivot is not a row's number from 1 to n.");
        return poison(result);
      }
      const std::vector<T> factors = copy_in(a[batch], n, n, lda);
      std::vector<T> copy = copy_in(b[batch], n, count, ldb);
      lapack::getrs("NTC"[trans], n, count, factors.data(), n, order, copy.data(), n);
      copy_out(copy, b[batch], n, count, ldb);
    }
  }));
}

}  // namespace

#define BATCHED(letter, T)                                                                                 \
  STATOR_VENDOR(Status, cublas##letter##getrfBatched,                                                      \
                (void* handle, int n, T* const* a, int lda, int* pivots, int* info, int batches),          \
                (handle, n, a, lda, pivots, info, batches)) {                                              \
    return getrf<T>(handle, n, a, lda, pivots, info, batches);                                             \
  }                                                                                                        \
  STATOR_VENDOR(Status, cublas##letter##getrsBatched,                                                      \
                (void* handle, int trans, int n, int count, const T* const* a, int lda, const int* pivots, \
                 T* const* b, int ldb, int* info, int batches),                                            \
                (handle, trans, n, count, a, lda, pivots, b, ldb, info, batches)) {                        \
    return getrs<T>(handle, trans, n, count, a, lda, pivots, b, ldb, info, batches);                       \
  }
BATCHED(S, float)
BATCHED(D, double)
BATCHED(C, std::complex<float>)
BATCHED(Z, std::complex<double>)
