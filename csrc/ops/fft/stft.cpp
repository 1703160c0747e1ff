// Short-time Fourier transforms: a pass over the frames of the signal besides the transform of the frames.
#include "core/op_call.hpp"
#include "ops/fft/signals.hpp"
#include "params/fft.hpp"

#include <stator/creation.hpp>
#include <stator/fft.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace stator::fft {
namespace {

struct Layout {
  int64_t n, hop, left, width;
};

Layout checked(const std::string& op, int64_t n, const FrameOptions& options) {
  if (n < 1) throw ValueError(op, "n_fft = " + std::to_string(n), "a frame must have at least one point");
  const int64_t hop = options.hop_length.value_or(std::max<int64_t>(1, n / 4));
  const int64_t width = options.win_length.value_or(n);
  if (hop < 1) throw ValueError(op, "hop_length = " + std::to_string(hop), "frames must be at least 1 sample apart");
  if (width < 1 || width > n)
    throw ValueError(op, "win_length = " + std::to_string(width) + " for n_fft = " + std::to_string(n),
                     "a window must have between 1 and n_fft points");
  if (const Array* w = options.window) {
    if (!in(w->dtype(), dtypes::floats))
      throw DTypeError(op, "got a window of dtype " + std::string(name(w->dtype())),
                       "its dtype must be real and floating");
    if (w->ndim() != 1 || w->shape()[0] != width)
      throw ShapeError(op, "got a window of shape " + str(w->shape()),
                       "it must have win_length = " + std::to_string(width) + " points");
  }
  return {n, hop, (n - width) / 2, width};
}

// The window, dense, in the real dtype of the computation.
Array window_as(const Array* window, DType dtype, const Stream& on) {
  if (!window) return {};
  const Array converted = astype(*window, real_part(dtype), false, on);
  return converted.is_contiguous() ? converted : copy(converted, on);
}

params::Padding to_mode(const std::string& op, std::string_view mode) {
  if (mode == "reflect") return params::Padding::reflected;
  if (mode == "constant") return params::Padding::zero;
  if (mode == "replicate") return params::Padding::repeated;
  if (mode == "circular") return params::Padding::wrapped;
  throw ValueError(op, "pad_mode=\"" + std::string(mode) + "\"",
                   "use \"reflect\", \"constant\", \"replicate\" or \"circular\"");
}

Array last_axes_swapped(const Array& x) {
  Dims shape = x.shape(), strides = x.strides();
  std::swap(shape[x.ndim() - 1], shape[x.ndim() - 2]);
  std::swap(strides[x.ndim() - 1], strides[x.ndim() - 2]);
  return Array(x.buffer(), x.dtype(), shape, strides, x.offset());
}

Options along_last(int64_t n, bool normalized) {
  Options options;
  options.lengths = std::vector<int64_t>{n};
  options.axes = std::vector<int64_t>{-1};
  options.norm = normalized ? "ortho" : "backward";
  return options;
}

}  // namespace

Array stft(const Array& x, int64_t n_fft, const StftOptions& options, const Stream& stream) {
  OpCall call(Op::stft, {&x, options.window}, stream);
  const std::string op(call.name());
  const Layout l = checked(op, n_fft, options);
  if (x.ndim() < 1) throw AxisError(op, "got a 0-d array", "pass a signal of at least one axis");
  const int axis = x.ndim() - 1;
  const DType dtype = computed(x.dtype());
  const bool real = in(dtype, dtypes::floats), onesided = options.onesided.value_or(real);
  if (onesided && !real)
    throw DTypeError(op, "onesided=True for dtype " + std::string(name(x.dtype())),
                     "pass onesided=False for complex signals");
  params::Frames p{};
  p.padding = to_mode(op, options.pad_mode);
  p.length = x.shape()[axis];
  p.before = options.center ? l.n / 2 : 0;
  const int64_t most = p.padding == params::Padding::reflected              ? p.length - 1
                       : p.padding == params::Padding::wrapped              ? p.length
                       : p.padding == params::Padding::zero || p.length > 0 ? p.before
                                                                            : -1;
  if (p.before > most || p.length + 2 * p.before < l.n)
    throw ShapeError(op,
                     "got a signal of " + std::to_string(p.length) + " samples for frames of " + std::to_string(l.n) +
                         (options.center ? " with pad_mode=\"" + std::string(options.pad_mode) + "\"" : ""),
                     "pass a longer signal, a smaller n_fft, or pad_mode=\"constant\"");
  p.frames = 1 + (p.length + 2 * p.before - l.n) / l.hop;
  const Stream on(Ref<StreamBox>(&call.stream()));
  const Array source = astype(x, dtype, false, on), window = window_as(options.window, dtype, on);
  p.signals = 1;
  Dims shape(x.ndim() + 1);
  for (int d = 0; d < axis; ++d) {
    shape[d] = p.shape[d] = source.shape()[d];
    p.strides[d] = source.strides()[d];
    p.signals *= p.shape[d];
  }
  shape[axis] = p.frames;
  shape[axis + 1] = l.n;
  checked_size(op, shape, itemsize(dtype));
  const Array frames = call.empty(shape, dtype);
  if (frames.size() > 0) {
    if (source.size() > 0) call.reads(source);
    if (window) call.reads(window);
    call.writes(frames);
    p.x = source.data_ptr();
    p.window = window ? window.data_ptr() : nullptr;
    p.out = frames.data_ptr();
    p.dtype = dtype;
    p.ndim = axis;
    p.step = source.strides()[axis];
    p.n = l.n;
    p.hop = l.hop;
    p.left = l.left;
    p.width = l.width;
    kernels::fft::frames(call.queue(), p);
  }
  const Options how = along_last(l.n, options.normalized);
  return last_axes_swapped(onesided ? rfft(frames, how, on) : fft(frames, how, on));
}

