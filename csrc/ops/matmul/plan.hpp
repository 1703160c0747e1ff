// How a product of arrays becomes library calls: dtypes, matrix layouts, batch dimensions. Nothing here allocates or
// calls a library.
#pragma once

#include <stator/array.hpp>
#include <stator/matmul.hpp>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace stator::matmul_plan {

// Operands are rounded to `rounded`, then converted (exactly) to `operands`, multiplied into `product`, and converted
// to `result`. Every product takes `operands` and sums in the wider of float32 and that dtype.
struct Types {
  DType rounded, operands, product, result;
};
// DTypeError unless the product of operands of dtype `common` can have dtype `wanted`: an integer one for integers,
// bool too for bool, a complex one for complex operands, floating or complex for floating ones.
void require_result_dtype(std::string_view op, DType common, DType wanted);

// DTypeError for operands that do not promote to a floating dtype, and for dtypes that drop the imaginary part.
Types choose_types(DType a, DType b, const MatmulOptions& options);

// A matrix with its strides in elements.
struct Matrix {
  int64_t rows, cols, row_stride, col_stride;
  Matrix transposed() const { return {cols, rows, col_stride, row_stride}; }
};
// What BLAS takes without a copy: rows (or if transposed, columns) that are dense and do not overlap.
struct Layout {
  bool transposed;
  int64_t leading;
};
std::optional<Layout> layout_of(const Matrix& matrix);

// One batch dimension; strides are 0 where an operand is broadcast.
struct BatchDim {
  int64_t extent, a, b, c;
};

// c = a * b for every index of `batch`, outermost first.
struct Plan {
  Matrix a, b, c;
  std::vector<BatchDim> batch;
  bool exchanged = false;  // the transposed product: a is the transpose of the right operand, b that of the left one
};

// a, b and c have at least two dimensions, of which the last two are the matrices; the others broadcast to those of c.
Plan make_plan(const Dims& a_shape, const Dims& a_strides, const Dims& b_shape, const Dims& b_strides,
               const Dims& c_shape, const Dims& c_strides);

// The shape of a product: as NumPy defines it, and with extents of 1 for vectors. ShapeError.
struct ProductShapes {
  Dims result, product;
};
ProductShapes product_shapes(const Array& a, const Array& b);
// The plan for arrays of those shapes; vectors are rows on the left and columns on the right.
Plan plan_of(const Array& a, const Array& b, const Array& c, const Dims& product);
// The last two axes; a vector is a row, or a column.
Matrix matrix_of(const Array& x, bool row);

}  // namespace stator::matmul_plan
