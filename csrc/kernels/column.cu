// The table of one column, found by core under the name stator_column_<column>.
#include "device/column.cuh"
#include "device/launch.cuh"
#include "params/table.hpp"

#define STATOR_JOIN_(a, b) a##b
#define STATOR_JOIN(a, b) STATOR_JOIN_(a, b)
#define STATOR_TEXT_(a) #a
#define STATOR_TEXT(a) STATOR_TEXT_(a)

namespace stator::STATOR_COLUMN {

void fill(kernels::ElementwiseTable&);
void fill(kernels::ReductionTable&);
void fill(kernels::ScanTable&);
void fill(kernels::NNTable&);
void fill(kernels::IndexingTable&);
void fill(kernels::RandomTable&);
void fill(kernels::MovementTable&);
void fill(kernels::OrderTable&);
void fill(kernels::SetsTable&);
void fill(kernels::SparseTable&);
void fill(kernels::LinalgTable&);
void fill(kernels::FftTable&);
void fill(kernels::IndexedTable&);
void fill(kernels::CompactTable&);
void fill(kernels::DistanceTable&);
void fill(kernels::ProductsTable&);

namespace {
kernels::Table make_table() {
  kernels::Table t{};
  t.name = STATOR_TEXT(STATOR_COLUMN);
  fill(t.elementwise);
  fill(t.reduction);
  fill(t.scan);
  fill(t.nn);
  fill(t.indexing);
  fill(t.random);
  fill(t.movement);
  fill(t.order);
  fill(t.sets);
  fill(t.sparse);
  fill(t.linalg);
  fill(t.fft);
  fill(t.indexed);
  fill(t.compact);
  fill(t.distance);
  fill(t.products);
  t.set_block_seed = block_seed_setter();
  return t;
}
const kernels::Table column_table = make_table();
}  // namespace

}  // namespace stator::STATOR_COLUMN

extern "C" __attribute__((visibility("default"))) const stator::kernels::Table* STATOR_JOIN(stator_column_,
                                                                                            STATOR_COLUMN)() {
  return &stator::STATOR_COLUMN::column_table;
}
