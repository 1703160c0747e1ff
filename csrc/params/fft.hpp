// Parameters of the Fourier transforms that stator computes itself.
#pragma once

#include "params/launcher.hpp"

namespace stator::params {

// A transform of n points in passes of small radices (Stockham's autosort algorithm). `tables` holds the tables of the
// passes one after the other. The table of a pass of radix R that leaves m points starts, for odd R, with cos and sin
// of 2 pi t / R for t < R; then follow cos and -sin of 2 pi p k / (R m) for p < m and 1 <= k < R.
struct FftPasses {
  int32_t n, count;
  uint8_t radix[32];
  const void* tables;
};

// What the memory of a signal holds. `pairs`: point j is the reals 2j and 2j + 1. `half`: points 0 to n / 2 of a signal
// whose point n - j is the conjugate of point j. `packed`: points 0 to n of the spectrum of 2n real samples, which the
// kernel merges into n complex points before the transform, or splits from them after it.
enum class FftForm : int32_t { complex, real, pairs, half, packed };

struct FftSide {
  void* base;
  int64_t strides[max_dims];  // of the batch, in elements of the memory
  int64_t step;               // along the signal, in the same elements
  int64_t count;              // elements of the signal in memory: the others read as 0 and are not written
  int64_t points;             // of the signal; odd for form half
  FftForm form;
  int32_t conjugate;
};

// Forward transforms of signals of n points. With columns.n > 0 a signal is transformed in two stages, as a matrix of
// shape (columns.n, rows.n), see kernels/fft/signals.cuh. Otherwise `rows` is the whole transform.
struct FftSignals {
  FftSide in, out;
  int64_t signals, n;
  int32_t ndim;
  int32_t stages;  // 1: the columns, 2: the rows, 3: both
  int64_t shape[max_dims];
  double scale;
  FftPasses columns, rows;
  const void* lane_roots;   // exp(-2 pi i k l / n): [k < columns.n][re, im][l < lanes]
  const void* block_roots;  // exp(-2 pi i t lanes / n): pairs re, im for t lanes < n
  const void* pre;          // factors of the inputs, by index: real parts, imaginary parts pre_apart later; or null
  const void* post;         // the same for the outputs
  int64_t pre_apart, post_apart;
  const void* real_roots;  // for form packed: exp(-2 pi i k / 2n), k <= n
  void* middle;            // for two stages: signals of n complex numbers in between; stages == 3: one per block
  void* work;              // work_bytes per block
  int64_t work_bytes;
  int64_t blocks;
  int32_t is_double;
};

// Splits the transform of n complex points, which are 2n reals in pairs, into points 0 to n of the transform of those
// reals; without `split`, merges these back.
struct FftRealPass {
  FftSide in, out;
  int64_t signals, n;
  int32_t ndim;
  int32_t split;
  int64_t shape[max_dims];
  double scale;
  const void* real_roots;
  int32_t is_double;
};

// out[i] = x[(i - shift) mod shape], where out is contiguous and 0 <= shift < shape. Moves items of `itemsize` bytes.
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

enum class Padding : int32_t { reflected, zero, repeated, wrapped };  // how a signal continues beyond its ends

// out[signal, t, i] = window[i - left] * x[signal, t * hop + i - before] for left <= i < left + width, else 0. The
// frames are dense, of n points of `dtype`. The window is dense, of the real dtype of `dtype`, or null for ones. No
// reflected or wrapped index is further outside a signal than its length.
struct Frames {
  const void *x, *window;
  void* out;
  DType dtype;
  Padding padding;
  int32_t ndim;  // of the batch of signals
  int64_t shape[max_dims], strides[max_dims];
  int64_t signals, length, step;
  int64_t frames, n, hop, before, left, width;
};

// out[signal, s] for s < length: the sum of window * frame divided by the sum of window^2, at sample start + s, over
// the frames that cover it; zero beyond the last frame. x is dense (signals, frames, n), out is dense (signals,
// length). vanishes[tile] says for each tile of signal 0 whether a sum of squares vanishes in it.
struct OverlapAdd {
  const void *x, *window;
  void* out;
  int32_t* vanishes;
  DType dtype;
  int64_t signals, frames, n, hop, left, width, start, length;
};

}  // namespace stator::params

namespace stator::kernels::fft {

extern Launcher<int32_t(const DeviceLimits&, bool is_double)> lanes;      // signals that a block transforms at once
extern Launcher<int32_t(const DeviceLimits&)> blocks_per_multiprocessor;  // blocks per multiprocessor in a launch
extern Launcher<void(const Queue&, const params::FftSignals&)> signals;
extern Launcher<void(const Queue&, const params::FftRealPass&)> real_pass;
extern Launcher<void(const Queue&, const params::Roll&)> roll;
extern Launcher<void(const Queue&, const params::Frequencies&)> frequencies;
extern Launcher<int64_t(const DeviceLimits&)> overlap_tile;  // samples per block of overlap_add
extern Launcher<void(const Queue&, const params::Frames&)> frames;
extern Launcher<void(const Queue&, const params::OverlapAdd&)> overlap_add;

}  // namespace stator::kernels::fft
