// What the ops on matrices share: checks, layouts, and the look at what failed.
#pragma once

#include "core/op_call.hpp"
#include "params/linalg.hpp"
#include "libs/solver.hpp"

#include <stator/linalg.hpp>

#include <string>

namespace stator::decompositions {

// x as (..., m, n) of a dtype that decompositions take. ShapeError, DTypeError.
Array operand(const OpCall& call, const Array& x);
void require_square(const OpCall& call, const Array& x);
// The batch of x; x broadcast to a batch.
Dims batch_of(const Array& x);
Array with_batch(const Array& x, const Dims& batch);
Dims matrix_shape(const Dims& batch, int64_t m, int64_t n);
Dims vector_shape(const Dims& batch, int64_t n);
int64_t product(const Dims& dims);
inline int64_t rows(const Array& x) { return x.shape()[x.ndim() - 2]; }
inline int64_t cols(const Array& x) { return x.shape()[x.ndim() - 1]; }
inline bool small(int64_t n) { return n <= params::small_matrix; }

// A right-hand side beside matrices of n rows: one axis is a vector, more are (..., n, k).
struct Rhs {
  Array b;  // (..., n, k)
  bool vector;
};
Rhs right_hand_side(const OpCall& call, const Array& a, const Array& b);
// x without the axis that a vector was given.
Array as_given(const Array& x, bool vector);

// x, copied when its batch axes do not step evenly: a kernel takes one stride for all of them.
Array stepping(const Array& x, const Stream& stream);
params::Matrices matrices(const Array& x);  // of what stepping() gave

// Uninitialised matrices stored column after column; the copy of x in that order (one launch).
Array empty_by_columns(OpCall& call, const Dims& batch, int64_t m, int64_t n, DType dtype);
Array copy_by_columns(OpCall& call, const Array& x);
libs::Batch column_major(const Array& x);  // of what those gave, or by_columns()
// x itself where it is stored so already, else its copy.
Array by_columns(OpCall& call, const Array& x);
// The transposes of dense row-major matrices, which are column-major as they lie.
libs::Batch transposed(const Array& x);

inline int32_t* integers(const Array& x) { return static_cast<int32_t*>(x.data_ptr()); }
// What a library is asked for: the matrices of a, stored so; info is an int32 array, or null where none is wanted.
libs::Decomposition decomposition(const Array& a, const libs::Batch& stored, const Array* info = nullptr);

// int32 zeros of the batch's shape.
Array no_info(OpCall& call, const Dims& batch);
// Waits, and throws LinAlgError for the first info that is not 0: "<what> (info ...)".
void verify(const OpCall& call, const Array& info, const char* what, const char* remedy);

// Sets the elements of dense matrices (..., m, n) to the identity: two launches.
void fill_identity(const Array& x, const Stream& stream);

// Around an algorithm that iterates: matrices with NaN or infinity become zero before it, their results NaN after it.
class Guarded {
 public:
  // The matrices as they lie, one after the other; in columns, where only a triangle is read.
  Guarded(OpCall& call, const Array& dense, params::Part part = params::Part::whole);
  void poison(OpCall& call, const Array& info, std::initializer_list<const Array*> results) const;

 private:
  int64_t count_;
  int32_t* bad_;
};

}  // namespace stator::decompositions
