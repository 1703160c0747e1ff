// Sorting, order statistics, quantiles and modes. A segment is one slice along the sorted axis.
//
// NaN is greater than every number: last in ascending, first in descending order. -0 and +0 tie, and ties keep their
// order in x. The bits of a NaN may change. Real dtypes and bool; sort and argsort also take complex ones, by real
// part, then by imaginary part, and last the numbers with NaN: first those with only a NaN imaginary part, then those
// with only a NaN real part, then those with both. DTypeError otherwise. AxisError for 0-d arrays and axes out of
// range. UnsupportedError for segments of more than 2^32 - 1 elements. Asynchronous; equal bits from run to run and on
// every device.
//
// Launches: one for segments of up to 2048 elements (64-bit dtypes) or 4096 (narrower ones), on host up to 16384.
// Longer segments: three per byte of the dtype; on host three, for 8- and 16-bit dtypes and for 64-bit ones with
// indices, else one. Order statistics of long segments: 3 or 4, plus one per byte. complex64 adds two, complex128 three
// and a sort.
#pragma once

#include <stator/array.hpp>

#include <optional>
#include <span>
#include <vector>

namespace stator {

struct SortOptions {
  int64_t axis = -1;
  bool descending = false;
};
STATOR_API Array sort(const Array& x, const SortOptions& = {}, const Stream& = {});
STATOR_API Array argsort(const Array& x, const SortOptions& = {}, const Stream& = {});  // int64

struct Ranked {
  Array values, indices;  // int64
};
// The k largest (or smallest) along the axis, the most extreme first; of ties, those of lowest index. ValueError for k
// outside 0 to n.
STATOR_API Ranked topk(const Array& x, int64_t k, int64_t axis = -1, bool largest = true, const Stream& = {});
// The k-th smallest, counted from 1, and its index. ValueError for k outside 1 to n.
STATOR_API Ranked kthvalue(const Array& x, int64_t k, int64_t axis = -1, bool keepdims = false, const Stream& = {});
// A copy whose elements at the positions `kth` are those of the sorted array, with no greater ones before and no
// smaller ones after them; the order of the others depends on the target. ValueError for kth outside -n to n - 1.
STATOR_API Array partition(const Array& x, std::span<const int64_t> kth, int64_t axis = -1, const Stream& = {});

// The methods of numpy.quantile; the interpolating ones have alpha and beta of Hyndman and Fan (1996).
enum class QuantileMethod : uint8_t {
  linear,
  lower,
  higher,
  midpoint,
  nearest,  // halfway cases to even
  hazen,
  weibull,
  median_unbiased,
  normal_unbiased
};
struct QuantileOptions {
  std::optional<std::vector<int64_t>> axes = {};  // none: all
  bool keepdims = false;
  QuantileMethod method = QuantileMethod::linear;
};
// One result per segment and q in [0, 1] (ValueError outside), computed in float64 and rounded once to x's dtype, or
// float64 for integers and bool. A segment with NaN gives NaN. Unless `scalar` is set, the first axis of the result is
// that of q. ValueError for empty segments.
STATOR_API Array quantile(const Array& x, std::span<const double> q, bool scalar, const QuantileOptions& = {},
                          const Stream& = {});
STATOR_API Array median(const Array& x, const QuantileOptions& = {}, const Stream& = {});

// The most frequent value along an axis, the smallest of ties, and its number of occurrences. All NaN count as one
// value, and so do -0 and +0. ValueError for empty segments.
struct Modes {
  Array values, counts;
};
STATOR_API Modes mode(const Array& x, int64_t axis = -1, bool keepdims = false, const Stream& = {});

}  // namespace stator
