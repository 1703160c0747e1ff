// Distances between points.
#pragma once

#include <stator/array.hpp>

namespace stator {

// scipy.spatial.distance.cdist: out[.., i, j] = the p-norm of x1[.., i, :] - x2[.., j, :]; leading axes broadcast. p =
// 0 counts coordinates that differ, infinity takes the largest difference. float32 and float64. Asynchronous.
STATOR_API Array cdist(const Array& x1, const Array& x2, double p = 2, const Stream& = {});

}  // namespace stator
