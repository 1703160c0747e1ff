// cuSOLVER with one call per matrix; batches are in batched.cpp.
#include "libs/cuda/session.hpp"
#include "params/linalg.hpp"

#include <algorithm>

namespace stator::libs {
namespace {

using namespace cusolver;

int64_t* their_pivots(OpCall& call, int64_t count) {
  return static_cast<int64_t*>(call.scratch(sizeof(int64_t) * size_t(count)));
}

void cholesky_of_each(OpCall& call, const Decomposition& d, bool upper) {
  const Api& lib = api(call.name());
  const Session session(call);
  const LeasedSolver& s = session.leased();
  const DataType type = cublas::data_type(d.dtype);
  const Fill fill = fill_of(upper);
  const auto room = session.room("cusolverDnXpotrf_bufferSize", d, [&](size_t* device, size_t* host) {
    return lib.potrf_size(s.handle, s.params, fill, d.n, type, d.a.data, d.a.leading, type, device, host);
  });
  session.run_each("cusolverDnXpotrf", d.count, [&](int64_t i) {
    return lib.potrf(s.handle, s.params, fill, d.n, type, at(d.a, d.dtype, i), d.a.leading, type, room.device,
                     room.device_bytes, room.host, room.host_bytes, d.info + i);
  });
}

class CudaSolver final : public Solver {
 public:
  void prepare(OpCall& call) const override {
    const Session session(call);
    session.leased();
    session.blas();
    for (const DType dtype : {DType::float32, DType::float64, DType::complex64, DType::complex128})
      visit<dtypes::blas>(dtype, [&]<class T>(type_tag<T>) { typed<T>(call.name()); });
  }

  void cholesky(OpCall& call, const Decomposition& d, bool upper) const override {
    if (batched(d))
      cholesky_batched(call, d, upper);
    else
      cholesky_of_each(call, d, upper);
    // The library does not promise to notice a pivot that is NaN.
    kernels::linalg::diagonal_nan(
        call.queue(),
        {.dtype = d.dtype, .count = d.count, .n = d.n, .a = {d.a.data, d.a.stride, 1, d.a.leading}, .info = d.info});
  }

  void lu(OpCall& call, const Decomposition& d, int32_t* pivots) const override {
    if (batched(d) && d.m == d.n) return lu_batched(call, d, pivots);
    const Api& lib = api(call.name());
    const Session session(call);
    const LeasedSolver& s = session.leased();
    const DataType type = cublas::data_type(d.dtype);
    const int64_t least = std::min(d.m, d.n);
    int64_t* theirs = their_pivots(call, d.count * least);
    const auto room = session.room("cusolverDnXgetrf_bufferSize", d, [&](size_t* device, size_t* host) {
      return lib.getrf_size(s.handle, s.params, d.m, d.n, type, d.a.data, d.a.leading, type, device, host);
    });
    session.run_each("cusolverDnXgetrf", d.count, [&](int64_t i) {
      return lib.getrf(s.handle, s.params, d.m, d.n, type, at(d.a, d.dtype, i), d.a.leading, theirs + i * least, type,
                       room.device, room.device_bytes, room.host, room.host_bytes, d.info + i);
    });
    kernels::linalg::pivots(call.queue(), {.count = d.count * least,
                                           .each = least,
                                           .rows = d.m,
                                           .theirs = theirs,
                                           .theirs_narrow = nullptr,
                                           .ours = pivots,
                                           .to_ours = true});
  }

  void lu_solve(OpCall& call, const Decomposition& d, const int32_t* pivots, Transposition how, const Batch& b,
                int64_t columns) const override {
    if (batched(d)) return lu_solve_batched(call, d, pivots, how, b, columns);
    const Api& lib = api(call.name());
    const Session session(call);
    const LeasedSolver& s = session.leased();
    const DataType type = cublas::data_type(d.dtype);
    int64_t* theirs = their_pivots(call, d.count * d.n);
    int* info = static_cast<int*>(call.scratch(sizeof(int)));
    kernels::linalg::pivots(call.queue(), {.count = d.count * d.n,
                                           .each = d.n,
                                           .rows = d.n,
                                           .theirs = theirs,
                                           .theirs_narrow = nullptr,
                                           .ours = const_cast<int32_t*>(pivots),
                                           .to_ours = false});
    session.run_each("cusolverDnXgetrs", d.count, [&](int64_t i) {
      return lib.getrs(s.handle, s.params, static_cast<Operation>(how), d.n, columns, type, at(d.a, d.dtype, i),
                       d.a.leading, theirs + i * d.n, type, at(b, d.dtype, i), b.leading, info);
    });
  }

  void triangular(OpCall& call, const Decomposition& d, const Triangle& triangle, const Batch& b,
                  int64_t columns) const override {
    if (d.info != nullptr)
      kernels::linalg::diagonal_zero(call.queue(), {.dtype = d.dtype,
                                                    .unit = triangle.unit,
                                                    .count = d.count,
                                                    .n = d.n,
                                                    .a = {d.a.data, d.a.stride, 1, d.a.leading},
                                                    .info = d.info});
    if (batched(d)) return triangular_batched(call, d, triangle, b, columns);
    const Session session(call);
    const cublas::Handle blas = session.blas();
    visit<dtypes::blas>(d.dtype, [&]<class T>(type_tag<T>) {
      const auto& lib = typed<T>(call.name());
      alignas(16) const T one(1);
      session.run_blas("cublasXtrsm", [&] {
        int status = cublas::success;
        for (int64_t i = 0; i < d.count && status == cublas::success; ++i)
          status = lib.trsm(blas, Side::left, fill_of(triangle.upper), static_cast<Operation>(triangle.how),
                            triangle.unit ? Diagonal::unit : Diagonal::non_unit, d.n, columns, &one,
                            reinterpret_cast<const T*>(at(d.a, d.dtype, i)), d.a.leading,
                            reinterpret_cast<T*>(at(b, d.dtype, i)), b.leading);
        return status;
      });
    });
  }

