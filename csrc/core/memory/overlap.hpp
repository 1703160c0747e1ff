// Do two arrays have an element's byte in common?
#pragma once

#include <stator/array.hpp>

namespace stator {

// The bytes [begin, end) of the buffer's memory that a view spans, as offsets from the view's first element.
struct Extent {
  int64_t begin, end;
};
Extent extent_of(const Array& array);

bool same_view(const Array& a, const Array& b);
// Exact, but for layouts of many interleaved strides, where it may say yes in doubt.
bool may_overlap(const Array& a, const Array& b);

}  // namespace stator
