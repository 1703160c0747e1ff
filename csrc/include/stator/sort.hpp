// Sorting and what is read off it. NaN is above every number, -0 and +0 tie, ties keep their order in x; so NaN stands
// last in ascending order and first in descending order. A NaN comes back as a NaN of any bits. Real dtypes and bool,
// in sort and argsort also complex: by real part, then by imaginary part, numbers with NaN last: those whose imaginary
// part alone is NaN, then the real part alone, then both. DTypeError otherwise. AxisError for 0-d arrays and axes out
// of range. Lines of up to 2^32 - 1 elements: UnsupportedError beyond. Asynchronous; equal bits run to run and on every
// device. One launch for lines of up to 2048 elements (64-bit dtypes) or 4096 (narrower ones), on host up to 16384;
// beyond, three for each byte of the dtype, or three on the host, where only 8- and 16-bit dtypes, and 64-bit ones with
// indices, take those. Places of long lines are selected in 3 or 4 launches and one a byte. complex64 adds two
// launches, complex128 three and a sort.
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
// The k largest (or smallest) along the axis, best first, of ties the ones of lowest index. ValueError for k outside
// 0..n.
STATOR_API Ranked topk(const Array& x, int64_t k, int64_t axis = -1, bool largest = true, const Stream& = {});
// The k-th smallest, counted from 1, and where it stands. ValueError for k outside 1..n.
STATOR_API Ranked kthvalue(const Array& x, int64_t k, int64_t axis = -1, bool keepdims = false, const Stream& = {});
// Elements `kth` stand where sorting puts them, smaller ones before, larger ones after, in an order that is the target's.
// ValueError for kth outside -n..n-1.
STATOR_API Array partition(const Array& x, std::span<const int64_t> kth, int64_t axis = -1, const Stream& = {});

// numpy.quantile's methods; alpha and beta of the interpolating ones are Hyndman and Fan's, 1996.
enum class QuantileMethod : uint8_t {
  linear,
  lower,
  higher,
  midpoint,
  nearest,  // half to even
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
// Of each line, one result a q in 0..1 (ValueError outside), in float64 and rounded once: float64 for integers and
// bool. A line with NaN gives NaN. The axis of q, if `scalar` is not set, comes first. ValueError for an empty line.
STATOR_API Array quantile(const Array& x, std::span<const double> q, bool scalar, const QuantileOptions& = {},
                          const Stream& = {});
STATOR_API Array median(const Array& x, const QuantileOptions& = {}, const Stream& = {});

// The most frequent value along an axis, the least of ties, and how often it stands there. All NaN count as one value,
// and so do -0 and +0. ValueError for an empty line.
struct Modes {
  Array values, counts;
};
STATOR_API Modes mode(const Array& x, int64_t axis = -1, bool keepdims = false, const Stream& = {});

}  // namespace stator
