// Bool arrays whose bytes may not be 0 or 1: foreign memory, memory that write_ranges has written, and views
// of elements of another dtype. C++ has no such bools, and no op reads them as a bool. A binding to a language in which
// every byte but 0 is true gives its ops plain_bools instead.
#pragma once

#include <stator/array.hpp>

namespace stator {

// Whether the array is such a one.
STATOR_API bool any_bytes(const Array&) noexcept;
// An array of 0 where the byte is 0, and of 1 elsewhere. One launch. Asynchronous.
STATOR_API Array plain_bools(const Array&, const Stream& = {});

}  // namespace stator
