// Bands of matrices (triu, tril, diag, tri, eye) and linspace.
#include "core/op_call.hpp"
#include "ops/creation/copy.hpp"
#include "ops/scalar.hpp"
#include "params/creation.hpp"

#include <stator/creation.hpp>
#include <stator/movement.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace stator {
namespace {

void launch_band(OpCall& call, const Array& result, params::Band& p, int64_t low, int64_t high) {
  const int ndim = result.ndim();
  p.rows = result.shape()[ndim - 2];
  p.cols = result.shape()[ndim - 1];
  p.low = std::clamp(low, -p.rows, p.cols);
  p.high = std::clamp(high, -p.rows, p.cols);
  p.out = result.data_ptr();
  p.itemsize = itemsize(result.dtype());
  call.writes(result);
  kernels::creation::band(call.queue(), p);
}

Array triangle(Op which, const Array& x, int64_t low, int64_t high, const Stream& stream) {
  OpCall call(which, {&x}, stream);
  if (x.ndim() < 2)
    throw ShapeError(std::string(call.name()), "shape " + str(x.shape()) + " has fewer than two axes",
                     "pass a matrix or a stack of them");
  Array result = call.empty(x.shape(), x.dtype());
  if (result.size() == 0) return result;
  params::Band p{};
  p.in = x.data_ptr();
  p.ndim = x.ndim() - 2;
  p.batch = 1;
  for (int d = 0; d < p.ndim; ++d) {
    p.batch *= p.shape[d] = x.shape()[d];
    p.strides[d] = x.strides()[d];
  }
  p.row_stride = x.strides()[p.ndim];
  p.col_stride = x.strides()[p.ndim + 1];
  call.reads(x);
  launch_band(call, result, p, low, high);
  return result;
}

Array ones_in_band(Op which, const Backend& backend, const Dims& shape, int64_t low, int64_t high, DType dtype,
                   const Stream& stream) {
  OpCall call(which, backend, stream);
  checked_size(call.name(), shape, itemsize(dtype));
  Array result = call.empty(shape, dtype);
  if (result.size() == 0) return result;
  params::Band p{};
  p.batch = 1;
  encode(call.name(), Scalar(true), dtype, p.value);
  launch_band(call, result, p, low, high);
  return result;
}

constexpr int64_t far = int64_t(1) << 62;

}  // namespace

Array triu(const Array& x, int64_t k, const Stream& stream) { return triangle(Op::triu, x, k, far, stream); }
Array tril(const Array& x, int64_t k, const Stream& stream) { return triangle(Op::tril, x, -far, k, stream); }

Array diag(const Array& x, int64_t k, const Stream& stream) {
  OpCall call(Op::diag, {&x}, stream);
  const std::string op(call.name());
  if (x.ndim() == 2) return copy_as(Op::diag, diagonal(x, k), stream);
  if (x.ndim() != 1)
    throw ShapeError(op, "shape " + str(x.shape()) + " is neither a vector nor a matrix",
                     "use linalg.diagonal for stacks of matrices");
  if (k < -far || k > far)
    throw ShapeError(op, "k=" + std::to_string(k) + " makes more than 2^62 rows", "Use a smaller k");
  const int64_t n = x.shape()[0] + (k < 0 ? -k : k);
  checked_size(op, Dims{n, n}, itemsize(x.dtype()));
  Array result = call.empty(Dims{n, n}, x.dtype());
  if (result.size() == 0) return result;
  params::Band p{};
  p.batch = 1;
  if (x.size() > 0) {
    p.in = x.data_ptr();
    (k < 0 ? p.col_stride : p.row_stride) = x.strides()[0];
    call.reads(x);
  }
  launch_band(call, result, p, k, k);
  return result;
}

Array tri(const Backend& backend, int64_t rows, int64_t cols, int64_t k, DType dtype, const Stream& stream) {
  return ones_in_band(Op::tri, backend, {rows, cols}, -far, k, dtype, stream);
}

Array eye(const Backend& backend, int64_t rows, int64_t cols, int64_t k, DType dtype, const Stream& stream) {
  return ones_in_band(Op::eye, backend, {rows, cols}, k, k, dtype, stream);
}

Array linspace(const Backend& backend, Scalar start, Scalar stop, int64_t count, bool endpoint,
               std::optional<DType> dtype, const Stream& stream) {
  OpCall call(Op::linspace, backend, stream);
  const std::string op(call.name());
  const auto is_complex = [](const Scalar& s) { return s.type == Scalar::Type::complex_floating; };
  const bool complex = is_complex(start) || is_complex(stop);
  const DType d = dtype.value_or(complex ? DType::complex128 : DType::float64);
  if (d == DType::bool_) throw DTypeError(op, "dtype=bool", "the dtype must be integer, floating or complex");
  if (complex && !in(d, dtypes::complexes))
    throw DTypeError(op, "got complex ends with dtype=" + std::string(name(d)),
                     "the dtype must be complex. Pass complex64 or complex128, or real ends");
  if (count < 0) throw ValueError(op, "num=" + std::to_string(count), "num must be at least 0");
  checked_size(op, Dims{count}, itemsize(d));
  Array result = call.empty(Dims{count}, d);
  if (count == 0) return result;
  params::Linspace p{.out = result.data_ptr(),
                     .dtype = d,
                     .count = count,
                     .start = {start.re, start.im},
                     .step = {0, 0},
                     .last = {start.re, start.im},
                     .scale = {1, 1}};
  const int64_t steps = endpoint ? count - 1 : count;
  const double ends[2] = {stop.re, stop.im};
  for (int part = 0; part < 2 && steps > 0; ++part) {
    double& from = p.start[part];
    double end = ends[part];
    // The difference of the ends overflows: compute with half of everything, and double the results.
    if (std::isinf(end - from) && std::isfinite(end) && std::isfinite(from)) {
      p.scale[part] = 2;
      end /= 2;
      from /= 2;
    }
    p.step[part] = (end - from) / double(steps);
    p.last[part] = endpoint ? ends[part] : (from + double(count - 1) * p.step[part]) * p.scale[part];
  }
  call.writes(result);
  kernels::creation::linspace(call.queue(), p);
  return result;
}

}  // namespace stator
