// Hyperbolic functions and their inverses.
#pragma once

#include "../math/circular.cuh"
#include "../math/math.cuh"
#include "math_function.cuh"

namespace stator::STATOR_TARGET::elementwise::functors {

STATOR_TURNING_FUNCTION(sinh)
STATOR_TURNING_FUNCTION(cosh)
STATOR_TURNING_FUNCTION(tanh)
STATOR_MATH_FUNCTION(asinh)
STATOR_MATH_FUNCTION(acosh)
STATOR_MATH_FUNCTION(atanh)

}  // namespace stator::STATOR_TARGET::elementwise::functors
