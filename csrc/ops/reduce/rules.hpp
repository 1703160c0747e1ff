// Which reducer, in which mode, a row of the op table is.
#pragma once

#include "params/reduce.hpp"

#include <stator/op_table.hpp>

namespace stator {

struct ReductionRule {
  kernels::reduce::Reducer reducer;
  params::ReductionMode mode;
  bool has_identity = true;  // an empty reduction has a result
};

// `parameter`: the order of a norm, what variance takes from n. `masked`: some elements may not count.
ReductionRule reduction_rule(Op op, DType in, double parameter, bool masked);

}  // namespace stator
