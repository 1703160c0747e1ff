// Indexing with arrays.
#pragma once

#include <stator/array.hpp>

#include <optional>

namespace stator {

// numpy.take along an axis (none: of the flattened array). indices: any integer dtype, any shape; -n..n-1 is valid, an
// index outside reads 0 and raises IndexError at the next synchronising call. Asynchronous.
STATOR_API Array take(const Array& x, const Array& indices, std::optional<int64_t> axis, const Array* out = nullptr,
                      const Stream& = {});

}  // namespace stator
