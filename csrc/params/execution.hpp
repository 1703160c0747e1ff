// Parameters of the kernel that decides, within a graph, whether a part of it runs.
#pragma once

#include "params/launcher.hpp"

namespace stator::params {

// `more` becomes whether the part runs: where `condition` is true and, for a loop, fewer than `limit` rounds were
// begun, which `rounds` counts (null for a part that runs once at most). A loop that would go on beyond the limit is a
// fault.
struct Condition {
  const bool* condition;
  int64_t* rounds;
  int64_t limit;
  uint32_t* more;
  uint64_t handle;  // cuda: cudaGraphConditionalHandle, which gets the same
  ErrorSlot slot;
  uint16_t op;
};

}  // namespace stator::params

namespace stator::kernels::execution {

extern Launcher<void(const Queue&, const params::Condition&)> condition;

}  // namespace stator::kernels::execution
