// The host targets' own elementary functions: branch-free, so that loops over them vectorise; errors of at most 3 ULP;
// correct for NaN, infinities, zeros and subnormals. Only for functions that are faster so than glibc's vector
// versions, which serve the others (libm.cuh).
#pragma once

#include "device/math/elementary_exp.cuh"
#include "device/math/elementary_log.cuh"
#include "device/math/elementary_power.cuh"
