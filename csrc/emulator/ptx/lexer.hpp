// Splits PTX text into tokens. Words keep their dots, so that an opcode with its modifiers is one token.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace stator::emulator::ptx {

// Text that is not PTX, or PTX that the emulator does not support. The line counts from 1.
struct Error : std::runtime_error {
  uint32_t line;
  Error(uint32_t at, const std::string& what) : std::runtime_error(what), line(at) {}
};

struct Token {
  enum class Kind : uint8_t { end, word, number, string, symbol };
  Kind kind = Kind::end;
  uint32_t line = 0;
  std::string_view text;  // of a string, without its quotes

  bool is(char symbol) const { return kind == Kind::symbol && text[0] == symbol; }
  bool is(std::string_view word) const { return kind == Kind::word && text == word; }
};

class Lexer {
 public:
  Lexer(std::string_view text, uint32_t line) : at_(text.data()), end_(text.data() + text.size()), line_(line) {
    advance();
  }

  const Token& peek() const { return token_; }
  Token take() {
    const Token taken = token_;
    advance();
    return taken;
  }
  bool take_if(char symbol);
  bool take_if(std::string_view word);
  void expect(char symbol);
  Token word(const char* what);
  int64_t integer(const char* what);  // with an optional sign
  [[noreturn]] void refuse(const std::string& what) const;
  bool followed_by(char symbol) const;  // whether the next character after the token is the symbol

  // With a '{' as the next token: moves past the '}' that closes it and returns what stood between them.
  std::string_view skip_braces();

 private:
  void advance();
  void skip_blank();

  const char* at_;
  const char* end_;
  uint32_t line_;
  Token token_;
};

// The value of an integer literal (decimal, octal, hexadecimal or binary); false if it is none.
bool parse_integer(std::string_view text, int64_t& value);
// The bits of a floating literal: 0f and 0d forms, or a decimal one, which has 64 bits. `bits` is 32 or 64.
bool parse_real(std::string_view text, uint64_t& value, unsigned& bits);

}  // namespace stator::emulator::ptx
