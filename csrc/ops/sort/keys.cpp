#include "ops/sort/keys.hpp"
#include "ops/checks.hpp"

#include "params/sort.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace stator {

params::KeyCodec key_codec(DType dtype, bool descending) {
  params::KeyCodec c{};
  c.itemsize = itemsize(dtype);
  const int bits = 8 * c.itemsize;
  c.greatest = ~uint64_t(0) >> (64 - bits);
  c.sign = uint64_t(1) << (bits - 1);
  c.infinity = c.greatest;
  c.flip = descending ? c.greatest : 0;
  if (in(dtype, dtypes::signed_integers)) c.negative = c.positive = c.sign;
  if (in(dtype, dtypes::floats)) {
    c.negative = c.greatest;
    c.positive = c.sign;
    c.infinity = dtype == DType::float16    ? 0x7c00
                 : dtype == DType::bfloat16 ? 0x7f80
                 : dtype == DType::float32  ? 0x7f800000
                                            : 0x7ff0000000000000;
    c.alias = (c.sign ^ c.greatest) ^ c.flip;
    c.canonical = c.sign ^ c.flip;
  }
  return c;
}

void check_order_dtype(const OpCall& call, const Array& x) {
  if (in(x.dtype(), op_info(call.op()).dtypes)) return;
  throw DTypeError(
      std::string(call.name()), "got an array of dtype " + std::string(name(x.dtype())),
      in(x.dtype(), dtypes::complexes)
          ? std::string("complex numbers have no order. Use their real part or abs")
          : "the dtype must be " + dtype_names(op_info(call.op()).dtypes) + ". Convert the array with astype");
}

int order_axis(const OpCall& call, const Array& x, int64_t axis) {
  if (x.ndim() == 0) throw AxisError(std::string(call.name()), "got a 0-d array", "reshape it to one axis");
  return normalize_axis(call.name(), axis, x.ndim());
}

Dims with_extent(const Array& x, int axis, int64_t extent) {
  Dims shape = x.shape();
  shape[axis] = extent;
  return shape;
}

params::Segments segments_of(const Array& x, const Array& out, int axis) {
  params::Segments segments{};
  segments.count = 1;
  for (int d = 0; d < x.ndim(); ++d) {
    const int64_t extent = x.shape()[d], from = x.strides()[d], to = out.strides()[d];
    if (d == axis) continue;
    segments.count *= extent;
    if (extent == 1) continue;
    const int last = segments.ndim - 1;
    const bool together =
        segments.ndim > 0 && segments.x_strides[last] == extent * from && segments.out_strides[last] == extent * to;
    const int at = together ? last : segments.ndim++;
    segments.shape[at] = together ? segments.shape[at] * extent : extent;
    segments.x_strides[at] = from;
    segments.out_strides[at] = to;
  }
  return segments;
}

void launch_sort(OpCall& call, const Array& x, int axis, bool descending, const SortWindow& window, const Array* values,
                 const Array* indices) {
  const int64_t n = x.shape()[axis];
  if (x.size() == 0 || window.count == 0) return;
  if (n > int64_t(std::numeric_limits<uint32_t>::max()))
    throw UnsupportedError(std::string(call.name()), "got " + std::to_string(n) + " elements along the axis",
                           "The axis must have at most 2^32 - 1 elements");
  const Array& shape = values ? *values : *indices;
  call.reads(x);
  if (values) call.writes(*values);
  if (indices) call.writes(*indices);
  if (in(x.dtype(), dtypes::complexes)) return launch_complex_sort(call, x, axis, descending, values, indices);
  params::Sort s{};
  s.x = x.data_ptr();
  s.values = values ? values->data_ptr() : nullptr;
  s.indices = indices ? static_cast<int64_t*>(indices->data_ptr()) : nullptr;
  s.key = key_codec(x.dtype(), descending);
  s.n = n;
  s.x_step = x.strides()[axis];
  s.first = window.first;
  s.count = window.count;
  s.out_step = shape.strides()[axis];
  s.segments = segments_of(x, shape, axis);
  s.rank_count = int32_t(window.ranks.size());
  s.whole = window.whole;
  std::copy(window.ranks.begin(), window.ranks.end(), s.rank);
  const params::Queue& queue = call.queue();
  const int64_t bytes = kernels::sort::sort_scratch(call.limits(), s);
  void* const scratch = bytes > 0 ? call.scratch(size_t(bytes)) : nullptr;
  kernels::sort::sort(queue, s, scratch);
}

}  // namespace stator
