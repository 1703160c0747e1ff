// The typed functions: Q of a QR factorisation, and Cholesky factors of a batch.
#include "emulator/vendor/common/call.hpp"
#include "emulator/vendor/solver/handle.hpp"

#include <vector>

using namespace stator::emulator::vendor;
using namespace stator::emulator::vendor::solver;

namespace {

constexpr const char* q_name = "cusolverDn<t>orgqr";
constexpr const char* batched_cholesky_name = "cusolverDn<t>potrfBatched";

struct Reflectors {
  int m, n, k, lda;
  Status check() const {
    return m >= 0 && n >= 0 && n <= m && k >= 0 && k <= n && room(lda, m) ? Status::success : Status::invalid_value;
  }
  int work() const { return 64 + 32 * n + 8 * k + m; }
};

Status begin(void* handle, const Reflectors& call, Handle** found) {
  Status status = Status::success;
  *found = use(handle, q_name, status);
  return *found ? call.check() : status;
}

Status state_work(void* handle, const Reflectors& call, int* work_size) {
  Handle* h = nullptr;
  const Status status = begin(handle, call, &h);
  if (status != Status::success) return status;
  if (!work_size) return Status::invalid_value;
  *work_size = call.work();
  return Status::success;
}

template <class T>
Status form_q(void* handle, const Reflectors& c, T* a, const T* tau, T* work, int work_size, int* info) {
  Handle* h = nullptr;
  const Status status = begin(handle, c, &h);
  if (status != Status::success) return status;
  if (work_size < c.work() || !work || !info) return Status::invalid_value;
  return launched(enqueue(h->stream, q_name, [=] {
    const Range scratch = bytes_at(work, uint64_t(work_size) * sizeof(T)),
                all = matrix_at(a, sizeof(T), c.m, c.n, c.lda);
    if (!writes(q_name, scratch) || !writes(q_name, bytes_at(info, sizeof(int))) || !writes(q_name, all)) return;
    scribble(scratch);
    // Only the reflectors are read: the first k columns below the diagonal.
    for (int j = 0; j < c.k; ++j)
      if (j + 1 < c.m && !reads(q_name, bytes_at(a + int64_t(j) * c.lda + j + 1, uint64_t(c.m - j - 1) * sizeof(T))))
        return;
    if (!reads(q_name, bytes_at(tau, uint64_t(c.k) * sizeof(T)))) return;
    std::vector<T> copy = copy_in(a, c.m, c.n, c.lda);
    put_value(info, lapack::orgqr(c.m, c.n, c.k, copy.data(), std::max(1, c.m), tau));
    copy_out(copy, a, c.m, c.n, c.lda);
  }));
}

// The triangle that is not the factor's is destroyed. A pivot that is NaN may pass unnoticed, with a seed: then
// info is 0 and the factor is not a number.
template <class T>
bool factor(Fill fill, int n, T* a, int lda, int* info) {
  const bool upper = fill == Fill::upper;
  if (!reads_triangle(batched_cholesky_name, a, sizeof(T), upper, true, n, lda)) return false;
  const Range all = matrix_at(a, sizeof(T), n, n, lda);
  if (!writes(batched_cholesky_name, all)) return false;
  std::vector<T> copy = copy_in(a, n, n, lda);
  scribble(all);
  const int found = lapack::potrf(upper ? 'U' : 'L', n, copy.data(), std::max(1, n));
  int failed = cholesky_info(found, copy, n);
  if (failed && !is_finite(copy[size_t(failed - 1) * size_t(n + 1)]) && choose(2)) {
    std::fill(copy.begin(), copy.end(), not_a_number<T>());
    failed = 0;
  }
  put_value(info, failed);
  for (int64_t j = 0; j < n; ++j) {
    const int64_t from = upper ? 0 : j, to = upper ? j + 1 : n;
    for (int64_t i = from; i < to; ++i) a[j * lda + i] = copy[size_t(j * n + i)];
    wrote(bytes_at(a + j * lda + from, uint64_t(to - from) * sizeof(T)));
  }
  return true;
}

template <class T>
Status factor_batch(void* handle, Fill fill, int n, T* const* a, int lda, int* info, int batches) {
  Status status = Status::success;
  Handle* const h = use(handle, batched_cholesky_name, status);
  if (!h) return status;
  if (!known(fill) || n < 0 || !room(lda, n) || batches < 0) return Status::invalid_value;
  if (n == 0 || batches == 0) return Status::success;
  return launched(enqueue(h->stream, batched_cholesky_name, [=] {
    if (!reads(batched_cholesky_name, bytes_at(a, uint64_t(batches) * sizeof(void*)))) return;
    if (!writes(batched_cholesky_name, bytes_at(info, uint64_t(batches) * sizeof(int)))) return;
    for (int batch = 0; batch < batches; ++batch)
      if (!factor(fill, n, a[batch], lda, info + batch)) return;
  }));
}

}  // namespace

#define TYPED(letter, q, T)                                                                                          \
  STATOR_VENDOR(Status, cusolverDn##letter##q##_bufferSize,                                                          \
                (void* handle, int m, int n, int k, const T* a, int lda, const T* tau, int* work_size),              \
                (handle, m, n, k, a, lda, tau, work_size)) {                                                         \
    (void)a, (void)tau;                                                                                              \
    return state_work(handle, {m, n, k, lda}, work_size);                                                            \
  }                                                                                                                  \
  STATOR_VENDOR(Status, cusolverDn##letter##q,                                                                       \
                (void* handle, int m, int n, int k, T* a, int lda, const T* tau, T* work, int work_size, int* info), \
                (handle, m, n, k, a, lda, tau, work, work_size, info)) {                                             \
    return form_q<T>(handle, {m, n, k, lda}, a, tau, work, work_size, info);                                         \
  }                                                                                                                  \
  STATOR_VENDOR(Status, cusolverDn##letter##potrfBatched,                                                            \
                (void* handle, Fill fill, int n, T* const* a, int lda, int* info, int batches),                      \
                (handle, fill, n, a, lda, info, batches)) {                                                          \
    return factor_batch<T>(handle, fill, n, a, lda, info, batches);                                                  \
  }
TYPED(S, orgqr, float)
TYPED(D, orgqr, double)
TYPED(C, ungqr, std::complex<float>)
TYPED(Z, ungqr, std::complex<double>)
