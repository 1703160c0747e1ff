// The host targets' own elementary functions: branch-free, so that loops over them vectorise; errors of at most 4 ULP;
// correct for NaN, infinities, zeros and subnormals. glibc's vector versions are used instead if they are faster and in
// glibc since 2.22 (libm.cuh).
#pragma once

#include "elementary_arc.cuh"
#include "elementary_exp.cuh"
#include "elementary_log.cuh"
#include "elementary_power.cuh"
#include "elementary_tan.cuh"
