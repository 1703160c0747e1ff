// Moving elements: results are new row-major arrays unless said to be views. Every dtype. Asynchronous but where said.
// AxisError for an axis out of range or named twice.
#pragma once

#include <stator/array.hpp>

#include <optional>
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

// Of the last two axes; elements below, above diagonal k become 0.
STATOR_API Array triu(const Array& x, int64_t k = 0, const Stream& = {});
STATOR_API Array tril(const Array& x, int64_t k = 0, const Stream& = {});
// A square matrix with x on diagonal k, or diagonal k of a matrix x.
STATOR_API Array diag(const Array& x, int64_t k = 0, const Stream& = {});
// Ones on and below diagonal k; ones on it.
STATOR_API Array tri(const Backend&, int64_t rows, int64_t cols, int64_t k = 0, DType dtype = DType::float64,
                     const Stream& = {});
STATOR_API Array eye(const Backend&, int64_t rows, int64_t cols, int64_t k = 0, DType dtype = DType::float64,
                     const Stream& = {});
// count values from start to stop, which is the last exactly when endpoint is set. Integer dtypes round down.
STATOR_API Array linspace(const Backend&, Scalar start, Scalar stop, int64_t count, bool endpoint = true,
                          std::optional<DType> dtype = {}, const Stream& = {});

}  // namespace stator
