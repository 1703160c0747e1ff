// The host targets' own elementary functions: branch-free, so that loops over them vectorise; at most 3 ULP; right for
// NaN, infinities, zeros and subnormals. Written where they are faster than glibc's vector forms (libm.cuh), which
// serve the other functions.
#pragma once

#include "device/math/elementary_exp.cuh"
#include "device/math/elementary_log.cuh"
#include "device/math/elementary_power.cuh"
