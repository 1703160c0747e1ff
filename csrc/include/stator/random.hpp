// Philox4x32-10 draws. The state is a value: (seed, counter of the next block). Equal bits on both columns whatever the
// launch shape; what draws takes normal, exponential, gamma or Poisson numbers goes through logarithms, whose last bit
// may differ between columns. Every function advances the state by the blocks that it used. Asynchronous but where
// said.
#pragma once

#include <stator/array.hpp>

#include <vector>

namespace stator::random {

struct State {
  uint64_t seed = 0;
  uint64_t counter = 0;  // Philox block of the next draw
};

// uniform in [low, high); normal by Box-Muller; exponential by its inverse. Floating dtypes. ValueError for parameters
// out of their range.
STATOR_API Array uniform(const Backend&, State&, const Dims& shape, double low, double high, DType dtype,
                         const Stream& = {});
STATOR_API Array normal(const Backend&, State&, const Dims& shape, double mean, double deviation, DType dtype,
                        const Stream& = {});
STATOR_API Array exponential(const Backend&, State&, const Dims& shape, double scale, DType dtype, const Stream& = {});
// One block a draw. gamma: shape parameter > 0. Floating dtypes.
STATOR_API Array gamma(const Backend&, State&, const Dims& shape, double alpha, double scale, DType dtype,
                       const Stream& = {});
// One block a draw. Integer dtypes; a draw beyond the dtype's range saturates.
STATOR_API Array poisson(const Backend&, State&, const Dims& shape, double mean, DType dtype, const Stream& = {});
// low..last, both included, each equally probable. Integer dtypes that hold both.
STATOR_API Array integers(const Backend&, State&, const Dims& shape, Scalar low, Scalar last, DType dtype,
                          const Stream& = {});
// 1 with probability p (to 2^-32), else 0. Every dtype.
STATOR_API Array bernoulli(const Backend&, State&, const Dims& shape, double p, DType dtype = DType::bool_,
                           const Stream& = {});

// The first `count` entries of a permutation of 0..n-1, int64. Up to 256 entries each order is equally probable;
// beyond, it is one of 2^64 Feistel networks.
STATOR_API Array permutation(const Backend&, State&, int64_t n, int64_t count, const Stream& = {});
// x's rows along the axis in random order: two launches.
STATOR_API Array permutation(const Array& x, State&, int64_t axis = 0, const Stream& = {});
// Indices below n, int64. With `p`, n probabilities: read on the host, so copied to the device before the call returns;
// without replacement the whole draw is made there. ValueError for p negative, not summing to 1, or with fewer that are
// not 0 than asked for.
STATOR_API Array choice(const Backend&, State&, const Dims& shape, int64_t n, bool replace = true,
                        const std::vector<double>* p = nullptr, const Stream& = {});
// How often each of p.size() outcomes came in n trials: shape (*shape, p.size()), int64. p as in choice. One launch.
STATOR_API Array multinomial(const Backend&, State&, const Dims& shape, int64_t n, const std::vector<double>& p,
                             const Stream& = {});

// Generators of their own, independent of each other and of this one, which goes on `count` blocks further.
STATOR_API std::vector<State> spawn(const Backend&, State&, int64_t count);

}  // namespace stator::random

namespace stator::nn {

// x / (1 - p) where the mask of `state` keeps an element, which has probability 1 - p, else 0. Element i, in row-major
// order, has word i % 4 of block counter + i / 4 whatever the dtype; `next` is the state ceil(size / 4) blocks later.
// The gradient is the same function of the gradient. Floating dtypes.
STATOR_API Array dropout(const Array& x, double p, const random::State& state, random::State* next = nullptr,
                         const Stream& = {});
STATOR_API Array dropout_backward(const Array& grad, double p, const random::State& state, const Stream& = {});

}  // namespace stator::nn
