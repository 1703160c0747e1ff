// Asserts of the C++ tests: each one counts, a failed one is printed and the run goes on.
#pragma once

#include <atomic>
#include <cstdio>

namespace stator::test {

inline std::atomic<int> passed{0}, failed{0};

inline void check(bool fine, const char* text, const char* file, int line) {
  (fine ? passed : failed).fetch_add(1);
  if (!fine) std::fprintf(stderr, "%s:%d: failed: %s\n", file, line, text);
}

inline int summary() {
  std::printf("%d passed, %d failed\n", passed.load(), failed.load());
  return failed.load() > 100 ? 100 : failed.load();
}

}  // namespace stator::test

#define CHECK(...) ::stator::test::check(bool(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

// Evaluates to the thrown error's text, or "" when nothing of the type was thrown.
#define THROWN(type, ...)         \
  [&]() -> std::string {          \
    try {                         \
      __VA_ARGS__;                \
    } catch (const type& error) { \
      return error.what();        \
    }                             \
    return {};                    \
  }()
