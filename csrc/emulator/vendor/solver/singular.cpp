// Singular values: one matrix by QR iterations, batches of small ones by Jacobi's rotations.
#include "emulator/vendor/common/call.hpp"
#include "emulator/vendor/solver/handle.hpp"

#include <cstring>
#include <vector>

using namespace stator::emulator::vendor;
using namespace stator::emulator::vendor::solver;

namespace {

constexpr const char* one_name = "cusolverDnXgesvd";

struct Svd {
  char job_u, job_vt;
  int64_t m, n, lda, ldu, ldvt;
  Type type, values, type_u, type_vt, compute;

  Status check() const {
    if (!is_matrix_type(type)) return Status::not_supported;
    const bool jobs = std::strchr("ASON", job_u) && std::strchr("ASON", job_vt) && !(job_u == 'O' && job_vt == 'O');
    if (!job_u || !job_vt || !jobs || !small(m) || !small(n)) return Status::invalid_value;
    if (m < n) return Status::invalid_value;  // the library has only tall matrices
    if (!room(lda, m) || values != real_of(type) || type_u != type || type_vt != type || compute != type)
      return Status::invalid_value;
    if (!room(ldu, job_u == 'A' || job_u == 'S' ? m : 1)) return Status::invalid_value;
    return room(ldvt, job_vt == 'A' || job_vt == 'S' ? n : 1) ? Status::success : Status::invalid_value;
  }
  int64_t columns_u() const { return job_u == 'A' ? m : job_u == 'S' ? n : 0; }
  int64_t rows_vt() const { return job_vt == 'A' || job_vt == 'S' ? n : 0; }
  Sizes sizes() const {
    return {4096 + uint64_t(m + 6 * n) * 32 * size_of(type) + uint64_t(columns_u() + 2 * rows_vt()) * size_of(type), 0};
  }
};

// Turns some pairs of vectors, as another library's would be.
template <class T>
void turn_pairs(std::vector<T>& u, int64_t m, std::vector<T>& vt, int64_t rows, int64_t pairs) {
  for (int64_t s = 0; s < pairs; ++s)
    if (choose(2)) {
      turn(u.data() + s * m, m, 1);
      turn(vt.data() + s, rows, rows);
    }
}

template <class T>
void solve(const Svd& c, T* a, lapack::Real<T>* s, T* u, T* vt, int* info) {
  using R = lapack::Real<T>;
  const Range all = matrix_at(a, sizeof(T), c.m, c.n, c.lda), values = bytes_at(s, uint64_t(c.n) * sizeof(R));
  const Range left = matrix_at(u, sizeof(T), c.m, c.columns_u(), c.ldu),
              right = matrix_at(vt, sizeof(T), c.rows_vt(), c.n, c.ldvt);
  for (const Range& range : {all, values, left, right})
    if (!writes(one_name, range)) return;
  if (!reads(one_name, all)) return;
  std::vector<T> copy = copy_in(a, c.m, c.n, c.lda), full_u(size_t(c.m * c.m) + 1), full_vt(size_t(c.n * c.n) + 1);
  scribble(all);  // whatever the jobs are
  if (all_finite(copy)) {
    const int tall = int(std::max<int64_t>(1, c.m)), wide = int(std::max<int64_t>(1, c.n));
    const char job =
        c.columns_u() || c.rows_vt() || c.job_u == 'O' || c.job_vt == 'O' ? (c.job_u == 'A' ? 'A' : 'S') : 'N';
    put_value(info, lapack::gesvd(job, job == 'N' ? 'N' : 'A', int(c.m), int(c.n), copy.data(), tall, s, full_u.data(),
                                  tall, full_vt.data(), wide));
    if (job != 'N') turn_pairs(full_u, c.m, full_vt, c.n, c.n);
  } else {
    std::fill_n(s, c.n, not_a_number<R>());
    std::fill(full_u.begin(), full_u.end(), not_a_number<T>());
    std::fill(full_vt.begin(), full_vt.end(), not_a_number<T>());
    put_value(info, choose(2) ? int(c.n) : 0);
  }
  wrote(values);
  if (c.columns_u()) copy_out(full_u, u, c.m, c.columns_u(), c.ldu);
  if (c.rows_vt()) copy_out(full_vt, vt, c.n, c.n, c.ldvt);
  if (c.job_u == 'O') copy_out(full_u, a, c.m, c.n, c.lda);
  if (c.job_vt == 'O') copy_out(full_vt, a, c.n, c.n, c.lda);
}

Status begin(void* handle, void* params, const Svd& call, Handle** found) {
  Status status = Status::success;
  *found = use(handle, one_name, status);
  if (!*found) return status;
  return parameters.find(params) ? call.check() : Status::invalid_value;
}

}  // namespace

