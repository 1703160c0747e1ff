#include "libs/cusolver.hpp"
#include "libs/loader.hpp"
#include "libs/solver.hpp"

#include <stator/error.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace stator::libs {
namespace {

using namespace cusolver;

constexpr uint16_t op_id = static_cast<uint16_t>(Op::solve);  // of handles, which outlive a call

const Api& api(std::string_view op) {
  static const Api table = [&] {
    Api a{};
    const auto find = [&](auto& slot, const char* symbol) { require(slot, Library::cusolver, symbol, op); };
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
    return a;
  }();
  return table;
}

template <class T>
const Typed<T>& typed(std::string_view op) {
  static const Typed<T> table = [&] {
    constexpr bool complex = sizeof(T) > sizeof(double) || std::is_same_v<T, complex64>;
    const char letter = std::is_same_v<T, float>       ? 'S'
                        : std::is_same_v<T, double>    ? 'D'
                        : std::is_same_v<T, complex64> ? 'C'
                                                       : 'Z';
    const std::string q = std::string("cusolverDn") + letter + (complex ? "ungqr" : "orgqr");
    Typed<T> t{};
    require(t.orgqr_size, Library::cusolver, (q + "_bufferSize").c_str(), op);
    require(t.orgqr, Library::cusolver, q.c_str(), op);
    require(t.trsm, Library::cublas, (std::string("cublas") + letter + "trsm_v2_64").c_str(), op);
    return t;
  }();
  return table;
}

struct CublasCalls {
  cublas::Status (*create)(cublas::Handle*);
  cublas::Status (*destroy)(cublas::Handle);
  cublas::Status (*set_stream)(cublas::Handle, cublas::StreamHandle);
};
const CublasCalls& cublas_calls(std::string_view op) {
  static const CublasCalls table = [&] {
    CublasCalls c{};
    require(c.create, Library::cublas, "cublasCreate_v2", op);
    require(c.destroy, Library::cublas, "cublasDestroy_v2", op);
    require(c.set_stream, Library::cublas, "cublasSetStream_v2", op);
    return c;
  }();
  return table;
}

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

// The handles of one stream, and host memory that calls may read until the next one on it.
struct LeasedSolver {
  ~LeasedSolver() {
    if (params != nullptr) api({}).destroy_params(params);
    if (handle != nullptr) api({}).destroy(handle);
    if (blas != nullptr) cublas_calls({}).destroy(blas);
  }
  Status open(cublas::StreamHandle stream) {
    Status status = api({}).create(&handle);
    if (status == success) status = api({}).set_stream(handle, stream);
    if (status == success) status = api({}).create_params(&params);
    if (status == success) status = cublas_calls({}).create(&blas);
    if (status == success) status = cublas_calls({}).set_stream(blas, stream);
    return status;
  }
  Handle handle = nullptr;
  Params params = nullptr;
  cublas::Handle blas = nullptr;
  std::vector<char> host;
};

std::shared_ptr<void> make_solver(Context& context, StreamBox& stream) {
  cublas_calls("cusolver");
  api("cusolver");
  auto leased = std::make_shared<LeasedSolver>();
  const runtime::StreamHandle native = stream.handle(op_id);
  runtime::Record record;
  record.op = op_id;
  context.runtime().library(
      "cusolverDnCreate", [&] { return leased->open(static_cast<cublas::StreamHandle>(native)); }, describe, native,
      record);
  return leased;
}

// One op's use of the library: the lease, and calls with the call's accesses.
class Session {
 public:
  explicit Session(OpCall& call) : call_(call), lease_(call.context().lease("cusolver", call.stream(), make_solver)) {}
  LeasedSolver& leased() const { return *static_cast<LeasedSolver*>(lease_.get()); }

