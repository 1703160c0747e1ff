// Arrays and masks. A mask has dtype bool (DTypeError) and a shape that broadcasts (ShapeError).
#pragma once

#include <stator/array.hpp>

#include <optional>
#include <span>
#include <vector>

namespace stator {

// x where the mask is false, `value` (a number or a 0-d array) elsewhere, in x's dtype. Asynchronous.
STATOR_API Array masked_fill(const Array& x, const Array& mask, const Operand& value, const Stream& = {});

// With a size the result has that many elements, the first ones found and then `fill`, and nothing synchronises.
// DTypeError for a floating fill of other elements.
struct STATOR_API Capacity {
  std::optional<int64_t> size;
  Scalar fill = 0;
};
// The elements of x where the mask is true, in row-major order. Synchronises once, unless the size is given.
STATOR_API Array masked_select(const Array& x, const Array& mask, const Capacity& capacity = {}, const Stream& = {});
// x with the elements of source, in row-major order, put one after the other where the mask is true. A source that is
// too short is an IndexError at the next synchronising call, and x stays there. Asynchronous.
STATOR_API Array masked_scatter(const Array& x, const Array& mask, const Array& source, const Stream& = {});

// The coordinates of what is not zero, an int64 array an axis. Synchronises once, unless the size is given.
STATOR_API std::vector<Array> nonzero(const Array& x, const Capacity& capacity = {}, const Stream& = {});
// The slices along the axis (none: of the flattened array) at which condition, one axis, is true. Synchronises once.
STATOR_API Array compress(const Array& condition, const Array& x, std::optional<int64_t> axis, const Stream& = {});

namespace nn {

// The gradient of x: 0 where the mask is true.
STATOR_API Array masked_fill_backward(const Array& grad, const Array& mask, const Stream& = {});
// The gradient of x, of the mask's shape; grad is that of the selected elements.
STATOR_API Array masked_select_backward(const Array& grad, const Array& mask, const Stream& = {});
// The gradients of x and of source. Asynchronous.
struct STATOR_API MaskedScatterGradients {
  Array x, source;
};
STATOR_API MaskedScatterGradients masked_scatter_backward(const Array& grad, const Array& mask,
                                                          const Dims& source_shape, const Stream& = {});

}  // namespace nn
}  // namespace stator
