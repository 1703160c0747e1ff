// Reductions over any set of axes. Asynchronous; 0-d results are arrays.
#pragma once

#include <stator/array.hpp>
#include <stator/op_table.hpp>

#include <optional>
#include <vector>

namespace stator {

struct ReduceOptions {
  std::optional<std::vector<int64_t>> axes = {};  // none: all axes
  bool keepdims = false;
  std::optional<DType> dtype = {};  // of the accumulation and the result (sum, mean)
  const Array* out = nullptr;
};

// By table row. AxisError for axes out of range or repeated; ValueError for an empty reduction without identity;
// argmax takes one axis or none (flat).
STATOR_API Array reduce(Op op, const Array& x, const ReduceOptions& = {}, const Stream& = {});

inline Array sum(const Array& x, const ReduceOptions& o = {}, const Stream& s = {}) { return reduce(Op::sum, x, o, s); }
inline Array mean(const Array& x, const ReduceOptions& o = {}, const Stream& s = {}) {
  return reduce(Op::mean, x, o, s);
}
inline Array max(const Array& x, const ReduceOptions& o = {}, const Stream& s = {}) { return reduce(Op::max, x, o, s); }
inline Array argmax(const Array& x, const ReduceOptions& o = {}, const Stream& s = {}) {
  return reduce(Op::argmax, x, o, s);
}

}  // namespace stator
