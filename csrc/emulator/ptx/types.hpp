// Fundamental types and state spaces of PTX.
#pragma once

#include "emulator/export.hpp"

#include <cstdint>
#include <string_view>

namespace stator::emulator::ptx {

// Byte sizes are those in a register; the packed eight-bit floats are pairs in sixteen bits.
enum class Type : uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f64,
  e4m3x2,
  e5m2x2,
  u16x2,
  s16x2
};

enum class Space : uint8_t { generic, global, shared, local, constant, param, reg };

// The type that a word such as "u32" names, else Type::none.
Type type_named(std::string_view word);
STATOR_EMULATOR_API unsigned bytes_of(Type type);
STATOR_EMULATOR_API bool is_signed(Type type);
STATOR_EMULATOR_API bool is_float(Type type);

}  // namespace stator::emulator::ptx
