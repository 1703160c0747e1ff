// How the bound of an op's error grows with what it adds up.
#pragma once

#include <stator/export.hpp>
#include <stator/op_table.hpp>

namespace stator {

// What each term of a result adds to the op's tolerance, in units in the last place of the sum of the terms'
// magnitudes: 0, or 0.5 where the terms may be added in any order, each sum rounded.
STATOR_API double error_per_term(Op);

}  // namespace stator