Array istft(const Array& spectrum, int64_t n_fft, const IstftOptions& options, const Stream& stream) {
  OpCall call(Op::istft, {&spectrum, options.window}, stream);
  const std::string op(call.name());
  const Layout l = checked(op, n_fft, options);
  if (!in(spectrum.dtype(), dtypes::complexes))
    throw DTypeError(op, "got a spectrum of dtype " + std::string(name(spectrum.dtype())), "its dtype must be complex");
  const int last = spectrum.ndim() - 1;
  const int64_t points = last < 1 ? 0 : spectrum.shape()[last - 1], frames = last < 1 ? 0 : spectrum.shape()[last];
  const bool onesided = options.onesided.value_or(points != l.n || (l.n == 1 && !options.return_complex));
  if (onesided && options.return_complex)
    throw ValueError(op, "return_complex=True with half of the frequencies",
                     "pass return_complex=False, or all frequencies");
  if (last < 1 || frames < 1 || points != (onesided ? l.n / 2 + 1 : l.n))
    throw ShapeError(op,
                     "got a spectrum of shape " + str(spectrum.shape()) + " for n_fft = " + std::to_string(l.n) +
                         (onesided ? ", onesided" : ""),
                     "it must be (..., " + std::to_string(onesided ? l.n / 2 + 1 : l.n) + ", frames)");
  if (l.hop > l.width)
    throw ValueError(op, "hop_length = " + std::to_string(l.hop) + " for win_length = " + std::to_string(l.width),
                     "hop_length must be at most win_length");
  if (options.length && *options.length < 0)
    throw ValueError(op, "length = " + std::to_string(*options.length), "the number of samples must be at least 0");
  params::OverlapAdd p{};
  const int64_t all = l.n + l.hop * (frames - 1), cut = options.center ? l.n / 2 : 0;
  p.start = cut;
  p.length = options.length.value_or(std::max<int64_t>(0, all - 2 * cut));
  const Stream on(Ref<StreamBox>(&call.stream()));
  Array by_frames = last_axes_swapped(spectrum);
  const Options how = along_last(l.n, options.normalized);
  const Array signals = options.return_complex ? ifft(by_frames, how, on) : irfft(by_frames, how, on);
  const Array window = window_as(options.window, signals.dtype(), on);
  Dims shape(last);
  p.signals = 1;
  for (int d = 0; d < last - 1; ++d) p.signals *= shape[d] = spectrum.shape()[d];
  shape[last - 1] = p.length;
  checked_size(op, shape, itemsize(signals.dtype()));
  const Array out = call.empty(shape, signals.dtype());
  if (out.size() == 0) return out;
  // A window of ones covers every sample between the start of the first frame's window and the end of the last one's.
  const bool known =
      !window && p.start >= l.left && std::min(p.start + p.length, all) <= l.left + l.width + l.hop * (frames - 1);
  const int64_t tile = kernels::fft::overlap_tile(call.limits());
  const Array vanishes =
      known || !options.check ? Array() : call.empty(Dims{(p.length + tile - 1) / tile}, DType::int32);
  call.reads(signals);
  if (window) call.reads(window);
  call.writes(out);
  if (vanishes) call.writes(vanishes);
  p.x = signals.data_ptr();
  p.window = window ? window.data_ptr() : nullptr;
  p.out = out.data_ptr();
  p.vanishes = vanishes ? static_cast<int32_t*>(vanishes.data_ptr()) : nullptr;
  p.dtype = signals.dtype();
  p.frames = frames;
  p.n = l.n;
  p.hop = l.hop;
  p.left = l.left;
  p.width = l.width;
  kernels::fft::overlap_add(call.queue(), p);
  if (!vanishes) return out;
  std::vector<int32_t> seen(size_t(vanishes.size()));
  vanishes.to_host(seen.data(), on, call.op());
  const auto bad = std::find_if(seen.begin(), seen.end(), [](int32_t v) { return v != 0; });
  if (bad != seen.end())
    throw ValueError(op,
                     "the windows' squares sum to zero between samples " + std::to_string((bad - seen.begin()) * tile) +
                         " and " + std::to_string(std::min((bad - seen.begin() + 1) * tile, p.length)),
                     "use another window, a smaller hop_length, center=True or a shorter length");
  return out;
}

}  // namespace stator::fft
