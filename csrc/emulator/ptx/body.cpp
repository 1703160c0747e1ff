#include "emulator/ptx/body.hpp"

#include <cstring>

namespace stator::emulator::ptx {
namespace {

class Parser {
 public:
  Parser(std::string_view text, uint32_t line) : lexer_(text, line) {}

  Body run() {
    while (lexer_.peek().kind != Token::Kind::end) statement();
    if (depth_ != 0) lexer_.refuse("expected '}'");
    return std::move(body_);
  }

 private:
  Statement& add(Statement::Kind kind, uint32_t line) {
    Statement& s = body_.statements.emplace_back();
    s.kind = kind;
    s.line = line;
    return s;
  }

  void statement() {
    const Token& next = lexer_.peek();
    const uint32_t line = next.line;
    if (lexer_.take_if('{')) {
      ++depth_;
      add(Statement::Kind::open, line);
    } else if (lexer_.take_if('}')) {
      if (--depth_ < 0) throw Error(line, "A '}' closes nothing.");
      add(Statement::Kind::close, line);
    } else if (lexer_.take_if(';')) {
    } else if (next.kind == Token::Kind::word && next.text[0] == '.') {
      directive();
    } else if (next.kind == Token::Kind::word && lexer_.followed_by(':')) {
      const Token label = lexer_.take();
      lexer_.expect(':');
      Statement& s = add(Statement::Kind::label, line);
      s.name = label.text;
    } else {
      instruction();
    }
  }

  void directive() {
    const Token token = lexer_.take();
    if (token.is(".reg")) return registers(token.line);
    if (token.is(".loc")) return location(token);
    if (token.is(".pragma")) return pragma(token.line);
    if (token.is(".branchtargets") || token.is(".calltargets")) {
      const std::vector<Operand> list = operands();
      lexer_.expect(';');
      keep(add(Statement::Kind::targets, token.line), list);
      return;
    }
    const Space space = token.is(".param")    ? Space::param
                        : token.is(".local")  ? Space::local
                        : token.is(".shared") ? Space::shared
                        : token.is(".const")  ? Space::constant
                        : token.is(".global") ? Space::global
                                              : Space::generic;
    if (space == Space::generic && !token.is(".extern"))
      throw Error(token.line, "The directive " + std::string(token.text) + " in a body is not supported.");
    if (space == Space::generic) return;
    const auto before = uint32_t(body_.variables.size());
    parse_variables(lexer_, space, false, body_.variables);
    Statement& s = add(Statement::Kind::variable, token.line);
    s.first = before;
    s.count = uint32_t(body_.variables.size()) - before;
  }

  void registers(uint32_t line) {
    const Token type_word = lexer_.word("a type");
    const Type type = type_named(type_word.text.substr(1));
    if (type == Type::none)
      throw Error(line, "The type " + std::string(type_word.text) + " of a register is not supported.");
    const auto before = uint32_t(body_.registers.size());
    do {
      Registers declared{lexer_.word("the name of a register").text, 0, type};
      if (lexer_.take_if('<')) {
        declared.count = uint32_t(lexer_.integer("a number of registers"));
        lexer_.expect('>');
      }
      body_.registers.push_back(declared);
    } while (lexer_.take_if(','));
    lexer_.expect(';');
    Statement& s = add(Statement::Kind::registers, line);
    s.first = before;
    s.count = uint32_t(body_.registers.size()) - before;
  }

  void location(const Token& token) {
    Statement& s = add(Statement::Kind::location, token.line);
    s.location.file = uint32_t(lexer_.integer("the number of a file"));
    s.location.line = uint32_t(lexer_.integer("a line"));
    while (lexer_.peek().kind != Token::Kind::end && lexer_.peek().line == token.line) lexer_.take();
  }

  void pragma(uint32_t line) {
    const std::string_view text = lexer_.take().text;
    lexer_.expect(';');
    constexpr std::string_view used = "used_bytes_mask ";
    int64_t mask = 0;
    if (!text.starts_with(used) || !parse_integer(text.substr(used.size()), mask)) return;
    add(Statement::Kind::used_bytes, line).first = uint32_t(mask);
  }