STATOR_VENDOR(Status, cusolverDnXgesvd_bufferSize,
              (void* handle, void* params, signed char job_u, signed char job_vt, int64_t m, int64_t n, Type type,
               const void* a, int64_t lda, Type type_s, const void* s, Type type_u, const void* u, int64_t ldu,
               Type type_vt, const void* vt, int64_t ldvt, Type compute, size_t* device, size_t* host),
              (handle, params, job_u, job_vt, m, n, type, a, lda, type_s, s, type_u, u, ldu, type_vt, vt, ldvt, compute,
               device, host)) {
  (void)a, (void)s, (void)u, (void)vt;
  const Svd call{char(job_u), char(job_vt), m, n, lda, ldu, ldvt, type, type_s, type_u, type_vt, compute};
  Handle* h = nullptr;
  const Status status = begin(handle, params, call, &h);
  if (status != Status::success) return status;
  if (!device || !host) return Status::invalid_value;
  *device = call.sizes().device;
  *host = call.sizes().host;
  return Status::success;
}

STATOR_VENDOR(Status, cusolverDnXgesvd,
              (void* handle, void* params, signed char job_u, signed char job_vt, int64_t m, int64_t n, Type type,
               void* a, int64_t lda, Type type_s, void* s, Type type_u, void* u, int64_t ldu, Type type_vt, void* vt,
               int64_t ldvt, Type compute, void* device, size_t device_bytes, void* host, size_t host_bytes, int* info),
              (handle, params, job_u, job_vt, m, n, type, a, lda, type_s, s, type_u, u, ldu, type_vt, vt, ldvt, compute,
               device, device_bytes, host, host_bytes, info)) {
  const Svd call{char(job_u), char(job_vt), m, n, lda, ldu, ldvt, type, type_s, type_u, type_vt, compute};
  Handle* h = nullptr;
  Status status = begin(handle, params, call, &h);
  if (status != Status::success) return status;
  if (!info) return Status::invalid_value;
  const Workspaces given{device, device_bytes, host, host_bytes};
  if ((status = take(given, call.sizes())) != Status::success) return status;
  return launched(enqueue(h->stream, one_name, workspace_name, device_part(given), [=] {
    if (!writes(one_name, bytes_at(info, sizeof(int)))) return;
    with_type(type, [=](auto tag) {
      using T = typename decltype(tag)::type;
      solve(call, static_cast<T*>(a), static_cast<lapack::Real<T>*>(s), static_cast<T*>(u), static_cast<T*>(vt), info);
    });
  }));
}

namespace {

constexpr const char* batched_svd_name = "cusolverDn<t>gesvdjBatched";
constexpr int largest = 32;

struct Jacobi {
  Mode mode;
  int m, n, lda, ldu, ldv, batches;

