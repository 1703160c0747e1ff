// Fourier transforms along several axes: checks, dtypes, and one step per axis.
#include <stator/fft.hpp>

#include "core/op_call.hpp"
#include "ops/axes.hpp"
#include "ops/fft/signals.hpp"
#include "ops/fft/vendor.hpp"

#include <stator/creation.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <string>

namespace stator::fft {
namespace {

using libs::FftKind;

Request check(Op op, const Array& x, const Options& options, FftKind kind, bool inverse) {
  const std::string name(op_info(op).call);
  Request r{.kind = kind, .inverse = inverse};
  if (options.axes) {
    named_axes(name, *options.axes, x.ndim());
    for (const int64_t axis : *options.axes) r.axes.push_back(normalize_axis(name, axis, x.ndim()));
  } else {
    const int64_t count = options.lengths ? int64_t(options.lengths->size()) : x.ndim();
    if (count > x.ndim())
      throw ShapeError(name, "got " + std::to_string(count) + " lengths for shape " + str(x.shape()),
                       "pass at most one length for each axis");
    for (int64_t d = x.ndim() - count; d < x.ndim(); ++d) r.axes.push_back(int(d));
  }
  if (options.lengths && options.lengths->size() != r.axes.size()) {
    throw ShapeError(
        name,
        "got " + std::to_string(options.lengths->size()) + " lengths for " + std::to_string(r.axes.size()) + " axes",
        "pass one length for each axis");
  }
  if (r.axes.empty() && kind != FftKind::complex_to_complex)
    throw AxisError(name, "got no axis to transform", "name at least one axis");
  double points = 1;
  for (size_t i = 0; i < r.axes.size(); ++i) {
    const bool half = kind == FftKind::complex_to_real && i + 1 == r.axes.size();
    int64_t n = options.lengths ? (*options.lengths)[i] : -1;
    if (n == -1) n = half ? 2 * (x.shape()[r.axes[i]] - 1) : x.shape()[r.axes[i]];
    if (n < 1) {
      throw ShapeError(name, "n = " + std::to_string(n) + " points along axis " + std::to_string(r.axes[i]),
                       "the length must be at least 1. Pass n, or an array with elements along the axis");
    }
    r.lengths.push_back(n);
    points *= double(n);
  }
  if (options.norm == "ortho") {
    r.scale = 1 / std::sqrt(points);
  } else if (options.norm == "backward" || options.norm == "forward") {
    r.scale = (options.norm == "backward") == inverse ? 1 / points : 1;
  } else {
    throw ValueError(name, "norm=\"" + std::string(options.norm) + "\"", "use \"backward\", \"ortho\" or \"forward\"");
  }
  return r;
}

// x cut to at most `most` elements along each axis.
Array narrowed(const Array& x, const Dims& most) {
  Dims shape = x.shape();
  for (int d = 0; d < x.ndim(); ++d) shape[d] = std::min(shape[d], most[d]);
  return Array(x.buffer(), x.dtype(), shape, x.strides(), x.offset());
}

struct BatchDim {
  int64_t extent, in, out;
};

// Describes all axes but one as a batch: longest steps of the output first; neighbours that step together are merged.
void fill_batch(const Array& in, const Array& out, int axis, const Dims& extents, libs::Fft& fft) {
  std::vector<BatchDim> dims;
  for (int d = 0; d < out.ndim(); ++d)
    if (d != axis && extents[d] != 1) dims.push_back({extents[d], in.strides()[d], out.strides()[d]});
  sort_axes(std::span(dims), [](const BatchDim& a, const BatchDim& b) { return std::abs(a.out) > std::abs(b.out); });
  std::vector<BatchDim> merged;
  for (const BatchDim& dim : dims) {
    if (!merged.empty() && merged.back().in == dim.in * dim.extent && merged.back().out == dim.out * dim.extent)
      merged.back() = {merged.back().extent * dim.extent, dim.in, dim.out};
    else
      merged.push_back(dim);
  }
  fft.ndim = int(merged.size());
  fft.signals = 1;
  for (int d = 0; d < fft.ndim; ++d) {
    fft.shape[d] = merged[size_t(d)].extent;
    fft.in.strides[d] = merged[size_t(d)].in;
    fft.out.strides[d] = merged[size_t(d)].out;
    fft.signals *= fft.shape[d];
  }
}

struct Step {
  FftKind kind = FftKind::complex_to_complex;
  int axis = 0;
  int64_t n = 0;
  bool conjugate_in = false, conjugate_out = false;
  double scale = 1;
};

// `extents` are those of the batch, for the axes other than that of the step.
void transform_axis(OpCall& call, const Array& in, const Array& out, const Dims& extents, const Step& step) {
  libs::Fft fft;
  fft.kind = step.kind;
  fft.is_double = real_part(out.dtype()) == DType::float64;
  fft.n = step.n;
  fft.scale = step.scale;
  const auto side = [&](libs::FftOperand& s, const Array& a, bool conjugate) {
    s.data = a.data_ptr();
    s.step = a.strides()[step.axis];
    s.real = stator::in(a.dtype(), dtypes::floats);
    s.conjugate = conjugate;
  };
  side(fft.in, in, step.conjugate_in);
  side(fft.out, out, step.conjugate_out);
  const int64_t half = step.n / 2 + 1;
  fft.in.count = std::min(in.shape()[step.axis], step.kind == FftKind::complex_to_real ? half : step.n);
  fft.out.count = step.kind == FftKind::real_to_complex ? half : step.n;
  fill_batch(in, out, step.axis, extents, fft);
  if (fft.signals == 0) return;
  transform_signals(call, fft);
}

// The complex transforms that remain beside a real one along the last axis.
Request without_last(Request r, bool inverse, double scale) {
  r.axes.pop_back();
  r.lengths.pop_back();
  r.inverse = inverse;
  r.scale = scale;
  return r;
}

// Complex transforms along r.axes, the last axis first: from `in` into `out`, then in place in `out`. `extents` starts
// as the part of the input that holds data and ends as the shape of out.
void transform_axes(OpCall& call, Array in, const Array& out, Dims extents, const Request& r) {
  for (size_t i = r.axes.size(); i-- > 0;) {
    const Step step{.kind = FftKind::complex_to_complex,
                    .axis = r.axes[i],
                    .n = r.lengths[i],
                    .conjugate_in = r.inverse,
                    .conjugate_out = r.inverse,
                    .scale = i == 0 ? r.scale : 1};
    Array from = in;
    if (from.shape()[step.axis] != extents[step.axis]) {  // in place: the rest of the axis is not written yet
      Dims shape = from.shape();
      shape[step.axis] = extents[step.axis];
      from = Array(in.buffer(), in.dtype(), shape, in.strides(), in.offset());
    }
    transform_axis(call, from, out, extents, step);
    extents[step.axis] = step.n;
    in = out;
  }
}

Array run(Op op, const Array& x, const Options& options, FftKind kind, bool inverse, const Stream& stream) {
  OpCall call(op, {&x}, stream);
  if (kind == FftKind::real_to_complex && in(x.dtype(), dtypes::complexes)) {
    throw DTypeError(std::string(call.name()), "the array has dtype " + std::string(name(x.dtype())),
                     "the input must be real. Take its real part, or use the complex transform");
  }
  const Request r = check(op, x, options, kind, inverse);
  const Stream on = call.on();
  const DType dtype = computed(x.dtype());
  const DType complex = real_part(dtype) == DType::float64 ? DType::complex128 : DType::complex64;
  Array source = astype(x, dtype, false, on);
  if (kind == FftKind::complex_to_real && dtype != complex) source = astype(source, complex, false, on);
  const size_t last = r.axes.size() - 1;

  Dims shape = x.shape(), most = x.shape();
  for (size_t i = 0; i < r.axes.size(); ++i) shape[r.axes[i]] = most[r.axes[i]] = r.lengths[i];
  if (kind == FftKind::real_to_complex) shape[r.axes[last]] = r.lengths[last] / 2 + 1;
  if (kind == FftKind::complex_to_real) most[r.axes[last]] = r.lengths[last] / 2 + 1;
  checked_size(call.name(), shape, itemsize(complex));
  source = narrowed(source, most);
  const Dims filled = source.shape();
  Array result = call.empty(shape, kind == FftKind::complex_to_real ? real_part(complex) : complex);
  if (result.size() == 0) return result;
  if (r.axes.empty()) {
    assign(result, source, on);
    return result;
  }
  if (source.size() > 0) call.reads(source);
  call.writes(result);
  call.stream().raise_pending(uint16_t(op));

  if (transform_by_vendor(call, source, result, r)) return result;
  if (kind == FftKind::complex_to_complex) {
    transform_axes(call, source, result, filled, r);
  } else if (kind == FftKind::real_to_complex) {
    // ihfft is the conjugate of the forward transform, and has one axis.
    Dims extents = filled;
    extents[r.axes[last]] = shape[r.axes[last]];
    transform_axis(call, source, result, filled,
                   {.kind = kind,
                    .axis = r.axes[last],
                    .n = r.lengths[last],
                    .conjugate_out = inverse,
                    .scale = last == 0 ? r.scale : 1});
    transform_axes(call, result, result, extents, without_last(r, false, r.scale));
  } else {
    Array half = source;
    if (last > 0) {
      Dims temporary = shape;
      temporary[r.axes[last]] = filled[r.axes[last]];
      half = call.empty(temporary, complex);
      call.writes(half);
      if (half.size() > 0) transform_axes(call, source, half, filled, without_last(r, inverse, 1));
    }
    transform_axis(
        call, half, result, half.shape(),
        {.kind = kind, .axis = r.axes[last], .n = r.lengths[last], .conjugate_in = inverse, .scale = r.scale});
  }
  return result;
}

}  // namespace

Array transform(Op op, const Array& x, const Options& options, const Stream& stream) {
  switch (op) {
    case Op::fft:
    case Op::fft2:
    case Op::fftn: return run(op, x, options, FftKind::complex_to_complex, false, stream);
    case Op::ifft:
    case Op::ifft2:
    case Op::ifftn: return run(op, x, options, FftKind::complex_to_complex, true, stream);
    case Op::rfft:
    case Op::rfft2:
    case Op::rfftn: return run(op, x, options, FftKind::real_to_complex, false, stream);
    case Op::irfft:
    case Op::irfft2:
    case Op::irfftn: return run(op, x, options, FftKind::complex_to_real, true, stream);
    case Op::hfft: return run(op, x, options, FftKind::complex_to_real, false, stream);
    case Op::ihfft: return run(op, x, options, FftKind::real_to_complex, true, stream);
    default:
      throw ValueError(std::string(op_info(op).call), "got an op that is not a Fourier transform",
                       "call a function of stator::fft");
  }
}

}  // namespace stator::fft
