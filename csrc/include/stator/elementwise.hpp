// Elementwise ops with NumPy broadcasting, any strides, mixed dtypes and weak scalars. Asynchronous.
#pragma once

#include <stator/array.hpp>
#include <stator/op_table.hpp>

#include <optional>
#include <span>

namespace stator {

struct ElementwiseOptions {
  // A floating result is computed in its opmath and rounded once; integers are cast to it first, and wrap.
  std::optional<DType> dtype = {};
  const Array* out = nullptr;  // exact shape, same-kind cast; may be the very same view as an input
};

// By table row. DTypeError for dtypes outside the row, ShapeError when the shapes do not broadcast or out does not fit.
// `elementwise` takes any number of operands, at least one of them an array; a condition (of `where`) is bool.
STATOR_API Array elementwise(Op op, std::span<const Operand> operands, const ElementwiseOptions& = {},
                             const Stream& = {});
STATOR_API Array unary(Op op, const Array& x, const ElementwiseOptions& = {}, const Stream& = {});
STATOR_API Array binary(Op op, const Operand& a, const Operand& b, const ElementwiseOptions& = {}, const Stream& = {});

// One named function per row: add(a, b), exp(x), ...
#define STATOR_DECLARE_unary(name)                                                            \
  inline Array name(const Array& x, const ElementwiseOptions& o = {}, const Stream& s = {}) { \
    return unary(Op::name, x, o, s);                                                          \
  }
#define STATOR_DECLARE_binary(name)                                                                               \
  inline Array name(const Operand& a, const Operand& b, const ElementwiseOptions& o = {}, const Stream& s = {}) { \
    return binary(Op::name, a, b, o, s);                                                                          \
  }
#define STATOR_DECLARE_ternary(name)                                                                        \
  inline Array name(const Operand& a, const Operand& b, const Operand& c, const ElementwiseOptions& o = {}, \
                    const Stream& s = {}) {                                                                 \
    const Operand operands[] = {a, b, c};                                                                   \
    return elementwise(Op::name, operands, o, s);                                                           \
  }
#define STATOR_DECLARE_select(name) STATOR_DECLARE_ternary(name)
#define STATOR_DECLARE_quaternary(name)                                                     \
  inline Array name(const Operand& a, const Operand& b, const Operand& c, const Operand& d, \
                    const ElementwiseOptions& o = {}, const Stream& s = {}) {               \
    const Operand operands[] = {a, b, c, d};                                                \
    return elementwise(Op::name, operands, o, s);                                           \
  }
#define STATOR_DECLARE_reduce(name)
#define STATOR_DECLARE_creation(name)
#define STATOR_DECLARE_view(name)
#define STATOR_DECLARE_other(name)
#define STATOR_DECLARE_method(name)
#define OP(name, call, cls, ...) STATOR_DECLARE_##cls(name)
#include <stator/ops.def>
#undef STATOR_DECLARE_unary
#undef STATOR_DECLARE_binary
#undef STATOR_DECLARE_ternary
#undef STATOR_DECLARE_select
#undef STATOR_DECLARE_quaternary
#undef STATOR_DECLARE_reduce
#undef STATOR_DECLARE_creation
#undef STATOR_DECLARE_view
#undef STATOR_DECLARE_other
#undef STATOR_DECLARE_method

}  // namespace stator
