// What products and convolutions of bytes share: their operands as int8, and the numbers of what follows the product.
#pragma once

#include "ops/quantization/operands.hpp"

#include <cstdint>
#include <vector>

namespace stator::nn {

// An operand as int8: of uint8, less 128.
Array as_int8(const Array& x, const Stream& on);
void check_bytes(const OpCall& call, const Array& a, const char* a_name, const Array& b, const char* b_name);

// How the parameters of an operand are called.
struct NumberNames {
  const char *scale, *zero;
};
// The numbers of an operand: one, or `count` of them. What they lie in is kept in `held`.
params::ProductNumbers product_numbers(OpCall& call, const QuantizationNumber& scale, const QuantizationNumber& zero,
                                       NumberNames names, DType operand, int64_t count, std::vector<Array>& operands);
// Whether the operand may have a zero point other than 0 as int8.
bool is_shifted(const params::ProductNumbers& n);
// What concerns only the result: its numbers, and the bias of `count` elements.
void set_result(OpCall& call, params::QuantizedEpilogue& p, const QuantizedProductOptions& o, int64_t count,
                std::vector<Array>& operands);
// Sums of an operand over an axis as dense int64; broadcast to `whole` where its batch is another one.
const int64_t* sums_of(OpCall& call, const Array& x, int64_t axis, const Dims& whole, std::vector<Array>& operands);
// Writes `out`: the product of operands of int8, exact in int32, and what follows it.
void launch_product(OpCall& call, params::QuantizedEpilogue& p, const Array& left, const Array& right, const Array& out,
                    std::vector<Array>& operands);

}  // namespace stator::nn
