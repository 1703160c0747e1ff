// Which reducer, and in which mode, computes an entry of the op table.
#pragma once

#include "params/reduce.hpp"

#include <stator/op_table.hpp>

namespace stator {

struct ReductionRule {
  kernels::reduce::Reducer reducer;
  params::ReductionMode mode;
  bool has_identity = true;  // an empty reduction has a result
};

// `parameter`: the order of a norm, or the correction that a variance subtracts from n. `masked`: some elements may be
// excluded.
ReductionRule reduction_rule(Op op, DType in, double parameter, bool masked);

}  // namespace stator
