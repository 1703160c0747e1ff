// Elementwise ops with NumPy broadcasting, any strides, mixed dtypes and weak scalars. Asynchronous.
#pragma once

#include <stator/array.hpp>
#include <stator/op_table.hpp>

#include <optional>
#include <span>

#include <stator/macros/aside.inc>

namespace stator {

struct ElementwiseOptions {
  // Of the result. Floating results are computed in the wider of the operands' dtype and this one, and rounded once;
  // integer operands are cast to an integer dtype first, and wrap.
  std::optional<DType> dtype = {};
  const Array* out = nullptr;  // of the result's shape, same-kind cast; may overlap the operands
};

// The op of a table entry. DTypeError for dtypes that the entry does not have, ShapeError when the shapes do not
// broadcast or out does not fit. `elementwise` takes all operands of the op, at least one of them an array; the
// condition of `where` is bool.
STATOR_API Array elementwise(Op op, std::span<const Operand> operands, const ElementwiseOptions& = {},
                             const Stream& = {});
STATOR_API Array unary(Op op, const Array& x, const ElementwiseOptions& = {}, const Stream& = {});
STATOR_API Array binary(Op op, const Operand& a, const Operand& b, const ElementwiseOptions& = {}, const Stream& = {});

// One named function per entry: add(a, b), exp(x), ...
#define STATOR_UNARY(name, ...)                                                               \
  inline Array name(const Array& x, const ElementwiseOptions& o = {}, const Stream& s = {}) { \
    return unary(Op::name, x, o, s);                                                          \
  }
#define STATOR_BINARY(name, ...)                                                                                  \
  inline Array name(const Operand& a, const Operand& b, const ElementwiseOptions& o = {}, const Stream& s = {}) { \
    return binary(Op::name, a, b, o, s);                                                                          \
  }
#define STATOR_TERNARY(name, ...)                                                                           \
  inline Array name(const Operand& a, const Operand& b, const Operand& c, const ElementwiseOptions& o = {}, \
                    const Stream& s = {}) {                                                                 \
    const Operand operands[] = {a, b, c};                                                                   \
    return elementwise(Op::name, operands, o, s);                                                           \
  }
#define STATOR_SELECT(name, ...) STATOR_TERNARY(name)
#define STATOR_QUATERNARY(name, ...)                                                        \
  inline Array name(const Operand& a, const Operand& b, const Operand& c, const Operand& d, \
                    const ElementwiseOptions& o = {}, const Stream& s = {}) {               \
    const Operand operands[] = {a, b, c, d};                                                \
    return elementwise(Op::name, operands, o, s);                                           \
  }
#include <stator/ops.def>

// x = mantissa * 2^exponent with 0.5 <= |mantissa| < 1, exactly; zeros, infinities and NaN are their own mantissas,
// with exponent 0. The mantissas have the dtype of x, the exponents int32. DTypeError unless x is floating.
struct Fractions {
  Array mantissa, exponent;
};
STATOR_API Fractions frexp(const Array& x, const Stream& = {});

}  // namespace stator

// Gated units: activation(gate) * up of two floating arrays of one shape and dtype, or of the halves of one array along
// an axis, the gate first. The activation of glu is the sigmoid, and its gate is the second half, as in PyTorch.
// Backward functions take grad, of the result's shape and dtype, and the forward operands; they return the gradients of
// gate and up, or of x as one array. Asynchronous. One launch; gradients on the fast host in two. ShapeError if shapes
// differ or the extent is odd, DTypeError unless floating and equal, AxisError.
namespace stator::nn {

struct GatedGradients {
  Array gate, up;
};
STATOR_API Array glu(const Array& x, int64_t axis = -1, const Stream& = {});
STATOR_API Array glu_backward(const Array& grad, const Array& x, int64_t axis = -1, const Stream& = {});
STATOR_API Array swiglu(const Array& gate, const Array& up, const Stream& = {});
STATOR_API Array swiglu(const Array& x, int64_t axis, const Stream& = {});
STATOR_API GatedGradients swiglu_backward(const Array& grad, const Array& gate, const Array& up, const Stream& = {});
STATOR_API Array swiglu_backward(const Array& grad, const Array& x, int64_t axis, const Stream& = {});
// tanh: gelu by its tanh approximation.
STATOR_API Array geglu(const Array& gate, const Array& up, bool tanh = false, const Stream& = {});
STATOR_API Array geglu(const Array& x, int64_t axis, bool tanh, const Stream& = {});
STATOR_API GatedGradients geglu_backward(const Array& grad, const Array& gate, const Array& up, bool tanh = false,
                                         const Stream& = {});
STATOR_API Array geglu_backward(const Array& grad, const Array& x, int64_t axis, bool tanh, const Stream& = {});

}  // namespace stator::nn

#include <stator/macros/back.inc>
