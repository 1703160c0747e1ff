// Moving elements: results are new row-major arrays unless said to be views. Every dtype. Asynchronous but where said.
// AxisError for an axis out of range or named twice.
#pragma once

#include <stator/array.hpp>

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stator {

// numpy.concatenate in one launch (up to 640 pieces each); no axis: of the flattened arrays. The dtype is the promoted
// one; pieces of another dtype, and those whose axes before or after `axis` do not step evenly, are copied first. Large
// transposed arrays take a launch each instead, which goes by tiles, and nothing else.
STATOR_API Array concat(const std::vector<Array>& arrays, std::optional<int64_t> axis = 0, const Array* out = nullptr,
                        const Stream& = {});
// Along a new axis; the shapes are equal.
STATOR_API Array stack(const std::vector<Array>& arrays, int64_t axis = 0, const Array* out = nullptr,
                       const Stream& = {});
// Views. In `sections` that differ by at most one element, the longer ones first; or cut before each of `indices`,
// which are read as slice bounds.
STATOR_API std::vector<Array> split(const Array& x, int64_t sections, int64_t axis = 0);
STATOR_API std::vector<Array> split(const Array& x, std::span<const int64_t> indices, int64_t axis = 0);
// One-dimensional: a view where the strides allow it, else one copy.
STATOR_API Array ravel(const Array& x, const Stream& = {});
// A view turned k quarters, from the first of the two axes towards the second.
STATOR_API Array rot90(const Array& x, int64_t k = 1, int64_t first = 0, int64_t second = 1);

// Cyclic shifts: one an axis, added up when an axis comes twice; one axis may meet several shifts and the reverse. No
// axes: of the flattened array, which is copied first when it is not contiguous.
STATOR_API Array roll(const Array& x, std::span<const int64_t> shifts,
                      const std::optional<std::vector<int64_t>>& axes = {}, const Stream& = {});
// numpy.pad, widths {before, after} for each axis. mode: "constant" (value), "edge", "reflect", "symmetric", "wrap".
STATOR_API Array pad(const Array& x, const std::vector<std::pair<int64_t, int64_t>>& widths,
                     std::string_view mode = "constant", Scalar value = 0, const Stream& = {});
STATOR_API Array tile(const Array& x, std::span<const int64_t> repetitions, const Stream& = {});
// Each element `count` times along the axis; none: of the flattened array.
STATOR_API Array repeat(const Array& x, int64_t count, std::optional<int64_t> axis = {}, const Stream& = {});
// Element i counts[i] times: integers, one for each element or one for all. Synchronises: it reads the counts.
STATOR_API Array repeat(const Array& x, const Array& counts, std::optional<int64_t> axis = {}, const Stream& = {});

// Views: no kernel, no copy. ShapeError when the result cannot be a view or would leave the buffer.
STATOR_API Array permute_dims(const Array&, std::span<const int64_t> axes);
STATOR_API Array broadcast_to(const Array&, const Dims& shape);
// One -1 is inferred. copy: true always, false never (ShapeError when one is needed), none when needed.
STATOR_API Array reshape(const Array&, std::span<const int64_t> shape, std::optional<bool> copy = {},
                         const Stream& = {});
STATOR_API Array as_strided(const Array&, const Dims& shape, const Dims& strides,
                            int64_t offset = 0);   // elements of the buffer
STATOR_API Array view(const Array&, DType dtype);  // same bytes; the last axis scales when the sizes differ

// AxisError for an axis out of range or named twice; ShapeError where an axis to drop is not 1 long.
STATOR_API Array squeeze(const Array&,
                         const std::optional<std::vector<int64_t>>& axes = {});  // none: all that are 1 long
STATOR_API Array expand_dims(const Array&, std::span<const int64_t> axes);       // axes of the result
STATOR_API Array moveaxis(const Array&, std::span<const int64_t> source, std::span<const int64_t> destination);
STATOR_API Array flip(const Array&, const std::optional<std::vector<int64_t>>& axes = {});  // none: every axis
// Of the last two axes, which ShapeError demands. k: above (positive) or below the main diagonal.
STATOR_API Array matrix_transpose(const Array&);
STATOR_API Array diagonal(const Array&, int64_t k = 0);
STATOR_API std::vector<Array> unstack(const Array&, int64_t axis = 0);  // along the axis, each without it
// Every array in the shape that they broadcast to together. Do not write to the views.
STATOR_API std::vector<Array> broadcast_arrays(std::span<const Array> arrays);
// Coordinates of a grid: the k-th array of n_k elements along axis k of (n_0, n_1, ...), the first two axes swapped if
// asked for. ShapeError for an array of more than one axis. Do not write to the views.
STATOR_API std::vector<Array> meshgrid(std::span<const Array> arrays, bool swapped = true);

}  // namespace stator
