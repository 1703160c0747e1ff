// What recurrent cells and layers share: rows of matrices for the kernels, and products into addresses in memory.
#pragma once

#include "core/op_call.hpp"
#include "ops/checks.hpp"
#include "params/recurrent.hpp"

#include <stator/nn/recurrent.hpp>

namespace stator::nn {

using params::RecurrentKind;
using params::RecurrentRows;

inline int64_t gates_of(RecurrentKind kind) {
  return kind == RecurrentKind::lstm ? 4 : kind == RecurrentKind::gru ? 3 : 1;
}
// The kind of cell of an op. Of rnn by its nonlinearity: ValueError for another name than "tanh" and "relu".
RecurrentKind kind_of(const OpCall& call, std::string_view nonlinearity);

// float32 for halves, else the dtype.
inline DType wide_of(DType dtype) { return in(dtype, dtypes::full_floats) ? dtype : DType::float32; }

// An array of one floating dtype with all others: DTypeError.
void check_dtype(const OpCall& call, const Array& x, const char* what, DType wanted, const char* whose);
void check_shape(const OpCall& call, const Array& x, const char* what, const Dims& wanted);

// The array itself where the elements of its last axis are side by side, else a copy.
Array with_dense_rows(const Array& x, const Stream& stream);
// The rows of a matrix from with_dense_rows().
RecurrentRows rows_of(const Array& x);
inline RecurrentRows rows_at(const RecurrentRows& rows, int64_t elements, DType dtype) {
  return {static_cast<char*>(rows.data) + elements * itemsize(dtype), rows.row};
}

// A matrix as products take it: data that `array` keeps alive.
struct Factor {
  Array array;
  int64_t rows, cols, leading;
  bool transposed;

  Factor(const Array& matrix, const Stream& stream);  // copies it where libraries do not take its layout
  Factor turned() const {
    Factor f = *this;
    std::swap(f.rows, f.cols);
    f.transposed = !f.transposed;
    return f;
  }
};
// A matrix that a product writes; its rows are `leading` elements apart.
struct ProductTarget {
  void* data;
  int64_t leading;
  DType dtype;
};
// target = left right, or += with `add`. Left: at `data`.
void multiply(OpCall& call, const void* data, const Factor& left, const Factor& right, const ProductTarget& target,
              bool add);

}  // namespace stator::nn
