// Scans along one axis, and differences of neighbours. Asynchronous; equal bits from run to run. Scans whose segments
// (the slices along the axis) are so long that several blocks work on one take two launches, all others one.
#pragma once

#include <stator/array.hpp>
#include <stator/op_table.hpp>

#include <optional>

namespace stator {

struct ScanOptions {
  // none is allowed for arrays of one axis. AxisError otherwise, for an axis out of range, and for 0-d arrays.
  std::optional<int64_t> axis = {};
  std::optional<DType> dtype = {};  // of the accumulation and the result, as for sum
  bool include_initial = false;     // one more result, the first in the direction of the scan: 0, 1 or -inf
  bool reverse = false;             // from the last element to the first
  const Array* out = nullptr;       // of the result's shape; may be the same view as x
};

// cumulative_sum, cumulative_prod or logcumsumexp. Without dtype, integers and bool accumulate in 64 bits. Floating
// sums and products carry more digits than they return, so that the error does not grow with the length; a product is
// infinite or zero only if the exact product is, or is out of range.
STATOR_API Array scan(Op op, const Array& x, const ScanOptions& = {}, const Stream& = {});

inline Array cumulative_sum(const Array& x, const ScanOptions& o = {}, const Stream& s = {}) {
  return scan(Op::cumulative_sum, x, o, s);
}
inline Array cumulative_prod(const Array& x, const ScanOptions& o = {}, const Stream& s = {}) {
  return scan(Op::cumulative_prod, x, o, s);
}
// The logarithm of the cumulative sum of exp(x), computed without overflow.
inline Array logcumsumexp(const Array& x, const ScanOptions& o = {}, const Stream& s = {}) {
  return scan(Op::logcumsumexp, x, o, s);
}

// The extreme so far and its int64 index along the axis; of ties the last in the direction of the scan. NaN is more
// extreme than every number and ties with NaN; -0 and +0 tie.
struct Extremes {
  Array values, indices;
};
STATOR_API Extremes cumulative_max(const Array& x, std::optional<int64_t> axis = {}, bool reverse = false,
                                   const Stream& = {});
STATOR_API Extremes cumulative_min(const Array& x, std::optional<int64_t> axis = {}, bool reverse = false,
                                   const Stream& = {});

struct DiffOptions {
  int64_t axis = -1;
  int64_t n = 1;                   // number of times; 0 gives a copy
  const Array* prepend = nullptr;  // of x's shape except along the axis
  const Array* append = nullptr;
};
// x[1:] - x[:-1] along an axis, applied n times; for bool whether neighbours differ. One launch for n up to 8. float16
// and bfloat16 are rounded once.
STATOR_API Array diff(const Array& x, const DiffOptions& = {}, const Stream& = {});

}  // namespace stator
