// Parameters of the pooling launchers. Arrays are contiguous (planes, axes...).
#pragma once

#include "params/launcher.hpp"

namespace stator::params {

// Planes, before and after, have at most this many elements; so does an axis with its padding.
inline constexpr int64_t max_plane = int64_t(1) << 30;

// The windows of a spatial axis. An axis that is not there has ones and no padding.
struct PoolAxis {
  int32_t in = 1, out = 1, kernel = 1, stride = 1, padding = 0, dilation = 1;
};

enum class PoolKind : int32_t { max, mean, power };

struct Pool {
  static constexpr int dims = 3;
  const void* x;           // forward, and backward of powers
  const void* grad;        // backward
  const void* y;           // backward of powers: the forward's result
  const int64_t* indices;  // backward of max
  void* out;
  int64_t* winners;  // max: the index of each result in its plane, or null
  DType dtype;
  PoolKind kind;
  bool adaptive;       // window o is from floor(o in / out) to ceil((o + 1) in / out)
  bool count_padding;  // among the elements of a window
  double divisor;      // of sums; 0: the number of elements of the window
  double factor;       // of means
  double power;        // of elements; its root is taken of the results
  int64_t planes;
  PoolAxis axes[dims];
};

// Planes of x at positions of planes of `out`. forward: element i of a plane of x goes to index i, the last of equal
// ones wins. backward: element i of `out` comes from there.
struct Unpool {
  const void* x;
  const int64_t* indices;
  uint32_t* winners;  // forward, where unpool_notes() is true: scratch of zeros, for each element of `out`
  void* out;
  int32_t itemsize;
  int64_t planes, small, large;  // the elements of a plane that has indices, and of one that they are of
};

}  // namespace stator::params

namespace stator::kernels::pooling {

extern Launcher<void(const Queue&, const params::Pool&)> max_pool;
extern Launcher<void(const Queue&, const params::Pool&)> mean_pool;  // and of powers
extern Launcher<void(const Queue&, const params::Pool&)> pool_backward;
extern Launcher<void(const Queue&, const params::Unpool&)> unpool;
extern Launcher<void(const Queue&, const params::Unpool&)> unpool_backward;
extern Launcher<bool(const DeviceLimits&)> unpool_notes;  // whether unpool() notes who wins before it writes

}  // namespace stator::kernels::pooling
