// The words of a block kernel: `const Group<Size> group;`. Size is the CUDA block size where blocks have threads and
// group.size is 1 on the fast host, where one thread of execution is the block. Per-thread arrays are sized from it.
// Collectives (sync, reduce, map_reduce, map_sum, inclusive_scan, last_block) are called by every thread of the block.
// Their trees are fixed by Size and n alone: equal input gives equal bits.
#pragma once

#include "device/target.cuh"

#if !defined(STATOR_HOST)
#include "device/simt_cuda.cuh"

#include "device/group_simt.cuh"  // over the words above
#elif defined(STATOR_CHECKED)
#include "device/simt_checked.cuh"

#include "device/group_simt.cuh"  // over the words above
#else
#include "device/group_fast.cuh"
#endif
