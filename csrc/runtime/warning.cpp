#include "runtime/warning.hpp"

#include <stator/backend.hpp>

#include <atomic>
#include <cstdarg>
#include <cstdio>

namespace stator {
namespace {

void to_stderr(const char* text) { std::fprintf(stderr, "%s\n", text); }
std::atomic<void (*)(const char*)> handler{to_stderr};
std::atomic<bool> holding{false};
std::atomic<int64_t> held{0};

}  // namespace

void set_warning_handler(void (*given)(const char*)) { handler.store(given ? given : to_stderr); }

int64_t hold_warnings(bool hold) {
  holding = hold;
  return held.exchange(0);
}

void warn(const char* format, ...) noexcept {
  if (holding) {
    ++held;
    return;
  }
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  try {
    handler.load()(text);
  } catch (...) {
    to_stderr(text);
  }
}

}  // namespace stator
