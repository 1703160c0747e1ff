// Searching, sets and histograms. All dtypes, except that searchsorted takes no complex ones (DTypeError). Elements
// compare as in stator/sort.hpp: -0 and +0 are equal, NaN is greater than every number.
#pragma once

#include <stator/array.hpp>
#include <stator/op_table.hpp>

#include <optional>
#include <utility>

namespace stator {

struct SearchOptions {
  bool right = false;             // after equal boundaries instead of before them
  const Array* sorter = nullptr;  // indices that sort the boundaries, of their shape and any integer dtype
};
// The int64 positions of values (of any shape) among sorted boundaries (one axis); or row by row, for boundaries
// (..., n) and values (..., m) with equal leading axes (ShapeError). NaN is greater than every number and equal to NaN.
// Operands of two dtypes are first converted to the promoted dtype. For an index of the sorter outside -n to n - 1 the
// next synchronising call throws IndexError. Boundaries that are not sorted give meaningless positions. Asynchronous.
STATOR_API Array searchsorted(const Array& boundaries, const Array& values, const SearchOptions& = {},
                              const Stream& = {});

// Whether each element of x is among those of `test`, which has any shape: bool, of x's shape. NaN never is.
// Asynchronous.
STATOR_API Array isin(const Array& x, const Array& test, bool invert = false, const Stream& = {});

// The distinct elements in ascending order (unique_*), or the first of each run of equal neighbours
// (unique_consecutive), of the flattened array. Each NaN is distinct. Without `size` the number of results is read
// back, which synchronises once. With it nothing synchronises, and there are `size` results: further ones are dropped,
// missing ones have the value `fill`, index -1 and count 0; `inverse` is not limited by `size`. ValueError for a
// negative size, DTypeError for a floating `fill` unless the elements are floating.
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
// The op of a table entry; results that the op does not have are left empty.
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

// Counting elements by bin. Counts are exact; sums of weights have equal bits from run to run, since the elements of a
// bin are added in their order.

// torch.histc: counts, in x's dtype, in bins of equal width over [low, high]. low == high takes the extremes of x, each
// moved outwards by 1 when they are equal. NaN and elements outside are not counted; if an extreme of x is not finite,
// nothing is counted. ValueError for bins < 1, low > high, or bounds that are not finite. Asynchronous.
STATOR_API Array histc(const Array& x, int64_t bins = 100, double low = 0, double high = 0, const Stream& = {});

struct HistogramOptions {
  std::optional<std::pair<double, double>> range = {};  // none: x's extremes; equal ones are each moved outwards by 1/2
  const Array* edges = nullptr;    // in place of bins and range: non-decreasing edges, which is not checked here
  const Array* weights = nullptr;  // of x's shape; the sums have its dtype
  bool density = false;            // divided by the total and the bin widths, float64
};
struct Histogram {
  Array counts;  // int64; the weights' dtype; float64 for a density
  Array edges;   // the given ones; else x's dtype if it is floating, or float64
};
// numpy.histogram: bins are half-open except for the last one. NaN and elements outside are not counted. If an extreme
// of x is not finite, the edges are NaN and nothing is counted (NumPy raises; here the range stays on the device).
// Asynchronous.
STATOR_API Histogram histogram(const Array& x, int64_t bins = 10, const HistogramOptions& = {}, const Stream& = {});

struct BincountOptions {
  const Array* weights = nullptr;  // of x's shape; the sums are float64
  int64_t minlength = 0;
  std::optional<int64_t> size = {};  // the number of bins, whatever the elements of x
};
// numpy.bincount of non-negative integers of any shape. Without `size` the largest element is read back, which
// synchronises; ValueError for a negative one. With it nothing synchronises; an element outside 0 to size - 1 is not
// counted, and the next synchronising call throws IndexError.
STATOR_API Array bincount(const Array& x, const BincountOptions& = {}, const Stream& = {});

}  // namespace stator
