// Enumerations that the kernels and the libraries of products share.
#pragma once

#include <stator/device/element_types.hpp>

#include <stator/macros/aside.inc>

namespace stator {

// Applied to the sum of a product and its bias.
enum class Activation : int32_t { none, relu, gelu, gelu_tanh, silu, sigmoid, tanh };

}  // namespace stator

#include <stator/macros/back.inc>
