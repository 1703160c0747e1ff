// Counting elements by bin. Counts are exact and equal run to run; sums of weights too: a bin's elements are summed in
// their order.
#pragma once

#include <stator/array.hpp>

#include <optional>
#include <utility>

namespace stator {

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
