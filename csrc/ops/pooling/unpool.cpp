#include <stator/creation.hpp>

#include "ops/pooling/windows.hpp"

namespace stator::nn {
namespace {

// The spatial extents that windows without dilation were taken from, where they do not say otherwise.
Dims unpooled_extents(const OpCall& call, const Array& x, const PoolOptions& o, const Dims& output) {
  const int spatial = o.kernel.size();
  const std::string op = name_of(call, spatial);
  if (output.size() != 0 && output.size() != spatial)
    throw ShapeError(op, "output_size=" + str(output) + " for " + std::to_string(spatial) + " spatial axes",
                     "pass the spatial extents of the result");
  Dims found(spatial);
  for (int d = 0; d < spatial; ++d) {
    const auto length = [&](const char* what, const Dims& given, int64_t otherwise, int64_t least) {
      if (given.size() == 0) return otherwise;
      if (given.size() != spatial)
        throw ShapeError(op, std::string(what) + "=" + str(given) + " for " + std::to_string(spatial) + " spatial axes",
                         "pass an integer, or one for each axis");
      if (given[d] < least || given[d] > params::max_plane)
        throw ValueError(op, std::string(what) + "=" + str(given),
                         "pass lengths from " + std::to_string(least) + " to " + std::to_string(params::max_plane));
      return given[d];
    };
    const int64_t kernel = length("kernel_size", o.kernel, 1, 1), stride = length("stride", o.stride, kernel, 1);
    const int64_t padding = length("padding", o.padding, 0, 0);
    const int64_t usual = (x.shape()[x.ndim() - spatial + d] - 1) * stride - 2 * padding + kernel;
    found[d] = output.size() != 0 ? output[d] : usual;
    if (output.size() != 0 && (found[d] <= usual - stride || found[d] >= usual + stride))
      throw ValueError(
          op,
          "output_size=" + str(output) + " where axis " + std::to_string(d) + " has about " + std::to_string(usual) +
              " elements",
          "pass an extent from " + std::to_string(usual - stride + 1) + " to " + std::to_string(usual + stride - 1));
    if (found[d] < 1 || found[d] > params::max_plane)
      throw ShapeError(op, "the result would have the spatial extent " + std::to_string(found[d]),
                       "pass windows that give positive extents of at most " + std::to_string(params::max_plane));
  }
  return found;
}

// The elements of a plane, or more than there may be.
int64_t plane_of(const Dims& shape, int spatial) {
  int64_t size = 1;
  for (int d = shape.size() - spatial; d < shape.size(); ++d) {
    if (shape[d] > params::max_plane / size) return params::max_plane + 1;
    size *= shape[d];
  }
  return size;
}

}  // namespace

Array max_unpool(const Array& x, const Array& indices, const PoolOptions& o, const Dims& output, const Stream& stream) {
  OpCall call(Op::max_unpool, {&x, &indices}, stream);
  const int spatial = o.kernel.size();
  check_planes(call, x, spatial);
  check_indices(call, indices, x.shape(), spatial);
  const Dims shape = with_spatial(x, unpooled_extents(call, x, o, output));
  if (plane_of(shape, spatial) > params::max_plane)
    throw ShapeError(name_of(call, spatial), "a plane of the result " + str(shape) + " is too large",
                     "pass windows of planes of at most " + std::to_string(params::max_plane) + " elements");
  checked_size(call.name(), shape, sizeof(int64_t));
  Array out = call.empty(shape, x.dtype());
  if (out.size() == 0) return out;
  params::Unpool p{};
  p.itemsize = itemsize(x.dtype());
  p.small = plane_of(x.shape(), spatial);
  p.large = plane_of(shape, spatial);
  p.planes = x.size() / p.small;
  const bool notes = kernels::pooling::unpool_notes(call.limits());
  const Array winners = notes ? call.empty(Dims{p.planes, p.large}, DType::uint32) : Array();
  if (notes) assign(winners, 0, call.on());
  const Array input = dense_operand(call, x), index_array = index_operand(call, indices);
  if (notes) call.writes(winners);
  call.writes(out);
  p.x = input.data_ptr();
  p.indices = static_cast<const int64_t*>(index_array.data_ptr());
  p.winners = notes ? static_cast<uint32_t*>(winners.data_ptr()) : nullptr;
  p.out = out.data_ptr();
  kernels::pooling::unpool(call.queue(), p);
  call.finish_indices();
  return out;
}

Array max_unpool_backward(const Array& grad, const Array& indices, int spatial, const Stream& stream) {
  OpCall call(Op::max_unpool_backward, {&grad, &indices}, stream);
  check_planes(call, grad, spatial);
  const Dims shape = indices.ndim() == grad.ndim()
                         ? with_spatial(grad,
                                        [&] {
                                          Dims extents(spatial);
                                          for (int d = 0; d < spatial; ++d)
                                            extents[d] = indices.shape()[indices.ndim() - spatial + d];
                                          return extents;
                                        }())
                         : grad.shape();
  check_indices(call, indices, shape, spatial);
  Array out = call.empty(shape, grad.dtype());
  if (out.size() == 0) return out;
  const Array slope = dense_operand(call, grad), index_array = index_operand(call, indices);
  call.writes(out);
  params::Unpool p{};
  p.itemsize = itemsize(grad.dtype());
  p.large = plane_of(grad.shape(), spatial);
  p.planes = grad.size() / p.large;
  p.small = out.size() / p.planes;
  p.x = slope.data_ptr();
  p.indices = static_cast<const int64_t*>(index_array.data_ptr());
  p.out = out.data_ptr();
  kernels::pooling::unpool_backward(call.queue(), p);
  call.finish_indices();
  return out;
}

}  // namespace stator::nn
