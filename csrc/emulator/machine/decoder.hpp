// The state of decoding one kernel.
#pragma once

#include "emulator/machine/decode.hpp"
#include "emulator/machine/special.hpp"

#include <map>
#include <unordered_map>
#include <vector>

namespace stator::emulator::machine {

// Where a name's variable is: an offset in its space, or an address.
struct Location {
  Space space = Space::generic;
  uint64_t at = 0;
  uint64_t bytes = 0;
  bool kernel = false;   // a parameter of the kernel; other parameters are in local memory
  bool dynamic = false;  // after the static shared memory, whose size is known at the end
};

class Decoder {
 public:
  Decoder(const ptx::Module& module, const ptx::Function& kernel, const Level& level, const AddressOf& address_of)
      : module_(module), kernel_(kernel), level_(level), address_of_(address_of), code_(std::make_unique<Code>()) {}
  std::unique_ptr<Code> run();

 private:
  struct Register {
    uint32_t number;
    uint8_t bytes;
  };
  struct Range {
    uint32_t first, count;
    uint8_t bytes;
  };
  struct Scope {
    std::unordered_map<std::string_view, Register> registers;
    std::unordered_map<std::string_view, Range> ranges;
    std::unordered_map<std::string_view, Location> variables;
    uint64_t top = 0;  // of local memory where the scope began
  };
  // A body that is put into the kernel.
  struct Frame {
    const ptx::Function* function;
    const ptx::Body* body;
    std::vector<Scope> scopes;
    std::unordered_map<std::string_view, Location> parameters;
    std::unordered_map<std::string_view, uint32_t> labels;
    std::unordered_map<std::string_view, uint32_t> tables;  // by label: the index in Code::tables
    struct Fixup {
      uint32_t instruction;
      std::string_view label;
    };
    std::vector<Fixup> branches;
    std::vector<uint32_t> returns;  // branches to the end
    std::vector<std::pair<uint32_t, const ptx::Statement*>> targets;
    std::string_view last_label;
    uint32_t used_bytes = ~uint32_t(0);
    SourceLine source;
  };
  struct Known {
    Form form;
    Choice choice;
  };

  // statements: decode.cpp
  void put_body(Frame& frame);
  void statement(const ptx::Statement& s);
  void instruction(const ptx::Statement& s);
  void call(const ptx::Statement& s);
  void branch(const ptx::Statement& s, const Known& known);
  void resolve(Frame& frame);
  const Known& known_form(std::string_view text, uint32_t line);
  Instruction begin(const ptx::Statement& s, const Form& form, const Choice& choice);
  void finish(Instruction& i, const std::vector<Operand>& operands);
  [[noreturn]] void refuse(const ptx::Statement& s, const std::string& why) const;

  // families with forms of their own: decode_forms.cpp
  bool move(const ptx::Statement& s);
  bool parameter_access(const ptx::Statement& s, const Form& form);
  void memory_access(const ptx::Statement& s, const Known& known);
  void plain(const ptx::Statement& s, const Known& known);
  void emit(const ptx::Statement& s, std::string_view base, Type type, unsigned vector, std::vector<Operand> operands,
            int64_t offset = 0, uint32_t target = 0);

  // names and values: operands.cpp
  const Register* find_register(std::string_view name);
  bool find_location(std::string_view name, Location& location);
  Location shared_location(const ptx::Variable& variable);
  Location local_location(uint64_t bytes, uint32_t align);
  void declare(const ptx::Registers& r);
  void declare(const ptx::Variable& v);
  Operand new_register(uint8_t bytes);
  Operand constant(uint64_t value, uint8_t bytes);
  Operand location_constant(const ptx::Statement& s, const Location& location, int64_t offset, uint8_t bytes);
  Operand value(const ptx::Statement& s, const ptx::Operand& o, Type expected, bool output, bool exact);
  Operand address(const ptx::Statement& s, const ptx::Operand& o, Space space, int64_t& offset);
  uint32_t predicate(const ptx::Statement& s, std::string_view name);
  int32_t checked_offset(const ptx::Statement& s, int64_t offset) const;

  const ptx::Module& module_;
  const ptx::Function& kernel_;
  const Level& level_;
  const AddressOf& address_of_;
  std::unique_ptr<Code> code_;
  std::vector<uint8_t> register_bytes_;
  std::vector<std::byte> constants_;
  std::map<std::pair<uint8_t, uint64_t>, uint32_t> constant_offsets_;
  struct Patch {
    uint32_t constant;
    uint8_t bytes;
    int64_t offset;
  };
  std::vector<Patch> dynamic_patches_;
  std::unordered_map<std::string_view, Location> shared_;
  uint64_t local_top_ = 0;
  std::unordered_map<std::string_view, Known> forms_;
  std::vector<Frame*> frames_;
  std::unordered_map<std::string_view, uint16_t> form_numbers_;
  uint16_t form_number_ = 0;  // of the instruction that was begun
  bool sources_ = false;
};

// The type of an operand, by its position in the text: the width of literals, and of registers where it must be exact.
Type operand_type(const Form& form, unsigned index, bool paired_before);
// How many of the first operands are written.
bool writes_first(const Form& form);

}  // namespace stator::emulator::machine
