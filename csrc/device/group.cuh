// The threads of a block, as kernels use them: `const Group<Size> group;`. Size is the CUDA block size. group.size is
// Size where blocks have threads, and 1 on the fast host, where a block is one thread of execution; per-thread arrays
// are sized by it. Collectives (sync, reduce, map_reduce, map_sum, inclusive_scan, last_block) must be called by every
// thread of the block. The order of their operations depends on Size and n only, so equal input gives equal bits.
// STATOR_BLOCKS is the header of a host target that runs blocks. A host without one has no groups.
#pragma once

#include "target.cuh"

#if !defined(STATOR_HOST)
#include "group_simt.cuh"
#elif defined(STATOR_BLOCKS)
#include STATOR_BLOCKS
#else
namespace stator::STATOR_TARGET {
template <int Size>
struct Group;
}  // namespace stator::STATOR_TARGET
#endif
