// Parameters of the random launchers. Philox4x32-10 (Salmon et al., SC 2011) makes a block of four 32-bit words of a
// key and a counter. The key is the seed; the counter of element i is (offset + i / elements per block, attempt), where
// the attempt is 0 unless a draw was rejected. The results do not depend on the launch shape.
#pragma once

#include "params/launcher.hpp"

namespace stator::params {

// Where the random numbers of a launch begin: block `offset` of those of `seed`. In a graph the seed, and what the
// offset is counted from, are two words in the graph's memory, so that its launches draw new numbers without other
// arguments.
struct Draws {
  uint64_t seed, offset;  // offset counts Philox blocks
  const uint64_t* state;  // null outside of graphs
};

// to[0] and to[1] become the seed and the offset.
struct SetState {
  Draws from;
  uint64_t* to;
};

struct Random {
  void* out;  // contiguous
  DType dtype;
  int64_t size;
  Draws from;   // an element takes one 32-bit word, or two for float64
  double a, b;  // uniform: low, high. normal: mean, deviation. exponential: scale. gamma: shape, scale. poisson: mean
};

// low plus a random number below `range` (0 stands for 2^64), which wraps in the size of the item. An element takes one
// 32-bit word, or two if `range` is above 2^32.
struct RandomIntegers {
  void* out;
  int32_t itemsize;
  int64_t size;
  Draws from;
  uint64_t low, range;
};

// `one` with probability threshold / 2^32, else 0. An element takes one 32-bit word.
struct Bernoulli {
  void* out;
  int32_t itemsize;
  int64_t size;
  Draws from;
  uint64_t threshold;
  alignas(16) unsigned char one[16];
};

// The first `size` entries of a permutation of 0..n-1, int64.
struct Permutation {
  int64_t* out;
  int64_t size, n;
  Draws from;
};

// What the error slot says of probabilities that a launch refused. `position` is the index of the bad one and `value`
// its bits as a double, or `position` is one of:
inline constexpr int64_t sum_of_probabilities = -1;  // value: the bits of the sum as a double
inline constexpr int64_t few_probabilities = -2;     // value: how many are not 0

// The cumulative distribution function of n probabilities, `step` elements apart, in fixed point: 2^62 stands for 1, so
// that sums have the same bits in any order. A probability that is negative, infinite or NaN, a sum further than
// `tolerance` from 1, and fewer than `least` probabilities that are not 0 are reported in the error slot, and then the
// last entry is 0.
struct BuildCdf {
  const void* p;
  DType dtype;  // real, or bool
  int64_t n, step, least;
  double tolerance;
  uint64_t* cdf;
};

// keys[i] = -log(u) / p[i] / 2^60, which is finite even if p is subnormal, and infinite if p is not positive. The k
// smallest keys, in order, are k draws without replacement (Efraimidis and Spirakis: Weighted random sampling with a
// reservoir, Information Processing Letters 97, 2006). Two elements share a Philox block.
struct ExponentialKeys {
  const void* p;
  DType dtype;
  int64_t n, step;
  double* keys;
  Draws from;
};

// Indices k, each with probability (cdf[k] - cdf[k - 1]) / cdf[n - 1]; all 0 if cdf[n - 1] is 0. An index takes two
// 32-bit words.
struct Categorical {
  const uint64_t* cdf;
  int64_t* out;
  int64_t n, size;
  Draws from;
};

// counts[experiment, k]: how often each of n outcomes occurs in `trials` trials, with probabilities as above; all 0 if
// cdf[n - 1] is 0. An experiment takes n Philox blocks.
struct Multinomial {
  const uint64_t* cdf;
  int64_t* counts;
  int64_t n, trials, experiments;
  Draws from;
};

// out = x * scale if the element's random 32-bit word is at least `threshold`, else 0. Element i, in row-major order,
// has word i % 4 of Philox block offset + i / 4, for every dtype.
struct Dropout {
  const void* x;
  const void* residual;  // added to the result, or null
  void* out;             // contiguous
  DType dtype;
  int64_t size;
  Draws from;
  uint64_t threshold;
  double scale;
  int32_t ndim;  // 0: x and the residual are contiguous
  int64_t shape[max_dims], strides[max_dims], residual_strides[max_dims];
};

}  // namespace stator::params

namespace stator::kernels::random {

extern Launcher<void(const Queue&, const params::Random&)> uniform;
extern Launcher<void(const Queue&, const params::Random&)> normal;
extern Launcher<void(const Queue&, const params::Random&)> exponential;
extern Launcher<void(const Queue&, const params::Random&)> gamma;    // a Philox block per element
extern Launcher<void(const Queue&, const params::Random&)> poisson;  // likewise
extern Launcher<void(const Queue&, const params::RandomIntegers&)> integers;
extern Launcher<void(const Queue&, const params::Bernoulli&)> bernoulli;
extern Launcher<int64_t(const DeviceLimits&, int64_t n)> permutation_blocks;  // Philox blocks that a permutation takes
extern Launcher<void(const Queue&, const params::Permutation&)> permutation;
extern Launcher<void(const Queue&, const params::BuildCdf&)> build_cdf;
extern Launcher<void(const Queue&, const params::ExponentialKeys&)> exponential_keys;
extern Launcher<void(const Queue&, const params::Categorical&)> categorical;
extern Launcher<void(const Queue&, const params::Multinomial&)> multinomial;
extern Launcher<void(const Queue&, const params::Dropout&)> dropout;
extern Launcher<void(const Queue&, const params::SetState&)> set_state;
// The four 32-bit words of one Philox block, in host memory.
extern Launcher<void(const DeviceLimits&, uint64_t seed, uint64_t counter_lo, uint64_t counter_hi, uint32_t* bits)>
    philox;

}  // namespace stator::kernels::random
