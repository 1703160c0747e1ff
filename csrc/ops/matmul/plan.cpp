#include "ops/matmul/plan.hpp"

#include <stator/error.hpp>
#include <stator/op_table.hpp>

#include <algorithm>
#include <string>

namespace stator::matmul_plan {
namespace {

// Dtypes that a library multiplies; integers have a kernel of their own.
constexpr DTypeSet multiplied = dtypes::floats | dtypes::complexes;

std::string supported() {
  std::string names;
  for (int i = 0; i < dtype_count; ++i) {
    if (!in(DType(i), multiplied)) continue;
    names += (names.empty() ? "" : ", ") + std::string(name(DType(i)));
  }
  return names;
}

DType opmath(DType d) { return d == DType::float16 || d == DType::bfloat16 ? DType::float32 : d; }
bool is_complex(DType d) { return in(d, dtypes::complexes); }

void check_compute_dtype(DType wanted, DType promoted) {
  const bool known = in(wanted, multiplied);
  if (known && is_complex(wanted) == is_complex(promoted)) return;
  throw DTypeError(
      "matmul", "compute_dtype=" + std::string(name(wanted)) + " for operands of " + std::string(name(promoted)),
      known ? "Complex operands need a complex dtype, real operands a real one" : "Use one of " + supported());
}

// A batch dimension that shares B and continues the rows of A and C is merged into the rows: one larger product.
bool fold_rows(Plan& plan) {
  const BatchDim dim = plan.batch.back();
  if (dim.b != 0) return false;
  Plan folded = plan;
  folded.batch.pop_back();
  if (plan.a.rows == 1) {
    folded.a.row_stride = dim.a;
    folded.c.row_stride = dim.c;
  } else if (dim.a != plan.a.rows * plan.a.row_stride || dim.c != plan.c.rows * plan.c.row_stride) {
    return false;
  }
  folded.a.rows = folded.c.rows = plan.a.rows * dim.extent;
  if (!layout_of(folded.a) || !layout_of(folded.c)) return false;
  plan = std::move(folded);
  return true;
}

Dims batch_of(const Dims& shape) { return Dims(std::span<const int64_t>(shape.data(), std::max(0, shape.size() - 2))); }

// The strides of an array of shape `result` for the shape `product`: the extents of 1 of vectors get stride 0.
Dims product_strides(const Dims& strides, bool left_vector, bool right_vector) {
  Dims out = strides;
  if (left_vector || right_vector) {
    const int kept = strides.size() - (left_vector ? 0 : 1) - (right_vector ? 0 : 1);
    out = Dims(std::span<const int64_t>(strides.data(), kept));
    out.push_back(left_vector ? 0 : strides[kept]);
    out.push_back(right_vector ? 0 : strides[strides.size() - 1]);
  }
  return out;
}

// A vector on the left is a row, on the right a column.
void as_matrix(Dims& shape, Dims& strides, bool row) {
  if (shape.size() != 1) return;
  shape = row ? Dims{1, shape[0]} : Dims{shape[0], 1};
  strides = row ? Dims{0, strides[0]} : Dims{strides[0], 0};
}

void exchange_operands(Plan& plan) {  // C^T = B^T A^T
  const Matrix a = plan.a;
  plan.a = plan.b.transposed();
  plan.b = a.transposed();
  plan.c = plan.c.transposed();
  for (BatchDim& dim : plan.batch) std::swap(dim.a, dim.b);
  plan.exchanged = !plan.exchanged;
}

}  // namespace

void require_result_dtype(std::string_view op, DType common, DType wanted) {
  const bool whole = in(common, dtypes::integers | dtypes::boolean);
  const DTypeSet accepted = common == DType::bool_ ? dtypes::integers | dtypes::boolean
                            : whole                ? dtypes::integers
                            : is_complex(common)   ? dtypes::complexes
                                                   : multiplied;
  if (in(wanted, accepted)) return;
  throw DTypeError(std::string(op),
                   "dtype=" + std::string(name(wanted)) + " for operands of " + std::string(name(common)),
                   whole ? "Products of integers are exact. Use an integer dtype, or convert the operands with astype"
                   : is_complex(common) ? "Complex operands need a complex dtype"
                                        : "Use one of " + supported());
}

ProductShapes product_shapes(const Array& a, const Array& b) {
  if (a.ndim() == 0 || b.ndim() == 0) {
    throw ShapeError("matmul", "got operands of shapes " + str(a.shape()) + " and " + str(b.shape()),
                     "both must have at least one dimension; multiply() takes scalars");
  }
  const bool left_vector = a.ndim() == 1, right_vector = b.ndim() == 1;
  const int64_t inner = a.shape()[a.ndim() - 1], other = b.shape()[right_vector ? 0 : b.ndim() - 2];
  if (inner != other) {
    throw ShapeError("matmul",
                     "got operands of shapes " + str(a.shape()) + " and " + str(b.shape()) + ": " +
                         std::to_string(inner) + " columns and " + std::to_string(other) + " rows",
                     "the last axis of the left operand must equal the last but one of the right");
  }
  ProductShapes shapes;
  shapes.product = broadcast_shapes("matmul", batch_of(a.shape()), batch_of(b.shape()));
  shapes.result = shapes.product;
  shapes.product.push_back(left_vector ? 1 : a.shape()[a.ndim() - 2]);
  shapes.product.push_back(right_vector ? 1 : b.shape()[b.ndim() - 1]);
  if (!left_vector) shapes.result.push_back(a.shape()[a.ndim() - 2]);
  if (!right_vector) shapes.result.push_back(b.shape()[b.ndim() - 1]);
  return shapes;
}

Types choose_types(DType a, DType b, const MatmulOptions& options) {
  const DType promoted = promote(a, b);
  if (!in(promoted, multiplied)) {
    throw DTypeError("matmul", "got operands of " + std::string(name(a)) + " and " + std::string(name(b)),
                     "convert one with astype: products are of integers, or of " + supported());
  }
  if (options.compute_dtype) check_compute_dtype(*options.compute_dtype, promoted);
  if (options.dtype) require_result_dtype("matmul", promoted, *options.dtype);
  Types types;
  types.rounded = options.compute_dtype.value_or(promoted);
  types.result = options.dtype.value_or(promoted);
  const DType sum = promote(opmath(types.rounded), opmath(types.result));
  types.operands = opmath(types.rounded) == sum ? types.rounded : sum;
  types.product = types.result == types.operands ? types.result : sum;
  return types;
}

std::optional<Layout> layout_of(const Matrix& m) {
  if ((m.col_stride == 1 || m.cols == 1) && (m.row_stride >= m.cols || m.rows == 1)) {
    return Layout{false, m.rows == 1 ? m.cols : m.row_stride};
  }
  if ((m.row_stride == 1 || m.rows == 1) && (m.col_stride >= m.rows || m.cols == 1)) {
    return Layout{true, m.cols == 1 ? m.rows : m.col_stride};
  }
  return std::nullopt;
}

Plan make_plan(const Dims& a_shape, const Dims& a_strides, const Dims& b_shape, const Dims& b_strides,
               const Dims& c_shape, const Dims& c_strides) {
  const auto matrix = [](const Dims& shape, const Dims& strides) {
    const int n = shape.size();
    return Matrix{shape[n - 2], shape[n - 1], strides[n - 2], strides[n - 1]};
  };
  Plan plan{matrix(a_shape, a_strides), matrix(b_shape, b_strides), matrix(c_shape, c_strides), {}, false};
  const int dims = c_shape.size() - 2;
  const auto stride = [dims](const Dims& shape, const Dims& strides, int dim) -> int64_t {
    const int own = dim - (dims - (shape.size() - 2));  // shorter shapes are broadcast in front
    return own < 0 || shape[own] == 1 ? 0 : strides[own];
  };
  for (int i = 0; i < dims; ++i) {
    if (c_shape[i] == 1) continue;
    const BatchDim dim{c_shape[i], stride(a_shape, a_strides, i), stride(b_shape, b_strides, i), c_strides[i]};
    if (!plan.batch.empty()) {
      BatchDim& outer = plan.batch.back();
      if (outer.a == dim.a * dim.extent && outer.b == dim.b * dim.extent && outer.c == dim.c * dim.extent) {
        outer = {outer.extent * dim.extent, dim.a, dim.b, dim.c};
        continue;
      }
    }
    plan.batch.push_back(dim);
  }
  while (!plan.batch.empty()) {
    if (fold_rows(plan)) continue;
    exchange_operands(plan);
    const bool folded = fold_rows(plan);
    exchange_operands(plan);
    if (!folded) break;
  }
  if (const auto layout = layout_of(plan.c); layout && layout->transposed) exchange_operands(plan);
  return plan;
}

Plan plan_of(const Array& a, const Array& b, const Array& c, const Dims& product) {
  Dims a_shape = a.shape(), a_strides = a.strides(), b_shape = b.shape(), b_strides = b.strides();
  as_matrix(a_shape, a_strides, true);
  as_matrix(b_shape, b_strides, false);
  return make_plan(a_shape, a_strides, b_shape, b_strides, product,
                   product_strides(c.strides(), a.ndim() == 1, b.ndim() == 1));
}

Matrix matrix_of(const Array& x, bool row) {
  Dims shape = x.shape(), strides = x.strides();
  as_matrix(shape, strides, row);
  const int n = shape.size();
  return {shape[n - 2], shape[n - 1], strides[n - 2], strides[n - 1]};
}

}  // namespace stator::matmul_plan