  void instruction() {
    Statement s;
    s.line = lexer_.peek().line;
    if (lexer_.take_if('@')) {
      s.guarded = true;
      s.guard_negated = lexer_.take_if('!');
      s.guard = lexer_.word("a predicate").text;
    }
    s.name = lexer_.word("an instruction").text;
    const std::vector<Operand> list = operands();
    if (!lexer_.take_if(';')) lexer_.refuse("expected ';' after \"" + std::string(s.name) + "\"");
    keep(s, list);
    body_.statements.push_back(s);
  }

  void keep(Statement& s, const std::vector<Operand>& list) {
    s.first = uint32_t(body_.operands.size());
    s.count = uint32_t(list.size());
    body_.operands.insert(body_.operands.end(), list.begin(), list.end());
  }

  std::vector<Operand> operands() {
    std::vector<Operand> list;
    if (lexer_.peek().is(';')) return list;
    do {
      list.push_back(operand());
      if (lexer_.take_if('|')) {
        list.push_back(operand());
        list.back().paired = true;
      }
    } while (lexer_.take_if(','));
    return list;
  }

  Operand group(char close) {
    std::vector<Operand> elements;
    if (!lexer_.peek().is(close)) do
        elements.push_back(operand());
      while (lexer_.take_if(','));
    lexer_.expect(close);
    Operand o;
    o.kind = Operand::Kind::vector;
    o.first = uint32_t(body_.operands.size());
    o.count = uint32_t(elements.size());
    body_.operands.insert(body_.operands.end(), elements.begin(), elements.end());
    return o;
  }

  Operand operand() {
    if (lexer_.take_if('{')) return group('}');
    if (lexer_.take_if('(')) return group(')');
    if (lexer_.take_if('[')) return address();
    Operand o;
    o.negated = lexer_.take_if('!');
    if (lexer_.peek().kind == Token::Kind::word) {
      o.name = lexer_.take().text;
      if (o.name != "_") o.kind = Operand::Kind::name;
      if (o.name == "WARP_SZ") {
        o.kind = Operand::Kind::integer;
        o.value = 32;
      } else if (lexer_.peek().is('+')) {  // a symbol with an offset
        o.value = lexer_.integer("an offset");
      }
      return o;
    }
    literal(o);
    return o;
  }

  void literal(Operand& o) {
    const bool negative = lexer_.take_if('-');
    if (lexer_.peek().kind != Token::Kind::number) lexer_.refuse("expected an operand");
    uint64_t bits = 0;
    unsigned width = 0;
    if (parse_real(lexer_.peek().text, bits, width)) {
      o.kind = width == 32 ? Operand::Kind::real32 : Operand::Kind::real64;
      o.value = int64_t(bits ^ (negative ? uint64_t(1) << (width - 1) : 0));
    } else if (parse_integer(lexer_.peek().text, o.value)) {
      o.kind = Operand::Kind::integer;
      if (negative) o.value = int64_t(0 - uint64_t(o.value));
    } else {
      lexer_.refuse("expected a number");
    }
    lexer_.take();
  }

  Operand address() {
    Operand o;
    o.address = true;
    o.kind = Operand::Kind::integer;
    if (lexer_.peek().kind == Token::Kind::word) {
      o.kind = Operand::Kind::name;
      o.name = lexer_.take().text;
      if (lexer_.take_if('+'))
        o.value = lexer_.integer("an offset");
      else if (lexer_.peek().is('-'))
        o.value = lexer_.integer("an offset");
    } else {
      o.value = lexer_.integer("an address");
    }
    lexer_.expect(']');
    return o;
  }

  Lexer lexer_;
  Body body_;
  int depth_ = 0;
};

}  // namespace

Body parse_body(std::string_view text, uint32_t line) { return Parser(text, line).run(); }

}  // namespace stator::emulator::ptx
