// Whether two strided arrays share memory.
#pragma once

#include <stator/array.hpp>

namespace stator {

// The bytes [begin, end) of the buffer's memory that a view spans, as offsets from the view's first element.
struct Extent {
  int64_t begin, end;
};
Extent extent_of(const Array& array);

bool same_view(const Array& a, const Array& b);  // the same first element, dtype, shape and strides
// Whether an element of a and one of b have a byte in common. Exact, except for layouts of many interleaved strides,
// where a bounded search may end undecided and the answer is yes.
bool may_overlap(const Array& a, const Array& b);

}  // namespace stator