  void run(const char* what, std::function<int()> f) const {
    call_.context().runtime().library(what, std::move(f), describe, call_.stream().handle(uint16_t(call_.op())),
                                      call_.record());
  }
  // size: fills in the bytes; f(device, host): one matrix after another.
  struct Room {
    void* device = nullptr;
    size_t device_bytes = 0;
    void* host = nullptr;
    size_t host_bytes = 0;
  };
  Room room(const char* what, const std::function<int(size_t*, size_t*)>& size) const {
    Room r;
    run(what, [&] { return size(&r.device_bytes, &r.host_bytes); });
    if (r.device_bytes > 0) r.device = call_.scratch(r.device_bytes);
    std::vector<char>& host = leased().host;
    if (host.size() < r.host_bytes) host.resize(r.host_bytes);
    r.host = host.data();
    return r;
  }
  void run_each(const char* what, int64_t count, const std::function<int(int64_t)>& f) const {
    run(what, [&] {
      int status = success;
      for (int64_t i = 0; i < count && status == success; ++i) status = f(i);
      return status;
    });
  }

 private:
  OpCall& call_;
  std::shared_ptr<void> lease_;
};

char* at(const Batch& b, DType dtype, int64_t i) { return static_cast<char*>(b.data) + i * b.stride * itemsize(dtype); }
char* at(const void* values, DType dtype, int64_t index) {
  return const_cast<char*>(static_cast<const char*>(values)) + index * itemsize(dtype);
}

int checked(const OpCall& call, int64_t extent) {
  if (extent <= std::numeric_limits<int>::max()) return int(extent);
  throw UnsupportedError(std::string(call.name()), "a matrix with a dimension of " + std::to_string(extent),
                         "cuSOLVER forms Q with 32-bit indices: use smaller matrices");
}

template <class F>
void visit_matrix(DType dtype, F f) {
  switch (dtype) {
    case DType::float32: return f(type_tag<float>{});
    case DType::float64: return f(type_tag<double>{});
    case DType::complex64: return f(type_tag<complex64>{});
    default: return f(type_tag<complex128>{});
  }
}

Fill fill_of(bool upper) { return upper ? Fill::upper : Fill::lower; }

int64_t* their_pivots(OpCall& call, int64_t count) {
  return static_cast<int64_t*>(call.scratch(sizeof(int64_t) * size_t(count)));
}

class CudaSolver final : public Solver {
 public:
  void cholesky(OpCall& call, const Decomposition& d, bool upper) const override {
    const Api& lib = api(call.name());
    const Session session(call);
    const LeasedSolver& s = session.leased();
    const DataType type = cublas::data_type(d.dtype);
    const Fill fill = fill_of(upper);
    const auto room = session.room("cusolverDnXpotrf_bufferSize", [&](size_t* device, size_t* host) {
      return lib.potrf_size(s.handle, s.params, fill, d.n, type, d.a.data, d.a.leading, type, device, host);
    });
    session.run_each("cusolverDnXpotrf", d.count, [&](int64_t i) {
      return lib.potrf(s.handle, s.params, fill, d.n, type, at(d.a, d.dtype, i), d.a.leading, type, room.device,
                       room.device_bytes, room.host, room.host_bytes, d.info + i);
    });
  }

  void lu(OpCall& call, const Decomposition& d, int32_t* pivots) const override {
    const Api& lib = api(call.name());
    const Session session(call);
    const LeasedSolver& s = session.leased();
    const DataType type = cublas::data_type(d.dtype);
    const int64_t least = std::min(d.m, d.n);
    int64_t* theirs = their_pivots(call, d.count * least);
    const auto room = session.room("cusolverDnXgetrf_bufferSize", [&](size_t* device, size_t* host) {
      return lib.getrf_size(s.handle, s.params, d.m, d.n, type, d.a.data, d.a.leading, type, device, host);
    });
    session.run_each("cusolverDnXgetrf", d.count, [&](int64_t i) {
      return lib.getrf(s.handle, s.params, d.m, d.n, type, at(d.a, d.dtype, i), d.a.leading, theirs + i * least, type,
                       room.device, room.device_bytes, room.host, room.host_bytes, d.info + i);
    });
    call.kernels().linalg.pivots(call.queue(), {d.count * least, theirs, pivots, true});
  }

