// Indexing with arrays. Indices have any integer dtype; -n..n-1 is valid. One outside reads 0, its write is dropped,
// and IndexError is raised at the next synchronising call of the stream.
#pragma once

#include <stator/array.hpp>

#include <optional>
#include <span>
#include <vector>

namespace stator {

// NumPy basic indexing. Exactly one of the four per entry.
struct STATOR_API Index {
  enum class Type : uint8_t { integer, slice, newaxis, ellipsis } type = Type::ellipsis;
  int64_t start = 0, stop = 0, step = 1;  // integer: start. slice: raw values as in Python
  bool has_start = false, has_stop = false;
};
STATOR_API Array getitem(const Array&, std::span<const Index> index);
// x[index] = value: value is broadcast and converted (same kind); overlap as if it were copied first. One launch, but
// for overlap. DTypeError for another kind, ShapeError where it does not broadcast, ValueError for read-only memory.
STATOR_API void setitem(const Array& x, std::span<const Index> index, const Operand& value, const Stream& = {});

// numpy.take along an axis (none: of the flattened array). Asynchronous.
STATOR_API Array take(const Array& x, const Array& indices, std::optional<int64_t> axis, const Array* out = nullptr,
                      const Stream& = {});

// One entry of an index with arrays: `array` (integers, or bool: a mask of as many axes), else `boolean`, a bool
// number, else `basic`.
struct STATOR_API ArrayIndex {
  Index basic;
  Array array;
  bool is_boolean = false, boolean = false;
};

// NumPy's x[index]: integer arrays broadcast together; their axes stand where the arrays do, or first when a slice,
// None or ... parts them. At most 8 arrays. A mask has the extents of the axes that it indexes (ShapeError) and
// synchronises once, to know how many places it selects; integer arrays do not. A new array.
STATOR_API Array index_get(const Array& x, std::span<const ArrayIndex> index, const Stream& = {});
// x[index] = value, broadcast and converted within its kind. A single mask and a single number do not synchronise. Of
// several writes to one element the last in row-major order stays on cpu; on cuda any one of them, or the last where the
// backend is deterministic, which then takes two launches more and 8 bytes an element of x.
STATOR_API void index_put(const Array& x, std::span<const ArrayIndex> index, const Operand& value, const Stream& = {});

// numpy.take_along_axis: out[.., k, ..] = x[.., indices[.., k, ..], ..]; the other axes broadcast. Asynchronous.
STATOR_API Array take_along_axis(const Array& x, const Array& indices, int64_t axis, const Stream& = {});
// numpy.put_along_axis, in place. Repeated writes as of index_put.
STATOR_API void put_along_axis(const Array& x, const Array& indices, const Operand& values, int64_t axis,
                               const Stream& = {});

// Arrays and masks. A mask has dtype bool (DTypeError) and a shape that broadcasts (ShapeError).

// x where the mask is false, `value` (a number or a 0-d array) elsewhere, in x's dtype. Asynchronous.
STATOR_API Array masked_fill(const Array& x, const Array& mask, const Operand& value, const Stream& = {});

// With a size the result has that many elements, the first ones found and then `fill`, and nothing synchronises.
// DTypeError for a floating fill of other elements.
struct STATOR_API Capacity {
  std::optional<int64_t> size;
  Scalar fill = 0;
};
// The elements of x where the mask is true, in row-major order. Synchronises once, unless the size is given.
STATOR_API Array masked_select(const Array& x, const Array& mask, const Capacity& capacity = {}, const Stream& = {});
// x with the elements of source, in row-major order, put one after the other where the mask is true. A source that is
// too short is an IndexError at the next synchronising call, and x stays there. Asynchronous.
STATOR_API Array masked_scatter(const Array& x, const Array& mask, const Array& source, const Stream& = {});

// The coordinates of what is not zero, an int64 array an axis. Synchronises once, unless the size is given.
STATOR_API std::vector<Array> nonzero(const Array& x, const Capacity& capacity = {}, const Stream& = {});
// The slices along the axis (none: of the flattened array) at which condition, one axis, is true. Synchronises once.
STATOR_API Array compress(const Array& condition, const Array& x, std::optional<int64_t> axis, const Stream& = {});

namespace nn {

// The gradient of x: 0 where the mask is true.
STATOR_API Array masked_fill_backward(const Array& grad, const Array& mask, const Stream& = {});
// The gradient of x, of the mask's shape; grad is that of the selected elements.
STATOR_API Array masked_select_backward(const Array& grad, const Array& mask, const Stream& = {});
// The gradients of x and of source. Asynchronous.
struct STATOR_API MaskedScatterGradients {
  Array x, source;
};
STATOR_API MaskedScatterGradients masked_scatter_backward(const Array& grad, const Array& mask,
                                                          const Dims& source_shape, const Stream& = {});

}  // namespace nn
// Writing and adding up through indices. Indices as in indexing.hpp. Results are new arrays in x's dtype; narrow
// integers and half types are accumulated in 32 bits and rounded once. Asynchronous. deterministic: equal bits run to
// run (none: the backend's setting); without it cuda adds atomically and
// keeps any of several values set at one element, with it the last (two launches more). cpu is always in order.

enum class Reduce : uint8_t { set, add, multiply, minimum, maximum };

// x with `src`, broadcast to indices' shape, put or gathered at out[.., indices[.., k, ..], ..]; axes other than `axis`
// broadcast as in take_along_axis. DTypeError: bool adds nothing, complex has no order and no atomic product.
STATOR_API Array scatter(const Array& x, int64_t axis, const Array& indices, const Operand& src, Reduce reduce,
                         std::optional<bool> deterministic = {}, const Stream& = {});
STATOR_API Array scatter_add(const Array& x, int64_t axis, const Array& indices, const Operand& src,
                             std::optional<bool> deterministic = {}, const Stream& = {});
// x with slice k of src added to slice indices[k] along the axis; indices has one axis.
STATOR_API Array index_add(const Array& x, int64_t axis, const Array& indices, const Operand& src,
                           std::optional<bool> deterministic = {}, const Stream& = {});

// out[s] reduces the rows src[e] with index[e] == s, in any order of e; index has one axis, as long as src's first.
// An empty segment has sum 0, mean NaN, and the identity as extreme: infinity, or the dtype's last number.
STATOR_API Array segment_sum(const Array& src, const Array& index, int64_t num_segments,
                             std::optional<bool> deterministic = {}, const Stream& = {});
STATOR_API Array segment_mean(const Array& src, const Array& index, int64_t num_segments,
                              std::optional<bool> deterministic = {}, const Stream& = {});
STATOR_API Array segment_min(const Array& src, const Array& index, int64_t num_segments, const Stream& = {});
STATOR_API Array segment_max(const Array& src, const Array& index, int64_t num_segments, const Stream& = {});

}  // namespace stator
