// Declarations of variables and parameters.
#include "emulator/ptx/module.hpp"

#include <cstring>

namespace stator::emulator::ptx {
namespace {

// One element of an initialiser, appended to the content.
void parse_element(Lexer& lexer, Variable& variable, uint64_t& offset) {
  const unsigned width = bytes_of(variable.type);
  uint64_t bits = 0;
  if (lexer.peek().is("generic") || (lexer.peek().kind == Token::Kind::word && lexer.peek().text[0] != '.')) {
    const bool wrapped = lexer.take_if("generic");
    if (wrapped) lexer.expect('(');
    Variable::Pointer pointer{offset, lexer.word("a symbol").text, 0};
    if (wrapped) lexer.expect(')');
    if (lexer.peek().is('+') || lexer.peek().is('-')) pointer.addend = lexer.integer("an offset");
    if (width != 8) throw Error(lexer.peek().line, "An address is an initialiser of 64-bit elements only.");
    variable.pointers.push_back(pointer);
  } else {
    const bool negative = lexer.take_if('-');
    const Token number = lexer.take();
    unsigned real_bits = 0;
    int64_t integer = 0;
    if (is_float(variable.type) && parse_real(number.text, bits, real_bits)) {
      if (real_bits == 64 && width == 4) {
        double wide;
        std::memcpy(&wide, &bits, 8);
        const float narrow = float(wide);
        bits = 0;
        std::memcpy(&bits, &narrow, 4);
      }
      if (negative) bits ^= uint64_t(1) << (width * 8 - 1);
    } else if (parse_integer(number.text, integer)) {
      bits = negative ? 0 - uint64_t(integer) : uint64_t(integer);
    } else {
      throw Error(number.line, "\"" + std::string(number.text) + "\" is not an initialiser.");
    }
  }
  variable.content.resize(offset + width);
  std::memcpy(variable.content.data() + offset, &bits, width);
  offset += width;
}

void parse_initialiser(Lexer& lexer, Variable& variable, uint64_t& offset) {
  if (!lexer.take_if('{')) return parse_element(lexer, variable, offset);
  if (lexer.take_if('}')) return;
  do parse_initialiser(lexer, variable, offset);
  while (lexer.take_if(','));
  lexer.expect('}');
}

void parse_dimensions(Lexer& lexer, Variable& variable) {
  while (lexer.take_if('[')) {
    variable.bytes *= lexer.peek().is(']') ? 0 : uint64_t(lexer.integer("a number of elements"));
    lexer.expect(']');
  }
}

}  // namespace

void parse_variables(Lexer& lexer, Space space, bool external, std::vector<Variable>& into) {
  Variable shape;
  shape.space = space;
  shape.external = external;
  unsigned elements = 1;
  for (;;) {
    const Token token = lexer.word("a type");
    if (token.is(".align")) {
      shape.align = uint32_t(lexer.integer("an alignment"));
    } else if (token.is(".attribute")) {
      lexer.expect('(');
      while (!lexer.take_if(')')) lexer.take();
    } else if (token.is(".v2") || token.is(".v4")) {
      elements = token.is(".v2") ? 2 : 4;
    } else {
      shape.type = type_named(token.text.substr(1));
      if (shape.type == Type::none)
        throw Error(token.line, "The type " + std::string(token.text) + " of a variable is not supported.");
      break;
    }
  }
  shape.align = std::max(shape.align, bytes_of(shape.type) * elements);
  do {
    Variable variable = shape;
    variable.line = lexer.peek().line;
    variable.name = lexer.word("the name of a variable").text;
    variable.bytes = uint64_t(bytes_of(shape.type)) * elements;
    parse_dimensions(lexer, variable);
    uint64_t offset = 0;
    if (lexer.take_if('=')) parse_initialiser(lexer, variable, offset);
    variable.bytes = std::max(variable.bytes, offset);
    into.push_back(std::move(variable));
  } while (lexer.take_if(','));
  lexer.expect(';');
}

std::vector<Variable> parse_parameters(Lexer& lexer) {
  std::vector<Variable> parameters;
  lexer.expect('(');
  while (!lexer.take_if(')')) {
    Variable variable;
    const Token space = lexer.word(".param or .reg");
    if (!space.is(".param") && !space.is(".reg")) throw Error(space.line, "A parameter is in .param or .reg.");
    variable.space = space.is(".reg") ? Space::reg : Space::param;
    for (;;) {
      const Token token = lexer.word("the type of a parameter");
      variable.line = token.line;
      if (token.is(".align")) {
        const auto align = uint32_t(lexer.integer("an alignment"));
        if (variable.type == Type::none) variable.align = align;  // else it is that of what a pointer points to
      } else if (token.text[0] != '.') {
        variable.name = token.text;
        break;
      } else if (const Type type = type_named(token.text.substr(1)); type != Type::none) {
        variable.type = type;
      }  // the others describe a pointer: .ptr, its space
    }
    variable.align = std::max(variable.align, bytes_of(variable.type));
    variable.bytes = bytes_of(variable.type);
    parse_dimensions(lexer, variable);
    parameters.push_back(std::move(variable));
    lexer.take_if(',');
  }
  return parameters;
}

}  // namespace stator::emulator::ptx
