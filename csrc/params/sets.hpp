// Parameters of the launchers that search sorted data, find runs of equal elements, and count elements by bin.
#pragma once

#include "params/sort.hpp"

namespace stator::params {

// Where values belong among sorted boundaries. Value i, in row-major order, is searched in row i / per_row of the
// boundaries. Writes one of `out` and `found`.
struct Search {
  const void* boundaries;
  const void* values;
  int64_t* out;  // positions, dense; or null
  bool* found;   // whether a boundary is equal (never to NaN), dense; or null
  bool invert;   // found: the opposite
  bool right;    // positions: after equal boundaries, not before them
  KeyCodec key;  // of boundaries and values
  int64_t n, step, per_row;
  Segments rows;       // x_strides: of the boundaries, out_strides: of the sorter
  Segments elements;   // x_strides: of the values
  const void* sorter;  // the order that sorts the boundaries, of any integer dtype; or null: they are sorted
  DType sorter_dtype;
  int64_t sorter_step;
};

// Runs of equal neighbours among n elements. Each NaN is a run of its own. The runs of each tile are counted first.
struct Runs {
  const void* x;
  KeyCodec key;
  DType complex;         // of x, if it is complex; then `key` is not used
  Segments elements;     // x_strides: of x
  const int64_t* order;  // the index of each element before it was sorted; null: the elements are in their order
  int64_t n, tile;       // tile: elements that a block counts
  int32_t tiles;
  int64_t* tile_counts;    // [tiles]
  int64_t* total;          // the number of runs
  uint32_t* counter;       // zero, and left zero
  int64_t capacity;        // of the results; further runs are dropped
  void* values;            // the first element of each run, or null
  int64_t* starts;         // [capacity + 1]: the position of each run's first element, or null
  int64_t* indices;        // order[start] of each run, or null
  int64_t* inverse;        // the run of each element, at the element's index before the sort, or null
  int64_t* counts;         // the length of each run, or null
  unsigned char fill[16];  // the value of results beyond the total; their index is -1 and their count 0
};

// Counts of elements by bin.
enum class Binning : int32_t {
  integers,  // the element is its bin; one outside 0..bins-1 goes to the error slot
  uniform,   // torch.histc: truncated (x - low) / (high - low) * bins
  even,      // numpy.histogram: between the edges low + i (high - low) / bins, of edge_dtype
  edges      // between float64 edges
};
struct Histogram {
  static constexpr int64_t most_private = 8192;  // bins for which blocks have private counts
  Binning binning;
  const void* x;
  DType dtype;
  Segments elements;  // x_strides: of x
  int64_t bins;
  double low, high;
  const void* bounds[2];  // low and high on the device, of x's dtype; or null
  double widen;           // equal bounds are moved apart by this, each way
  const double* edges;    // Binning::edges: bins + 1 of them
  int64_t* counts;        // zero; left zero where `out` is given
  uint32_t* counter;      // zero, and left zero
  void* out;              // the counts in out_dtype, or null
  DType out_dtype;
  void* out_edges;  // Binning::even: where the bins + 1 edges are written, or null
  DType edge_dtype;
  uint32_t* bin_ids;  // instead of counting: the bin of each element, `bins` for none
};

// out[b] = the sum of weights[order[i]] over all i with ids[i] == b. The ids are sorted. Sums are float64 or int64.
struct BinSums {
  const uint32_t* ids;
  const int64_t* order;
  const void* weights;
  DType weight_dtype;
  Segments elements;  // x_strides: of the weights
  void* out;
  bool floating;
  int64_t n, bins;
};

}  // namespace stator::params

namespace stator::kernels::sets {

extern Launcher<void(const Queue&, const params::Search&)> search;
// The number of tiles to divide n elements into, Runs::tiles, and their size, Runs::tile.
extern Launcher<int32_t(const DeviceLimits&, int64_t n, int64_t* tile)> run_tiles;
extern Launcher<void(const Queue&, const params::Runs&)> count_runs;
// All results except the counts and what is beyond the total, which finish_runs writes.
extern Launcher<void(const Queue&, const params::Runs&)> write_runs;
extern Launcher<void(const Queue&, const params::Runs&)> finish_runs;
extern Launcher<void(const Queue&, const params::Histogram&)> histogram;
extern Launcher<void(const Queue&, const params::BinSums&)> bin_sums;

}  // namespace stator::kernels::sets
