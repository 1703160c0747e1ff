// Factorisations of one matrix, by the interface for any size: Cholesky, LU with its solution, and QR.
#include "emulator/vendor/common/call.hpp"
#include "emulator/vendor/common/product.hpp"
#include "emulator/vendor/solver/handle.hpp"

#include <vector>

using namespace stator::emulator::vendor;
using namespace stator::emulator::vendor::solver;

namespace {

// The checks that all begin with.
Status begin(void* handle, void* params, const char* what, Type type, Type compute, Handle** found) {
  Status status = Status::success;
  *found = use(handle, what, status);
  if (!*found) return status;
  if (!parameters.find(params)) return Status::invalid_value;
  if (!is_matrix_type(type)) return Status::not_supported;
  return compute == type ? Status::success : Status::invalid_value;
}

struct Cholesky {
  static constexpr const char* what = "cusolverDnXpotrf";
  Fill fill;
  int64_t n, lda;
  Type type, compute;
  Status check() const { return known(fill) && small(n) && room(lda, n) ? Status::success : Status::invalid_value; }
  Sizes sizes() const { return {256 + uint64_t(n) * 64 * size_of(type), 0}; }
};
struct Lu {
  static constexpr const char* what = "cusolverDnXgetrf";
  int64_t m, n, lda;
  Type type, compute;
  Status check() const { return small(m) && small(n) && room(lda, m) ? Status::success : Status::invalid_value; }
  Sizes sizes() const { return {512 + uint64_t(m + 2 * n) * 32 * size_of(type), 0}; }
};
struct Qr {
  static constexpr const char* what = "cusolverDnXgeqrf";
  int64_t m, n, lda;
  Type type, tau, compute;
  Status check() const {
    if (!small(m) || !small(n) || !room(lda, m)) return Status::invalid_value;
    return tau == type ? Status::success : Status::invalid_value;
  }
  Sizes sizes() const { return {256 + uint64_t(m + 3 * n) * 32 * size_of(type), 0}; }
};

template <class Call>
Status state_sizes(void* handle, void* params, const Call& call, size_t* device, size_t* host) {
  Handle* h = nullptr;
  Status status = begin(handle, params, Call::what, call.type, call.compute, &h);
  if (status != Status::success) return status;
  if ((status = call.check()) != Status::success) return status;
  if (!device || !host) return Status::invalid_value;
  *device = call.sizes().device;
  *host = call.sizes().host;
  return Status::success;
}

// `work(tag)` runs on the stream once everything is checked and info is writable.
template <class Call, class Work>
Status run(void* handle, void* params, const Call& call, const Workspaces& given, int* info, Work work) {
  Handle* h = nullptr;
  Status status = begin(handle, params, Call::what, call.type, call.compute, &h);
  if (status != Status::success) return status;
  if ((status = call.check()) != Status::success) return status;
  if (!info) return Status::invalid_value;
  if ((status = take(given, call.sizes())) != Status::success) return status;
  return launched(enqueue(h->stream, Call::what, workspace_name, device_part(given), [=] {
    if (!writes(Call::what, bytes_at(info, sizeof(int)))) return;
    with_type(call.type, work);
  }));
}

}  // namespace

STATOR_VENDOR(Status, cusolverDnXpotrf_bufferSize,
              (void* handle, void* params, Fill fill, int64_t n, Type type, const void* a, int64_t lda, Type compute,
               size_t* device, size_t* host),
              (handle, params, fill, n, type, a, lda, compute, device, host)) {
  (void)a;
  return state_sizes(handle, params, Cholesky{fill, n, lda, type, compute}, device, host);
}

// The other triangle is neither read nor written.
STATOR_VENDOR(Status, cusolverDnXpotrf,
              (void* handle, void* params, Fill fill, int64_t n, Type type, void* a, int64_t lda, Type compute,
               void* device, size_t device_bytes, void* host, size_t host_bytes, int* info),
              (handle, params, fill, n, type, a, lda, compute, device, device_bytes, host, host_bytes, info)) {
  const Cholesky call{fill, n, lda, type, compute};
  return run(handle, params, call, {device, device_bytes, host, host_bytes}, info, [=](auto tag) {
    using T = typename decltype(tag)::type;
    T* const matrix = static_cast<T*>(a);
    const bool upper = fill == Fill::upper;
    if (!reads_triangle(Cholesky::what, a, sizeof(T), upper, true, n, lda)) return;
    std::vector<T> copy = copy_in(matrix, n, n, lda);
    const int found = lapack::potrf(upper ? 'U' : 'L', int(n), copy.data(), int(std::max<int64_t>(1, n)));
    put_value(info, cholesky_info(found, copy, n));
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = upper ? 0 : j; i < (upper ? j + 1 : n); ++i) matrix[j * lda + i] = copy[size_t(j * n + i)];
  });
}

STATOR_VENDOR(Status, cusolverDnXgetrf_bufferSize,
              (void* handle, void* params, int64_t m, int64_t n, Type type, const void* a, int64_t lda, Type compute,
               size_t* device, size_t* host),
              (handle, params, m, n, type, a, lda, compute, device, host)) {
  (void)a;
  return state_sizes(handle, params, Lu{m, n, lda, type, compute}, device, host);
}

