// How writes through indices are divided among blocks of the fast host: two blocks never write the same element, and
// each walks its own elements in row-major order, so that nothing is atomic and equal input gives equal bits.
#pragma once

#include "kernels/indexing/index_arrays.cuh"

#include <algorithm>
#include <limits>

namespace stator::STATOR_TARGET::indexing {

// The blocks divide an axis that x steps along. axis -1: every block walks all positions and writes those whose offset
// is in the block's range of x.
struct HostSplit {
  int64_t blocks;
  int axis;
};

inline HostSplit split_writes(const params::DeviceLimits& limits, const params::Indexed& p, int64_t alone) {
  constexpr int64_t long_run = 4096;  // of the last axis: a block has at least this many positions of a row
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

// What one block handles.
struct HostTile {
  params::Indexed space;
  int64_t begin, end;  // the offsets from space.x that the block writes
};

STATOR_FN HostTile host_tile(const params::Indexed& p, int axis, int64_t block, int64_t blocks) {
  HostTile t{p, std::numeric_limits<int64_t>::min() + 1, std::numeric_limits<int64_t>::max()};
  if (axis < 0) {
    const int64_t tile = (p.x_end - p.x_begin + blocks - 1) / blocks;
    if (block > 0) t.begin = p.x_begin + block * tile;
    if (block + 1 < blocks) t.end = p.x_begin + (block + 1) * tile;
    return t;
  }
  const int64_t extent = p.shape[axis], tile = (extent + blocks - 1) / blocks;
  const int64_t first = std::min(block * tile, extent), count = std::min(tile, extent - first);
  t.space.x = static_cast<unsigned char*>(p.x) + first * p.x_strides[axis] * itemsize(p.x_dtype);
  if (p.other != nullptr)
    t.space.other = static_cast<unsigned char*>(p.other) + first * p.other_strides[axis] * itemsize(p.other_dtype);
  for (int k = 0; k < p.entry_count; ++k) {
    params::IndexEntry& e = t.space.entries[k];
    e.data = static_cast<const unsigned char*>(e.data) + first * e.strides[axis] * itemsize(e.dtype);
  }
  t.space.size = p.size / extent * count;
  t.space.shape[axis] = count;
  return t;
}

}  // namespace stator::STATOR_TARGET::indexing
