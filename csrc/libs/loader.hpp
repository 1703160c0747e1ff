// The vendor libraries as shared objects: found, opened at first use, never closed. Thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

namespace stator::libs {

enum class Library : uint8_t { cublas_lt, cublas, cusparse, cusolver, cufft, nvrtc, openblas };
inline constexpr int library_count = static_cast<int>(Library::openblas) + 1;

// Opens the library (its dependencies first): a copy of the same major that the process has loaded, then the path given
// to set_library_path, then the soname on the system's search path. LibraryNotFoundError names the package. Then the
// address of a symbol, with or without the prefix scipy_; LibraryNotFoundError with the symbol and the version seen.
void* require_symbol(Library library, const char* symbol, std::string_view op);

// True when something else in the process had loaded the library before stator opened it: its settings are not ours.
bool shared_with_process(Library library);

template <class Function>
void require(Function*& slot, Library library, const char* symbol, std::string_view op) {
  slot = reinterpret_cast<Function*>(require_symbol(library, symbol, op));
}

}  // namespace stator::libs
