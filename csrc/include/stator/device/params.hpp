// Plain data that kernels share with the hosts that launch them.
#pragma once

#include <stator/device/standard.hpp>

namespace stator::params {

inline constexpr int max_dims = 32;

// One per stream. A kernel that sees a bad index, or another fault, claims the slot; the first wins.
// `claim` is device memory; `record` is host memory that the device can write, read by the host without a call.
enum class Fault : int32_t {
  none = 0,
  index_out_of_range = 1,
  division_by_zero = 2,
  bad_probability = 3,
  negative_exponent = 4,
  loop_limit = 5,
};
struct FaultRecord {
  int32_t fault;  // Fault; written last, after a fence
  int32_t op;
  int64_t position;  // flat position in the op's index array or output
  int64_t value;     // the offending index or number
};
struct ErrorSlot {
  uint32_t* claim;
  FaultRecord* record;
};

}  // namespace stator::params
