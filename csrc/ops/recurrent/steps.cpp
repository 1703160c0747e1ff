#include "ops/recurrent/steps.hpp"

#include "libs/blas.hpp"
#include "ops/matmul/plan.hpp"

#include <stator/creation.hpp>

#include <string>

namespace stator::nn {

RecurrentKind kind_of(const OpCall& call, std::string_view nonlinearity) {
  switch (call.op()) {
    case Op::gru:
    case Op::gru_backward:
    case Op::gru_cell: return RecurrentKind::gru;
    case Op::lstm:
    case Op::lstm_backward:
    case Op::lstm_cell: return RecurrentKind::lstm;
    default: break;
  }
  if (nonlinearity == "tanh") return RecurrentKind::tanh;
  if (nonlinearity == "relu") return RecurrentKind::relu;
  throw ValueError(std::string(call.name()), "nonlinearity='" + std::string(nonlinearity) + "'",
                   "pass 'tanh' or 'relu'");
}

void check_dtype(const OpCall& call, const Array& x, const char* what, DType wanted, const char* whose) {
  if (x.dtype() != wanted)
    throw DTypeError(
        std::string(call.name()),
        std::string(what) + " is " + std::string(name(x.dtype())) + ", " + whose + " is " + std::string(name(wanted)),
        "convert them to one dtype with astype");
}

void check_shape(const OpCall& call, const Array& x, const char* what, const Dims& wanted) {
  if (!(x.shape() == wanted))
    throw ShapeError(std::string(call.name()), "got " + std::string(what) + " " + str(x.shape()),
                     "pass " + std::string(what) + " " + str(wanted));
}

Array with_dense_rows(const Array& x, const Stream& stream) {
  const int last = x.ndim() - 1;
  return x.strides()[last] == 1 || x.shape()[last] == 1 ? x : copy(x, stream);
}

RecurrentRows rows_of(const Array& x) { return {x.data_ptr(), x.strides()[x.ndim() - 2]}; }

Factor::Factor(const Array& matrix, const Stream& stream) : array(matrix) {
  auto layout = matmul_plan::layout_of(matmul_plan::matrix_of(array, true));
  if (!layout) {
    array = copy(array, stream);
    layout = matmul_plan::layout_of(matmul_plan::matrix_of(array, true));
  }
  rows = array.shape()[0];
  cols = array.shape()[1];
  leading = layout->leading;
  transposed = layout->transposed;
}

void multiply(OpCall& call, const void* data, const Factor& left, const Factor& right, const ProductTarget& target,
              bool add) {
  libs::Gemm g;
  g.m = left.rows;
  g.n = right.cols;
  g.k = left.cols;
  if (g.m == 0 || g.n == 0 || g.k == 0) return;
  g.a = data;
  g.b = right.array.data_ptr();
  g.c = target.data;
  g.lda = left.leading;
  g.ldb = right.leading;
  g.ldc = target.leading;
  g.transpose_a = left.transposed;
  g.transpose_b = right.transposed;
  g.operands = right.array.dtype();
  g.result = target.dtype;
  g.beta = add ? 1.0 : 0.0;
  g.tf32 = call.context().options().allow_tf32;
  // The call has declared the operands of all steps.
  call.expect_bytes((g.m * g.k + g.k * g.n + g.m * g.n) * int64_t(itemsize(g.operands)));
  call.expect_multiply_adds(g.m * g.n * g.k);
  libs::blas(call.context()).gemm(call, g);
  call.expect_multiply_adds(0);
}

}  // namespace stator::nn
