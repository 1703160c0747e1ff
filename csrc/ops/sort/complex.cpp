// Sorting complex numbers: an argsort of their keys, then a gather of the numbers.
#include "core/op_call.hpp"
#include "ops/sort/keys.hpp"
#include "params/sort.hpp"

#include <utility>

namespace stator {
namespace {

params::Segments dense_segments(int64_t count, int64_t n) {
  params::Segments segments{};
  segments.count = count;
  segments.ndim = 1;
  segments.shape[0] = count;
  segments.x_strides[0] = segments.out_strides[0] = n;
  return segments;
}

}  // namespace

void launch_complex_sort(OpCall& call, const Array& x, int axis, bool descending, const Array* values,
                         const Array* indices) {
  const Array& shape = values ? *values : *indices;
  const int64_t n = x.shape()[axis], count = x.size() / n;
  const size_t bytes = size_t(x.size()) * sizeof(int64_t);
  const params::Queue& queue = call.queue();

  params::ComplexKeys k{};
  k.x = x.data_ptr();
  k.dtype = x.dtype();
  k.keys = static_cast<uint64_t*>(call.scratch(bytes));
  k.descending = descending;
  k.n = n;
  k.step = x.strides()[axis];
  k.segments = segments_of(x, shape, axis);
  params::Sort s{};
  s.x = k.keys;
  s.key = key_codec(DType::uint64);
  s.n = s.count = n;
  s.x_step = s.out_step = 1;
  s.segments = dense_segments(count, n);
  s.indices = static_cast<int64_t*>(call.scratch(bytes));
  const int64_t needed = kernels::sort::sort_scratch(call.limits(), s);
  void* const scratch = needed > 0 ? call.scratch(size_t(needed)) : nullptr;

  kernels::sort::complex_keys(queue, k);
  kernels::sort::sort(queue, s, scratch);
  if (x.dtype() == DType::complex128) {
    k.high = true;
    k.order = s.indices;
    s.indices = static_cast<int64_t*>(call.scratch(bytes));
    kernels::sort::complex_keys(queue, k);
    kernels::sort::sort(queue, s, scratch);
  }
  params::ComplexGather g{};
  g.x = k.x;
  g.dtype = k.dtype;
  g.second = s.indices;
  g.order = k.order;
  g.values = values ? values->data_ptr() : nullptr;
  g.indices = indices ? static_cast<int64_t*>(indices->data_ptr()) : nullptr;
  g.n = n;
  g.step = k.step;
  g.out_step = shape.strides()[axis];
  g.segments = k.segments;
  kernels::sort::complex_gather(queue, g);
}

}  // namespace stator
