// Eigenvalues of Hermitian and of general matrices.
#include "emulator/vendor/common/call.hpp"
#include "emulator/vendor/solver/handle.hpp"

#include <climits>
#include <vector>

using namespace stator::emulator::vendor;
using namespace stator::emulator::vendor::solver;

namespace {

struct Hermitian {
  Mode mode;
  Fill fill;
  int64_t n, lda;
  Type type, values, compute;
  int64_t batches = 1;

  Status check() const {
    if (!is_matrix_type(type)) return Status::not_supported;
    const bool fits =
        known(mode) && known(fill) && small(n) && room(lda, n) && compute == type && values == real_of(type);
    return fits && batches >= 0 ? Status::success : Status::invalid_value;
  }
  Sizes sizes(bool batched) const {
    const uint64_t vectors = mode == Mode::vectors ? uint64_t(n) * uint64_t(n) : 0;
    if (batched) return {512 + (uint64_t(n) * 2 + vectors) * uint64_t(batches) * size_of(type), 64};
    return {1024 + (uint64_t(n) * 34 + 2 * vectors) * size_of(type) + (fill == Fill::upper) * 64, uint64_t(n) * 8 + 64};
  }
};

// One matrix. Without vectors the library leaves garbage in a. LAPACK may not end with what is not finite, for which
// the library promises nothing.
template <class T>
bool solve(const char* what, const Hermitian& call, T* a, lapack::Real<T>* w, int* info) {
  using R = lapack::Real<T>;
  const int64_t n = call.n;
  const bool upper = call.fill == Fill::upper;
  const Range all = matrix_at(a, sizeof(T), n, n, call.lda), values = bytes_at(w, uint64_t(n) * sizeof(R));
  if (!reads_triangle(what, a, sizeof(T), upper, true, n, call.lda)) return false;
  if (!writes(what, all) || !writes(what, values)) return false;
  std::vector<T> copy = copy_in(a, n, n, call.lda);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < n; ++i)
      if (upper ? i > j : i < j) copy[size_t(j * n + i)] = T(0);
  if (!all_finite(copy)) {
    std::fill_n(w, n, not_a_number<R>());
    wrote(values);
    poison(all);
    if (call.mode == Mode::vectors) wrote(all);
    put_value(info, choose(2) ? int(n) : 0);
    return true;
  }
  const bool vectors = call.mode == Mode::vectors;
  put_value(info, lapack::syevd(vectors ? 'V' : 'N', upper ? 'U' : 'L', int(n), copy.data(),
                                int(std::max<int64_t>(1, n)), w));
  wrote(values);
  if (!vectors) {
    scribble(all);
    return true;
  }
  for (int64_t j = 0; j < n; ++j)
    if (choose(2)) turn(copy.data() + j * n, n, 1);
  copy_out(copy, a, n, n, call.lda);
  return true;
}

Status begin(void* handle, void* params, const char* what, Handle** found) {
  Status status = Status::success;
  *found = use(handle, what, status);
  if (!*found) return status;
  return parameters.find(params) ? Status::success : Status::invalid_value;
}

Status state_sizes(void* handle, void* params, const char* what, const Hermitian& call, bool batched, size_t* device,
                   size_t* host) {
  Handle* h = nullptr;
  Status status = begin(handle, params, what, &h);
  if (status != Status::success || (status = call.check()) != Status::success) return status;
  if (!device || !host) return Status::invalid_value;
  *device = call.sizes(batched).device;
  *host = call.sizes(batched).host;
  return Status::success;
}

Status run(void* handle, void* params, const char* what, const Hermitian& call, bool batched, void* a, void* w,
           const Workspaces& given, int* info) {
  Handle* h = nullptr;
  Status status = begin(handle, params, what, &h);
  if (status != Status::success || (status = call.check()) != Status::success) return status;
  if (!info) return Status::invalid_value;
  const Sizes needed = call.sizes(batched);
  if ((status = take(given, needed)) != Status::success) return status;
  return launched(enqueue(h->stream, what, workspace_name, device_part(given), [=] {
    if (!writes(what, bytes_at(info, uint64_t(call.batches) * sizeof(int)))) return;
    with_type(call.type, [=](auto tag) {
      using T = typename decltype(tag)::type;
      for (int64_t batch = 0; batch < call.batches; ++batch)
        if (!solve(what, call, static_cast<T*>(a) + batch * call.lda * call.n,
                   static_cast<lapack::Real<T>*>(w) + batch * call.n, info + batch))
          return;
    });
  }));
}

