// The statements of a function's body.
#pragma once

#include "emulator/ptx/module.hpp"

#include <span>

namespace stator::emulator::ptx {

struct Operand {
  enum class Kind : uint8_t { name, integer, real32, real64, vector, sink };
  Kind kind = Kind::sink;
  bool negated = false;           // !p
  bool address = false;           // [name+value] or [value]
  bool paired = false;            // the q of p|q
  uint32_t first = 0, count = 0;  // the elements of a vector or list, in Body::operands
  int64_t value = 0;              // or the bits of a real; of an address, the offset
  std::string_view name;
};

struct Registers {
  std::string_view prefix;  // or the name, where count is 0
  uint32_t count = 0;
  Type type = Type::none;
};

struct Location {
  uint32_t file = 0, line = 0;
};

struct Statement {
  enum class Kind : uint8_t { instruction, label, open, close, registers, variable, location, used_bytes, targets };
  Kind kind = Kind::instruction;
  bool guarded = false, guard_negated = false;
  uint32_t line = 0;
  uint32_t first = 0, count = 0;  // operands; for declarations the index in its list; for used_bytes the mask
  Location location;
  std::string_view name;   // opcode with modifiers, or label
  std::string_view guard;  // the predicate's name
};

struct Body {
  std::vector<Statement> statements;
  std::vector<Operand> operands;
  std::vector<Registers> registers;
  std::vector<Variable> variables;

  std::span<const Operand> of(const Statement& s) const { return {operands.data() + s.first, s.count}; }
  std::span<const Operand> of(const Operand& o) const { return {operands.data() + o.first, o.count}; }
};

// Throws Error.
Body parse_body(std::string_view text, uint32_t line);

}  // namespace stator::emulator::ptx
