// Parameters of the launchers of searching, of runs of equal elements, and of counting.
#pragma once

#include "params/sort.hpp"

namespace stator::params {

// Where values belong among sorted boundaries. Value i, values[...] in row-major order, searches row i / per_row of the
// boundaries.
struct Search {
  const void* boundaries;
  const void* values;
  int64_t* out;  // positions, dense; or
  bool* found;   // whether an equal one is there (NaN never is), dense
  bool invert;   // found: the opposite
  bool right;    // after equal boundaries, not before
  KeyCodec key;  // of both
  int64_t n, step, per_row;
  Lines rows;          // x_strides: of the boundaries, out_strides: of the sorter
  Lines elements;      // x_strides: of the values
  const void* sorter;  // null, or the order of the boundaries: any integer dtype
  DType sorter_dtype;
  int64_t sorter_step;
};

// Runs of equal neighbours among n elements; a NaN is a run of its own. Parts of `share` elements are counted first.
struct Runs {
  const void* x;
  KeyCodec key;
  DType complex;         // of x, if it is complex: then key is not looked at
  Lines elements;        // x_strides: of x
  const int64_t* order;  // sorted elements: where they stood; null: as they are
  int64_t n, share;
  int32_t parts;
  int64_t* part_counts;   // [parts]
  int64_t* total;         // the number of runs
  uint32_t* counter;      // zero, and left so
  int64_t capacity;       // of the results; runs beyond are dropped
  void* values;           // first element of each run, or null
  int64_t* starts;        // [capacity + 1]: where each run starts, or null
  int64_t* indices;       // order[start], or null
  int64_t* inverse;       // the run of each element, at its place in the input, or null
  int64_t* counts;        // length of each run, or null
  unsigned char fill[16];  // results beyond the total: the value's bytes, index -1, count 0
};

// Counts of elements by bin.
enum class Binning : int32_t {
  integers,  // the bin is the element: outside 0..bins-1 is an error of the stream
  uniform,   // torch.histc: truncated (x - low) / (high - low) * bins
  even,      // numpy.histogram: between edges low + i (high - low) / bins, rounded to edge_dtype
  edges      // between float64 edges
};
struct Histogram {
  static constexpr int64_t most_private = 8192;  // bins that a block counts for itself
  Binning binning;
  const void* x;
  DType dtype;
  Lines elements;  // x_strides: of x
  int64_t bins;
  double low, high;
  const void* bounds[2];  // low and high on the device, of dtype x's; or null
  double widen;           // by which equal bounds are moved apart
  const double* edges;    // edges: bins + 1
  int64_t* counts;        // zero; left so where `out` is given
  uint32_t* counter;      // zero, and left so
  void* out;              // the counts in out_dtype, or null
  DType out_dtype;
  void* made_edges;  // even: bins + 1 edges are written, or null
  DType edge_dtype;
  uint32_t* bin_ids;  // instead of counting: each element's bin, or `bins`
};

// out[b] = the sum of weights[order[i]] over the i with ids[i] == b, ids sorted; float64 or int64.
struct BinSums {
  const uint32_t* ids;
  const int64_t* order;
  const void* weights;
  DType weight_dtype;
  Lines elements;  // x_strides: of the weights
  void* out;
  bool floating;
  int64_t n, bins;
};

}  // namespace stator::params

namespace stator::kernels::sets {

extern Launcher<void(const Queue&, const params::Search&)> search;
// Parts to split n elements into: Runs.parts, and its share.
extern Launcher<int32_t(const DeviceLimits&, int64_t n, int64_t* share)> run_parts;
extern Launcher<void(const Queue&, const params::Runs&)> count_runs;
extern Launcher<void(const Queue&, const params::Runs&)> write_runs;   // all but the counts and what lies beyond the total
extern Launcher<void(const Queue&, const params::Runs&)> finish_runs;  // those
extern Launcher<void(const Queue&, const params::Histogram&)> histogram;
extern Launcher<void(const Queue&, const params::BinSums&)> bin_sums;

}  // namespace stator::kernels::sets