  Status check() const {
    if (!known(mode) || m < 0 || n < 0 || m > largest || n > largest || batches < 0 || !room(lda, m))
      return Status::invalid_value;
    return room(ldu, m) && room(ldv, n) ? Status::success : Status::invalid_value;
  }
  int work() const { return 16 + batches * (m + 2 * n) + (mode == Mode::vectors ? batches * (m * 3 + n * 5) : 0); }
};

Status begin(void* handle, void* params, const Jacobi& call, Handle** found) {
  Status status = Status::success;
  *found = use(handle, batched_svd_name, status);
  if (!*found) return status;
  return jacobi_infos.find(params) ? call.check() : Status::invalid_value;
}

// U and V are square, and it is V itself that comes out.
template <class T>
bool solve(const Jacobi& c, T* a, lapack::Real<T>* s, T* u, T* v, int* info) {
  using R = lapack::Real<T>;
  const int64_t m = c.m, n = c.n, steps = std::min(m, n);
  const bool vectors = c.mode == Mode::vectors;
  const Range all = matrix_at(a, sizeof(T), m, n, c.lda), values = bytes_at(s, uint64_t(steps) * sizeof(R));
  const Range left = matrix_at(u, sizeof(T), m, m, c.ldu), right = matrix_at(v, sizeof(T), n, n, c.ldv);
  for (const Range& range : {all, values, left, right})
    if (!writes(batched_svd_name, range)) return false;
  if (!reads(batched_svd_name, all)) return false;
  std::vector<T> copy = copy_in(a, m, n, c.lda), full_u(size_t(m * m) + 1), full_vt(size_t(n * n) + 1),
                 full_v(size_t(n * n) + 1);
  scribble(all);
  if (all_finite(copy)) {
    const int failed = lapack::gesvd('A', 'A', c.m, c.n, copy.data(), std::max(1, c.m), s, full_u.data(),
                                     std::max(1, c.m), full_vt.data(), std::max(1, c.n));
    put_value(info, failed ? int(steps) + 1 : 0);
    turn_pairs(full_u, m, full_vt, n, steps);
  } else {
    std::fill_n(s, steps, not_a_number<R>());
    std::fill(full_u.begin(), full_u.end(), not_a_number<T>());
    std::fill(full_vt.begin(), full_vt.end(), not_a_number<T>());
    put_value(info, choose(2) ? int(steps) + 1 : 0);
  }
  wrote(values);
  if (!vectors) {  // both are written all the same: the library works in them
    scribble(left);
    scribble(right);
    return true;
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) full_v[size_t(i * n + j)] = conjugate(full_vt[size_t(j * n + i)]);
  copy_out(full_u, u, m, m, c.ldu);
  copy_out(full_v, v, n, n, c.ldv);
  return true;
}

template <class T>
Status run_batch(void* handle, const Jacobi& c, T* a, lapack::Real<T>* s, T* u, T* v, T* work, int work_size, int* info,
                 void* params) {
  Handle* h = nullptr;
  const Status status = begin(handle, params, c, &h);
  if (status != Status::success) return status;
  if (work_size < c.work() || !work || !info) return Status::invalid_value;
  if (c.batches == 0 || c.m == 0 || c.n == 0) return Status::success;
  return launched(enqueue(h->stream, batched_svd_name, [=] {
    const Range scratch = bytes_at(work, uint64_t(work_size) * sizeof(T));
    if (!writes(batched_svd_name, scratch) ||
        !writes(batched_svd_name, bytes_at(info, uint64_t(c.batches) * sizeof(int))))
      return;
    scribble(scratch);
    const int64_t values = std::min(c.m, c.n);
    for (int64_t i = 0; i < c.batches; ++i)
      if (!solve<T>(c, a + i * c.lda * c.n, s + i * values, u + i * c.ldu * c.m, v + i * c.ldv * c.n, info + i)) return;
  }));
}

Status state_work(void* handle, const Jacobi& call, int* work_size, void* params) {
  Handle* h = nullptr;
  const Status status = begin(handle, params, call, &h);
  if (status != Status::success) return status;
  if (!work_size) return Status::invalid_value;
  *work_size = call.work();
  return Status::success;
}

}  // namespace

#define JACOBI(letter, T, R)                                                                                        \
  STATOR_VENDOR(Status, cusolverDn##letter##gesvdjBatched_bufferSize,                                               \
                (void* handle, Mode mode, int m, int n, const T* a, int lda, const R* s, const T* u, int ldu,       \
                 const T* v, int ldv, int* work_size, void* params, int batches),                                   \
                (handle, mode, m, n, a, lda, s, u, ldu, v, ldv, work_size, params, batches)) {                      \
    (void)a, (void)s, (void)u, (void)v;                                                                             \
    return state_work(handle, {mode, m, n, lda, ldu, ldv, batches}, work_size, params);                             \
  }                                                                                                                 \
  STATOR_VENDOR(Status, cusolverDn##letter##gesvdjBatched,                                                          \
                (void* handle, Mode mode, int m, int n, T* a, int lda, R* s, T* u, int ldu, T* v, int ldv, T* work, \
                 int work_size, int* info, void* params, int batches),                                              \
                (handle, mode, m, n, a, lda, s, u, ldu, v, ldv, work, work_size, info, params, batches)) {          \
    return run_batch<T>(handle, {mode, m, n, lda, ldu, ldv, batches}, a, s, u, v, work, work_size, info, params);   \
  }
JACOBI(S, float, float)
JACOBI(D, double, double)
JACOBI(C, std::complex<float>, float)
JACOBI(Z, std::complex<double>, double)
