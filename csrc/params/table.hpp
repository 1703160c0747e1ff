// What a column offers: one struct of launchers per op family. ops/ fills the plain parameters, a launcher picks the
// kernel, its block size, vector and index width, and submits exactly the launches that the op table states.
#pragma once

#include "params/indexing.hpp"
#include "params/matmul.hpp"
#include "params/elementwise.hpp"
#include "params/fft.hpp"
#include "params/indexing.hpp"
#include "params/indexing.hpp"
#include "params/linalg.hpp"
#include "params/movement.hpp"
#include "params/nn.hpp"
#include "params/sort.hpp"
#include "params/matmul.hpp"
#include "params/random.hpp"
#include "params/reduce.hpp"
#include "params/scan.hpp"
#include "params/sets.hpp"
#include "params/sparse.hpp"

namespace stator::kernels {

struct Table {
  const char* name;  // "cuda", "host_v2" to "host_v4", "host_faithful"
  ElementwiseTable elementwise;
  ReductionTable reduction;
  ScanTable scan;
  NNTable nn;
  IndexingTable indexing;
  RandomTable random;
  MovementTable movement;
  OrderTable order;
  SetsTable sets;
  SparseTable sparse;
  LinalgTable linalg;
  FftTable fft;
  IndexedTable indexed;
  CompactTable compact;
  DistanceTable distance;
  ProductsTable products;
  void (*set_block_seed)(uint64_t seed);  // faithful column; null elsewhere
};

}  // namespace stator::kernels