// The library counts a batch's bytes in 32 bits.
bool countable(const Hermitian& call) {
  return uint64_t(call.lda) * uint64_t(call.n) * uint64_t(call.batches) * size_of(call.type) <= INT_MAX;
}

}  // namespace

STATOR_VENDOR(Status, cusolverDnXsyevd_bufferSize,
              (void* handle, void* params, Mode mode, Fill fill, int64_t n, Type type, const void* a, int64_t lda,
               Type type_w, const void* w, Type compute, size_t* device, size_t* host),
              (handle, params, mode, fill, n, type, a, lda, type_w, w, compute, device, host)) {
  (void)a, (void)w;
  return state_sizes(handle, params, "cusolverDnXsyevd", {mode, fill, n, lda, type, type_w, compute}, false, device,
                     host);
}

STATOR_VENDOR(Status, cusolverDnXsyevd,
              (void* handle, void* params, Mode mode, Fill fill, int64_t n, Type type, void* a, int64_t lda,
               Type type_w, void* w, Type compute, void* device, size_t device_bytes, void* host, size_t host_bytes,
               int* info),
              (handle, params, mode, fill, n, type, a, lda, type_w, w, compute, device, device_bytes, host, host_bytes,
               info)) {
  return run(handle, params, "cusolverDnXsyevd", {mode, fill, n, lda, type, type_w, compute}, false, a, w,
             {device, device_bytes, host, host_bytes}, info);
}

STATOR_VENDOR(Status, cusolverDnXsyevBatched_bufferSize,
              (void* handle, void* params, Mode mode, Fill fill, int64_t n, Type type, const void* a, int64_t lda,
               Type type_w, const void* w, Type compute, size_t* device, size_t* host, int64_t batches),
              (handle, params, mode, fill, n, type, a, lda, type_w, w, compute, device, host, batches)) {
  (void)a, (void)w;
  const Hermitian call{mode, fill, n, lda, type, type_w, compute, batches};
  if (call.check() == Status::success && !countable(call)) return Status::invalid_value;
  return state_sizes(handle, params, "cusolverDnXsyevBatched", call, true, device, host);
}

STATOR_VENDOR(Status, cusolverDnXsyevBatched,
              (void* handle, void* params, Mode mode, Fill fill, int64_t n, Type type, void* a, int64_t lda,
               Type type_w, void* w, Type compute, void* device, size_t device_bytes, void* host, size_t host_bytes,
               int* info, int64_t batches),
              (handle, params, mode, fill, n, type, a, lda, type_w, w, compute, device, device_bytes, host, host_bytes,
               info, batches)) {
  const Hermitian call{mode, fill, n, lda, type, type_w, compute, batches};
  if (call.check() == Status::success && !countable(call)) return Status::invalid_value;
  return run(handle, params, "cusolverDnXsyevBatched", call, true, a, w, {device, device_bytes, host, host_bytes},
             info);
}

namespace {

// Eigenvalues are complex. Eigenvectors of a real matrix are real: a pair is two columns, as LAPACK has it.
struct General {
  Mode left, right;
  int64_t n, lda, ldvl, ldvr;
  Type type, values, type_left, type_right, compute;

