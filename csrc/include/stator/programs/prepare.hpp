// Loads and creates what the first calls of ops need, ahead of them.
#pragma once

#include <stator/backend.hpp>
#include <stator/op_table.hpp>

#include <vector>

namespace stator {

// Loads the kernels that the ops use, opens their libraries, and makes the handles, workspaces and scratch memory of
// the stream; without ops, for every op. LibraryNotFoundError where an op that is named cannot do without a library
// that is missing; CaptureError while the stream is captured. Synchronises.
STATOR_API void prepare(const Backend&, const std::vector<Op>& ops = {}, const Stream& = {});

}  // namespace stator
