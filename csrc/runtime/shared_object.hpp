// Shared objects: where this library lies, and how others are opened.
#pragma once

#include <string>
#include <string_view>

namespace stator {

// The folder of the library that this is linked into with a slash at its end; empty where the dynamic linker does not
// say.
std::string own_folder();

// Whether this process, or the machine, can open no further file; `why` gets a sentence with the limit.
bool file_handles_exhausted(std::string* why = nullptr);

// dlopen of a path or a name with all symbols bound. Null with the dynamic linker's words in `cause`;
// LibraryNotFoundError where no file handle was left, because then nothing is known about the file.
void* open_shared_object(const std::string& file, std::string_view op, std::string& cause);

// Whether the CUDA driver is in this process and was used, by whomever. Neither loads nor starts it.
bool driver_started();

}  // namespace stator
