// An opcode, split into its modifiers.
#pragma once

#include "emulator/export.hpp"
#include "emulator/ptx/types.hpp"

#include <array>
#include <string>
#include <string_view>

namespace stator::emulator::machine {

using ptx::Space;
using ptx::Type;

// How a value is rounded: to the destination's precision (rn, rz, rm, rp, rna), or to an integer (rni, rzi, rmi, rpi).
enum class Rounding : uint8_t { none, rn, rz, rm, rp, rna, rni, rzi, rmi, rpi };

struct Form {
  std::string_view text;  // add.rn.ftz.f32
  std::string_view base;  // add
  std::array<std::string_view, 14> modifiers{};
  unsigned count = 0;  // of modifiers
  std::array<Type, 4> types{};
  unsigned type_count = 0;
  Rounding rounding = Rounding::none;
  Space space = Space::generic;
  unsigned vector = 1;
  bool ftz = false, sat = false, strong = false, acquire = false, release = false;

  Type type() const { return types[0]; }
  Type last() const { return type_count ? types[type_count - 1] : Type::none; }
  STATOR_EMULATOR_API bool has(std::string_view modifier) const;
};

// Throws std::invalid_argument, whose text names what is not supported.
Form parse_form(std::string_view text);

}  // namespace stator::emulator::machine
