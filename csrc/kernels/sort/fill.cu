// The table of sorting and what follows from it.
#include "kernels/sort/fill.cuh"

namespace stator::STATOR_COLUMN {

void fill(kernels::OrderTable& table) {
  fill_sort(table);
  fill_sorted_lines(table);
  fill_complex(table);
}

}  // namespace stator::STATOR_COLUMN
