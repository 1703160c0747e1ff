// Whether two strided arrays share memory, and whether one can be written.
#pragma once

#include <stator/array.hpp>

#include <cstdlib>
#include <string_view>

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
// Whether two elements of an array are the same memory, as those that broadcasting repeats. Exact as may_overlap is.
bool search_itself(const Array& array);
inline bool overlaps_itself(const Array& array) {
  int64_t reached = 0;  // by the later axes: mostly each step is beyond
  for (int d = array.ndim() - 1; d >= 0; --d) {
    const int64_t step = std::abs(array.strides()[d]), reach = array.shape()[d] - 1;
    if (reach == 0) continue;
    if (reach < 0 || step <= reached) return search_itself(array);
    reached += step * reach;
  }
  return false;
}

// What is written, which errors call `what`. ValueError where two elements are the same memory; and for read-only
// memory.
void require_distinct(std::string_view op, const Array& array, std::string_view what);
void require_writable(std::string_view op, const Array& array, std::string_view what = "the array");

}  // namespace stator