  void qr(OpCall& call, const Decomposition& d, void* tau) const override {
    if (batched(d)) return qr_batched(call, d, tau);
    const Api& lib = api(call.name());
    const Session session(call);
    const LeasedSolver& s = session.leased();
    const DataType type = cublas::data_type(d.dtype);
    const int64_t least = std::min(d.m, d.n);
    int* info = static_cast<int*>(call.scratch(sizeof(int)));
    const auto room = session.room("cusolverDnXgeqrf_bufferSize", d, [&](size_t* device, size_t* host) {
      return lib.geqrf_size(s.handle, s.params, d.m, d.n, type, d.a.data, d.a.leading, type, tau, type, device, host);
    });
    session.run_each("cusolverDnXgeqrf", d.count, [&](int64_t i) {
      return lib.geqrf(s.handle, s.params, d.m, d.n, type, at(d.a, d.dtype, i), d.a.leading, type,
                       at(tau, d.dtype, i * least), type, room.device, room.device_bytes, room.host, room.host_bytes,
                       info);
    });
  }

  bool forms_q_apart(const Decomposition& d) const override { return batched_by_us(d); }

  void form_q(OpCall& call, const Decomposition& d, const void* tau, const Batch& q, int64_t columns) const override {
    if (forms_q_apart(d)) return form_q_batched(call, d, tau, q, columns);
    const Session session(call);
    const LeasedSolver& s = session.leased();
    const int m = checked(call, d.m), n = checked(call, columns), k = checked(call, std::min(d.m, d.n)),
              ldq = checked(call, q.leading);
    visit<dtypes::blas>(d.dtype, [&]<class T>(type_tag<T>) {
      const auto& lib = typed<T>(call.name());
      int length = 0;
      session.ask("cusolverDnXorgqr_bufferSize", [&] {
        return lib.orgqr_size(s.handle, m, n, k, static_cast<const T*>(q.data), ldq, static_cast<const T*>(tau),
                              &length);
      });
      T* work = static_cast<T*>(call.scratch(sizeof(T) * size_t(std::max(length, 1))));
      int* info = static_cast<int*>(call.scratch(sizeof(int)));
      session.run_each("cusolverDnXorgqr", d.count, [&](int64_t i) {
        return lib.orgqr(s.handle, m, n, k, reinterpret_cast<T*>(at(q, d.dtype, i)), ldq,
                         reinterpret_cast<const T*>(at(tau, d.dtype, i * k)), work, length, info);
      });
    });
  }

  bool rotates(const Decomposition& d) const override { return d.count > 1 && std::max(d.m, d.n) <= rotated_rows; }

  void svd(OpCall& call, const Decomposition& d, const Svd& svd) const override {
    if (rotates(d)) return svd_by_rotations(call, d, svd);
    if (batched_by_us(d)) return svd_batched(call, d, svd);
    const Api& lib = api(call.name());
    const Session session(call);
    const LeasedSolver& s = session.leased();
    const DType real_dtype = real_part(d.dtype);
    const DataType type = cublas::data_type(d.dtype), real = cublas::data_type(real_dtype);
    const signed char job = svd.vectors == SvdVectors::none ? 'N' : svd.vectors == SvdVectors::reduced ? 'S' : 'A';
    const int64_t ldu = std::max<int64_t>(svd.u.leading, 1), ldvt = std::max<int64_t>(svd.vt.leading, 1);
    const bool wanted = svd.vectors != SvdVectors::none;
    const auto room = session.room("cusolverDnXgesvd_bufferSize", d, [&](size_t* device, size_t* host) {
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
    if (batched(d) && d.a.stride == d.n * d.a.leading) return eigh_batched(call, d, upper, vectors, values);
    const Api& lib = api(call.name());
    const Session session(call);
    const LeasedSolver& s = session.leased();
    const DType real_dtype = real_part(d.dtype);
    const DataType type = cublas::data_type(d.dtype), real = cublas::data_type(real_dtype);
    const Mode mode = vectors ? Mode::vectors : Mode::no_vectors;
    const Fill fill = fill_of(upper);
    const auto room = session.room("cusolverDnXsyevd_bufferSize", d, [&](size_t* device, size_t* host) {
      return lib.syevd_size(s.handle, s.params, mode, fill, d.n, type, d.a.data, d.a.leading, real, values, type,
                            device, host);
    });
    within_size(call, d, [&] {
      session.run_each("cusolverDnXsyevd", d.count, [&](int64_t i) {
        return lib.syevd(s.handle, s.params, mode, fill, d.n, type, at(d.a, d.dtype, i), d.a.leading, real,
                         at(values, real_dtype, i * d.n), type, room.device, room.device_bytes, room.host,
                         room.host_bytes, d.info + i);
      });
    });
  }

  void eig(OpCall& call, const Decomposition& d, void* values, const Batch& vectors) const override {
    if (eig_by_us(d)) return eig_batched(call, d, values, vectors);
    const Api& lib = api(call.name());
    const Session session(call);
    const LeasedSolver& s = session.leased();
    const DataType type = cublas::data_type(d.dtype);
    const Mode right = vectors.data != nullptr ? Mode::vectors : Mode::no_vectors;
    const int64_t ldv = std::max<int64_t>(vectors.leading, 1);
    const auto room = session.room("cusolverDnXgeev_bufferSize", d, [&](size_t* device, size_t* host) {
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
