// A kernel as the executor runs it: instructions whose operands are slots in a warp's registers.
#pragma once

#include "emulator/counters.hpp"
#include "emulator/machine/form.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stator::emulator::machine {

constexpr unsigned lanes = 32;
constexpr uint32_t all_lanes = ~uint32_t(0);

struct Warp;
struct Instruction;

// What follows an instruction: the next one, another one (Warp::pc is set, or the group of lanes changed), or nothing
// until something happens (the lanes that ran are in Warp::waiting).
enum class Flow : uint8_t { next, jump, regroup };
using Handler = Flow (*)(Warp&, const Instruction&, uint32_t mask);

// A register is 32 values side by side, a predicate one word with a bit per lane. A constant is stored as a register
// is, so that no instruction has to tell them apart.
struct Operand {
  uint32_t offset = 0;  // in bytes; while decoding, the number of a virtual register
  uint8_t bank = 0;     // 0: registers of the warp, 1: constants of the kernel
  uint8_t bytes = 0;    // of one lane's value; 0 for a predicate
  bool negated = false;
  bool output = false;
};

struct Instruction {
  static constexpr unsigned inline_operands = 6;

  Handler run = nullptr;
  uint32_t guard = 0;  // offset of the predicate
  bool guarded = false, guard_negated = false;
  Kind kind = Kind::integer;
  uint8_t count = 0;  // of operands
  uint8_t bytes = 0;  // of one element in memory
  uint8_t vector = 1;
  bool strong = false, acquire = false, release = false;
  bool block_scope = false;                                     // .cta: other blocks are not meant
  bool ftz = false, sat = false, relu = false, finite = false;  // modifiers that are looked up where they are rare
  Rounding rounding = Rounding::none;
  uint8_t join = 0;  // of comparisons with a third operand: 1 and, 2 or, 3 xor
  uint32_t line = 0;
  uint32_t target = 0;                 // of a branch; the number of a special register or of a memory access's site
  int32_t offset = 0;                  // added to an address
  uint32_t used_bytes = ~uint32_t(0);  // of a load, those whose values matter
  uint32_t more = 0;                   // where operands stand in Code::more, if there are more than fit
  Operand op[inline_operands];
};

struct SourceLine {
  uint32_t file = 0, line = 0;
};

struct Symbol {
  std::string name;
  uint32_t offset = 0;
  uint64_t bytes = 0;
};

struct Code {
  std::string name;
  std::vector<Instruction> instructions;
  std::vector<Operand> more;
  std::vector<SourceLine> sources;            // parallel to instructions, or empty
  std::vector<uint16_t> forms;                // parallel to instructions: indices of the next
  std::vector<std::string> form_names{""};    // the first is of what stands in no text
  std::vector<std::vector<uint32_t>> tables;  // targets of indirect branches
  std::unique_ptr<std::byte[]> constants;     // aligned to 64 bytes from `constants_at` on
  std::byte* constants_at = nullptr;
  uint32_t register_bytes = 0;
  uint32_t local_bytes = 0;   // of a lane, including parameters of calls
  uint32_t shared_bytes = 0;  // static
  uint32_t shared_align = 16;
  uint32_t sites = 0;
  bool cooperative = false;
  std::vector<Symbol> shared_symbols;

  const Operand* operands(const Instruction& i) const {
    return i.count > Instruction::inline_operands ? more.data() + i.more : i.op;
  }
};

}  // namespace stator::emulator::machine
