// LU factors, and what follows from them: solutions, inverses, determinants.
#include "ops/linalg/operands.hpp"
#include "params/linalg.hpp"

#include <stator/creation.hpp>
#include <stator/movement.hpp>

#include <algorithm>

namespace stator::linalg {
namespace {

using namespace detail;

constexpr const char* is_singular = "is singular";
constexpr const char* singular_remedy = "call lstsq() or pinv(), which take such a matrix";

params::SmallLu small_lu(const Array& a) {
  params::SmallLu p{};
  p.dtype = a.dtype();
  p.n = int32_t(rows(a));
  p.count = product(batch_of(a));
  p.a = matrices(a);
  return p;
}

bool is_small(const Array& a) { return rows(a) == cols(a) && small(rows(a)); }

// LU of the matrices or, where the library does it and `either` allows it, of their transposes. These need no
// transposed copy, have the same determinant, and solve the same systems with the transposition reversed.
struct Factors {
  Array lu, pivots, info;
  bool of_transpose = false;
};
Factors factor(OpCall& call, const Array& a, bool either) {
  const Stream on = call.on();
  const Dims batch = batch_of(a);
  Factors f;
  f.pivots = call.empty(vector_shape(batch, std::min(rows(a), cols(a))), DType::int32);
  f.info = call.empty(batch, DType::int32);
  f.of_transpose = either && !is_small(a);
  f.lu = is_small(a) ? call.empty(a.shape(), a.dtype()) : f.of_transpose ? copy(a, on) : copy_by_columns(call, a);
  call.reads(a);
  call.writes(f.lu);
  call.writes(f.pivots);
  call.writes(f.info);
  if (is_small(a)) {
    params::SmallLu p = small_lu(a);
    p.lu = matrices(f.lu);
    p.pivots = integers(f.pivots);
    p.info = integers(f.info);
    kernels::linalg::small_lu(call.queue(), p);
  } else {
    const libs::Decomposition d = decomposition(a, f.of_transpose ? transposed(f.lu) : column_major(f.lu), &f.info);
    libs::solver(call.context()).lu(call, d, integers(f.pivots));
  }
  return f;
}

// The square matrices of `given`, whose batch has a single stride.
Array square(const OpCall& call, const Array& given) {
  const Array a = operand(call, given);
  require_square(call, a);
  return stepping(a, call.on());
}

// Solves a x = b in place for column-major b, by factors of the transpose.
void solve_in_place(OpCall& call, const Factors& f, const Array& x) {
  libs::solver(call.context())
      .lu_solve(call, decomposition(f.lu, transposed(f.lu), &f.info), integers(f.pivots),
                libs::Transposition::transpose, column_major(x), cols(x));
}

Array determinants(OpCall& call, const Factors& f, SignLog* parts) {
  const Dims batch = batch_of(f.lu);
  params::Determinant p{};
  p.dtype = f.lu.dtype();
  p.count = product(batch);
  p.n = rows(f.lu);
  p.lu = matrices(f.lu);
  p.pivots = integers(f.pivots);
  Array det;
  if (parts == nullptr) {
    det = call.empty(batch, f.lu.dtype());
    call.writes(det);
    p.det = det.data_ptr();
  } else {
    parts->sign = call.empty(batch, f.lu.dtype());
    parts->logabsdet = call.empty(batch, real_part(f.lu.dtype()));
    call.writes(parts->sign);
    call.writes(parts->logabsdet);
    p.sign = parts->sign.data_ptr();
    p.log = parts->logabsdet.data_ptr();
  }
  kernels::linalg::determinant(call.queue(), p);
  return det;
}

}  // namespace

LuFactor lu_factor(const Array& given, const Options& options, const Stream& stream) {
  OpCall call(Op::lu_factor, {&given}, stream);
  const Array a = stepping(operand(call, given), call.on());
  const Dims batch = batch_of(a);
  if (a.size() == 0) {
    return {call.empty(a.shape(), a.dtype()), call.empty(vector_shape(batch, std::min(rows(a), cols(a))), DType::int32),
            no_info(call, batch)};
  }
  const Factors f = factor(call, a, false);
  if (options.check) verify(call, f.info, is_singular, "pass check=False for factors with a zero pivot");
  return {f.lu, f.pivots, f.info};
}

PLU lu(const Array& given, const Stream& stream) {
  OpCall call(Op::lu, {&given}, stream);
  const Stream on = call.on();
  const Array a = stepping(operand(call, given), on);
  const Dims batch = batch_of(a);
  const int64_t m = rows(a), n = cols(a), least = std::min(m, n), count = product(batch);
  const PLU out{call.empty(matrix_shape(batch, m, m), a.dtype()), call.empty(matrix_shape(batch, m, least), a.dtype()),
                call.empty(matrix_shape(batch, least, n), a.dtype())};
  if (a.size() == 0) {
    fill_identity(out.p, on);
    return out;
  }
  const Factors f = factor(call, a, false);
  call.writes(out.p);
  call.writes(out.l);
  call.writes(out.u);
  params::Triangle t{};
  t.itemsize = itemsize(a.dtype());
  t.dtype = a.dtype();
  t.unit = true;
  t.count = count;
  t.rows = m;
  t.cols = least;
  t.a = matrices(f.lu);
  t.out = matrices(out.l);
  kernels::linalg::triangle(call.queue(), t);
  t.unit = false;
  t.upper = true;
  t.rows = least;
  t.cols = n;
  t.out = matrices(out.u);
  kernels::linalg::triangle(call.queue(), t);
  const params::RowExchanges p{.dtype = a.dtype(),
                               .count = count,
                               .n = m,
                               .steps = least,
                               .pivots = integers(f.pivots),
                               .order = static_cast<int32_t*>(call.scratch(sizeof(int32_t) * size_t(count * m))),
                               .p = out.p.data_ptr()};
  kernels::linalg::permutation(call.queue(), p);
  return out;
}

Array lu_solve(const Array& given_lu, const Array& given_pivots, const Array& given_b, Transpose how,
               const Stream& stream) {
  OpCall call(Op::lu_solve, {&given_lu, &given_pivots, &given_b}, stream);
  const Stream on = call.on();
  const std::string op(call.name());
  Array lu = operand(call, given_lu);
  require_square(call, lu);
  if (!in(given_pivots.dtype(), dtypes::integers))
    throw DTypeError(op, "got pivots of " + std::string(name(given_pivots.dtype())),
                     "pivots must be integers. Pass those of lu_factor");
  if (!(given_pivots.shape() == vector_shape(batch_of(lu), rows(lu))))
    throw ShapeError(op, "got pivots of shape " + str(given_pivots.shape()) + " beside factors of " + str(lu.shape()),
                     "pass those of lu_factor");
  Rhs rhs = right_hand_side(call, lu, given_b);
  const DType dtype = promote(lu.dtype(), rhs.b.dtype());
  lu = astype(lu, dtype, false, on);
  Array b = astype(rhs.b, dtype, false, on);
  const Dims batch = broadcast_shapes(op, batch_of(lu), batch_of(b));
  lu = stepping(with_batch(lu, batch), on);
  b = stepping(with_batch(b, batch), on);
  const Array wide = broadcast_to(given_pivots, vector_shape(batch, rows(lu)));
  const Array pivots =
      wide.is_contiguous() && wide.dtype() == DType::int32 ? wide : copy(astype(wide, DType::int32, false, on), on);
  if (b.size() == 0) return as_given(call.empty(b.shape(), dtype), rhs.vector);
  if (how == Transpose::none && small(rows(lu))) {
    const Array x = call.empty(b.shape(), dtype);
    call.reads(lu);
    call.reads(pivots);
    call.reads(b);
    call.writes(x);
    params::SmallLu p = small_lu(lu);
    p.factored = true;
    p.pivots = integers(pivots);
    p.b = matrices(b);
    p.x = matrices(x);
    p.columns = cols(b);
    kernels::linalg::small_lu(call.queue(), p);
    return as_given(x, rhs.vector);
  }
  const Array stored = by_columns(call, lu), x = copy_by_columns(call, b), info = call.empty(batch, DType::int32);
  call.reads(stored);
  call.reads(pivots);
  call.writes(x);
  libs::solver(call.context())
      .lu_solve(call, decomposition(stored, column_major(stored), &info), integers(pivots),
                static_cast<libs::Transposition>(how), column_major(x), cols(x));
  return as_given(x, rhs.vector);
}

Solution solve(const Array& given_a, const Array& given_b, const Options& options, const Stream& stream) {
  OpCall call(Op::solve, {&given_a, &given_b}, stream);
  const Stream on = call.on();
  Array a = operand(call, given_a);
  require_square(call, a);
  Rhs rhs = right_hand_side(call, a, given_b);
  const DType dtype = promote(a.dtype(), rhs.b.dtype());
  a = astype(a, dtype, false, on);
  Array b = astype(rhs.b, dtype, false, on);
  const Dims batch = broadcast_shapes(call.name(), batch_of(a), batch_of(b));
  a = stepping(with_batch(a, batch), on);
  b = stepping(with_batch(b, batch), on);
  if (b.size() == 0) {
    const Array nothing = as_given(call.empty(b.shape(), dtype), rhs.vector);
    if (a.size() == 0) return {nothing, no_info(call, batch)};
    return {nothing, solve(a, zeros(a.backend(), {rows(a), 1}, dtype, on), options, on)
                         .info};  // whether a is singular is still reported
  }
  Array x, info;
  if (small(rows(a))) {
    x = call.empty(b.shape(), dtype);
    info = call.empty(batch, DType::int32);
    call.reads(a);
    call.reads(b);
    call.writes(x);
    call.writes(info);
    params::SmallLu p = small_lu(a);
    p.b = matrices(b);
    p.x = matrices(x);
    p.columns = cols(b);
    p.info = integers(info);
    kernels::linalg::small_lu(call.queue(), p);
  } else {
    const Factors f = factor(call, a, true);
    x = copy_by_columns(call, b);
    call.writes(x);
    solve_in_place(call, f, x);
    info = f.info;
  }
  if (options.check) verify(call, info, is_singular, singular_remedy);
  return {as_given(x, rhs.vector), info};
}

Solution inv(const Array& given, const Options& options, const Stream& stream) {
  OpCall call(Op::inv, {&given}, stream);
  const Stream on = call.on();
  const Array a = square(call, given);
  const Dims batch = batch_of(a);
  if (a.size() == 0) return {call.empty(a.shape(), a.dtype()), no_info(call, batch)};
  Array x = call.empty(a.shape(), a.dtype()), info;
  if (small(rows(a))) {
    info = call.empty(batch, DType::int32);
    call.reads(a);
    call.writes(x);
    call.writes(info);
    params::SmallLu p = small_lu(a);
    p.identity = true;
    p.x = matrices(x);
    p.columns = rows(a);
    p.info = integers(info);
    kernels::linalg::small_lu(call.queue(), p);
  } else {
    // These are factors of the transpose, whose inverse in column-major order is the inverse in row-major order.
    const Factors f = factor(call, a, true);
    fill_identity(x, on);
    call.writes(x);
    libs::solver(call.context())
        .lu_solve(call, decomposition(f.lu, transposed(f.lu), &f.info), integers(f.pivots), libs::Transposition::none,
                  transposed(x), cols(x));
    info = f.info;
  }
  if (options.check) verify(call, info, is_singular, singular_remedy);
  return {x, info};
}

Array det(const Array& given, const Stream& stream) {
  OpCall call(Op::det, {&given}, stream);
  const Array a = square(call, given);
  if (a.size() == 0) {
    const Array out = call.empty(batch_of(a), a.dtype());
    if (out.size() > 0) assign(out, Operand(1), call.on());
    return out;
  }
  return determinants(call, factor(call, a, true), nullptr);
}

SignLog slogdet(const Array& given, const Stream& stream) {
  OpCall call(Op::slogdet, {&given}, stream);
  const Array a = square(call, given);
  SignLog out;
  if (a.size() == 0) {
    out = {call.empty(batch_of(a), a.dtype()), call.empty(batch_of(a), real_part(a.dtype()))};
    if (out.sign.size() > 0) {
      assign(out.sign, Operand(1), call.on());
      assign(out.logabsdet, Operand(0), call.on());
    }
    return out;
  }
  determinants(call, factor(call, a, true), &out);
  return out;
}

}  // namespace stator::linalg
