// Pooling over windows of 1 to 3 spatial axes, of namespace nn. x is (n, channels, spatial...) or (channels,
// spatial...); the number of spatial axes is that of the window's lengths. Backward functions take the gradient first,
// and give the gradient of x. Asynchronous; equal bits from run to run.
#pragma once

#include <stator/array.hpp>

#include <optional>

namespace stator::nn {

// A length for each spatial axis; empty: strides are those of the kernel, paddings 0, dilations 1. ceil_mode: the last
// window may reach beyond the end.
struct PoolOptions {
  Dims kernel, stride, padding, dilation;
  bool ceil_mode = false;
};
struct MaxPooled {
  Array y;
  std::optional<Array> indices;  // int64, of elements in their spatial plane
};
// NaN is greater than every number. `indices`: of the first of equal elements.
STATOR_API MaxPooled max_pool(const Array& x, const PoolOptions&, bool indices = false, const Stream& = {});
STATOR_API Array max_pool_backward(const Array& grad, const Array& x, const Array& indices, const PoolOptions&,
                                   const Stream& = {});

// Each element of x at its index in a plane of zeros; the last one of equal indices. output: the spatial extents;
// empty: those that the window gives, without dilation. For an index out of range the next synchronising call throws
// IndexError.
STATOR_API Array max_unpool(const Array& x, const Array& indices, const PoolOptions&, const Dims& output = {},
                            const Stream& = {});
STATOR_API Array max_unpool_backward(const Array& grad, const Array& indices, int spatial, const Stream& = {});

// Sums are divided by `divisor`; none: by the number of elements of the window, those of the padding among them where
// count_include_pad.
struct AvgPoolOptions : PoolOptions {
  bool count_include_pad = true;
  std::optional<int64_t> divisor;
};
STATOR_API Array avg_pool(const Array& x, const AvgPoolOptions&, const Stream& = {});
STATOR_API Array avg_pool_backward(const Array& grad, const Array& x, const AvgPoolOptions&, const Stream& = {});

// (sum of x^p)^(1 / p) over each window; a window that the end cuts counts as much as a whole one. Without padding and
// dilation. The gradient is 0 where y is.
STATOR_API Array lp_pool(const Array& x, double p, const PoolOptions&, const Stream& = {});
STATOR_API Array lp_pool_backward(const Array& grad, const Array& x, const Array& y, double p, const PoolOptions&,
                                  const Stream& = {});

// Window o of an axis is from floor(o in / out) to ceil((o + 1) in / out), for `output` extents.
STATOR_API Array adaptive_avg_pool(const Array& x, const Dims& output, const Stream& = {});
STATOR_API Array adaptive_avg_pool_backward(const Array& grad, const Array& x, int spatial, const Stream& = {});
STATOR_API MaxPooled adaptive_max_pool(const Array& x, const Dims& output, bool indices = false, const Stream& = {});
STATOR_API Array adaptive_max_pool_backward(const Array& grad, const Array& x, const Array& indices, int spatial,
                                            const Stream& = {});

}  // namespace stator::nn
