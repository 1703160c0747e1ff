#include "emulator/ptx/types.hpp"

#include <array>
#include <utility>

namespace stator::emulator::ptx {
namespace {

struct Row {
  std::string_view name;
  Type type;
  uint8_t bytes;
};

constexpr std::array rows = {
    Row{"pred", Type::pred, 0},     Row{"b8", Type::b8, 1},         Row{"b16", Type::b16, 2},
    Row{"b32", Type::b32, 4},       Row{"b64", Type::b64, 8},       Row{"b128", Type::b128, 16},
    Row{"u8", Type::u8, 1},         Row{"u16", Type::u16, 2},       Row{"u32", Type::u32, 4},
    Row{"u64", Type::u64, 8},       Row{"s8", Type::s8, 1},         Row{"s16", Type::s16, 2},
    Row{"s32", Type::s32, 4},       Row{"s64", Type::s64, 8},       Row{"f16", Type::f16, 2},
    Row{"f16x2", Type::f16x2, 4},   Row{"bf16", Type::bf16, 2},     Row{"bf16x2", Type::bf16x2, 4},
    Row{"tf32", Type::tf32, 4},     Row{"f32", Type::f32, 4},       Row{"f64", Type::f64, 8},
    Row{"e4m3x2", Type::e4m3x2, 2}, Row{"e5m2x2", Type::e5m2x2, 2}, Row{"u16x2", Type::u16x2, 4},
    Row{"s16x2", Type::s16x2, 4},
};

}  // namespace

Type type_named(std::string_view word) {
  for (const Row& row : rows)
    if (row.name == word) return row.type;
  return Type::none;
}

unsigned bytes_of(Type type) {
  for (const Row& row : rows)
    if (row.type == type) return row.bytes;
  return 0;
}

bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64 || type == Type::s16x2;
}

bool is_float(Type type) { return type >= Type::f16 && type <= Type::e5m2x2; }

}  // namespace stator::emulator::ptx