STATOR_VENDOR(Status, cusolverDnXgetrf,
              (void* handle, void* params, int64_t m, int64_t n, Type type, void* a, int64_t lda, int64_t* pivots,
               Type compute, void* device, size_t device_bytes, void* host, size_t host_bytes, int* info),
              (handle, params, m, n, type, a, lda, pivots, compute, device, device_bytes, host, host_bytes, info)) {
  if (!pivots) {
    complain(Lu::what, "The double has no factorisation without exchanges of rows.");
    return Status::not_supported;
  }
  const Lu call{m, n, lda, type, compute};
  return run(handle, params, call, {device, device_bytes, host, host_bytes}, info, [=](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t steps = std::min(m, n);
    const Range order = bytes_at(pivots, uint64_t(steps) * 8), range = matrix_at(a, sizeof(T), m, n, lda);
    if (!reads(Lu::what, range) || !writes(Lu::what, range) || !writes(Lu::what, order)) return;
    std::vector<T> copy = copy_in(static_cast<T*>(a), m, n, lda);
    std::vector<int> rows(size_t(steps) + 1);
    put_value(info, lapack::getrf(int(m), int(n), copy.data(), int(std::max<int64_t>(1, m)), rows.data()));
    std::copy_n(rows.begin(), steps, pivots);
    wrote(order);
    copy_out(copy, static_cast<T*>(a), m, n, lda);
  });
}

STATOR_VENDOR(Status, cusolverDnXgetrs,
              (void* handle, void* params, int trans, int64_t n, int64_t count, Type type, const void* a, int64_t lda,
               const int64_t* pivots, Type type_b, void* b, int64_t ldb, int* info),
              (handle, params, trans, n, count, type, a, lda, pivots, type_b, b, ldb, info)) {
  constexpr const char* what = "cusolverDnXgetrs";
  Handle* h = nullptr;
  const Status status = begin(handle, params, what, type, type, &h);
  if (status != Status::success) return status;
  const bool fits =
      blas::valid(trans) && small(n) && small(count) && room(lda, n) && room(ldb, n) && type_b == type && info;
  if (!fits) return Status::invalid_value;
  if (!pivots) {
    complain(what, "The double has no solution without exchanges of rows.");
    return Status::not_supported;
  }
  return launched(enqueue(h->stream, what, [=] {
    with_type(type, [=](auto tag) {
      using T = typename decltype(tag)::type;
      const Range result = matrix_at(b, sizeof(T), n, count, ldb);
      if (!writes(what, bytes_at(info, sizeof(int))) || !reads(what, matrix_at(a, sizeof(T), n, n, lda))) return;
      if (!reads(what, result) || !writes(what, result) || !reads(what, bytes_at(pivots, uint64_t(n) * 8))) return;
      if (!std::all_of(pivots, pivots + n, [&](int64_t p) { return p >= 1 && p <= n; })) {
        complain(what, "A pivot is not a row's number from 1 to n.");
        return poison(result);
      }
      const std::vector<int> order(pivots, pivots + n);
      const int lead = int(std::max<int64_t>(1, n));
      const std::vector<T> factors = copy_in(static_cast<const T*>(a), n, n, lda);
      std::vector<T> copy = copy_in(static_cast<T*>(b), n, count, ldb);
      put_value(info,
                lapack::getrs("NTC"[trans], int(n), int(count), factors.data(), lead, order.data(), copy.data(), lead));
      copy_out(copy, static_cast<T*>(b), n, count, ldb);
    });
  }));
}

STATOR_VENDOR(Status, cusolverDnXgeqrf_bufferSize,
              (void* handle, void* params, int64_t m, int64_t n, Type type, const void* a, int64_t lda, Type type_tau,
               const void* tau, Type compute, size_t* device, size_t* host),
              (handle, params, m, n, type, a, lda, type_tau, tau, compute, device, host)) {
  (void)a, (void)tau;
  return state_sizes(handle, params, Qr{m, n, lda, type, type_tau, compute}, device, host);
}

STATOR_VENDOR(Status, cusolverDnXgeqrf,
              (void* handle, void* params, int64_t m, int64_t n, Type type, void* a, int64_t lda, Type type_tau,
               void* tau, Type compute, void* device, size_t device_bytes, void* host, size_t host_bytes, int* info),
              (handle, params, m, n, type, a, lda, type_tau, tau, compute, device, device_bytes, host, host_bytes,
               info)) {
  const Qr call{m, n, lda, type, type_tau, compute};
  return run(handle, params, call, {device, device_bytes, host, host_bytes}, info, [=](auto tag) {
    using T = typename decltype(tag)::type;
    const Range range = matrix_at(a, sizeof(T), m, n, lda),
                scales = bytes_at(tau, uint64_t(std::min(m, n)) * sizeof(T));
    if (!reads(Qr::what, range) || !writes(Qr::what, range) || !writes(Qr::what, scales)) return;
    std::vector<T> copy = copy_in(static_cast<T*>(a), m, n, lda);
    put_value(info, lapack::geqrf(int(m), int(n), copy.data(), int(std::max<int64_t>(1, m)), static_cast<T*>(tau)));
    wrote(scales);
    copy_out(copy, static_cast<T*>(a), m, n, lda);
  });
}
