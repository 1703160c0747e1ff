// Vendor libraries. They are opened at first use, never at import, and never closed.
#pragma once

#include <stator/export.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace stator {

struct LibraryInfo {
  std::string name;  // "cublas", "openblas", ...
  bool found = false;
  std::string path;        // of the copy that is or would be opened; empty when not found
  std::string version;     // empty until the library is opened
  std::string remedy;      // how to install it
  std::string substitute;  // what replaces it, more slowly; empty if its ops throw an error without it
  std::string wheel_file;  // its path in its wheel, below site-packages: "nvidia/cu13/lib/libcublas.so.13"
};

// Every library that stator may use. load = false opens nothing: a library counts as found when this process has loaded
// it or a path is registered for it. load = true opens each of them. Never throws for a missing library.
STATOR_API std::vector<LibraryInfo> libraries(bool load);

// The path of the shared object of a library. A library is looked for in this order: what STATOR_OPENBLAS names
// (OpenBLAS only; nothing else is tried then), a copy that the process has already loaded, this path, the library's
// wheel in the site-packages that holds stator, the system's search path. name: as in LibraryInfo; ValueError for
// others. No effect once the library is open. Python calls this before it opens a backend. A callback to Python would
// have to take the GIL below C++ frames, where a thread that ends at interpreter exit would terminate the process.
STATOR_API void set_library_path(std::string_view name, std::string_view path);

// Warnings about libraries: a missing one with a slower built-in fallback, two major versions in one process. Each
// is given once, to the handler of set_warning_handler; or kept, after keep_library_warnings(true), until they are
// taken, which is how they become Python's without a callback.
STATOR_API void keep_library_warnings(bool keep);
STATOR_API bool library_warnings_waiting() noexcept;
STATOR_API std::vector<std::string> take_library_warnings();

}  // namespace stator
