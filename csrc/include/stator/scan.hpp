// Scans along one axis: each result takes in all elements up to its own. Asynchronous; equal bits run to run. A long
// line that several blocks share takes two launches, everything else one.
#pragma once

#include <stator/array.hpp>
#include <stator/op_table.hpp>

#include <optional>

namespace stator {

// none for the axis of an array of one dimension. AxisError for none otherwise, for axes out of range, for 0-d arrays.
struct ScanOptions {
  std::optional<int64_t> axis = {};
  std::optional<DType> dtype = {};  // of the accumulation and the result, as for sum
  bool include_initial = false;     // one result more, first in the direction of the scan: 0, 1 or -inf
  bool reverse = false;             // from the last element to the first
  const Array* out = nullptr;       // of the result's shape; may be the very same view as x
};

// cumulative_sum, cumulative_prod or logcumsumexp. Without dtype, integers and bool accumulate in 64 bits. Floating
// sums and products carry more digits than they return, so that the error does not grow with the length; a product is
// infinite or zero only where the exact prefix is.
STATOR_API Array scan(Op op, const Array& x, const ScanOptions& = {}, const Stream& = {});

inline Array cumulative_sum(const Array& x, const ScanOptions& o = {}, const Stream& s = {}) {
  return scan(Op::cumulative_sum, x, o, s);
}
inline Array cumulative_prod(const Array& x, const ScanOptions& o = {}, const Stream& s = {}) {
  return scan(Op::cumulative_prod, x, o, s);
}
// log of the cumulative sum of exp(x), computed without overflow.
inline Array logcumsumexp(const Array& x, const ScanOptions& o = {}, const Stream& s = {}) {
  return scan(Op::logcumsumexp, x, o, s);
}

// Values and the int64 index of each: of ties the last in the direction of the scan. NaN is beyond every number and
// ties with NaN; -0 and +0 tie.
struct Extremes {
  Array values, indices;
};
STATOR_API Extremes cumulative_max(const Array& x, std::optional<int64_t> axis = {}, bool reverse = false,
                                   const Stream& = {});
STATOR_API Extremes cumulative_min(const Array& x, std::optional<int64_t> axis = {}, bool reverse = false,
                                   const Stream& = {});

struct DiffOptions {
  int64_t axis = -1;
  int64_t n = 1;                   // how many times; 0 gives a copy of what there is
  const Array* prepend = nullptr;  // of x's shape but along the axis
  const Array* append = nullptr;
};
// x[1:] - x[:-1] along an axis, n times; of bools whether neighbours differ. One launch for n up to 8. float16 and
// bfloat16 are rounded once.
STATOR_API Array diff(const Array& x, const DiffOptions& = {}, const Stream& = {});

}  // namespace stator
