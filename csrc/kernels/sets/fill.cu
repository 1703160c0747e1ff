// The table of searching, sets and counting.
#include "kernels/sets/fill.cuh"

namespace stator::STATOR_COLUMN {

void fill(kernels::SetsTable& table) {
  fill_search(table);
  fill_runs(table);
  fill_histogram(table);
}

}  // namespace stator::STATOR_COLUMN
