// Discrete Fourier transforms, as numpy.fft. Asynchronous. float32 and complex64 are computed in float32, float64 and
// complex128 in float64; float16 and bfloat16 are converted to float32, integers and bool to float64 first. On cuda
// cuFFT transforms where it is installed, kernels of ours elsewhere. ShapeError for a length below 1, AxisError,
// ValueError for an unknown norm.
#pragma once

#include <stator/array.hpp>
#include <stator/op_table.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace stator::fft {

struct Options {
  // Lengths along the axes, -1 for the input's: it is truncated or padded with zeros. none: the input's. For irfft and
  // hfft the result's length, by default 2 (m - 1) of m points.
  std::optional<std::vector<int64_t>> lengths = {};
  // none: the last of `lengths`, or all. The last of them is the real one of rfftn and irfftn.
  std::optional<std::vector<int64_t>> axes = {};
  // Where the factor 1 / n stands: "backward" in the inverse, "forward" in the other, "ortho" 1 / sqrt(n) in both. It
  // is multiplied in the pass that writes the result.
  std::string_view norm = "backward";
};

// A transform by table row, along axes that are each named once. They are transformed in the result's own memory: no
// temporary but the kernels' work memory.
STATOR_API Array transform(Op op, const Array& x, const Options& = {}, const Stream& = {});

#define STATOR_TRANSFORM(name)                                                                \
  inline Array name(const Array& x, const Options& options = {}, const Stream& stream = {}) { \
    return transform(Op::name, x, options, stream);                                           \
  }
// fft, fft2 and fftn differ in name alone.
STATOR_TRANSFORM(fft)
STATOR_TRANSFORM(fft2)
STATOR_TRANSFORM(fftn)
STATOR_TRANSFORM(ifft)
STATOR_TRANSFORM(ifft2)
STATOR_TRANSFORM(ifftn)
// Real input; the n/2 + 1 points that determine the others. DTypeError for complex input. An even length costs half.
STATOR_TRANSFORM(rfft)
STATOR_TRANSFORM(rfft2)
STATOR_TRANSFORM(rfftn)
// The reverse; imaginary parts of points that are their own mirror image are ignored.
STATOR_TRANSFORM(irfft)
STATOR_TRANSFORM(irfft2)
STATOR_TRANSFORM(irfftn)
// The (real) transform of the line of which x is the half, and its inverse.
STATOR_TRANSFORM(hfft)
STATOR_TRANSFORM(ihfft)
#undef STATOR_TRANSFORM

// Rolls each axis (none: all) by half its length, so that frequency 0 comes to the middle, and back. Any dtype.
STATOR_API Array fftshift(const Array& x, const std::optional<std::vector<int64_t>>& axes = {}, const Stream& = {});
STATOR_API Array ifftshift(const Array& x, const std::optional<std::vector<int64_t>>& axes = {}, const Stream& = {});

// Frequencies of the points of fft and rfft of n samples that are d apart. ShapeError for n below 1, ValueError for
// d = 0.
STATOR_API Array fftfreq(const Backend&, int64_t n, double d = 1, DType dtype = DType::float64, const Stream& = {});
STATOR_API Array rfftfreq(const Backend&, int64_t n, double d = 1, DType dtype = DType::float64, const Stream& = {});

// scipy.signal.fftconvolve: the convolution along axes (none: all), other axes broadcast. mode: "full", "same" (as a),
// "valid" (where one input covers the other).
STATOR_API Array fftconvolve(const Array& a, const Array& b, std::string_view mode = "full",
                             const std::optional<std::vector<int64_t>>& axes = {}, const Stream& = {});

// Plans and tables are kept for each stream of each backend, least recently used go first when they take more than the
// limit. Figures are of all of them together; hits, misses and evictions since the start of the process.
struct CacheInfo {
  uint64_t hits = 0, misses = 0, evictions = 0;
  size_t plans = 0, bytes = 0, limit = 0;
};
STATOR_API CacheInfo cache_info();
STATOR_API void clear_cache();                  // what work in flight uses is freed after it
STATOR_API void set_cache_limit(size_t bytes);  // of each stream's cache
inline constexpr size_t default_cache_limit = size_t(256) << 20;

// Short-time Fourier transforms, with the meaning that torch.stft and torch.istft give their arguments.

struct FrameOptions {
  std::optional<int64_t> hop_length = {};  // samples from a frame to the next: n_fft / 4
  std::optional<int64_t> win_length = {};  // n_fft; a shorter window stands in the middle of zeros
  const Array* window = nullptr;           // (win_length,) of a real floating dtype; null: ones
  bool center = true;                      // frame t is centred at sample t * hop_length
  bool normalized = false;                 // by 1 / sqrt(n_fft)
  std::optional<bool> onesided = {};       // n_fft / 2 + 1 frequencies
};

struct StftOptions : FrameOptions {
  // Beyond the ends of a centred signal: "reflect", "constant" (zeros), "replicate" or "circular".
  std::string_view pad_mode = "reflect";
};

// x is (..., samples); the result (..., frequencies, frames) is a view of frames beside each other, complex64 or
// complex128. `onesided` is by default what x is: real. Asynchronous: one pass that pads, windows and gathers, and the
// transform. Halves are computed in float32 and integers in float64, converted first. ShapeError for a signal too short
// or a window of another length, ValueError for lengths, DTypeError for a complex window, or onesided complex x.
STATOR_API Array stft(const Array& x, int64_t n_fft, const StftOptions& = {}, const Stream& = {});

struct IstftOptions : FrameOptions {
  std::optional<int64_t> length = {};  // of the signal: cut, or continued with zeros
  bool return_complex = false;         // the signal was complex: needs all frequencies
  bool check = true;
};

// The signal (..., samples) whose frames are nearest to the spectrum (..., frequencies, frames): frames overlap and add
// up, windowed again, over the sum of the windows' squares (Griffin and Lim, IEEE TASSP 32, 1984). Each sample adds its
// frames in their order: equal bits run to run. `onesided` is by default what the number of frequencies says. Two
// launches. ShapeError, ValueError, DTypeError; ValueError too where the sum of squares vanishes within the signal:
// that look synchronises, and is left out where the windows are ones that leave no gap, or with `check` false: then
// such samples are NaN or infinite.
STATOR_API Array istft(const Array& spectrum, int64_t n_fft, const IstftOptions& = {}, const Stream& = {});

}  // namespace stator::fft
