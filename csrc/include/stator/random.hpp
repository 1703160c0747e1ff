// Philox4x32-10 draws. The state is a value: (seed, counter of the next block). Equal bits on both targets whatever the
// launch shape: logarithms and exponentials are the draws' own. Every function advances the state by the blocks that it
// used. Asynchronous.
#pragma once

#include <stator/array.hpp>

#include <string_view>
#include <vector>

namespace stator::random {

struct State {
  uint64_t seed = 0;
  uint64_t counter = 0;  // Philox block of the next draw
};

// uniform in [low, high); normal by Box-Muller; exponential by its inverse. Floating dtypes. ValueError for parameters
// out of their range, and for bounds of uniform beyond the dtype's.
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
// A vector on the device, checked on the host: ValueError, in the name of `op`, for numbers below 0, infinite or NaN,
// for a sum that is not 1, and for fewer than `least` that are not 0.
STATOR_API Array probabilities(const Backend&, std::string_view op, const std::vector<double>& p, int64_t least = 0,
                               const Stream& = {});
// Indices below n, int64. With `p`, n probabilities of a real dtype on the device: they are checked there, and what
// `probabilities` would refuse is raised as ValueError by the next synchronising call (at once with eager indices); two
// launches, three and more without replacement. Probabilities below 2^-62 count as 0 in draws with replacement.
STATOR_API Array choice(const Backend&, State&, const Dims& shape, int64_t n, bool replace = true,
                        const Array* p = nullptr, const Stream& = {});
// How often each of p.size() outcomes came in n trials: shape (*shape, p.size()), int64. p as in choice. Two launches.
// ValueError for n below 0 or above 2^53.
STATOR_API Array multinomial(const Backend&, State&, const Dims& shape, int64_t n, const Array& p, const Stream& = {});

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
