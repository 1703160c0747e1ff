#include "ops/fft/vendor.hpp"

#include <stator/creation.hpp>
#include <stator/elementwise.hpp>

#include <algorithm>
#include <optional>

namespace stator::fft {
namespace {

using libs::FftKind;

struct VendorDim {
  int64_t extent, in, out;
};

// The axes of one side as cuFFT steps through them. `lengths` are those of this side. False when cuFFT cannot describe
// it.
bool describe(const Array& a, const std::vector<int>& axes, const std::vector<int64_t>& lengths,
              libs::VendorSide& side) {
  const int rank = int(axes.size());
  for (int j = 0; j < rank; ++j) {
    const int64_t stride = a.strides()[axes[size_t(j)]];
    if (stride <= 0) return false;
    side.embed[j] = lengths[size_t(j)];
    if (j == 0) continue;
    const int64_t outer = a.strides()[axes[size_t(j - 1)]];
    if (outer % stride != 0 || outer / stride < lengths[size_t(j)]) return false;
    side.embed[j] = outer / stride;
  }
  side.step = a.strides()[axes.back()];
  return reinterpret_cast<uintptr_t>(a.data_ptr()) % (real_part(a.dtype()) == DType::float64 ? 16 : 8) == 0;
}

// Transforms all batches of `in`, with one library call for each index of the batch axes that cuFFT cannot merge.
// False, with nothing done, when cuFFT cannot describe the layout.
bool transform(OpCall& call, FftKind kind, bool inverse, const Array& in, const Array& out,
               const std::vector<int>& axes, const std::vector<int64_t>& lengths) {
  libs::VendorFft fft;
  fft.kind = kind;
  fft.is_double = real_part(out.dtype()) == DType::float64;
  fft.inverse = inverse;
  fft.rank = int(axes.size());
  std::copy(lengths.begin(), lengths.end(), fft.n);
  std::vector<int64_t> in_lengths = lengths, out_lengths = lengths;
  if (kind == FftKind::complex_to_real) in_lengths.back() = lengths.back() / 2 + 1;
  if (kind == FftKind::real_to_complex) out_lengths.back() = lengths.back() / 2 + 1;
  if (!describe(in, axes, in_lengths, fft.in) || !describe(out, axes, out_lengths, fft.out)) return false;
  std::vector<VendorDim> batch;
  for (int d = 0; d < out.ndim(); ++d) {
    if (out.shape()[d] == 1 || std::find(axes.begin(), axes.end(), d) != axes.end()) continue;
    const VendorDim dim{out.shape()[d], in.strides()[d], out.strides()[d]};
    if (dim.in <= 0 || dim.out <= 0) return false;
    if (!batch.empty() && batch.back().in == dim.in * dim.extent && batch.back().out == dim.out * dim.extent)
      batch.back() = {batch.back().extent * dim.extent, dim.in, dim.out};
    else
      batch.push_back(dim);
  }
  if (!batch.empty()) {
    const auto longest = std::max_element(batch.begin(), batch.end(),
                                          [](const VendorDim& x, const VendorDim& y) { return x.extent < y.extent; });
    fft.batch = longest->extent;
    fft.in.distance = longest->in;
    fft.out.distance = longest->out;
    batch.erase(longest);
  }
  int64_t calls = 1;
  for (const VendorDim& dim : batch) {
    // cuFFT takes only addresses that are aligned to a complex number, also of reals.
    if ((kind == FftKind::real_to_complex && dim.in % 2 != 0) || (kind == FftKind::complex_to_real && dim.out % 2 != 0))
      return false;
    calls *= dim.extent;
  }
  char* const from = static_cast<char*>(in.data_ptr());
  char* const to = static_cast<char*>(out.data_ptr());
  for (int64_t i = 0; i < calls; ++i) {
    int64_t rest = i, in_at = 0, out_at = 0;
    for (auto dim = batch.rbegin(); dim != batch.rend(); ++dim) {
      in_at += rest % dim->extent * dim->in;
      out_at += rest % dim->extent * dim->out;
      rest /= dim->extent;
    }
    fft.in.data = from + in_at * itemsize(in.dtype());
    fft.out.data = to + out_at * itemsize(out.dtype());
    libs::cuda_fft(call, fft);
  }
  return true;
}

// Complex transforms along axes in the order of memory, at most three per call; all but the first in place.
bool in_chunks(OpCall& call, bool inverse, Array in, const Array& out, std::vector<int> axes,
               std::vector<int64_t> lengths, const Stream& on) {
  while (!axes.empty()) {
    const size_t first = axes.size() > 3 ? axes.size() - 3 : 0;
    const std::vector<int> some(axes.begin() + int64_t(first), axes.end());
    const std::vector<int64_t> n(lengths.begin() + int64_t(first), lengths.end());
    if (!transform(call, FftKind::complex_to_complex, inverse, in, out, some, n)) {
      in = copy(in, on);
      call.reads(in);
      if (!transform(call, FftKind::complex_to_complex, inverse, in, out, some, n)) return false;
    }
    in = out;
    axes.resize(first);
    lengths.resize(first);
  }
  return true;
}

// x with zeros up to `shape`, contiguous.
Array padded(OpCall& call, const Array& x, const Dims& shape, const Stream& on) {
  const Array y = zeros(Backend(Ref<Context>(&call.context())), shape, x.dtype(), on);
  if (x.size() > 0) assign(Array(y.buffer(), y.dtype(), x.shape(), y.strides(), y.offset()), x, on);
  return y;
}

// Clears the imaginary parts that no real signal of n points has, which cuFFT does not ignore: those of the first
// coefficient, and of the last one where n is even. The other axes have been transformed before.
void clear_imaginary(const Array& x, int axis, int64_t n, const Stream& on) {
  Dims shape = x.shape(), strides = x.strides();
  const int64_t last = n / 2;
  shape[axis] = n % 2 == 0 && n > 1 ? 2 : 1;
  for (int d = 0; d < x.ndim(); ++d) strides[d] *= 2;
  strides[axis] *= std::max<int64_t>(last, 1);
  const DType real = real_part(x.dtype());
  assign(Array(x.buffer(), real, shape, strides, 2 * x.offset() + 1), Scalar(0.0), on);
}

}  // namespace

bool transform_by_vendor(OpCall& call, const Array& source, const Array& result, const Request& r) {
  const FftKind kind = r.kind;
  const bool inverse = r.inverse;
  const std::vector<int>& axes = r.axes;
  if (call.context().runtime().is_host() || !libs::cuda_fft_available(call)) return false;
  const Stream on = call.on();
  const DType complex = real_part(result.dtype()) == DType::float64 ? DType::complex128 : DType::complex64;
  Dims shape = source.shape();
  for (size_t i = 0; i < axes.size(); ++i) shape[axes[i]] = r.lengths[i];
  if (kind == FftKind::complex_to_real) shape[axes.back()] = r.lengths.back() / 2 + 1;
  Array in = shape == source.shape() ? source : padded(call, source, shape, on);
  if (kind == FftKind::complex_to_complex) in = astype(in, complex, false, on);
  if (kind == FftKind::complex_to_real) {  // cuFFT overwrites its input and has the inverse only
    if (!inverse)
      in = unary(Op::conj, in, {}, on);
    else if (in.buffer().get() == source.buffer().get())
      in = copy(in, on);
  }
  if (in.buffer().get() != source.buffer().get()) call.writes(in);

  // The halved axis is the innermost one of a call. The others join it when they are outer axes of memory.
  std::vector<int> order(axes.begin(), axes.end() - (kind == FftKind::complex_to_complex ? 0 : 1));
  std::sort(order.begin(), order.end());
  const auto lengths_of = [&](const std::vector<int>& some) {
    std::vector<int64_t> n;
    for (const int axis : some)
      n.push_back(r.lengths[size_t(std::find(axes.begin(), axes.end(), axis) - axes.begin())]);
    return n;
  };
  if (kind == FftKind::complex_to_complex) {
    if (!in_chunks(call, inverse, in, result, order, lengths_of(order), on)) return false;
  } else {
    std::vector<int> last{axes.back()};
    while (kind == FftKind::real_to_complex && last.size() < 3 && !order.empty() && order.back() < last.front()) {
      last.insert(last.begin(), order.back());
      order.pop_back();
    }
    if (kind == FftKind::complex_to_real) {
      if (!in_chunks(call, true, in, in, order, lengths_of(order), on)) return false;
      clear_imaginary(in, axes.back(), r.lengths.back(), on);
    }
    if (!transform(call, kind, inverse, in, result, last, lengths_of(last))) {
      in = copy(in, on);
      call.writes(in);
      if (!transform(call, kind, inverse, in, result, last, lengths_of(last))) return false;
    }
    if (kind == FftKind::real_to_complex && !in_chunks(call, false, result, result, order, lengths_of(order), on))
      return false;
  }
  if (kind == FftKind::real_to_complex && inverse) unary(Op::conj, result, {.out = &result}, on);
  if (r.scale != 1) binary(Op::multiply, result, Scalar(r.scale), {.out = &result}, on);
  return true;
}

}  // namespace stator::fft
