// Parameters of the random launchers. Philox4x32-10 (Salmon et al., SC 2011): key is the seed; the counter of element i
// is (offset + i / draws-per-counter, attempt), the attempt being 0 but where a draw was rejected. Equal bits whatever
// the launch shape.
#pragma once

#include "device/abi.hpp"

namespace stator::abi {

struct Random {
  void* out;  // contiguous
  DType dtype;
  int64_t size;
  uint64_t seed, offset;  // offset counts Philox blocks of four 32-bit words; float64 draws take two words each
  double a, b;  // uniform: low, high. normal: mean, deviation. exponential: scale. gamma: shape, scale. poisson: mean
};

// low + a number below `range` (0: 2^64), wrapping in the item's size. A word each, two where range is above 2^32.
struct RandomIntegers {
  void* out;
  int32_t itemsize;
  int64_t size;
  uint64_t seed, offset, low, range;
};

// `one` with probability threshold / 2^32, else 0: a word each.
struct Bernoulli {
  void* out;
  int32_t itemsize;
  int64_t size;
  uint64_t seed, offset, threshold;
  alignas(16) unsigned char one[16];
};

// The first `size` entries of a permutation of 0..n-1, int64.
struct Permutation {
  int64_t* out;
  int64_t size, n;
  uint64_t seed, offset;
};

// Indices k with probability cdf[k] - cdf[k - 1], two words each, int64; cdf is 1 from the last possible one on.
struct Categorical {
  const double* cdf;
  int64_t* out;
  int64_t n, size;
  uint64_t seed, offset;
};

// counts[experiment, k] of n outcomes in `trials` trials; chances[k] is the probability of outcome k when it is none
// before it, 1 for the last possible one. n blocks of the counter an experiment.
struct Multinomial {
  const double* chances;
  int64_t* counts;
  int64_t n, trials, experiments;
  uint64_t seed, offset;
};

// out = x * scale where the element's word is at least `threshold`, else 0: element i, in row-major order, has word i %
// 4 of block offset + i / 4, whatever the dtype.
struct Dropout {
  const void* x;
  void* out;  // contiguous
  DType dtype;
  int64_t size;
  uint64_t seed, offset, threshold;
  double scale;
  int32_t ndim;  // 0: x is contiguous
  int64_t shape[max_dims], strides[max_dims];
};

}  // namespace stator::abi

namespace stator::kernels {

struct RandomTable {
  void (*uniform)(const abi::Queue&, const abi::Random&);
  void (*normal)(const abi::Queue&, const abi::Random&);
  void (*exponential)(const abi::Queue&, const abi::Random&);
  void (*gamma)(const abi::Queue&, const abi::Random&);    // a block of the counter each
  void (*poisson)(const abi::Queue&, const abi::Random&);  // likewise
  void (*integers)(const abi::Queue&, const abi::RandomIntegers&);
  void (*bernoulli)(const abi::Queue&, const abi::Bernoulli&);
  int64_t (*permutation_blocks)(int64_t n);  // Philox blocks that a permutation takes
  void (*permutation)(const abi::Queue&, const abi::Permutation&);
  void (*categorical)(const abi::Queue&, const abi::Categorical&);
  void (*multinomial)(const abi::Queue&, const abi::Multinomial&);
  void (*dropout)(const abi::Queue&, const abi::Dropout&);
  void (*philox)(uint64_t seed, uint64_t counter_lo, uint64_t counter_hi, uint32_t* words);  // four, in host memory
};

}  // namespace stator::kernels
