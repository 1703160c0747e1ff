// Pairwise distances.
#include <stator/creation.hpp>
#include <stator/matmul.hpp>
#include <stator/movement.hpp>

#include "core/op_call.hpp"
#include "ops/indexing/plan.hpp"
#include "params/matmul.hpp"

#include <cmath>
#include <string>

namespace stator {
namespace {

// x as [batch, points, features], with its leading axes broadcast to `lead` and merged; a copy if they cannot be
// merged.
Array points(const std::string& op, const Array& x, const Dims& lead, DType dtype, const Stream& stream) {
  Dims wide = lead;
  const int64_t rows = x.shape()[x.ndim() - 2], features = x.shape()[x.ndim() - 1];
  wide.push_back(rows);
  wide.push_back(features);
  int64_t batch = 1;
  for (int64_t n : lead) batch *= n;
  const int64_t flat[] = {batch, rows, features};
  return reshape(broadcast_to(cast_within_kind(op, x, dtype, stream), wide), flat, {}, stream);
}

Dims leading(const Array& x) {
  Dims lead;
  for (int d = 0; d + 2 < x.ndim(); ++d) lead.push_back(x.shape()[d]);
  return lead;
}

}  // namespace

Array cdist(const Array& x1, const Array& x2, double p, const Stream& stream) {
  OpCall call(Op::cdist, {&x1, &x2}, stream);
  const std::string op(call.name());
  const DType dtype = promote(x1.dtype(), x2.dtype());
  if (!in(dtype, op_info(Op::cdist).dtypes))
    throw DTypeError(op, "got points of dtype " + std::string(name(dtype)), "convert them to float32 or float64");
  if (!(p >= 0)) throw ValueError(op, "p=" + std::to_string(p), "p must be zero, positive or infinity");
  if (x1.ndim() < 2 || x2.ndim() < 2 || x1.shape()[x1.ndim() - 1] != x2.shape()[x2.ndim() - 1])
    throw ShapeError(op, "got shapes " + str(x1.shape()) + " and " + str(x2.shape()),
                     "points must be (..., count, features), with as many features in both");
  const Dims lead = broadcast_shapes(op, leading(x1), leading(x2));
  Dims shape = lead;
  shape.push_back(x1.shape()[x1.ndim() - 2]);
  shape.push_back(x2.shape()[x2.ndim() - 2]);
  checked_size(op, shape, itemsize(dtype));
  Array result = call.empty(shape, dtype);
  if (result.size() == 0) return result;
  const Array a = points(op, x1, lead, dtype, stream), b = points(op, x2, lead, dtype, stream);
  params::Distance d{};
  d.a = a.data_ptr();
  d.b = b.data_ptr();
  d.out = result.data_ptr();
  d.dtype = dtype;
  d.p = p;
  d.batch = a.shape()[0];
  d.rows = a.shape()[1];
  d.cols = b.shape()[1];
  d.features = a.shape()[2];
  for (int k = 0; k < 3; ++k) {
    d.a_strides[k] = a.strides()[k];
    d.b_strides[k] = b.strides()[k];
  }
  call.reads(a);
  call.reads(b);
  call.writes(result);
  call.expect_multiply_adds(result.size() * d.features);
  kernels::matmul::cdist(call.queue(), d);
  return result;
}

}  // namespace stator
