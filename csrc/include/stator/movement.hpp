// Joining, splitting, shifting, padding, repeating and views. Results are new row-major arrays unless called views.
// Every dtype. Asynchronous unless stated otherwise. ShapeError if shapes do not fit, AxisError for an axis that is out
// of range or named twice, ValueError for negative counts and widths, no arrays, or fewer than one section.
#pragma once

#include <stator/array.hpp>

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stator {

// numpy.concatenate, in one launch per 640 arrays; without an axis, of the flattened arrays. The result has the
// promoted dtype. Arrays of another dtype are copied first, and so are those whose axes before or after `axis` do not
// each collapse to one stride. Large transposed arrays instead take one tiled launch each, without a copy.
STATOR_API Array concat(const std::vector<Array>& arrays, std::optional<int64_t> axis = 0, const Array* out = nullptr,
                        const Stream& = {});
// Joins arrays of equal shapes along a new axis.
STATOR_API Array stack(const std::vector<Array>& arrays, int64_t axis = 0, const Array* out = nullptr,
                       const Stream& = {});
// Views of x: `sections` of lengths that differ by at most one, the longer ones first; or cut before each of `indices`,
// which are slice bounds.
STATOR_API std::vector<Array> split(const Array& x, int64_t sections, int64_t axis = 0);
STATOR_API std::vector<Array> split(const Array& x, std::span<const int64_t> indices, int64_t axis = 0);
// x with one axis, in row-major order: a view where the strides allow it, else a copy.
STATOR_API Array ravel(const Array& x, const Stream& = {});
// A view rotated by k quarter turns, from the first of the two axes towards the second.
STATOR_API Array rot90(const Array& x, int64_t k = 1, int64_t first = 0, int64_t second = 1);

// Cyclic shifts, one per axis; shifts of an axis that is named twice add up, and one axis broadcasts against several
// shifts and the reverse. Without axes the flattened array is rolled, which is copied first if it is not contiguous.
STATOR_API Array roll(const Array& x, std::span<const int64_t> shifts,
                      const std::optional<std::vector<int64_t>>& axes = {}, const Stream& = {});
// numpy.pad with the widths {before, after} of each axis. mode: "constant" (value), "edge", "reflect", "symmetric" or
// "wrap"; ValueError for others. ShapeError for padding an empty axis unless the mode is "constant".
STATOR_API Array pad(const Array& x, const std::vector<std::pair<int64_t, int64_t>>& widths,
                     std::string_view mode = "constant", Scalar value = 0, const Stream& = {});
// numpy.tile: the whole array repeated along each axis.
STATOR_API Array tile(const Array& x, std::span<const int64_t> repetitions, const Stream& = {});
// Each element `count` times along the axis; without an axis, of the flattened array.
STATOR_API Array repeat(const Array& x, int64_t count, std::optional<int64_t> axis = {}, const Stream& = {});
// Element i counts[i] times; counts are integers (DTypeError), one per element or one for all. Synchronises, since it
// reads them.
STATOR_API Array repeat(const Array& x, const Array& counts, std::optional<int64_t> axis = {}, const Stream& = {});

// Views, without a launch. ShapeError when the result cannot be a view or would leave the buffer.
STATOR_API Array permute_dims(const Array&, std::span<const int64_t> axes);
STATOR_API Array broadcast_to(const Array&, const Dims& shape);
// One extent may be -1 and is inferred. copy: true copies always, false never (ShapeError when a copy is needed), none
// only when needed.
STATOR_API Array reshape(const Array&, std::span<const int64_t> shape, std::optional<bool> copy = {},
                         const Stream& = {});
// Strides and offset in elements; the offset counts from the start of the buffer.
STATOR_API Array as_strided(const Array&, const Dims& shape, const Dims& strides, int64_t offset = 0);
// The same bytes as another dtype; the last axis is scaled when the item sizes differ.
STATOR_API Array view(const Array&, DType dtype);

// Drops axes of length 1; none: all of them. ShapeError where an axis to drop has another length.
STATOR_API Array squeeze(const Array&, const std::optional<std::vector<int64_t>>& axes = {});
STATOR_API Array expand_dims(const Array&, std::span<const int64_t> axes);  // axes of the result
STATOR_API Array moveaxis(const Array&, std::span<const int64_t> source, std::span<const int64_t> destination);
STATOR_API Array flip(const Array&, const std::optional<std::vector<int64_t>>& axes = {});  // none: every axis
// Of the last two axes, as views; ShapeError for fewer axes. k: above (positive) or below (negative) the main diagonal.
STATOR_API Array matrix_transpose(const Array&);
STATOR_API Array diagonal(const Array&, int64_t k = 0);
STATOR_API std::vector<Array> unstack(const Array&, int64_t axis = 0);  // one view per index along the axis, without it
// Each array broadcast to the common shape. The views must not be written to.
STATOR_API std::vector<Array> broadcast_arrays(std::span<const Array> arrays);
// The coordinates of a grid: array k, of n_k elements, along axis k of the shape (n_0, n_1, ...); `swapped` exchanges
// the first two axes. ShapeError for an array of more than one axis. The views must not be written to.
STATOR_API std::vector<Array> meshgrid(std::span<const Array> arrays, bool swapped = true);

}  // namespace stator
