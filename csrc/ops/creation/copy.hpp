// Copies on behalf of another op, which errors name.
#pragma once

#include <stator/array.hpp>
#include <stator/op_table.hpp>

namespace stator {

Array copy_as(Op op, const Array& x, const Stream& stream);
void assign_as(Op op, const Array& target, const Operand& value, const Stream& stream);

}  // namespace stator
