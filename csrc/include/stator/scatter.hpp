// Writing and adding up through indices. Indices as in indexing.hpp. Results are new arrays in x's dtype; narrow
// integers and half types are accumulated in 32 bits and rounded once. Asynchronous. deterministic: equal bits run to
// run (none: the backend's setting); without it cuda adds atomically and
// keeps any of several values set at one element, with it the last (two launches more). cpu is always in order.
#pragma once

#include <stator/array.hpp>

#include <optional>

namespace stator {

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
