// Short-time Fourier transforms, with the meaning that torch.stft and torch.istft give their arguments.
#pragma once

#include <stator/array.hpp>

#include <optional>
#include <string_view>

namespace stator::fft {

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
