#include "libs/cuda/session.hpp"

#include "libs/loader.hpp"
#include "params/linalg.hpp"

#include <stator/error.hpp>

#include <limits>
#include <string>

namespace stator::libs::cusolver {
namespace {

constexpr uint16_t op_id = static_cast<uint16_t>(Op::solve);  // for handles, which outlive a call

const char* describe(int status) {
  switch (status) {
    case 1: return "CUSOLVER_STATUS_NOT_INITIALIZED";
    case 2: return "CUSOLVER_STATUS_ALLOC_FAILED";
    case 3: return "CUSOLVER_STATUS_INVALID_VALUE";
    case 4: return "CUSOLVER_STATUS_ARCH_MISMATCH";
    case 6: return "CUSOLVER_STATUS_EXECUTION_FAILED";
    case 7: return "CUSOLVER_STATUS_INTERNAL_ERROR";
    case 9: return "CUSOLVER_STATUS_NOT_SUPPORTED";
    default: return "cuSOLVER error";
  }
}

std::shared_ptr<void> make_solver(Context& context, StreamBox& stream) {
  api("cusolver");
  runtime::Runtime& runtime = context.runtime();
  auto leased = std::make_shared<LeasedSolver>(runtime);
  const auto native = static_cast<cublas::StreamHandle>(stream.handle(op_id));
  runtime.library_setup("cusolverDnCreate", [&] { return leased->open(native); }, describe, op_id);
  return leased;
}

}  // namespace

const Api& api(std::string_view op) {
  return calls_of<Api>(Library::cusolver, op, [](Api& a, const Lookup& find) {
    find(a.create, "cusolverDnCreate");
    find(a.destroy, "cusolverDnDestroy");
    find(a.set_stream, "cusolverDnSetStream");
    find(a.create_params, "cusolverDnCreateParams");
    find(a.destroy_params, "cusolverDnDestroyParams");
    find(a.potrf_size, "cusolverDnXpotrf_bufferSize");
    find(a.potrf, "cusolverDnXpotrf");
    find(a.getrf_size, "cusolverDnXgetrf_bufferSize");
    find(a.getrf, "cusolverDnXgetrf");
    find(a.getrs, "cusolverDnXgetrs");
    find(a.geqrf_size, "cusolverDnXgeqrf_bufferSize");
    find(a.geqrf, "cusolverDnXgeqrf");
    find(a.gesvd_size, "cusolverDnXgesvd_bufferSize");
    find(a.gesvd, "cusolverDnXgesvd");
    find(a.syevd_size, "cusolverDnXsyevd_bufferSize");
    find(a.syevd, "cusolverDnXsyevd");
    find(a.geev_size, "cusolverDnXgeev_bufferSize");
    find(a.geev, "cusolverDnXgeev");
    find(a.syev_batched_size, "cusolverDnXsyevBatched_bufferSize");
    find(a.syev_batched, "cusolverDnXsyevBatched");
    find(a.create_jacobi, "cusolverDnCreateGesvdjInfo");
    find(a.destroy_jacobi, "cusolverDnDestroyGesvdjInfo");
  });
}

template <class T>
const Typed<T, real_t<T>>& typed(std::string_view op) {
  static const Typed<T, real_t<T>> table = [&] {
    const char letter = std::is_same_v<T, float>       ? 'S'
                        : std::is_same_v<T, double>    ? 'D'
                        : std::is_same_v<T, complex64> ? 'C'
                                                       : 'Z';
    const std::string dense = std::string("cusolverDn") + letter, blas = std::string("cublas") + letter;
    const std::string q = dense + (is_complex<T> ? "ungqr" : "orgqr");
    Typed<T, real_t<T>> t{};
    const auto find = [&](auto& slot, Library library, const std::string& symbol) {
      require(slot, library, symbol.c_str(), op);
    };
    find(t.orgqr_size, Library::cusolver, q + "_bufferSize");
    find(t.orgqr, Library::cusolver, q);
    find(t.trsm, Library::cublas, blas + "trsm_v2_64");
    find(t.potrf_batched, Library::cusolver, dense + "potrfBatched");
    find(t.getrf_batched, Library::cublas, blas + "getrfBatched");
    find(t.getrs_batched, Library::cublas, blas + "getrsBatched");
    find(t.trsm_batched, Library::cublas, blas + "trsmBatched_64");
    find(t.gesvdj_batched_size, Library::cusolver, dense + "gesvdjBatched_bufferSize");
    find(t.gesvdj_batched, Library::cusolver, dense + "gesvdjBatched");
    return t;
  }();
  return table;
}
template const Typed<float, float>& typed<float>(std::string_view);
template const Typed<double, double>& typed<double>(std::string_view);
template const Typed<complex64, float>& typed<complex64>(std::string_view);
template const Typed<complex128, double>& typed<complex128>(std::string_view);

LeasedSolver::~LeasedSolver() {
  runtime.library_release_noexcept([this] {
    if (jacobi != nullptr) api({}).destroy_jacobi(jacobi);
    if (params != nullptr) api({}).destroy_params(params);
    if (handle != nullptr) api({}).destroy(handle);
  });
}

Status LeasedSolver::open(cublas::StreamHandle stream) {
  Status status = api({}).create(&handle);
  if (status == success) status = api({}).set_stream(handle, stream);
  if (status == success) status = api({}).create_params(&params);
  if (status == success) status = api({}).create_jacobi(&jacobi);
  return status;
}

LeasedSolver& Session::leased() const {
  if (!lease_) lease_ = call_.context().lease("cusolver", call_.stream(), make_solver);
  return *static_cast<LeasedSolver*>(lease_.get());
}

cublas::Handle Session::blas() const {
  if (!blas_) blas_ = lease_blas(call_);
  return blas_->handle;
}

void Session::ask(const char* what, const std::function<int()>& f) const {
  call_.context().runtime().library_setup(what, f, describe, uint16_t(call_.op()));
}

void Session::run(const char* what, std::function<int()> f) const {
  call_.context().runtime().library(what, std::move(f), describe, call_.stream().handle(uint16_t(call_.op())),
                                    call_.record());
}

void Session::run_blas(const char* what, std::function<int()> f) const {
  call_.context().runtime().library(what, std::move(f), describe_cublas, call_.stream().handle(uint16_t(call_.op())),
                                    call_.record());
}

Session::Room Session::room(const char* what, const Decomposition& d,
                            const std::function<int(size_t*, size_t*)>& size) const {
  Room r;
  within_size(call_, d, [&] { ask(what, [&] { return size(&r.device_bytes, &r.host_bytes); }); });
  if (r.device_bytes > 0) r.device = call_.scratch(r.device_bytes);
  std::vector<char>& host = leased().host;
  if (host.size() < r.host_bytes) host.resize(r.host_bytes);
  r.host = host.data();
  return r;
}

void Session::run_each(const char* what, int64_t count, const std::function<int(int64_t)>& f) const {
  run(what, [&] {
    int status = success;
    for (int64_t i = 0; i < count && status == success; ++i) status = f(i);
    return status;
  });
}

Session::Lists Session::addresses(int64_t count, const Batch& a, const Batch& b, DType dtype) const {
  const bool both = b.data != nullptr;
  void** const memory = static_cast<void**>(call_.scratch(sizeof(void*) * size_t(count) * (both ? 2 : 1)));
  const Lists lists{memory, both ? memory + count : nullptr};
  const int64_t bytes = itemsize(dtype);
  kernels::linalg::addresses(call_.queue(), {.count = count,
                                             .base = static_cast<char*>(a.data),
                                             .second_base = static_cast<char*>(b.data),
                                             .step = a.stride * bytes,
                                             .second_step = b.stride * bytes,
                                             .out = lists.first,
                                             .second = lists.second});
  return lists;
}

void within_size(const OpCall& call, const Decomposition& d, const std::function<void()>& f) {
  try {
    f();
  } catch (const CudaError& error) {
    if (error.code() != invalid_value) throw;
    throw UnsupportedError(
        std::string(call.name()), "got a matrix of shape (" + std::to_string(d.m) + ", " + std::to_string(d.n) + ")",
        "its work must fit in 32 bits for cuSOLVER. Move it to the cpu with to_device(), or use smaller matrices");
  }
}

char* at(const Batch& b, DType dtype, int64_t i) { return static_cast<char*>(b.data) + i * b.stride * itemsize(dtype); }
char* at(const void* values, DType dtype, int64_t index) {
  return const_cast<char*>(static_cast<const char*>(values)) + index * itemsize(dtype);
}

int checked(const OpCall& call, int64_t extent) {
  if (extent <= std::numeric_limits<int>::max()) return int(extent);
  throw UnsupportedError(std::string(call.name()), "got a matrix with a dimension of " + std::to_string(extent),
                         "The dimension must fit in 32 bits for cuSOLVER. Use smaller matrices");
}

}  // namespace stator::libs::cusolver
