// Random draws by Philox4x32-10, and dropout. The state is a value: the seed, and the counter of the next block of four
// 32-bit words. The bits are equal on both targets and for every launch shape, since the draws have their own
// logarithms and exponentials. Every function advances the state by the blocks that it used. Asynchronous.
#pragma once

#include <stator/array.hpp>

#include <string_view>
#include <vector>

namespace stator::random {

struct State {
  uint64_t seed = 0;
  uint64_t counter = 0;  // Philox block of the next draw
};

// uniform in [low, high); normal by Box-Muller; exponential by the inverse of its distribution function. Floating
// dtypes (DTypeError). ValueError unless parameters are finite, low <= high, and deviation and scale at least 0, and
// for bounds of uniform beyond the range of the dtype.
STATOR_API Array uniform(const Backend&, State&, const Dims& shape, double low, double high, DType dtype,
                         const Stream& = {});
STATOR_API Array normal(const Backend&, State&, const Dims& shape, double mean, double deviation, DType dtype,
                        const Stream& = {});
STATOR_API Array exponential(const Backend&, State&, const Dims& shape, double scale, DType dtype, const Stream& = {});
// One block per draw. alpha > 0 is the shape parameter, scale is at least 0 (ValueError). Floating dtypes.
STATOR_API Array gamma(const Backend&, State&, const Dims& shape, double alpha, double scale, DType dtype,
                       const Stream& = {});
// One block per draw. Integer dtypes; a draw beyond the range of the dtype saturates. ValueError unless the mean is
// from 0 to 9.2e18.
STATOR_API Array poisson(const Backend&, State&, const Dims& shape, double mean, DType dtype, const Stream& = {});
// Integers from low to last, both included, with equal probability. Integer dtypes that hold both bounds.
STATOR_API Array integers(const Backend&, State&, const Dims& shape, Scalar low, Scalar last, DType dtype,
                          const Stream& = {});
// 1 with probability p (to 2^-32), else 0. Every dtype. ValueError unless p is in [0, 1].
STATOR_API Array bernoulli(const Backend&, State&, const Dims& shape, double p, DType dtype = DType::bool_,
                           const Stream& = {});

// The first `count` entries of a permutation of 0 to n - 1, int64. For n up to 256 every order is equally probable;
// beyond, the permutation is one of 2^64 Feistel networks.
STATOR_API Array permutation(const Backend&, State&, int64_t n, int64_t count, const Stream& = {});
// The slices of x along the axis in random order. Two launches.
STATOR_API Array permutation(const Array& x, State&, int64_t axis = 0, const Stream& = {});
// Probabilities as a float64 vector on the device, checked on the host: ValueError, which names `op`, for numbers that
// are negative, infinite or NaN, for a sum that is not 1, and for fewer than `least` that are not 0.
STATOR_API Array probabilities(const Backend&, std::string_view op, const std::vector<double>& p, int64_t least = 0,
                               const Stream& = {});
// Indices from 0 to n - 1, int64. `p` is n probabilities of a real dtype on the device. They are checked there: what
// `probabilities` would refuse makes the next synchronising call throw ValueError (this call with eager indices). With
// p two launches, without replacement three or more. Probabilities below 2^-62 count as 0 in draws with replacement.
STATOR_API Array choice(const Backend&, State&, const Dims& shape, int64_t n, bool replace = true,
                        const Array* p = nullptr, const Stream& = {});
// The number of times that each of p.size() outcomes occurred in n trials: (*shape, p.size()), int64. p as in choice.
// Two launches. ValueError for n below 0 or above 2^53.
STATOR_API Array multinomial(const Backend&, State&, const Dims& shape, int64_t n, const Array& p, const Stream& = {});

// States of new generators, independent of each other and of this one, which is advanced by `count` blocks.
STATOR_API std::vector<State> spawn(const Backend&, State&, int64_t count);

}  // namespace stator::random

namespace stator::nn {

// x / (1 - p) where the mask of `state` keeps an element, with probability 1 - p, else 0. Element i, in row-major
// order, is decided by 32-bit word i % 4 of block counter + i / 4, for every dtype; `next` gets the state ceil(size /
// 4) blocks later. dropout_backward is the same function of the gradient. DTypeError unless floating, ValueError unless
// p is in [0, 1].
STATOR_API Array dropout(const Array& x, double p, const random::State& state, random::State* next = nullptr,
                         const Stream& = {});
// dropout(x) + residual, of x's shape and dtype, in one pass and rounded once, with the mask of dropout.
STATOR_API Array dropout_add(const Array& x, const Array& residual, double p, const random::State& state,
                             random::State* next = nullptr, const Stream& = {});
STATOR_API Array dropout_backward(const Array& grad, double p, const random::State& state, const Stream& = {});

}  // namespace stator::nn
