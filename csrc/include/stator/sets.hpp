// Searching and sets. All dtypes; searchsorted not complex (DTypeError). Elements compare as in stator/sort.hpp: -0
// and +0 are equal, NaN is above every number.
#pragma once

#include <stator/array.hpp>
#include <stator/op_table.hpp>

#include <optional>
#include <utility>

namespace stator {

struct SearchOptions {
  bool right = false;             // after equal boundaries, not before
  const Array* sorter = nullptr;  // the order of the boundaries, of their shape; any integer dtype
};
// Where values (any shape) belong among sorted boundaries (one axis), int64; or row by row: boundaries [..., n] and
// values [..., m] of equal leading axes (ShapeError). NaN is above every number and equal to NaN. Operands of two
// dtypes are converted to their promotion first. A sorter outside -n..n-1 raises IndexError at the next synchronising
// call. Boundaries that are not sorted give positions without meaning. Asynchronous.
STATOR_API Array searchsorted(const Array& boundaries, const Array& values, const SearchOptions& = {},
                              const Stream& = {});

// bool, of x's shape: whether each element is in `test`, of any shape. NaN is in nothing. Asynchronous.
STATOR_API Array isin(const Array& x, const Array& test, bool invert = false, const Stream& = {});

// The distinct elements, ascending (unique_*), or the first of each run of equal neighbours (unique_consecutive), of
// the flattened array. Each NaN is distinct. Without `size` the number of results is read back: synchronises, once.
// With it there are `size` results, nothing synchronises: what is beyond is dropped, what is missing has the value
// `fill`, index -1 and count 0; `inverse` counts on beyond `size`. ValueError for a negative size, DTypeError
// for a floating fill of other elements.
struct UniqueOptions {
  std::optional<int64_t> size = {};
  Scalar fill = Scalar(0);
};
struct Unique {
  Array values;   // x's dtype
  Array indices;  // int64, of the first occurrence
  Array inverse;  // int64, x's shape: values[inverse] is x
  Array counts;   // int64
};
// By table row; what the row does not give is left empty.
STATOR_API Unique unique(Op op, const Array& x, const UniqueOptions& = {}, const Stream& = {});

inline Unique unique_all(const Array& x, const UniqueOptions& o = {}, const Stream& s = {}) {
  return unique(Op::unique_all, x, o, s);
}
inline Unique unique_counts(const Array& x, const UniqueOptions& o = {}, const Stream& s = {}) {
  return unique(Op::unique_counts, x, o, s);
}
inline Unique unique_inverse(const Array& x, const UniqueOptions& o = {}, const Stream& s = {}) {
  return unique(Op::unique_inverse, x, o, s);
}
inline Array unique_values(const Array& x, const UniqueOptions& o = {}, const Stream& s = {}) {
  return unique(Op::unique_values, x, o, s).values;
}
inline Unique unique_consecutive(const Array& x, const UniqueOptions& o = {}, const Stream& s = {}) {
  return unique(Op::unique_consecutive, x, o, s);
}

// Counting elements by bin. Counts are exact and equal run to run; sums of weights too: a bin's elements are summed in
// their order.

// torch.histc: bins of equal width over [low, high], of any shape of x; low == high takes x's own extremes (moved apart
// by 1 each way when they are equal). NaN and elements outside are not counted; own extremes that are not finite count
// nothing. Counts in x's dtype. ValueError for bins < 1, low > high, bounds that are not finite. Asynchronous.
STATOR_API Array histc(const Array& x, int64_t bins = 100, double low = 0, double high = 0, const Stream& = {});

struct HistogramOptions {
  std::optional<std::pair<double, double>> range = {};  // none: x's extremes; equal ones are moved apart by 1/2
  const Array* edges = nullptr;    // bins + 1 that do not decrease, not checked here; then bins and range do not count
  const Array* weights = nullptr;  // x's shape; the sums have its dtype
  bool density = false;            // divided by the sum and the widths, float64
};
struct Histogram {
  Array counts;  // int64, the weights' dtype, or float64
  Array edges;   // x's dtype where it is floating, else float64; the given ones
};
// numpy.histogram: bins are half open but for the last. NaN and elements outside are not counted; own extremes that
// are not finite give NaN edges and count nothing (NumPy raises; here the range stays on the device). Asynchronous.
STATOR_API Histogram histogram(const Array& x, int64_t bins = 10, const HistogramOptions& = {}, const Stream& = {});

struct BincountOptions {
  const Array* weights = nullptr;  // x's shape; the sums are float64
  int64_t minlength = 0;
  std::optional<int64_t> size = {};  // the number of bins, without looking at x
};
// numpy.bincount of non-negative integers, of any shape. Without `size` the largest element is read back (synchronises;
// ValueError for a negative one); with it nothing synchronises and an element outside 0..size-1 is not counted and
// raises IndexError at the next synchronising call.
STATOR_API Array bincount(const Array& x, const BincountOptions& = {}, const Stream& = {});

}  // namespace stator
