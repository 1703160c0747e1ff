// What a column offers: one struct of launchers per op family. ops/ fills the plain parameters, a launcher picks the
// kernel, its block size, vector and index width, and submits exactly the launches that the op table states.
#pragma once

#include "kernels/compact.hpp"
#include "kernels/distance.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/fft.hpp"
#include "kernels/indexed.hpp"
#include "kernels/indexing.hpp"
#include "kernels/linalg.hpp"
#include "kernels/movement.hpp"
#include "kernels/nn.hpp"
#include "kernels/order.hpp"
#include "kernels/products.hpp"
#include "kernels/random.hpp"
#include "kernels/reduction.hpp"
#include "kernels/scan.hpp"
#include "kernels/sets.hpp"
#include "kernels/sparse.hpp"

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
