// Parameters of the Fourier transforms that stator computes itself.
#pragma once

#include "params/launcher.hpp"

namespace stator::params {

// A transform of n points in passes of small radices (Stockham's autosort). tables: for each pass of an odd radix R
// first cos and sin of 2 pi t / R, t < R; then for every pass of m = (points left) / R: for p < m, 1 <= k < R cos and
// -sin of 2 pi p k / (R m).
struct FftPasses {
  int32_t n, count;
  uint8_t radix[32];
  const void* tables;
};

// What a line's memory holds. `pairs`: point j is the reals 2j and 2j+1. `half`: the points from 0 to n/2 of a line
// that is its own mirrored conjugate. `packed`: the half line of 2n reals, taken to or from `pairs` on the way.
enum class FftForm : int32_t { complex, real, pairs, half, packed };

struct FftSide {
  void* base;
  int64_t strides[max_dims];  // of the batch, in elements of the memory
  int64_t step;               // along the line, likewise
  int64_t count;              // elements of the line in memory: the rest reads 0, or is not written
  int64_t points;             // of the line, of form half: odd
  FftForm form;
  int32_t conjugate;
};

// Forward transforms of `lines` lines of n points. Two stages when columns.n > 0: a line is a matrix (columns.n,
// rows.n), its columns are transformed, multiplied by the roots of unity of (row, column), then its rows, transposed.
// Otherwise `rows` alone.
struct FftLines {
  FftSide in, out;
  int64_t lines, n;
  int32_t ndim;
  int32_t stages;  // 1: the columns, 2: the rows, 3: both
  int64_t shape[max_dims];
  double scale;
  FftPasses columns, rows;
  const void* lane_roots;   // exp(-2 pi i k l / n): [k < columns.n][re, im][l < lanes]
  const void* block_roots;  // exp(-2 pi i t lanes / n): pairs re, im for t < n / lanes + columns.n
  const void* pre;   // multiplied to the inputs, by index: real parts, imaginary parts pre_apart on; null for none
  const void* post;  // and to the outputs
  int64_t pre_apart, post_apart;
  const void* real_roots;  // of form packed: exp(-2 pi i k / 2n), k <= n
  void* middle;            // both stages: lines of n complex numbers between them; stages == 3: one a block
  void* work;              // of each block, work_bytes
  int64_t work_bytes;
  int64_t blocks;
  int32_t is_double;
};

// Between a line of n complex points and the half line of 2n reals: out[k], k <= n, of in (untangle) or the reverse.
struct FftTangle {
  FftSide in, out;
  int64_t lines, n;
  int32_t ndim;
  int32_t untangle;
  int64_t shape[max_dims];
  double scale;
  const void* real_roots;
  int32_t is_double;
};

// out[i] = x[(i - shift) mod shape], out contiguous; 0 <= shift < shape. Moves words of `itemsize` bytes.
struct Roll {
  const void* x;
  void* out;
  int32_t itemsize, ndim;
  int64_t size;
  int64_t shape[max_dims], strides[max_dims], shift[max_dims];
};

// out[i] = (i < positive ? i : i - count) * step
struct Frequencies {
  void* out;
  DType dtype;
  int64_t count, positive;
  double step;
};

enum class Beyond : int32_t { reflected, zero, repeated, wrapped };  // what stands beyond the ends of a signal

// out[line, t, i] = window[i - left] * x[line, t * hop + i - before] for left <= i < left + width, else 0. Dense
// frames of n points of `dtype`; the window is dense, of its real part's, or null for ones. Nothing reflected or
// wrapped is further than a signal's length away.
struct Frames {
  const void *x, *window;
  void* out;
  DType dtype;
  Beyond beyond;
  int32_t ndim;  // of the lines
  int64_t shape[max_dims], strides[max_dims];
  int64_t lines, length, step;
  int64_t frames, n, hop, before, left, width;
};

// out[line, s], s < length: the sum of window * frame over that of window^2 at sample `start` + s of the frames that
// cover it, zero beyond the last. Dense (lines, frames, n) and (lines, length). One int32 a tile of line 0 says
// whether a sum of squares vanishes there.
struct OverlapAdd {
  const void *x, *window;
  void* out;
  int32_t* vanishes;
  DType dtype;
  int64_t lines, frames, n, hop, left, width, start, length;
};

}  // namespace stator::params

namespace stator::kernels::fft {

extern Launcher<int32_t(const DeviceLimits&, bool is_double)> lanes;      // lines that one thread transforms at once
extern Launcher<int32_t(const DeviceLimits&)> blocks_per_multiprocessor;  // that share the work of a launch
extern Launcher<void(const Queue&, const params::FftLines&)> lines;
extern Launcher<void(const Queue&, const params::FftTangle&)> tangle;
extern Launcher<void(const Queue&, const params::Roll&)> roll;
extern Launcher<void(const Queue&, const params::Frequencies&)> frequencies;
extern Launcher<int64_t(const DeviceLimits&)> overlap_tile;  // samples that a block adds up
extern Launcher<void(const Queue&, const params::Frames&)> frames;
extern Launcher<void(const Queue&, const params::OverlapAdd&)> overlap_add;

}  // namespace stator::kernels::fft
