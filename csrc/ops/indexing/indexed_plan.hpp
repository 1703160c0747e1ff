// From arrays and index arrays to the launch parameters of params/indexing.hpp and params/indexing.hpp.
#pragma once

#include "core/op_call.hpp"

#include "params/indexing.hpp"
#include "params/indexing.hpp"

#include <stator/array.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stator {

// An index array of a space: one stride an axis of the space, and what an index stands for.
struct IndexUse {
  Array indices;
  Dims strides;
  int64_t extent = 0, step = 0;  // of the indexed axis
  bool raw = false;
};

// Strides that walk `x` broadcast to `shape`; ShapeError when it does not broadcast.
Dims broadcast_strides(const std::string& op, const Array& x, const Dims& shape);

// A space of `shape` over `x`, which steps x_strides along it, and `other` (null: a number, to be filled in). Axes of
// extent 1 are dropped, neighbours merged that step together. shape has no zero.
params::Indexed make_indexed(const Dims& shape, const Array& x, const Dims& x_strides, const Array* other,
                          const Dims& other_strides, std::span<const IndexUse> uses);

// Declares what the space touches.
void declare(OpCall& call, const params::Indexed& p, const Array& x, const Array* other, std::span<const IndexUse> uses,
             bool write);

// DTypeError for indices that are not integers.
void require_indices(const std::string& op, const Array& indices);

// BackendMismatchError, as OpCall throws it for its own operands.
void require_backend(const OpCall& call, const Array& array);

// deterministic=, or the backend's setting.
bool deterministic(const OpCall& call, const std::optional<bool>& asked);

// Launches the put of a space whose accesses are declared; in_order: of places that meet, the last stays.
void launch_put(OpCall& call, const params::Indexed& p, bool in_order);

// The compaction of a mask over `shape`, with room for the ranks: `count` is launched. x, source and out are for the
// caller to fill in. keep_axes: no merging, for coordinates.
struct Ranks {
  params::Compact p{};
  Array base;  // int64, tiles + 1
};
Ranks count_true(OpCall& call, const Array& mask, const Dims& mask_strides, const Dims& shape, const Dims* x_strides,
                 const Dims* out_strides, bool keep_axes = false);
// The number of true places. Synchronises.
int64_t read_count(const OpCall& call, const Ranks& ranks, const Stream& stream);

// x in the dtype, converted where it differs; DTypeError unless the cast is within one kind.
Array cast_within_kind(const std::string& op, const Array& x, DType dtype, const Stream& stream);

}  // namespace stator
