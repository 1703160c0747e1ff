// What resampling checks of its operands.
#pragma once

#include "core/op_call.hpp"

namespace stator::nn {

// Floating, (n, channels, spatial...) with spatial axes of at least one element, in planes that the kernels count.
void check_resampled(const OpCall& call, const Array& x, int least_axes, int most_axes);
// The number of elements of planes of those extents; ShapeError where the kernels cannot count them.
int64_t resampled_size(const OpCall& call, const Dims& shape, int first_axis);
// Of x's dtype.
void check_dtype_of(const OpCall& call, const Array& a, const char* what, const Array& x);
// The gradient of a result of that shape, of x's dtype.
void check_gradient(const OpCall& call, const Array& grad, const Dims& shape, const Array& x);
// An operand as the kernels read it, declared as read.
Array dense_planes(OpCall& call, const Array& a);

}  // namespace stator::nn
