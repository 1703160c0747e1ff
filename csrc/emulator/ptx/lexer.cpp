#include "emulator/ptx/lexer.hpp"

#include <bit>
#include <charconv>
#include <cstring>

namespace stator::emulator::ptx {
namespace {

bool begins_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' || c == '.';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool in_word(char c) { return begins_word(c) || is_digit(c); }

}  // namespace

void Lexer::skip_blank() {
  while (at_ < end_) {
    if (*at_ == '\n') {
      ++line_;
      ++at_;
    } else if (*at_ == ' ' || *at_ == '\t' || *at_ == '\r') {
      ++at_;
    } else if (*at_ == '/' && at_ + 1 < end_ && at_[1] == '/') {
      const void* newline = std::memchr(at_, '\n', size_t(end_ - at_));
      at_ = newline ? static_cast<const char*>(newline) : end_;
    } else if (*at_ == '/' && at_ + 1 < end_ && at_[1] == '*') {
      at_ += 2;
      while (at_ < end_ && !(*at_ == '*' && at_ + 1 < end_ && at_[1] == '/')) line_ += *at_++ == '\n';
      at_ = at_ < end_ ? at_ + 2 : end_;
    } else {
      return;
    }
  }
}

void Lexer::advance() {
  skip_blank();
  token_.line = line_;
  if (at_ == end_ || *at_ == '\0') {
    token_ = {Token::Kind::end, line_, {}};
    return;
  }
  const char* start = at_;
  if (begins_word(*at_)) {
    token_.kind = Token::Kind::word;
    const bool directive = *at_++ == '.';  // ".reg.b32" is two of them, while an opcode keeps its modifiers
    while (at_ < end_ && !(directive && *at_ == '.') &&
           (in_word(*at_) || (*at_ == ':' && at_ + 2 < end_ && at_[1] == ':' && in_word(at_[2]))))
      at_ += *at_ == ':' ? 2 : 1;
  } else if (is_digit(*at_)) {
    token_.kind = Token::Kind::number;
    const bool coded = *at_ == '0' && at_ + 1 < end_ && std::strchr("xXfFdDbB", at_[1]);
    while (at_ < end_ && (in_word(*at_) || (!coded && (*at_ == '+' || *at_ == '-') && (at_[-1] | 32) == 'e'))) ++at_;
  } else if (*at_ == '"') {
    const void* quote = std::memchr(at_ + 1, '"', size_t(end_ - at_ - 1));
    if (!quote) refuse("a string is not closed");
    token_ = {Token::Kind::string, line_, {at_ + 1, static_cast<const char*>(quote)}};
    at_ = static_cast<const char*>(quote) + 1;
    return;
  } else {
    token_.kind = Token::Kind::symbol;
    ++at_;
  }
  token_.text = {start, at_};
}

bool Lexer::take_if(char symbol) {
  if (!token_.is(symbol)) return false;
  advance();
  return true;
}

bool Lexer::take_if(std::string_view word) {
  if (!token_.is(word)) return false;
  advance();
  return true;
}

void Lexer::expect(char symbol) {
  if (!take_if(symbol)) refuse(std::string("expected '") + symbol + "'");
}

Token Lexer::word(const char* what) {
  if (token_.kind != Token::Kind::word) refuse(std::string("expected ") + what);
  return take();
}

int64_t Lexer::integer(const char* what) {
  const bool negative = take_if('-');
  if (!negative) take_if('+');
  int64_t value = 0;
  if (token_.kind != Token::Kind::number || !parse_integer(token_.text, value)) refuse(std::string("expected ") + what);
  advance();
  return negative ? int64_t(0 - uint64_t(value)) : value;
}

bool Lexer::followed_by(char symbol) const {
  const char* at = at_;
  while (at < end_ && (*at == ' ' || *at == '\t')) ++at;
  return at < end_ && *at == symbol;
}

void Lexer::refuse(const std::string& what) const {
  const std::string seen =
      token_.kind == Token::Kind::end ? "the end of the text" : "\"" + std::string(token_.text) + "\"";
  throw Error(token_.line, what + ", not " + seen + ".");
}

std::string_view Lexer::skip_braces() {
  if (!token_.is('{')) refuse("expected '{'");
  const char* start = at_;
  const uint32_t line = line_;
  for (int depth = 1; at_ < end_; ++at_) {
    switch (*at_) {
      case '\n': ++line_; break;
      case '{': ++depth; break;
      case '}':
        if (--depth == 0) {
          const std::string_view inside{start, at_};
          ++at_;
          advance();
          return inside;
        }
        break;
      case '/':
        if (at_ + 1 < end_ && (at_[1] == '/' || at_[1] == '*')) {
          skip_blank();
          --at_;
        }
        break;
      case '"':
        while (at_ + 1 < end_ && *++at_ != '"') line_ += *at_ == '\n';
        break;
      default: break;
    }
  }
  throw Error(line, "A '{' is not closed.");
}

bool parse_integer(std::string_view text, int64_t& value) {
  if (!text.empty() && (text.back() == 'U')) text.remove_suffix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char mark = char(text[1] | 32);
    base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
    text.remove_prefix(base == 8 ? 1 : 2);
  }
  uint64_t bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits, base);
  value = int64_t(bits);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_real(std::string_view text, uint64_t& value, unsigned& bits) {
  const char mark = text.size() > 1 && text[0] == '0' ? char(text[1] | 32) : '\0';
  if (mark == 'f' || mark == 'd') {
    bits = mark == 'f' ? 32 : 64;
    const std::string_view digits = text.substr(2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    return digits.size() == bits / 4 && error == std::errc() && end == digits.data() + digits.size();
  }
  if (text.find_first_of(".eE") == std::string_view::npos) return false;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  value = std::bit_cast<uint64_t>(number);
  bits = 64;
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace stator::emulator::ptx
