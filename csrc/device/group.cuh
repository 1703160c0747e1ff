// The threads of a block, as kernels use them: `const Group<Size> group;`. Size is the CUDA block size. group.size is
// Size where blocks have threads, and 1 on the fast host, where a block is one thread of execution; per-thread arrays
// are sized by it. Collectives (sync, reduce, map_reduce, map_sum, inclusive_scan, last_block) must be called by every
// thread of the block. The order of their operations depends on Size and n only, so equal input gives equal bits.
#pragma once

#include "device/target.cuh"

#if !defined(STATOR_HOST)
#include "device/simt_cuda.cuh"

#include "device/group_simt.cuh"  // needs the primitives above
#elif defined(STATOR_CHECKED)
#include "device/simt_checked.cuh"

#include "device/group_simt.cuh"  // needs the primitives above
#else
#include "device/group_fast.cuh"
#endif
