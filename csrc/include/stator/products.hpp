// Products besides matmul. What multiplies by matmul takes its dtypes (all; addmm and baddbmm no integers, linear
// floating ones) and raises its errors. ShapeError where extents do not meet. Asynchronous.
#pragma once

#include <stator/array.hpp>

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace stator {

STATOR_API Array dot(const Array& a, const Array& b, const Stream& = {});  // numpy.dot
// sum(conj(a) * b) along an axis, counted from the end; the other axes broadcast.
STATOR_API Array vecdot(const Array& a, const Array& b, int64_t axis = -1, const Stream& = {});
STATOR_API Array outer(const Array& a, const Array& b, const Stream& = {});  // of vectors, any dtype
STATOR_API Array kron(const Array& a, const Array& b, const Stream& = {});   // any dtype
// Sums over pairs of axes, which keep their order; the others of a, then those of b.
STATOR_API Array tensordot(const Array& a, const Array& b, std::span<const int64_t> axes_a,
                           std::span<const int64_t> axes_b, const Stream& = {});
// numpy.einsum: letters, an ellipsis, repeated letters as diagonals. Up to eight operands are multiplied in the order
// of the fewest multiplications, more from left to right. The result has the operands' common dtype (int32 where int8
// is multiplied or summed; float16 and bfloat16 are rounded once, at the end) and may be a view of a single operand.
STATOR_API Array einsum(std::string_view subscripts, std::span<const Array> operands, const Stream& = {});
// beta c + alpha a b, in one product: matrices, or batches of them. c broadcasts; with beta = 0 it is not read.
STATOR_API Array addmm(const Array& c, const Array& a, const Array& b, double alpha = 1, double beta = 1,
                       const Stream& = {});
STATOR_API Array baddbmm(const Array& c, const Array& a, const Array& b, double alpha = 1, double beta = 1,
                         const Stream& = {});

namespace nn {
// activation(x weight^T + bias): x (..., in), weight (out, in), bias (out), floating. activation: "", "relu", "gelu",
// "gelu_tanh", "silu", "sigmoid" or "tanh". Bias and activation are one launch after the product, of float32 sums; on
// cuda a bias of the result's dtype, relu, and gelu_tanh of halves are part of the library's call.
STATOR_API Array linear(const Array& x, const Array& weight, const Array* bias = nullptr,
                        std::string_view activation = {}, const Stream& = {});
}  // namespace nn

}  // namespace stator
