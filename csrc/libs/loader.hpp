// The vendor libraries as shared objects, which are found and opened at first use and never closed. Thread-safe.
#pragma once

#include "runtime/shared_object.hpp"

#include <stator/error.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace stator::libs {

enum class Library : uint8_t { cublas_lt, cublas, cusparse, cusolver, cufft, nvrtc, cusparse_lt, openblas };
inline constexpr int library_count = static_cast<int>(Library::openblas) + 1;

// Opens the library, after its dependencies, in the order that set_library_path states. LibraryNotFoundError names the
// folders and the package. Then returns the address of a symbol, with or without the prefix scipy_;
// LibraryNotFoundError with the symbol and the version found.
void* require_symbol(Library library, const char* symbol, std::string_view op);

// True if something else in the process had loaded the library before stator opened it: its settings are not ours.
bool shared_with_process(Library library);

// The same as require_symbol, but null if the library has no such symbol.
void* find_symbol(Library library, const char* symbol, std::string_view op);

template <class Function>
void require(Function*& slot, Library library, const char* symbol, std::string_view op) {
  slot = reinterpret_cast<Function*>(require_symbol(library, symbol, op));
}

// Fills the slots of a table of functions.
struct Lookup {
  Library library;
  std::string_view op;
  template <class Function>
  void operator()(Function*& slot, const char* symbol) const {
    require(slot, library, symbol, op);
  }
  template <class Function>
  void optional(Function*& slot, const char* symbol) const {
    slot = reinterpret_cast<Function*>(find_symbol(library, symbol, op));
  }
};

// The table of a library's functions that `fill` looks up. The first call that succeeds fills it; a failed attempt is
// repeated by the next call. Each Table belongs to one library.
template <class Table>
const Table& calls_of(Library library, std::string_view op, void (*fill)(Table&, const Lookup&)) {
  static const Table table = [&] {
    Table found{};
    fill(found, Lookup{library, op});
    return found;
  }();
  return table;
}

// Whether `open`, which looks up a library, finds it. LibraryNotFoundError passes where it says that no file handle was
// left.
template <class Open>
bool is_found(Open open) {
  try {
    open();
    return true;
  } catch (const LibraryNotFoundError&) {
    if (file_handles_exhausted()) throw;
    return false;
  }
}

// A warning of stator's own, which goes the way of those about libraries (stator/libraries.hpp).
void give_warning(std::string text);

// A library with a slower built-in fallback, which is searched for once per process.
class Replaceable {
 public:
  // `open` looks up the library and throws LibraryNotFoundError.
  Replaceable(Library library, void (*open)()) : library_(library), open_(open) {}
  // Whether it is there. Where not, a warning is given once, or LibraryNotFoundError each time if it is `required`.
  bool available(std::string_view op, bool required);

 private:
  enum class State : uint8_t { unknown, there, missing };
  const Library library_;
  void (*const open_)();
  std::atomic<State> state_{State::unknown};
};

}  // namespace stator::libs