  Status check() const {
    if (!is_matrix_type(type)) return Status::not_supported;
    if (!known(left) || !known(right) || !small(n) || !room(lda, n)) return Status::invalid_value;
    if (values != complex_of(type) || compute != type || type_left != type || type_right != type)
      return Status::invalid_value;
    if (left == Mode::vectors) return Status::invalid_value;  // only those on the right exist
    return ldvl >= 1 && room(ldvr, right == Mode::vectors ? n : 1) ? Status::success : Status::invalid_value;
  }
  Sizes sizes() const {
    return {2048 + uint64_t(n) * 40 * size_of(type) + (right == Mode::vectors) * uint64_t(n * n) * size_of(type),
            512 + uint64_t(n) * 66 * size_of(type)};
  }
};

template <class T>
void solve(const General& call, T* a, std::complex<lapack::Real<T>>* w, T* vr, int* info) {
  constexpr const char* what = "cusolverDnXgeev";
  const int64_t n = call.n;
  const bool vectors = call.right == Mode::vectors;
  const Range all = matrix_at(a, sizeof(T), n, n, call.lda),
              values = bytes_at(w, uint64_t(n) * 2 * sizeof(lapack::Real<T>));
  const Range result = matrix_at(vr, sizeof(T), vectors ? n : 0, n, call.ldvr);
  if (!reads(what, all) || !writes(what, all) || !writes(what, values) || !writes(what, result)) return;
  std::vector<T> copy = copy_in(a, n, n, call.lda), found(size_t(n * n) + 1);
  scribble(all);
  const int lead = int(std::max<int64_t>(1, n));
  if (all_finite(copy)) {
    put_value(info, lapack::geev(vectors, int(n), copy.data(), lead, w, found.data(), lead));
  } else {
    std::fill_n(w, n, not_a_number<std::complex<lapack::Real<T>>>());
    std::fill(found.begin(), found.end(), not_a_number<T>());
    put_value(info, choose(2) ? int(n) : 0);
  }
  wrote(values);
  if (vectors) copy_out(found, vr, n, n, call.ldvr);
}

}  // namespace

STATOR_VENDOR(Status, cusolverDnXgeev_bufferSize,
              (void* handle, void* params, Mode left, Mode right, int64_t n, Type type, const void* a, int64_t lda,
               Type type_w, const void* w, Type type_left, const void* vl, int64_t ldvl, Type type_right,
               const void* vr, int64_t ldvr, Type compute, size_t* device, size_t* host),
              (handle, params, left, right, n, type, a, lda, type_w, w, type_left, vl, ldvl, type_right, vr, ldvr,
               compute, device, host)) {
  (void)a, (void)w, (void)vl, (void)vr;
  const General call{left, right, n, lda, ldvl, ldvr, type, type_w, type_left, type_right, compute};
  Handle* h = nullptr;
  Status status = begin(handle, params, "cusolverDnXgeev", &h);
  if (status != Status::success || (status = call.check()) != Status::success) return status;
  if (!device || !host) return Status::invalid_value;
  *device = call.sizes().device;
  *host = call.sizes().host;
  return Status::success;
}

// Part of it runs on the host: the call waits for the stream, which therefore must not be captured.
STATOR_VENDOR(Status, cusolverDnXgeev,
              (void* handle, void* params, Mode left, Mode right, int64_t n, Type type, void* a, int64_t lda,
               Type type_w, void* w, Type type_left, void* vl, int64_t ldvl, Type type_right, void* vr, int64_t ldvr,
               Type compute, void* device, size_t device_bytes, void* host, size_t host_bytes, int* info),
              (handle, params, left, right, n, type, a, lda, type_w, w, type_left, vl, ldvl, type_right, vr, ldvr,
               compute, device, device_bytes, host, host_bytes, info)) {
  (void)vl;
  constexpr const char* what = "cusolverDnXgeev";
  const General call{left, right, n, lda, ldvl, ldvr, type, type_w, type_left, type_right, compute};
  Handle* h = nullptr;
  Status status = begin(handle, params, what, &h);
  if (status != Status::success || (status = call.check()) != Status::success) return status;
  if (!info) return Status::invalid_value;
  const Workspaces given{device, device_bytes, host, host_bytes};
  if ((status = take(given, call.sizes())) != Status::success) return status;
  if (services().is_capturing(h->stream)) return Status::execution_failed;
  status = launched(enqueue(h->stream, what, workspace_name, device_part(given), [=] {
    if (!writes(what, bytes_at(info, sizeof(int)))) return;
    with_type(type, [=](auto tag) {
      using T = typename decltype(tag)::type;
      solve(call, static_cast<T*>(a), static_cast<std::complex<lapack::Real<T>>*>(w), static_cast<T*>(vr), info);
    });
  }));
  return status == Status::success ? launched(services().synchronize(h->stream)) : status;
}
