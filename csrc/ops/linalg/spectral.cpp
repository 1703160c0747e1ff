// QR, singular values, eigenvalues.
#include "ops/linalg/operands.hpp"
#include "params/linalg.hpp"

#include <stator/creation.hpp>
#include <stator/elementwise.hpp>
#include <stator/movement.hpp>

#include <algorithm>

namespace stator::linalg {
namespace {

using namespace detail;

constexpr const char* diverged = "has no decomposition: the iteration did not converge";
constexpr const char* diverged_remedy = "scale the matrix, or pass check=False, with which its results are NaN";

DType complex_of(DType d) { return real_part(d) == DType::float32 ? DType::complex64 : DType::complex128; }
// From here on Jacobi rotations take several times as long as LAPACK, where nothing runs in parallel.
constexpr int64_t host_jacobi = 8;
bool by_rotations(const OpCall& call, int64_t n) {
  return n <= (call.context().runtime().is_host() ? host_jacobi : params::small_matrix);
}

Eigen hermitian(Op op, const Array& given, bool upper, bool vectors, const Options& options, const Stream& stream) {
  OpCall call(op, {&given}, stream);
  const Stream on = call.on();
  Array a = operand(call, given);
  require_square(call, a);
  const Dims batch = batch_of(a);
  Eigen out;
  out.values = call.empty(vector_shape(batch, rows(a)), real_part(a.dtype()));
  if (a.size() == 0) {
    out.vectors = vectors ? call.empty(a.shape(), a.dtype()) : Array();
    out.info = no_info(call, batch);
    return out;
  }
  a = stepping(a, on);
  out.info = call.empty(batch, DType::int32);
  call.reads(a);
  call.writes(out.values);
  call.writes(out.info);
  if (by_rotations(call, rows(a))) {
    out.vectors = vectors ? call.empty(a.shape(), a.dtype()) : Array();
    if (vectors) call.writes(out.vectors);
    const params::SmallEigh p{.dtype = a.dtype(),
                              .upper = upper,
                              .n = int32_t(rows(a)),
                              .count = product(batch),
                              .a = matrices(a),
                              .vectors = vectors ? matrices(out.vectors) : params::Matrices{},
                              .values = out.values.data_ptr(),
                              .info = integers(out.info)};
    kernels::linalg::small_eigh(call.queue(), p);
  } else {
    const Array work = copy_by_columns(call, a);
    call.writes(work);
    const NonfiniteMask mask(call, work, upper ? params::Part::upper : params::Part::lower);
    libs::Decomposition d = decomposition(work, column_major(work));
    d.info = integers(out.info);
    libs::solver(call.context()).eigh(call, d, upper, vectors, out.values.data_ptr());
    if (vectors) out.vectors = work;
    mask.restore(call, out.info, {&out.values, &out.vectors});
  }
  if (options.check) verify(call, out.info, diverged, diverged_remedy);
  return out;
}

Eigen general(Op op, const Array& given, bool vectors, const Options& options, const Stream& stream) {
  OpCall call(op, {&given}, stream);
  const Stream on = call.on();
  Array a = operand(call, given);
  require_square(call, a);
  const Dims batch = batch_of(a);
  const DType complex = complex_of(a.dtype());
  Eigen out;
  out.values = call.empty(vector_shape(batch, rows(a)), complex);
  out.vectors = vectors ? empty_by_columns(call, batch, rows(a), rows(a), complex) : Array();
  if (a.size() == 0) {
    out.info = no_info(call, batch);
    return out;
  }
  // cuSOLVER gets complex matrices: only LAPACK has the packed form of real eigenvectors.
  if (!call.context().runtime().is_host()) a = astype(a, complex, false, on);
  const Array work = copy_by_columns(call, a);
  out.info = call.empty(batch, DType::int32);
  call.writes(work);
  call.writes(out.values);
  if (vectors) call.writes(out.vectors);
  call.writes(out.info);
  const NonfiniteMask mask(call, work);
  libs::Decomposition d = decomposition(work, column_major(work));
  d.info = integers(out.info);
  libs::solver(call.context()).eig(call, d, out.values.data_ptr(), vectors ? column_major(out.vectors) : libs::Batch{});
  mask.restore(call, out.info, {&out.values, &out.vectors});
  if (options.check) verify(call, out.info, diverged, diverged_remedy);
  return out;
}

// Uses the library's rotations, for batches of small matrices; they always compute all of U and V.
Svd by_library_rotations(OpCall& call, const Array& a, libs::SvdVectors vectors) {
  const Stream on = call.on();
  const Dims batch = batch_of(a);
  const int64_t m = rows(a), n = cols(a), least = std::min(m, n);
  const bool wanted = vectors != libs::SvdVectors::none;
  Svd out;
  out.s = call.empty(vector_shape(batch, least), real_part(a.dtype()));
  out.info = call.empty(batch, DType::int32);
  if (wanted) out.u = empty_by_columns(call, batch, m, m, a.dtype());
  Array v = wanted ? empty_by_columns(call, batch, n, n, a.dtype()) : Array();
  const Array work = copy_by_columns(call, a);
  for (const Array* x : std::initializer_list<const Array*>{&work, &out.s, &out.u, &v, &out.info})
    if (*x) call.writes(*x);
  const NonfiniteMask mask(call, work);
  libs::Decomposition d = decomposition(work, column_major(work));
  d.info = integers(out.info);
  libs::Solver::Svd parts{vectors, out.s.data_ptr(), {}, {}};
  if (wanted) {
    parts.u = column_major(out.u);
    parts.vt = column_major(v);
  }
  libs::solver(call.context()).svd(call, d, parts);
  mask.restore(call, out.info, {&out.s, &out.u, &v});
  if (!wanted) return out;
  const auto first = [&](const Array& x, int64_t columns) {
    return Array(x.buffer(), x.dtype(), matrix_shape(batch, rows(x), columns), x.strides(), x.offset());
  };
  const bool full = vectors == libs::SvdVectors::full;
  if (!full) {
    out.u = first(out.u, least);
    v = first(v, least);
  }
  out.vh = matrix_transpose(in(a.dtype(), dtypes::complexes) ? conj(v, {}, on) : v);
  return out;
}

Svd singular(Op op, const Array& given, libs::SvdVectors vectors, const Options& options, const Stream& stream) {
  OpCall call(op, {&given}, stream);
  const Stream on = call.on();
  const Array a = operand(call, given);
  const Dims batch = batch_of(a);
  const int64_t m = rows(a), n = cols(a), least = std::min(m, n);
  const bool full = vectors == libs::SvdVectors::full, wanted = vectors != libs::SvdVectors::none;
  if (a.size() != 0 && libs::solver(call.context()).rotates(decomposition(a, {}))) {
    const Svd out = by_library_rotations(call, a, vectors);
    if (options.check) verify(call, out.info, diverged, diverged_remedy);
    return out;
  }
  // Row-major A is column-major A^T = conj(V) S U^T: what the library calls U of it is V^H here in row-major order, and
  // its V^H is U. Tall matrices are copied to column-major order instead: cuSOLVER takes no matrix with more columns
  // than rows, and LAPACK's gesdd is a fifth to two fifths slower on those, whose first step is LQ instead of QR.
  const bool as_transpose = call.context().runtime().is_host() ? m <= n : m < n;
  const auto room = [&](int64_t r, int64_t c) {
    return as_transpose ? call.empty(matrix_shape(batch, r, c), a.dtype())
                        : empty_by_columns(call, batch, r, c, a.dtype());
  };
  Svd out;
  out.s = call.empty(vector_shape(batch, least), real_part(a.dtype()));
  if (wanted) {
    out.u = room(m, full ? m : least);
    out.vh = room(full ? n : least, n);
  }
  if (a.size() == 0) {
    if (wanted) {
      fill_identity(out.u, on);
      fill_identity(out.vh, on);
    }
    out.info = no_info(call, batch);
    return out;
  }
  const Array work = as_transpose ? copy(a, on) : copy_by_columns(call, a);
  out.info = call.empty(batch, DType::int32);
  call.writes(work);
  call.writes(out.s);
  if (wanted) {
    call.writes(out.u);
    call.writes(out.vh);
  }
  call.writes(out.info);
  const NonfiniteMask mask(call, work);
  libs::Decomposition d = decomposition(work, as_transpose ? transposed(work) : column_major(work));
  if (as_transpose) std::swap(d.m, d.n);
  d.info = integers(out.info);
  libs::Solver::Svd parts;
  parts.vectors = vectors;
  parts.s = out.s.data_ptr();
  if (wanted) {
    parts.u = as_transpose ? transposed(out.vh) : column_major(out.u);
    parts.vt = as_transpose ? transposed(out.u) : column_major(out.vh);
  }
  libs::solver(call.context()).svd(call, d, parts);
  mask.restore(call, out.info, {&out.s, &out.u, &out.vh});
  if (options.check) verify(call, out.info, diverged, diverged_remedy);
  return out;
}

}  // namespace

Qr qr(const Array& given, bool complete, const Stream& stream) {
  OpCall call(Op::qr, {&given}, stream);
  const Stream on = call.on();
  const Array a = stepping(operand(call, given), on);
  const Dims batch = batch_of(a);
  const int64_t m = rows(a), n = cols(a), least = std::min(m, n), q_columns = complete ? m : least,
                count = product(batch);
  Qr out;
  out.r = call.empty(matrix_shape(batch, q_columns, n), a.dtype());
  if (a.size() == 0) {
    out.q = call.empty(matrix_shape(batch, m, q_columns), a.dtype());
    fill_identity(out.q, on);
    return out;
  }
  if (small(m) && small(n)) {
    out.q = call.empty(matrix_shape(batch, m, q_columns), a.dtype());
    call.reads(a);
    call.writes(out.q);
    call.writes(out.r);
    const params::SmallQr p{.dtype = a.dtype(),
                            .m = int32_t(m),
                            .n = int32_t(n),
                            .q_columns = int32_t(q_columns),
                            .r_rows = int32_t(q_columns),
                            .count = count,
                            .a = matrices(a),
                            .q = matrices(out.q),
                            .r = matrices(out.r)};
    kernels::linalg::small_qr(call.queue(), p);
    return out;
  }
  const libs::Solver& solver = libs::solver(call.context());
  libs::Decomposition d = decomposition(a, {});
  // Reflectors and Q share one array where possible: A is in its first n columns, Q in its first q_columns.
  const bool apart = solver.forms_q_apart(d);
  const Array room = empty_by_columns(call, batch, m, apart ? n : std::max(n, q_columns), a.dtype());
  const auto first = [&](int64_t columns) {
    Dims shape = matrix_shape(batch, m, columns);
    return Array(room.buffer(), room.dtype(), std::move(shape), room.strides(), room.offset());
  };
  const Array work = first(n);
  out.q = apart ? empty_by_columns(call, batch, m, q_columns, a.dtype()) : first(q_columns);
  assign(work, Operand(a), on);
  void* tau = call.scratch(size_t(count * least) * size_t(itemsize(a.dtype())));
  call.writes(room);
  if (apart) call.writes(out.q);
  call.writes(out.r);
  d.a = column_major(room);
  solver.qr(call, d, tau);
  params::Triangle t{};
  t.itemsize = itemsize(a.dtype());
  t.dtype = a.dtype();
  t.upper = true;
  t.count = count;
  t.rows = q_columns;
  t.cols = n;
  t.a = matrices(work);
  t.out = matrices(out.r);
  kernels::linalg::triangle(call.queue(), t);
  solver.form_q(call, d, tau, column_major(out.q), q_columns);
  return out;
}

Svd svd(const Array& a, bool full_matrices, const Options& options, const Stream& stream) {
  return singular(Op::svd, a, full_matrices ? libs::SvdVectors::full : libs::SvdVectors::reduced, options, stream);
}
Svd svdvals(const Array& a, const Options& options, const Stream& stream) {
  return singular(Op::svdvals, a, libs::SvdVectors::none, options, stream);
}
Eigen eigh(const Array& a, bool upper, const Options& options, const Stream& stream) {
  return hermitian(Op::eigh, a, upper, true, options, stream);
}
Eigen eigvalsh(const Array& a, bool upper, const Options& options, const Stream& stream) {
  return hermitian(Op::eigvalsh, a, upper, false, options, stream);
}
Eigen eig(const Array& a, const Options& options, const Stream& stream) {
  return general(Op::eig, a, true, options, stream);
}
Eigen eigvals(const Array& a, const Options& options, const Stream& stream) {
  return general(Op::eigvals, a, false, options, stream);
}

}  // namespace stator::linalg
