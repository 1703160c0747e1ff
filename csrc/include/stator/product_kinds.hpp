// Enumerations that the kernels and the libraries of products share.
#pragma once

#include <cstdint>

#include <stator/macros/aside.inc>

namespace stator {

// Applied to the sum of a product and its bias.
enum class Activation : int32_t { none, relu, gelu, gelu_tanh, silu, sigmoid, tanh };

// The eight-bit formats of the OCP specification (OFP8, 2023). e4m3 has no infinity.
enum class Float8 : int32_t { e4m3, e5m2 };

}  // namespace stator

#include <stator/macros/back.inc>
