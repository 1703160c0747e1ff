// Philox4x32-10 draws. The state is a value: (seed, offset). Equal bits on both columns whatever the launch shape.
#pragma once

#include <stator/array.hpp>

namespace stator::random {

struct State {
  uint64_t seed = 0;
  uint64_t offset = 0;  // Philox counter of the next draw
};

// Advance the state by what was used. uniform in [low, high); normal by Box-Muller. floating dtypes. Asynchronous.
STATOR_API Array uniform(const Backend&, State&, const Dims& shape, double low, double high, DType dtype,
                         const Stream& = {});
STATOR_API Array normal(const Backend&, State&, const Dims& shape, double mean, double deviation, DType dtype,
                        const Stream& = {});

}  // namespace stator::random
