#include "emulator/ptx/module.hpp"

#include "emulator/ptx/body.hpp"

namespace stator::emulator::ptx {

Function::Function() = default;
Function::Function(Function&&) noexcept = default;
Function& Function::operator=(Function&&) noexcept = default;
Function::~Function() = default;

Module::Module(std::string text) : text_(std::move(text)) {
  Lexer lexer(text_, 1);
  bool external = false;
  while (lexer.peek().kind != Token::Kind::end) {
    const Token token = lexer.word("a directive");
    if (token.is(".version") || token.is(".address_size")) {
      lexer.take();
    } else if (token.is(".target")) {
      do lexer.word("a target");
      while (lexer.take_if(','));
    } else if (token.is(".extern")) {
      external = true;
      continue;
    } else if (token.is(".visible") || token.is(".weak") || token.is(".common")) {
      continue;
    } else if (token.is(".entry") || token.is(".func")) {
      parse_function(lexer, token.is(".entry"));
    } else if (token.is(".global")) {
      parse_variables(lexer, Space::global, external, variables_);
    } else if (token.is(".const")) {
      parse_variables(lexer, Space::constant, external, variables_);
    } else if (token.is(".shared")) {
      parse_variables(lexer, Space::shared, external, variables_);
    } else if (token.is(".local")) {
      parse_variables(lexer, Space::local, external, variables_);
    } else if (token.is(".file")) {
      const auto index = uint32_t(lexer.integer("the number of a file"));
      files_[index] = lexer.take().text;
      while (lexer.take_if(',')) lexer.take();
    } else if (token.is(".section")) {
      lexer.word("the name of a section");
      lexer.skip_braces();
    } else if (token.is(".pragma")) {
      lexer.take();
      lexer.expect(';');
    } else if (token.is(".loc") || token.is(".alias")) {
      while (lexer.peek().kind != Token::Kind::end && lexer.peek().line == token.line) lexer.take();
    } else {
      throw Error(token.line, "The directive " + std::string(token.text) + " is not known at the level of a module.");
    }
    external = false;
  }
  for (size_t i = 0; i < variables_.size(); ++i) variable_index_.emplace(variables_[i].name, i);
  for (size_t i = 0; i < functions_.size(); ++i) {
    const auto [known, added] = function_index_.emplace(functions_[i].name, i);
    if (added || !functions_[i].defined) continue;
    if (functions_[known->second].defined)
      throw Error(functions_[i].line, "The function " + std::string(functions_[i].name) + " is defined twice.");
    known->second = i;
  }
}

void Module::parse_function(Lexer& lexer, bool entry) {
  Function function;
  function.entry = entry;
  while (lexer.take_if(".attribute")) {
    lexer.expect('(');
    while (!lexer.take_if(')')) lexer.take();
  }
  if (lexer.peek().is('(')) function.results = parse_parameters(lexer);
  function.name = lexer.word("the name of a function").text;
  if (lexer.peek().is('(')) function.parameters = parse_parameters(lexer);
  parse_directives(lexer, function);
  if (!lexer.take_if(';')) {
    function.line = lexer.peek().line;
    function.text = lexer.skip_braces();
    function.defined = true;
  }
  functions_.push_back(std::move(function));
}

void Module::parse_directives(Lexer& lexer, Function& function) {
  const auto three = [&](uint32_t(&sizes)[3]) {
    for (uint32_t& size : sizes) size = 1;
    int axis = 0;
    do sizes[axis++] = uint32_t(lexer.integer("a number of threads"));
    while (axis < 3 && lexer.take_if(','));
  };
  while (lexer.peek().kind == Token::Kind::word) {
    const Token token = lexer.take();
    if (token.is(".maxntid")) {
      three(function.max_threads);
    } else if (token.is(".reqntid")) {
      three(function.required_threads);
    } else if (token.is(".minnctapersm")) {
      function.min_blocks = uint32_t(lexer.integer("a number of blocks"));
    } else if (token.is(".maxnreg") || token.is(".maxnctapersm")) {
      lexer.integer("a number");
    } else if (token.is(".noreturn")) {
    } else if (token.is(".pragma")) {
      lexer.take();
      lexer.expect(';');
    } else if (token.is(".explicitcluster") || token.is(".blocksareclusters")) {
      function.cluster = token.text;
    } else if (token.is(".reqnctapercluster") || token.is(".maxclusterrank")) {
      function.cluster = token.text;
      do lexer.integer("a number of blocks");
      while (lexer.take_if(','));
    } else {
      throw Error(token.line, "The directive " + std::string(token.text) + " of a function is not known.");
    }
  }
}

const Function* Module::function(std::string_view name) const {
  const auto known = function_index_.find(name);
  return known == function_index_.end() ? nullptr : &functions_[known->second];
}

const Variable* Module::variable(std::string_view name) const {
  const auto known = variable_index_.find(name);
  return known == variable_index_.end() ? nullptr : &variables_[known->second];
}

std::string_view Module::file(uint32_t index) const {
  const auto known = files_.find(index);
  return known == files_.end() ? std::string_view() : known->second;
}

std::string_view Module::line_text(uint32_t line) const {
  size_t start = 0;
  for (uint32_t at = 1; at < line && start != std::string::npos; ++at) {
    start = text_.find('\n', start);
    if (start != std::string::npos) ++start;
  }
  if (start == std::string::npos) return {};
  std::string_view found = std::string_view(text_).substr(start, text_.find('\n', start) - start);
  while (!found.empty() && (found.front() == ' ' || found.front() == '\t')) found.remove_prefix(1);
  return found;
}

const Body& Module::body(const Function& function) const {
  if (!function.body) function.body = std::make_unique<Body>(parse_body(function.text, function.line));
  return *function.body;
}

}  // namespace stator::emulator::ptx
