// The index of a PTX module: its functions with their signatures, and its variables. Bodies stay text until needed, so
// that a library of a thousand kernels is indexed in the time it takes to read it.
#pragma once

#include "emulator/ptx/lexer.hpp"
#include "emulator/ptx/types.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stator::emulator::ptx {

struct Body;

// A variable of any space, in a module or in a body, or a parameter.
struct Variable {
  // A pointer inside an initialiser: the address of the symbol, plus addend, at this offset.
  struct Pointer {
    uint64_t offset;
    std::string_view symbol;
    int64_t addend;
  };

  std::string_view name;
  Space space = Space::generic;
  Type type = Type::none;
  uint32_t align = 1;
  uint64_t bytes = 0;
  bool external = false;
  uint32_t line = 0;
  std::vector<std::byte> content;  // shorter than bytes: the rest is zero
  std::vector<Pointer> pointers;
};

struct Function {
  std::string_view name;
  bool entry = false;
  std::vector<Variable> results, parameters;
  std::string_view text;  // of the body, without its braces
  uint32_t line = 0;      // where the body begins
  bool defined = false;
  uint32_t max_threads[3] = {0, 0, 0};  // .maxntid; zero where not given
  uint32_t required_threads[3] = {0, 0, 0};
  uint32_t min_blocks = 0;
  std::string_view cluster;  // the cluster directive, if any
  mutable std::unique_ptr<Body> body;

  Function();
  Function(Function&&) noexcept;
  Function& operator=(Function&&) noexcept;
  ~Function();
};

class Module {
 public:
  // Throws Error. The text is kept.
  explicit Module(std::string text);
  Module(const Module&) = delete;

  const Function* function(std::string_view name) const;
  const Variable* variable(std::string_view name) const;
  const std::vector<Function>& functions() const { return functions_; }
  const std::vector<Variable>& variables() const { return variables_; }
  std::string_view file(uint32_t index) const;  // of a .file directive; empty if there is none
  std::string_view line_text(uint32_t line) const;

  // The parsed body, kept from the first call on. Throws Error.
  const Body& body(const Function& function) const;

 private:
  void parse_function(Lexer& lexer, bool entry);
  void parse_directives(Lexer& lexer, Function& function);

  std::string text_;
  std::vector<Function> functions_;
  std::vector<Variable> variables_;
  std::unordered_map<std::string_view, size_t> function_index_, variable_index_;
  std::map<uint32_t, std::string_view> files_;
};

// From after the space's word: alignment, type, names, dimensions and initialisers, up to and with the semicolon.
void parse_variables(Lexer& lexer, Space space, bool external, std::vector<Variable>& into);
// A list of parameters in parentheses.
std::vector<Variable> parse_parameters(Lexer& lexer);

}  // namespace stator::emulator::ptx
