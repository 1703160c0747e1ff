// From the arguments of pooling to the parameters of its launchers.
#pragma once

#include "core/op_call.hpp"
#include "params/pooling.hpp"

#include <stator/nn/pooling.hpp>

#include <string>

namespace stator::nn {

// The op's name with that number of spatial axes: "nn.max_pool1d".
std::string name_of(const OpCall& call, int spatial);

// x must be floating, and (n, channels, spatial...) or (channels, spatial...) of extents that the kernels count.
void check_planes(const OpCall& call, const Array& x, int spatial);
// `a` must have that shape and x's dtype; or be indices of that shape.
void check_result(const OpCall& call, const Array& a, const char* what, const Dims& shape, const Array& x, int spatial);
void check_indices(const OpCall& call, const Array& indices, const Dims& shape, int spatial);
// The number of spatial axes, from 1 to 3.
void check_spatial(const OpCall& call, int spatial);
// x's shape with other spatial extents.
Dims with_spatial(const Array& x, const Dims& extents);

// Axes, planes and dtype of windows of x, and of as many windows as `output` says. dilated: whether dilations but 1 are
// possible.
params::Pool windows(const OpCall& call, const Array& x, const PoolOptions& o);
params::Pool adaptive_windows(const OpCall& call, const Array& x, const Dims& output);
// The spatial extents of the result.
Dims extents_of(const params::Pool& p, int spatial);
// An operand as the kernels read it, declared as read.
Array dense_operand(OpCall& call, const Array& a);
Array index_operand(OpCall& call, const Array& indices);  // of int64

}  // namespace stator::nn
