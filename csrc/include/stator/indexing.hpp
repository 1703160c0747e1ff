// Indexing with arrays. Indices have any integer dtype; -n..n-1 is valid. One outside reads 0, its write is dropped,
// and IndexError is raised at the next synchronising call of the stream.
#pragma once

#include <stator/array.hpp>
#include <stator/creation.hpp>

#include <optional>
#include <span>

namespace stator {

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

}  // namespace stator
