// Discrete Fourier transforms, as numpy.fft. Asynchronous. Transforms return complex64 or complex128, irfft and hfft
// real numbers. float32 and complex64 are computed in float32, float64 and complex128 in float64; float16 and bfloat16
// are first converted to float32, integers and bool to float64. On cuda cuFFT is used where it is installed, stator's
// own kernels elsewhere. ShapeError for a length below 1, AxisError, ValueError for an unknown norm.
#pragma once

#include <stator/array.hpp>
#include <stator/op_table.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace stator::fft {

struct Options {
  // Lengths along the axes, to which the input is truncated or padded with zeros; -1, or none for all, keeps the
  // input's. For irfft and hfft the length of the result, by default 2 (m - 1) for m points.
  std::optional<std::vector<int64_t>> lengths = {};
  // none: as many of the last axes as there are lengths, or all. The last one is the real axis of rfftn and irfftn.
  std::optional<std::vector<int64_t>> axes = {};
  // Where the factor 1 / n is applied: "backward": in the inverse; "forward": in the forward transform; "ortho":
  // 1 / sqrt(n) in both. It is multiplied in the pass that writes the result.
  std::string_view norm = "backward";
};

// The transform of a table entry, along axes that are each named once. The axes are transformed in the result's own
// memory: there is no temporary besides the work memory of the kernels.
STATOR_API Array transform(Op op, const Array& x, const Options& = {}, const Stream& = {});

#define STATOR_TRANSFORM(name)                                                                \
  inline Array name(const Array& x, const Options& options = {}, const Stream& stream = {}) { \
    return transform(Op::name, x, options, stream);                                           \
  }
// fft, fft2 and fftn differ only in the name that errors give.
STATOR_TRANSFORM(fft)
STATOR_TRANSFORM(fft2)
STATOR_TRANSFORM(fftn)
STATOR_TRANSFORM(ifft)
STATOR_TRANSFORM(ifft2)
STATOR_TRANSFORM(ifftn)
// Transforms of real input: the n / 2 + 1 points that determine the others. DTypeError for complex input. An even
// length costs half of the complex transform.
STATOR_TRANSFORM(rfft)
STATOR_TRANSFORM(rfft2)
STATOR_TRANSFORM(rfftn)
// The inverses of these. Points that are their own mirror image are taken as real: their imaginary part is ignored.
STATOR_TRANSFORM(irfft)
STATOR_TRANSFORM(irfft2)
STATOR_TRANSFORM(irfftn)
// hfft: the real transform of the Hermitian-symmetric signal of which x is the first half; ihfft: its inverse.
STATOR_TRANSFORM(hfft)
STATOR_TRANSFORM(ihfft)
#undef STATOR_TRANSFORM

// Rolls each axis (none: all) by half its length: fftshift moves frequency 0 to the middle, ifftshift back. Any dtype.
STATOR_API Array fftshift(const Array& x, const std::optional<std::vector<int64_t>>& axes = {}, const Stream& = {});
STATOR_API Array ifftshift(const Array& x, const std::optional<std::vector<int64_t>>& axes = {}, const Stream& = {});

// The frequencies of the points of fft (n) and rfft (n / 2 + 1) for n samples with spacing d. ShapeError for n below 1,
// ValueError for d = 0 or NaN, DTypeError unless the dtype is floating.
STATOR_API Array fftfreq(const Backend&, int64_t n, double d = 1, DType dtype = DType::float64, const Stream& = {});
STATOR_API Array rfftfreq(const Backend&, int64_t n, double d = 1, DType dtype = DType::float64, const Stream& = {});

// scipy.signal.fftconvolve: the convolution along axes (none: all); the other axes broadcast. mode: "full", "same" (the
// lengths of a), "valid" (where one input covers the other).
STATOR_API Array fftconvolve(const Array& a, const Array& b, std::string_view mode = "full",
                             const std::optional<std::vector<int64_t>>& axes = {}, const Stream& = {});

// Plans and tables are cached per stream of each backend; beyond the limit the least recently used are dropped. The
// figures are for all caches together; hits, misses and evictions count since the start of the process.
struct CacheInfo {
  uint64_t hits = 0, misses = 0, evictions = 0;
  size_t plans = 0, bytes = 0, limit = 0;
};
STATOR_API CacheInfo cache_info();
STATOR_API void clear_cache();                  // memory that work in flight uses is freed after that work
STATOR_API void set_cache_limit(size_t bytes);  // of the cache of each stream
inline constexpr size_t default_cache_limit = size_t(256) << 20;

// Short-time Fourier transforms, with the meaning that torch.stft and torch.istft give their arguments.

struct FrameOptions {
  std::optional<int64_t> hop_length = {};  // samples from one frame to the next; default: n_fft / 4
  std::optional<int64_t> win_length = {};  // default: n_fft; a shorter window is centred between zeros
  const Array* window = nullptr;           // (win_length,) of a real floating dtype; null: ones
  bool center = true;                      // frame t is centred at sample t * hop_length
  bool normalized = false;                 // multiplied by 1 / sqrt(n_fft)
  std::optional<bool> onesided = {};       // only the first n_fft / 2 + 1 frequencies
};

struct StftOptions : FrameOptions {
  // Beyond the ends of a centred signal: "reflect", "constant" (zeros), "replicate" or "circular".
  std::string_view pad_mode = "reflect";
};

// x is (..., samples); the result (..., frequencies, frames), complex64 or complex128, is a transposed view of the
// transformed frames. `onesided` is by default true for real x. Asynchronous: one pass that pads, windows and gathers,
// then the transform. float16 and bfloat16 are first converted to float32, integers to float64. ShapeError for a signal
// that is too short or a window of another length, ValueError for invalid lengths, DTypeError for a complex window or a
// onesided transform of complex x.
STATOR_API Array stft(const Array& x, int64_t n_fft, const StftOptions& = {}, const Stream& = {});

struct IstftOptions : FrameOptions {
  std::optional<int64_t> length = {};  // of the signal, which is cut or padded with zeros
  bool return_complex = false;         // the signal was complex; needs all frequencies
  bool check = true;
};

// The signal (..., samples) whose frames are nearest to the spectrum (..., frequencies, frames), by weighted
// overlap-add: frames are windowed again, added, and divided by the sum of the windows' squares (Griffin and Lim, IEEE
// TASSP 32, 1984). Each sample adds its frames in their order, so that the bits are equal from run to run. `onesided`
// by default follows from the number of frequencies. Two launches. ShapeError, ValueError, DTypeError. ValueError also
// where the sum of squares vanishes within the signal: that check synchronises. It is omitted for windows of ones that
// leave no gap, and with `check` false, when such samples are NaN or infinite.
STATOR_API Array istft(const Array& spectrum, int64_t n_fft, const IstftOptions& = {}, const Stream& = {});

}  // namespace stator::fft
