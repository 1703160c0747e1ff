// Warnings: failures that cannot be thrown, and states that are slower than they should be.
#pragma once

#include <cstdint>

namespace stator {

// Hands the text to the handler of set_warning_handler (stator/backend.hpp), which prints it unless replaced. Never
// throws.
void warn(const char* format, ...) noexcept __attribute__((format(printf, 1, 2)));

// While held, warnings are counted and dropped. Returns the number that was dropped before.
int64_t hold_warnings(bool hold);

}  // namespace stator
