// From arrays and arrays of indices to the parameters of the indexing launchers.
#pragma once

#include "core/op_call.hpp"

#include "params/indexing.hpp"

#include <stator/array.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stator {

// An array of indices over an iteration space.
struct IndexUse {
  Array indices;
  Dims strides;                  // one per axis of the space
  int64_t extent = 0, step = 0;  // of the indexed axis
  bool raw = false;              // the indices are offsets: see params::IndexEntry
};

// The strides of x broadcast to `shape`; ShapeError if it does not broadcast.
Dims broadcast_strides(const std::string& op, const Array& x, const Dims& shape);

// An iteration space of `shape` over x, which steps by x_strides along it, and `other` (null: the caller sets the value
// to a number). Axes of extent 1 are dropped, and neighbouring axes that step together are merged. `shape` has no zero.
params::Indexed make_indexed(const Dims& shape, const Array& x, const Dims& x_strides, const Array* other,
                             const Dims& other_strides, std::span<const IndexUse> uses);

// Declares the accesses to the operands of a space.
void declare(OpCall& call, const params::Indexed& p, const Array& x, const Array* other, std::span<const IndexUse> uses,
             bool write);

// DTypeError for indices that are not integers.
void require_indices(const std::string& op, const Array& indices);

// BackendMismatchError, as OpCall throws it for its own operands.
void require_backend(const OpCall& call, const Array& array);

// The argument `deterministic` of a call, or the backend's setting if it was not given.
bool deterministic(const OpCall& call, const std::optional<bool>& asked);

// Launches the put of a space whose accesses are declared. in_order: of several values for one element, the last one
// wins.
void launch_put(OpCall& call, const params::Indexed& p, bool in_order);

// The compaction of a mask over `shape`. Launches `count`; the caller sets x, source and out. keep_axes: does not merge
// axes, for coordinates.
struct Ranks {
  params::Compact p{};
  Array base;  // int64, tiles + 1
};
Ranks count_true(OpCall& call, const Array& mask, const Dims& mask_strides, const Dims& shape, const Dims* x_strides,
                 const Dims* out_strides, bool keep_axes = false);
// The number of true positions. Synchronises.
int64_t read_count(const OpCall& call, const Ranks& ranks, const Stream& stream);

// x converted to the dtype; DTypeError unless the cast is within one kind.
Array cast_within_kind(const std::string& op, const Array& x, DType dtype, const Stream& stream);

}  // namespace stator
