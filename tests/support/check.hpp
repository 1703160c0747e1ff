// The harness of the C++ tests: a program is a list of named cases. Asserts count; one that fails is printed with its
// case and the run goes on.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

// Of the sanitizers, where the program is built with them: called before they end it.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace stator::test {

struct Case {
  std::string name;
  std::function<void()> body;
};

inline std::atomic<int64_t> passed{0}, failed{0};
inline std::string running;  // the case's name

inline void fail(const std::string& what) {
  failed.fetch_add(1);
  std::fprintf(stderr, "FAILED: %s: %s\n", running.c_str(), what.c_str());
}

// The text of an assert, and where it stands.
struct What {
  using Place = std::source_location;
  const char* text;
  Place place;
  What(const char* words, Place at = Place::current()) : text(words), place(at) {}
  What(const std::string& words, Place at = Place::current()) : text(words.c_str()), place(at) {}
};

// Prints the numbers after the text. From any thread.
template <class... Numbers>
void check(bool good, What what, Numbers... numbers) {
  if (good) {
    passed.fetch_add(1);
    return;
  }
  std::string line = std::string(what.place.file_name()) + ":" + std::to_string(what.place.line()) + ": " + what.text;
  ((line += " " + std::to_string(static_cast<long long>(numbers))), ...);
  fail(line);
}

// What main returns: 0 if something was asserted and all of it held. Runs the cases whose name contains the first
// argument; --list names them. `after_each` asserts what every case leaves.
inline int run(int argc, char** argv, const std::vector<Case>& cases, const std::function<void()>& after_each = {}) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  if (wanted == "--list") {
    for (const Case& c : cases) std::puts(c.name.c_str());
    return 0;
  }
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback([] { fail("ended by a sanitizer"); });
  for (const Case& c : cases) {
    if (c.name.find(wanted) == std::string::npos) continue;
    running = c.name;
    try {
      c.body();
      if (after_each) after_each();
    } catch (const std::exception& error) {
      fail(std::string("threw ") + error.what());
    }
  }
  std::printf("%lld passed, %lld failed\n", static_cast<long long>(passed), static_cast<long long>(failed));
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace stator::test

#define CHECK(...) ::stator::test::check(bool(__VA_ARGS__), #__VA_ARGS__)

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
