// Numbers that windows have for each spatial axis.
#pragma once

#include "core/op_call.hpp"

#include <cstdint>

namespace stator {

inline constexpr int spatial_axes = 3;  // the most; the numbers of fewer axes are the last ones

// Numbers of an option, one for each axis: ValueError for another count or for numbers outside of [least, 2^31). The
// first ones of `out` stay as they are where there are fewer axes.
void option_per_axis(const OpCall& call, const char* what, const Dims& given, int64_t least, int axes, int64_t* out);

}  // namespace stator
