// Attention, of namespace nn. Asynchronous; equal bits from run to run.
#pragma once

#include <stator/array.hpp>

#include <optional>

namespace stator::nn {

struct AttentionOptions {
  std::optional<double> scale;  // 1 / sqrt(d) unless given
  bool causal = false;          // query i sees keys 0 to i
  const Array* mask = nullptr;  // broadcast to (..., L, S): bool, true where a key takes part, or added to the scores
};
// softmax(scale q k^T + mask) v for q (..., L, d), k (..., S, d) and v (..., S, d_v) of one dtype, d and d_v up to 256.
// The heads, the axis before L, of q may be a multiple of those of k and v, which are then shared. Returns (..., L,
// d_v). Scores are not stored. A query that sees no key gives zeros. `lse` gets the logarithm of each query's sum of
// exponentials, (..., L), -infinity without a key: float64 for float64, else float32. ShapeError, DTypeError,
// ValueError for a scale that is not finite.
STATOR_API Array attention(const Array& q, const Array& k, const Array& v, const AttentionOptions& = {},
                           Array* lse = nullptr, const Stream& = {});

}  // namespace stator::nn
