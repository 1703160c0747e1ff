// How writes through indices are spread over blocks of the fast host: two blocks never write the same element, and each
// walks its own in row-major order, so that nothing is atomic and equal input gives equal bits.
#pragma once

#include "kernels/indexing/indexed.cuh"

#include <algorithm>

namespace stator::STATOR_TARGET::indexing {

// axis: the blocks take parts of an axis that x steps along. -1: every block walks all places and writes those whose
// offset is in its part of x.
struct HostSplit {
  int64_t blocks;
  int axis;
};

inline HostSplit split_writes(const params::DeviceLimits& limits, const params::Indexed& p, int64_t alone) {
  constexpr int64_t long_run = 4096;  // of the last axis: shorter runs are not cut
  const int64_t workers = std::max(1, limits.multiprocessors);
  if (p.size < alone || workers == 1) return {1, -1};
  int axis = -1;
  for (int d = 0; d < p.ndim; ++d) {
    const bool fits = p.shape[d] >= (d == p.ndim - 1 ? workers * long_run : workers);
    if (p.x_strides[d] != 0 && fits && (axis < 0 || p.shape[d] > p.shape[axis])) axis = d;
  }
  if (axis < 0) return {std::min<int64_t>(workers, 8), -1};
  return {std::min(p.shape[axis], 4 * workers), axis};
}

struct HostShare {
  params::Indexed part;
  int64_t begin, end;  // offsets from part.x that are the block's
};

STATOR_FN HostShare host_share(const params::Indexed& p, int axis, int64_t block, int64_t blocks) {
  HostShare s{p, std::numeric_limits<int64_t>::min() + 1, std::numeric_limits<int64_t>::max()};
  if (axis < 0) {
    const int64_t share = (p.x_end - p.x_begin + blocks - 1) / blocks;
    if (block > 0) s.begin = p.x_begin + block * share;
    if (block + 1 < blocks) s.end = p.x_begin + (block + 1) * share;
    return s;
  }
  const int64_t extent = p.shape[axis], share = (extent + blocks - 1) / blocks;
  const int64_t first = std::min(block * share, extent), count = std::min(share, extent - first);
  s.part.x = static_cast<unsigned char*>(p.x) + first * p.x_strides[axis] * itemsize(p.x_dtype);
  if (p.other != nullptr)
    s.part.other = static_cast<unsigned char*>(p.other) + first * p.other_strides[axis] * itemsize(p.other_dtype);
  for (int k = 0; k < p.entry_count; ++k) {
    params::IndexEntry& e = s.part.entries[k];
    e.data = static_cast<const unsigned char*>(e.data) + first * e.strides[axis] * itemsize(e.dtype);
  }
  s.part.size = p.size / extent * count;
  s.part.shape[axis] = count;
  return s;
}

}  // namespace stator::STATOR_TARGET::indexing