  void lu_solve(OpCall& call, const Decomposition& d, const int32_t* pivots, Transposition how, const Batch& b,
                int64_t columns) const override {
    const Api& lib = api(call.name());
    const Session session(call);
    const LeasedSolver& s = session.leased();
    const DataType type = cublas::data_type(d.dtype);
    int64_t* theirs = their_pivots(call, d.count * d.n);
    int* info = static_cast<int*>(call.scratch(sizeof(int)));
    call.kernels().linalg.pivots(call.queue(), {d.count * d.n, theirs, const_cast<int32_t*>(pivots), false});
    session.run_each("cusolverDnXgetrs", d.count, [&](int64_t i) {
      return lib.getrs(s.handle, s.params, static_cast<Operation>(how), d.n, columns, type, at(d.a, d.dtype, i),
                       d.a.leading, theirs + i * d.n, type, at(b, d.dtype, i), b.leading, info);
    });
  }

  void triangular(OpCall& call, const Decomposition& d, const Triangle& triangle, const Batch& b,
                  int64_t columns) const override {
    const Session session(call);
    const LeasedSolver& s = session.leased();
    visit_matrix(d.dtype, [&]<class T>(type_tag<T>) {
      const Typed<T>& lib = typed<T>(call.name());
      const T one(1);
      session.run_each("cublasXtrsm", d.count, [&](int64_t i) {
        return lib.trsm(s.blas, Side::left, fill_of(triangle.upper), static_cast<Operation>(triangle.how),
                        triangle.unit ? Diagonal::unit : Diagonal::non_unit, d.n, columns, &one,
                        reinterpret_cast<const T*>(at(d.a, d.dtype, i)), d.a.leading,
                        reinterpret_cast<T*>(at(b, d.dtype, i)), b.leading);
      });
    });
  }

  void qr(OpCall& call, const Decomposition& d, void* tau) const override {
    const Api& lib = api(call.name());
    const Session session(call);
    const LeasedSolver& s = session.leased();
    const DataType type = cublas::data_type(d.dtype);
    const int64_t least = std::min(d.m, d.n);
    int* info = static_cast<int*>(call.scratch(sizeof(int)));
    const auto room = session.room("cusolverDnXgeqrf_bufferSize", [&](size_t* device, size_t* host) {
      return lib.geqrf_size(s.handle, s.params, d.m, d.n, type, d.a.data, d.a.leading, type, tau, type, device, host);
    });
    session.run_each("cusolverDnXgeqrf", d.count, [&](int64_t i) {
      return lib.geqrf(s.handle, s.params, d.m, d.n, type, at(d.a, d.dtype, i), d.a.leading, type,
                       at(tau, d.dtype, i * least), type, room.device, room.device_bytes, room.host, room.host_bytes,
                       info);
    });
  }

  void form_q(OpCall& call, const Decomposition& d, const void* tau, int64_t reflectors) const override {
    const Session session(call);
    const LeasedSolver& s = session.leased();
    const int m = checked(call, d.m), n = checked(call, d.n), k = checked(call, reflectors),
              lda = checked(call, d.a.leading);
    visit_matrix(d.dtype, [&]<class T>(type_tag<T>) {
      const Typed<T>& lib = typed<T>(call.name());
      int length = 0;
      session.run("cusolverDnXorgqr_bufferSize", [&] {
        return lib.orgqr_size(s.handle, m, n, k, static_cast<const T*>(d.a.data), lda, static_cast<const T*>(tau),
                              &length);
      });
      T* work = static_cast<T*>(call.scratch(sizeof(T) * size_t(std::max(length, 1))));
      int* info = static_cast<int*>(call.scratch(sizeof(int)));
      session.run_each("cusolverDnXorgqr", d.count, [&](int64_t i) {
        return lib.orgqr(s.handle, m, n, k, reinterpret_cast<T*>(at(d.a, d.dtype, i)), lda,
                         reinterpret_cast<const T*>(at(tau, d.dtype, i * k)), work, length, info);
      });
    });
  }

