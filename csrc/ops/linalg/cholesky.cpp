// Cholesky factors and triangular systems.
#include "ops/linalg/operands.hpp"
#include "params/linalg.hpp"

#include <stator/creation.hpp>

namespace stator::linalg {
namespace {

using namespace detail;

constexpr const char* not_positive = "is not positive definite";
constexpr const char* not_positive_remedy =
    "call solve(), which takes any matrix, or add a small multiple of the identity";

libs::Transposition library(Transpose how) { return static_cast<libs::Transposition>(how); }

// Solves one or two triangular systems by the library, in place in x. Row-major A is column-major A^T, so an upper
// triangle is passed as a lower one and A itself is solved with by transposing. Only a conjugate without transposition
// needs A itself in column-major order.
struct Step {
  Transpose how;
};
void solve_by_library(OpCall& call, const Array& a, bool upper, bool unit, std::initializer_list<Step> steps,
                      const Array& x, int32_t* info) {
  bool plain = true;
  for (const Step step : steps) plain = plain && step.how != Transpose::adjoint;
  const bool real = in(a.dtype(), dtypes::floats);
  const bool as_transpose = a.is_contiguous() && (plain || real);
  const Array stored = as_transpose ? a : by_columns(call, a);
  libs::Decomposition d = decomposition(a, as_transpose ? transposed(a) : column_major(stored));
  d.info = info;
  for (const Step step : steps) {
    libs::Solver::Triangle triangle;
    triangle.upper = upper != as_transpose;
    triangle.unit = unit;
    triangle.how = !as_transpose                 ? library(step.how)
                   : step.how == Transpose::none ? libs::Transposition::transpose
                                                 : libs::Transposition::none;
    libs::solver(call.context()).triangular(call, d, triangle, column_major(x), cols(x));
  }
}

Array solve_small(OpCall& call, const Array& a, const Array& b, params::SmallTriangular p, const Array* info) {
  const Array x = call.empty(b.shape(), b.dtype());
  call.reads(a);
  call.reads(b);
  call.writes(x);
  p.dtype = a.dtype();
  p.n = int32_t(rows(a));
  p.count = product(batch_of(b));
  p.columns = cols(b);
  p.a = matrices(a);
  p.b = matrices(b);
  p.x = matrices(x);
  if (info != nullptr) {
    call.writes(*info);
    p.info = static_cast<int32_t*>(info->data_ptr());
  }
  kernels::linalg::small_triangular(call.queue(), p);
  return x;
}

// a and b in one dtype, with the same batch.
struct System {
  Array a, b;
  bool vector;
  Dims batch;
};
System system_of(const OpCall& call, const Array& given_a, const Array& given_b) {
  const Stream on = call.on();
  Array a = operand(call, given_a);
  require_square(call, a);
  Rhs rhs = right_hand_side(call, a, given_b);
  const DType dtype = promote(a.dtype(), rhs.b.dtype());
  a = astype(a, dtype, false, on);
  rhs.b = astype(rhs.b, dtype, false, on);
  const Dims batch = broadcast_shapes(call.name(), batch_of(a), batch_of(rhs.b));
  return {stepping(with_batch(a, batch), on), stepping(with_batch(rhs.b, batch), on), rhs.vector, batch};
}

}  // namespace

Factor cholesky(const Array& given, bool upper, const Options& options, const Stream& stream) {
  OpCall call(Op::cholesky, {&given}, stream);
  const Stream on = call.on();
  Array a = operand(call, given);
  require_square(call, a);
  const Dims batch = batch_of(a);
  const Array out = call.empty(a.shape(), a.dtype());
  if (out.size() == 0) return {out, no_info(call, batch)};
  a = stepping(a, on);
  const Array info = call.empty(batch, DType::int32);
  call.reads(a);
  call.writes(out);
  call.writes(info);
  if (small(rows(a))) {
    const params::SmallCholesky p{.dtype = a.dtype(),
                                  .upper = upper,
                                  .n = int32_t(rows(a)),
                                  .count = product(batch),
                                  .a = matrices(a),
                                  .out = matrices(out),
                                  .info = static_cast<int32_t*>(info.data_ptr())};
    kernels::linalg::small_cholesky(call.queue(), p);
  } else {
    params::Triangle p{};
    p.itemsize = itemsize(a.dtype());
    p.dtype = a.dtype();
    p.upper = upper;
    p.count = product(batch);
    p.rows = p.cols = rows(a);
    p.a = matrices(a);
    p.out = matrices(out);
    kernels::linalg::triangle(call.queue(), p);
    // The transpose of A is its conjugate, and the transpose of its upper factor is L: out is done without moving
    // anything.
    libs::Decomposition d = decomposition(out, transposed(out));
    d.info = static_cast<int32_t*>(info.data_ptr());
    libs::solver(call.context()).cholesky(call, d, !upper);
  }
  if (options.check) verify(call, info, not_positive, not_positive_remedy);
  return {out, info};
}

Array cho_solve(const Array& factor, bool lower, const Array& given, const Stream& stream) {
  OpCall call(Op::cho_solve, {&factor, &given}, stream);
  const System s = system_of(call, factor, given);
  if (s.b.size() == 0) return as_given(call.empty(s.b.shape(), s.b.dtype()), s.vector);
  // L y = b, L^H x = y; or U^H y = b, U x = y.
  const Transpose first = lower ? Transpose::none : Transpose::adjoint,
                  second = lower ? Transpose::adjoint : Transpose::none;
  if (small(rows(s.a))) {
    params::SmallTriangular p{};
    p.upper = !lower;
    p.steps = 2;
    p.transpose[lower ? 1 : 0] = p.conjugate[lower ? 1 : 0] = true;
    return as_given(solve_small(call, s.a, s.b, p, nullptr), s.vector);
  }
  const Array x = copy_by_columns(call, s.b);
  call.reads(s.a);
  call.writes(x);
  solve_by_library(call, s.a, !lower, false, {{first}, {second}}, x, nullptr);
  return as_given(x, s.vector);
}

Solution solve_triangular(const Array& given_a, const Array& given_b, const TriangularOptions& options,
                          const Stream& stream) {
  OpCall call(Op::solve_triangular, {&given_a, &given_b}, stream);
  const System s = system_of(call, given_a, given_b);
  const auto checked = [&](const Array& info) {
    if (options.check)
      verify(call, info, "is singular: it has a zero on the diagonal", "call lstsq(), which takes such a matrix");
    return info;
  };
  if (s.b.size() == 0) {
    const Array nothing = as_given(call.empty(s.b.shape(), s.b.dtype()), s.vector);
    if (s.a.size() == 0) return {nothing, no_info(call, s.batch)};
    // Whether A is singular is still reported.
    const Array one = zeros(s.a.backend(), {rows(s.a), 1}, s.b.dtype(), call.on());
    return {nothing, solve_triangular(s.a, one, options, call.on()).info};
  }
  if (small(rows(s.a))) {
    const Array info = call.empty(s.batch, DType::int32);
    params::SmallTriangular p{};
    p.upper = !options.lower;
    p.unit = options.unit_diagonal;
    p.steps = 1;
    p.transpose[0] = options.how != Transpose::none;
    p.conjugate[0] = options.how == Transpose::adjoint;
    const Array x = solve_small(call, s.a, s.b, p, &info);
    return {as_given(x, s.vector), checked(info)};
  }
  const Array x = copy_by_columns(call, s.b), info = call.empty(s.batch, DType::int32);
  call.reads(s.a);
  call.writes(x);
  call.writes(info);
  solve_by_library(call, s.a, !options.lower, options.unit_diagonal, {{options.how}}, x,
                   static_cast<int32_t*>(info.data_ptr()));
  return {as_given(x, s.vector), checked(info)};
}

}  // namespace stator::linalg
