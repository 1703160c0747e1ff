// Indexing: views, arrays of indices, masks, scatters and segment reductions. Indices have any integer dtype and are
// valid from -n to n - 1. An index out of range reads 0, or its write is dropped, and the next synchronising call of
// the stream throws IndexError.
#pragma once

#include <stator/array.hpp>

#include <optional>
#include <span>
#include <vector>

namespace stator {

// An entry of a NumPy basic index.
struct STATOR_API Index {
  enum class Type : uint8_t { integer, slice, newaxis, ellipsis } type = Type::ellipsis;
  int64_t start = 0, stop = 0, step = 1;  // an integer is in `start`; of a slice the values as given in Python
  bool has_start = false, has_stop = false;
};
// a view; IndexError at once for an integer out of range, ValueError for a step of 0
STATOR_API Array getitem(const Array&, std::span<const Index> index);
// x[index] = value: value is broadcast and converted to any dtype, as by astype; overlap gives the same result as if
// value were copied first. One launch, or two where they overlap. ValueError for an integer that x's dtype does not
// hold and for read-only memory, DTypeError for a complex number in a real array, ShapeError where value does not
// broadcast. Asynchronous.
STATOR_API void setitem(const Array& x, std::span<const Index> index, const Operand& value, const Stream& = {});

// numpy.take along an axis; none: from the flattened array. Asynchronous.
STATOR_API Array take(const Array& x, const Array& indices, std::optional<int64_t> axis, const Array* out = nullptr,
                      const Stream& = {});

// An entry of an index with arrays: `array` if it is not empty (integers, or a bool mask for as many axes as it has),
// else the bool number `boolean` if is_boolean, else `basic`.
struct STATOR_API ArrayIndex {
  Index basic;
  Array array;
  bool is_boolean = false, boolean = false;
};

// NumPy's x[index], as a new array: integer arrays broadcast together; their axes replace the arrays' position, or come
// first when a slice, None or ... separates the arrays. At most 8 arrays. A mask has the extents of the axes that it
// indexes, or 0, which selects nothing (IndexError), and synchronises once, to count the elements that it selects;
// integer arrays do not.
STATOR_API Array index_get(const Array& x, std::span<const ArrayIndex> index, const Stream& = {});
// x[index] = value, broadcast and converted as in setitem. Masks synchronise as in index_get, except a single mask
// with a single number. Of several writes to one element, on cpu the last in row-major order stays; on cuda any one of
// them, or the last if the backend is deterministic, which takes two more launches and 8 bytes per element of x.
STATOR_API void index_put(const Array& x, std::span<const ArrayIndex> index, const Operand& value, const Stream& = {});

// numpy.take_along_axis: out[.., k, ..] = x[.., indices[.., k, ..], ..]; the other axes broadcast. Asynchronous.
STATOR_API Array take_along_axis(const Array& x, const Array& indices, int64_t axis, const Stream& = {});
// numpy.put_along_axis, in place. Repeated writes as in index_put. Asynchronous.
STATOR_API void put_along_axis(const Array& x, const Array& indices, const Operand& values, int64_t axis,
                               const Stream& = {});

// Masks have dtype bool (DTypeError) and a shape that broadcasts with x (ShapeError).

// x where the mask is false, `value` (a number or a 0-d array) where it is true, in x's dtype. Asynchronous.
STATOR_API Array masked_fill(const Array& x, const Array& mask, const Operand& value, const Stream& = {});

// A fixed size of the result, so that nothing synchronises: it has the first `size` elements found, then `fill`.
// ShapeError for a negative size, DTypeError for a floating `fill` if the elements are not floating.
struct STATOR_API Capacity {
  std::optional<int64_t> size;
  Scalar fill = 0;
};
// The elements of x where the mask is true, in row-major order. Synchronises once unless the size is given.
STATOR_API Array masked_select(const Array& x, const Array& mask, const Capacity& capacity = {}, const Stream& = {});
// A copy of x, broadcast with the mask, with the elements of source, in row-major order, put one after the other where
// the mask is true. If source is too short, the next synchronising call throws IndexError, and the other elements of x
// stay. Asynchronous.
STATOR_API Array masked_scatter(const Array& x, const Array& mask, const Array& source, const Stream& = {});

// The coordinates of the elements that are not zero, in row-major order: one int64 array per axis. Synchronises once
// unless the size is given.
STATOR_API std::vector<Array> nonzero(const Array& x, const Capacity& capacity = {}, const Stream& = {});
// The slices of x along the axis (none: of the flattened array) where condition, which has one axis and is at most as
// long (ShapeError), is true. Synchronises once.
STATOR_API Array compress(const Array& condition, const Array& x, std::optional<int64_t> axis, const Stream& = {});

namespace nn {

// The gradient of x: grad, with 0 where the mask is true. Asynchronous.
STATOR_API Array masked_fill_backward(const Array& grad, const Array& mask, const Stream& = {});
// The gradient of x, of the mask's shape; grad is the gradient of the selected elements. Asynchronous.
STATOR_API Array masked_select_backward(const Array& grad, const Array& mask, const Stream& = {});
// The gradients of x and of source. Asynchronous.
struct STATOR_API MaskedScatterGradients {
  Array x, source;
};
STATOR_API MaskedScatterGradients masked_scatter_backward(const Array& grad, const Array& mask,
                                                          const Dims& source_shape, const Stream& = {});

}  // namespace nn

// Scatters and segment reductions. Results are new arrays in x's dtype; narrow integers and half types are accumulated
// in 32 bits and rounded once. Asynchronous. deterministic: equal bits from run to run (none: the backend's setting).
// Without it cuda adds atomically and keeps any of several values set at one element; with it cuda keeps the last, in
// two more launches. cpu always works in order.

enum class Reduce : uint8_t { set, add, multiply, minimum, maximum };

// x with `src`, broadcast to indices' shape, written to or reduced into out[.., indices[.., k, ..], ..]; axes other
// than `axis` broadcast as in take_along_axis. DTypeError for bool with add or multiply, and for complex with multiply,
// minimum or maximum, since complex has no atomic product and no order.
STATOR_API Array scatter(const Array& x, int64_t axis, const Array& indices, const Operand& src, Reduce reduce,
                         std::optional<bool> deterministic = {}, const Stream& = {});
STATOR_API Array scatter_add(const Array& x, int64_t axis, const Array& indices, const Operand& src,
                             std::optional<bool> deterministic = {}, const Stream& = {});
// x with slice k of src added to its slice indices[k] along the axis; indices has one axis.
STATOR_API Array index_add(const Array& x, int64_t axis, const Array& indices, const Operand& src,
                           std::optional<bool> deterministic = {}, const Stream& = {});

// out[s] reduces the rows src[e] with index[e] == s, for e in any order; index has one axis, as long as src's first. An
// empty segment has the sum 0, the mean NaN, and as minimum or maximum the identity: infinity, or the dtype's extreme.
STATOR_API Array segment_sum(const Array& src, const Array& index, int64_t num_segments,
                             std::optional<bool> deterministic = {}, const Stream& = {});
STATOR_API Array segment_mean(const Array& src, const Array& index, int64_t num_segments,
                              std::optional<bool> deterministic = {}, const Stream& = {});
STATOR_API Array segment_min(const Array& src, const Array& index, int64_t num_segments, const Stream& = {});
STATOR_API Array segment_max(const Array& src, const Array& index, int64_t num_segments, const Stream& = {});

}  // namespace stator