  void svd(OpCall& call, const Decomposition& d, const Svd& svd) const override {
    const Api& lib = api(call.name());
    const Session session(call);
    const LeasedSolver& s = session.leased();
    const DType real_dtype = real_part(d.dtype);
    const DataType type = cublas::data_type(d.dtype), real = cublas::data_type(real_dtype);
    const signed char job = svd.vectors == SvdVectors::none ? 'N' : svd.vectors == SvdVectors::reduced ? 'S' : 'A';
    const int64_t ldu = std::max<int64_t>(svd.u.leading, 1), ldvt = std::max<int64_t>(svd.vt.leading, 1);
    const bool wanted = svd.vectors != SvdVectors::none;
    const auto room = session.room("cusolverDnXgesvd_bufferSize", [&](size_t* device, size_t* host) {
      return lib.gesvd_size(s.handle, s.params, job, job, d.m, d.n, type, d.a.data, d.a.leading, real, svd.s, type,
                            svd.u.data, ldu, type, svd.vt.data, ldvt, type, device, host);
    });
    session.run_each("cusolverDnXgesvd", d.count, [&](int64_t i) {
      return lib.gesvd(s.handle, s.params, job, job, d.m, d.n, type, at(d.a, d.dtype, i), d.a.leading, real,
                       at(svd.s, real_dtype, i * std::min(d.m, d.n)), type, wanted ? at(svd.u, d.dtype, i) : nullptr,
                       ldu, type, wanted ? at(svd.vt, d.dtype, i) : nullptr, ldvt, type, room.device, room.device_bytes,
                       room.host, room.host_bytes, d.info + i);
    });
  }

  void eigh(OpCall& call, const Decomposition& d, bool upper, bool vectors, void* values) const override {
    const Api& lib = api(call.name());
    const Session session(call);
    const LeasedSolver& s = session.leased();
    const DType real_dtype = real_part(d.dtype);
    const DataType type = cublas::data_type(d.dtype), real = cublas::data_type(real_dtype);
    const Mode mode = vectors ? Mode::vectors : Mode::no_vectors;
    const Fill fill = fill_of(upper);
    const auto room = session.room("cusolverDnXsyevd_bufferSize", [&](size_t* device, size_t* host) {
      return lib.syevd_size(s.handle, s.params, mode, fill, d.n, type, d.a.data, d.a.leading, real, values, type,
                            device, host);
    });
    session.run_each("cusolverDnXsyevd", d.count, [&](int64_t i) {
      return lib.syevd(s.handle, s.params, mode, fill, d.n, type, at(d.a, d.dtype, i), d.a.leading, real,
                       at(values, real_dtype, i * d.n), type, room.device, room.device_bytes, room.host,
                       room.host_bytes, d.info + i);
    });
  }

  void eig(OpCall& call, const Decomposition& d, void* values, const Batch& vectors) const override {
    const Api& lib = api(call.name());
    const Session session(call);
    const LeasedSolver& s = session.leased();
    const DataType type = cublas::data_type(d.dtype);
    const Mode right = vectors.data != nullptr ? Mode::vectors : Mode::no_vectors;
    const int64_t ldv = std::max<int64_t>(vectors.leading, 1);
    const auto room = session.room("cusolverDnXgeev_bufferSize", [&](size_t* device, size_t* host) {
      return lib.geev_size(s.handle, s.params, Mode::no_vectors, right, d.n, type, d.a.data, d.a.leading, type, values,
                           type, nullptr, 1, type, vectors.data, ldv, type, device, host);
    });
    session.run_each("cusolverDnXgeev", d.count, [&](int64_t i) {
      return lib.geev(s.handle, s.params, Mode::no_vectors, right, d.n, type, at(d.a, d.dtype, i), d.a.leading, type,
                      at(values, d.dtype, i * d.n), type, nullptr, 1, type,
                      vectors.data != nullptr ? at(vectors, d.dtype, i) : nullptr, ldv, type, room.device,
                      room.device_bytes, room.host, room.host_bytes, d.info + i);
    });
  }
};

}  // namespace

const Solver& cuda_solver() {
  static const CudaSolver instance;
  return instance;
}

}  // namespace stator::libs
