// What roll, pad and the shifts of Fourier transforms share.
#pragma once

#include "core/op_call.hpp"
#include "params/movement.hpp"

#include <vector>

namespace stator {

// A new array whose axes read those of x by the maps; fill: what the rule `inside` has outside of x, or null.
Array rearrange(OpCall& call, const Array& x, const std::vector<params::AxisMap>& axes, const unsigned char* fill);

}  // namespace stator
