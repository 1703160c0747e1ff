// What the ops on matrices share: checks, layouts, and the report of matrices that failed.
#pragma once

#include "core/op_call.hpp"
#include "libs/solver.hpp"
#include "params/linalg.hpp"

#include <stator/linalg.hpp>

#include <string>

namespace stator::linalg::detail {

// x as (..., m, n), of a dtype that can be decomposed. ShapeError, DTypeError.
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

// A right-hand side for matrices of n rows: one axis is a vector, more axes are (..., n, k).
struct Rhs {
  Array b;  // (..., n, k)
  bool vector;
};
Rhs right_hand_side(const OpCall& call, const Array& a, const Array& b);
// x without the axis that was added to a vector.
Array as_given(const Array& x, bool vector);

// x, copied if its batch axes do not have a single stride: kernels take one stride for all of them.
Array stepping(const Array& x, const Stream& stream);
params::Matrices matrices(const Array& x);  // of a result of stepping()

// Uninitialised column-major matrices; a copy of x in that order (one launch).
Array empty_by_columns(OpCall& call, const Dims& batch, int64_t m, int64_t n, DType dtype);
Array copy_by_columns(OpCall& call, const Array& x);
libs::Batch column_major(const Array& x);  // of a result of those, or of by_columns()
// x itself if it is already column-major, else such a copy.
Array by_columns(OpCall& call, const Array& x);
// The transposes of dense row-major matrices, which are column-major without moving anything.
libs::Batch transposed(const Array& x);

inline int32_t* integers(const Array& x) { return static_cast<int32_t*>(x.data_ptr()); }
// What a library is asked for: the matrices of a, stored as `stored` says. info is an int32 array, or null if not
// wanted.
libs::Decomposition decomposition(const Array& a, const libs::Batch& stored, const Array* info = nullptr);

// int32 zeros of the batch's shape.
Array no_info(OpCall& call, const Dims& batch);
// Waits, and throws LinAlgError for the first info that is not 0: "<what> (info ...)".
void verify(const OpCall& call, const Array& info, const char* what, const char* remedy);

// Sets the elements of dense matrices (..., m, n) to the identity: two launches.
void fill_identity(const Array& x, const Stream& stream);

// Protects an iterative algorithm: matrices that hold NaN or infinity are zero while it runs, and their results become
// NaN afterwards.
class NonfiniteMask {
 public:
  // Takes dense matrices; column-major ones if only a triangle is read.
  NonfiniteMask(OpCall& call, const Array& dense, params::Part part = params::Part::whole);
  void restore(OpCall& call, const Array& info, std::initializer_list<const Array*> results) const;

 private:
  int64_t count_;
  int32_t* bad_;
};

}  // namespace stator::linalg::detail
