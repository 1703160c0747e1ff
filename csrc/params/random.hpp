// Parameters of the random launchers. Philox4x32-10 (Salmon et al., SC 2011): key is the seed; the counter of element i
// is (offset + i / draws-per-counter, attempt), the attempt being 0 but where a draw was rejected. Equal bits whatever
// the launch shape.
#pragma once

#include "params/launcher.hpp"

namespace stator::params {

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

// Probabilities that a launch refused, in the error slot. position: which one, value: its bits, a double; or one of:
inline constexpr int64_t sum_of_probabilities = -1;  // value: its bits, a double
inline constexpr int64_t few_probabilities = -2;     // value: how many are not 0

// The distribution function of n probabilities, `step` elements apart: integers, 2^62 being 1, so that its sums are
// equal bits in any order. What is below 0, infinite or NaN, a sum further than `tolerance` from 1, and fewer than
// `least` that are not 0 go to the error slot, and the last entry is then 0.
struct Weigh {
  const void* p;
  DType dtype;  // real, or bool
  int64_t n, step, least;
  double tolerance;
  uint64_t* cdf;
};

// keys[i] = -log(u) / p[i] / 2^60, which a subnormal p leaves finite, a block of the counter for two: the k smallest,
// in order, are k draws without replacement (Efraimidis and Spirakis: Weighted random sampling with a reservoir,
// Information Processing Letters 97, 2006). Infinite where p is not positive.
struct Race {
  const void* p;
  DType dtype;
  int64_t n, step;
  double* keys;
  uint64_t seed, offset;
};

// Indices k, each with probability (cdf[k] - cdf[k - 1]) / cdf[n - 1], two words each, int64; 0 where cdf[n - 1] is 0.
struct Categorical {
  const uint64_t* cdf;
  int64_t* out;
  int64_t n, size;
  uint64_t seed, offset;
};

// counts[experiment, k] of n outcomes in `trials` trials, by the same cdf; 0 where cdf[n - 1] is 0. n blocks of the
// counter an experiment.
struct Multinomial {
  const uint64_t* cdf;
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

}  // namespace stator::params

namespace stator::kernels::random {

extern Launcher<void(const Queue&, const params::Random&)> uniform;
extern Launcher<void(const Queue&, const params::Random&)> normal;
extern Launcher<void(const Queue&, const params::Random&)> exponential;
extern Launcher<void(const Queue&, const params::Random&)> gamma;    // a block of the counter each
extern Launcher<void(const Queue&, const params::Random&)> poisson;  // likewise
extern Launcher<void(const Queue&, const params::RandomIntegers&)> integers;
extern Launcher<void(const Queue&, const params::Bernoulli&)> bernoulli;
extern Launcher<int64_t(const DeviceLimits&, int64_t n)> permutation_blocks;  // Philox blocks that a permutation takes
extern Launcher<void(const Queue&, const params::Permutation&)> permutation;
extern Launcher<void(const Queue&, const params::Weigh&)> weigh;
extern Launcher<void(const Queue&, const params::Race&)> race;
extern Launcher<void(const Queue&, const params::Categorical&)> categorical;
extern Launcher<void(const Queue&, const params::Multinomial&)> multinomial;
extern Launcher<void(const Queue&, const params::Dropout&)> dropout;
// Four words in host memory.
extern Launcher<void(const DeviceLimits&, uint64_t seed, uint64_t counter_lo, uint64_t counter_hi, uint32_t* words)>
    philox;

}  // namespace stator::kernels::random
