// Batches of matrices by the batched routines of cuBLAS and cuSOLVER, or by our own kernels: one call for all matrices.
#include "libs/cuda/session.hpp"
#include "params/linalg.hpp"

#include <algorithm>

namespace stator::libs::cusolver {
namespace {

template <class T>
T** as(void** list) {
  return reinterpret_cast<T**>(list);
}

params::Matrices matrices(const Batch& b) { return {b.data, b.stride, 1, b.leading}; }

}  // namespace

void cholesky_batched(OpCall& call, const Decomposition& d, bool upper) {
  const Session session(call);
  const LeasedSolver& s = session.leased();
  const Session::Lists lists = session.addresses(d.count, d.a, {}, d.dtype);
  const int n = checked(call, d.n), lda = checked(call, d.a.leading), count = checked(call, d.count);
  visit<dtypes::blas>(d.dtype, [&]<class T>(type_tag<T>) {
    session.run("cusolverDnXpotrfBatched", [&] {
      return typed<T>(call.name()).potrf_batched(s.handle, fill_of(upper), n, as<T>(lists.first), lda, d.info, count);
    });
  });
  // The library works in the other triangle. Row by row, the matrices are their transposes.
  const params::Matrices rows{d.a.data, d.a.stride, d.a.leading, 1};
  params::Triangle p{};
  p.itemsize = itemsize(d.dtype);
  p.dtype = d.dtype;
  p.upper = !upper;
  p.count = d.count;
  p.rows = p.cols = d.n;
  p.a = p.out = rows;
  kernels::linalg::triangle(call.queue(), p);
}

void lu_batched(OpCall& call, const Decomposition& d, int32_t* pivots) {
  const Session session(call);
  const cublas::Handle blas = session.blas();
  const Session::Lists lists = session.addresses(d.count, d.a, {}, d.dtype);
  const int n = checked(call, d.n), lda = checked(call, d.a.leading), count = checked(call, d.count);
  visit<dtypes::blas>(d.dtype, [&]<class T>(type_tag<T>) {
    session.run_blas("cublasXgetrfBatched", [&] {
      return typed<T>(call.name()).getrf_batched(blas, n, as<T>(lists.first), lda, pivots, d.info, count);
    });
  });
  kernels::linalg::pivots(call.queue(), {.count = d.count * d.n,
                                         .each = d.n,
                                         .rows = d.n,
                                         .theirs = nullptr,
                                         .theirs_narrow = pivots,
                                         .ours = pivots,
                                         .to_ours = true});
}

void lu_solve_batched(OpCall& call, const Decomposition& d, const int32_t* pivots, Transposition how, const Batch& b,
                      int64_t columns) {
  const Session session(call);
  const cublas::Handle blas = session.blas();
  const Session::Lists lists = session.addresses(d.count, d.a, b, d.dtype);
  const int n = checked(call, d.n), lda = checked(call, d.a.leading), ldb = checked(call, b.leading),
            k = checked(call, columns), count = checked(call, d.count);
  int32_t* theirs = static_cast<int32_t*>(call.scratch(sizeof(int32_t) * size_t(d.count * d.n)));
  kernels::linalg::pivots(call.queue(), {.count = d.count * d.n,
                                         .each = d.n,
                                         .rows = d.n,
                                         .theirs = nullptr,
                                         .theirs_narrow = theirs,
                                         .ours = const_cast<int32_t*>(pivots),
                                         .to_ours = false});
  visit<dtypes::blas>(d.dtype, [&]<class T>(type_tag<T>) {
    session.run_blas("cublasXgetrsBatched", [&] {
      int info = 0;
      return typed<T>(call.name())
          .getrs_batched(blas, static_cast<Operation>(how), n, k, as<T>(lists.first), lda, theirs, as<T>(lists.second),
                         ldb, &info, count);
    });
  });
}

void triangular_batched(OpCall& call, const Decomposition& d, const Solver::Triangle& triangle, const Batch& b,
                        int64_t columns) {
  const Session session(call);
  const cublas::Handle blas = session.blas();
  const Session::Lists lists = session.addresses(d.count, d.a, b, d.dtype);
  visit<dtypes::blas>(d.dtype, [&]<class T>(type_tag<T>) {
    session.run_blas("cublasXtrsmBatched", [&] {
      alignas(16) const T one(1);
      return typed<T>(call.name())
          .trsm_batched(blas, Side::left, fill_of(triangle.upper), static_cast<Operation>(triangle.how),
                        triangle.unit ? Diagonal::unit : Diagonal::non_unit, d.n, columns, &one, as<T>(lists.first),
                        d.a.leading, as<T>(lists.second), b.leading, d.count);
    });
  });
}

void qr_batched(OpCall& call, const Decomposition& d, void* tau) {
  kernels::linalg::batched_qr(call.queue(),
                              {.dtype = d.dtype, .count = d.count, .m = d.m, .n = d.n, .a = matrices(d.a), .tau = tau});
}

void eigh_batched(OpCall& call, const Decomposition& d, bool upper, bool vectors, void* values) {
  const Api& lib = api(call.name());
  const Session session(call);
  const LeasedSolver& s = session.leased();
  const DataType type = cublas::data_type(d.dtype), real = cublas::data_type(real_part(d.dtype));
  const Mode mode = vectors ? Mode::vectors : Mode::no_vectors;
  const DType real_dtype = real_part(d.dtype);
  const int64_t most = matrices_of_bytes(d.n, d.a.leading, itemsize(d.dtype));
  const auto room = session.room("cusolverDnXsyevBatched_bufferSize", d, [&](size_t* device, size_t* host) {
    return lib.syev_batched_size(s.handle, s.params, mode, fill_of(upper), d.n, type, d.a.data, d.a.leading, real,
                                 values, type, device, host, std::min(most, d.count));
  });
  for_each_piece(d.count, most, [&](int64_t first, int64_t count) {
    session.run("cusolverDnXsyevBatched", [&] {
      return lib.syev_batched(s.handle, s.params, mode, fill_of(upper), d.n, type, at(d.a, d.dtype, first), d.a.leading,
                              real, at(values, real_dtype, first * d.n), type, room.device, room.device_bytes,
                              room.host, room.host_bytes, d.info + first, count);
    });
  });
}

void form_q_batched(OpCall& call, const Decomposition& d, const void* tau, const Batch& q, int64_t columns) {
  kernels::linalg::form_q(call.queue(), {.dtype = d.dtype,
                                         .started = false,
                                         .conjugate = false,
                                         .count = d.count,
                                         .m = d.m,
                                         .columns = columns,
                                         .reflectors = std::min(d.m, d.n),
                                         .factors = matrices(d.a),
                                         .tau = tau,
                                         .q = matrices(q)});
}

void svd_batched(OpCall& call, const Decomposition& d, const Solver::Svd& svd) {
  void* const work = call.scratch(size_t(d.count * d.n * (d.n + 2)) * size_t(itemsize(d.dtype)));
  kernels::linalg::batched_svd(call.queue(), {.dtype = d.dtype,
                                              .count = d.count,
                                              .m = d.m,
                                              .n = d.n,
                                              .u_columns = svd.vectors == SvdVectors::full ? d.m : d.n,
                                              .a = matrices(d.a),
                                              .values = svd.s,
                                              .u = matrices(svd.u),
                                              .vh = matrices(svd.vt),
                                              .work = work,
                                              .info = d.info});
}

void eig_batched(OpCall& call, const Decomposition& d, void* values, const Batch& vectors) {
  kernels::linalg::batched_eig(call.queue(), {.dtype = d.dtype,
                                              .count = d.count,
                                              .n = d.n,
                                              .a = matrices(d.a),
                                              .values = values,
                                              .vectors = matrices(vectors),
                                              .info = d.info});
}

void svd_by_rotations(OpCall& call, const Decomposition& d, const Solver::Svd& svd) {
  const Session session(call);
  const LeasedSolver& s = session.leased();
  const int m = checked(call, d.m), n = checked(call, d.n), lda = checked(call, d.a.leading),
            most = int(std::min(d.count, rotated_matrices));
  const Mode mode = svd.vectors == SvdVectors::none ? Mode::no_vectors : Mode::vectors;
  visit<dtypes::blas>(d.dtype, [&]<class T>(type_tag<T>) {
    const auto& lib = typed<T>(call.name());
    T* const a = static_cast<T*>(d.a.data);
    // The library works in U and V also where vectors are not wanted.
    const int64_t pieces = std::min<int64_t>(d.count, most);
    const auto room = [&](const Batch& x, int64_t size) -> Batch {
      return x.data != nullptr ? x : Batch{call.scratch(sizeof(T) * size_t(pieces * size)), 0, 0};
    };
    const Batch u = room(svd.u, d.m * d.m), v = room(svd.vt, d.n * d.n);
    const auto from = [](const Batch& x, int64_t first) { return static_cast<T*>(x.data) + first * x.stride; };
    auto* values = static_cast<real_t<T>*>(svd.s);
    int length = 0;
    session.ask("cusolverDnXgesvdjBatched_bufferSize", [&] {
      return lib.gesvdj_batched_size(s.handle, mode, m, n, a, lda, values, from(u, 0), m, from(v, 0), n, &length,
                                     s.jacobi, most);
    });
    T* const work = static_cast<T*>(call.scratch(sizeof(T) * size_t(std::max(length, 1))));
    for_each_piece(d.count, most, [&](int64_t first, int64_t count) {
      session.run("cusolverDnXgesvdjBatched", [&] {
        return lib.gesvdj_batched(s.handle, mode, m, n, a + first * d.a.stride, lda, values + first * n, from(u, first),
                                  m, from(v, first), n, work, length, d.info + first, s.jacobi, int(count));
      });
    });
  });
}

}  // namespace stator::libs::cusolver
