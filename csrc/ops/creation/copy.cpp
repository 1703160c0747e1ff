#include <stator/creation.hpp>
#include <stator/indexing.hpp>

#include "core/op_call.hpp"
#include "memory/overlap.hpp"
#include "ops/collapse.hpp"
#include "ops/creation/copy.hpp"
#include "ops/scalar.hpp"
#include "params/creation.hpp"
#include "params/elementwise.hpp"
#include "runtime/devices.hpp"

#include <cstring>
#include <memory>
#include <string>

namespace stator {
namespace {

void launch_copy(OpCall& call, const Array& to, const Array& from) {
  params::Elementwise e = collapse(to, std::array{&from});
  e.compute = from.dtype();
  call.reads(from);
  call.writes(to);
  kernels::creation::copy(call.queue(), e);
}

Array converted(Op op, const Array& x, DType dtype, const Stream& stream) {
  OpCall call(op, {&x}, stream);
  checked_size(call.name(), x.shape(), itemsize(dtype));
  Array result = call.empty(x.shape(), dtype);
  if (result.size() > 0) launch_copy(call, result, x);
  return result;
}

void assign_number(Op op, const Array& target, const Scalar& value, const Stream& stream) {
  OpCall call(op, {&target}, stream);
  require_writable(call.name(), target);
  unsigned char bytes[16];
  encode(call.name(), value, target.dtype(), bytes);
  if (target.size() == 0) return;
  params::Elementwise e = collapse(target, one_number);
  e.in[0].dtype = e.compute = target.dtype();
  std::memcpy(e.in[0].value, bytes, sizeof bytes);
  call.writes(target);
  kernels::creation::copy(call.queue(), e);
}

// Whether the runtime has copied from one GPU to another, which it does through memory of its own where neither reaches
// the other. False where it refuses the two addresses. Waits.
bool copied_between_devices(const Array& from, const Array& to, const Stream& stream) {
  constexpr uint16_t op = uint16_t(Op::copy);
  OpCall call(Op::copy, {&from}, stream);
  call.stream().synchronize(op);  // throws in a capture, before anything is captured
  call.reads(from);
  call.context().runtime().share_memory();
  to.buffer()->context().runtime().share_memory();
  const runtime::StreamHandle handle = call.stream().handle(op);
  const int source = from.backend().device().index, target = to.backend().device().index;
  const auto enqueue = [&, read = from.data_ptr(), written = to.data_ptr(), bytes = from.nbytes()] {
    return runtime::cuda_copy_between(written, target, read, source, bytes, handle);
  };
  const auto describe = [](int code) { return runtime::cuda_table().error_name(code); };
  try {
    call.context().runtime().library("cudaMemcpyPeerAsync", enqueue, describe, handle, call.record());
  } catch (const CudaError& error) {
    if (error.code() != runtime::status::invalid_value && error.code() != runtime::status::not_supported) throw;
    return false;
  }
  call.stream().synchronize(op);
  return true;
}

}  // namespace

Array copy(const Array& x, const Stream& stream) { return converted(Op::copy, x, x.dtype(), stream); }

Array astype(const Array& x, DType dtype, bool copy, const Stream& stream) {
  if (!copy && x.dtype() == dtype) return x;
  return converted(Op::astype, x, dtype, stream);
}

Array copy_as(Op op, const Array& x, const Stream& stream) { return converted(op, x, x.dtype(), stream); }

void assign(const Array& target, const Operand& value, const Stream& stream) {
  assign_as(Op::copy, target, value, stream);
}

void assign_as(Op which, const Array& target, const Operand& value, const Stream& stream) {
  if (!value.array) return assign_number(which, target, value.scalar, stream);
  const Array& from = *value.array;
  OpCall call(which, {&target, &from}, stream);
  const std::string op(call.name());
  require_writable(op, target);
  if (which != Op::setitem && !can_cast_same_kind(from.dtype(), target.dtype()))
    throw DTypeError(op,
                     "got values of dtype " + std::string(stator::name(from.dtype())) + " for an array of " +
                         std::string(stator::name(target.dtype())),
                     "convert them with astype first");
  if (broadcast_shapes(op, from.shape(), target.shape()) != target.shape())
    throw ShapeError(op, "shape " + str(from.shape()) + " does not broadcast to " + str(target.shape()),
                     "the value must broadcast to the shape of the target");
  if (target.size() == 0 || same_view(from, target)) return;
  launch_copy(call, target, may_overlap(target, from) ? copy(from, stream) : from);
}

void setitem(const Array& x, std::span<const Index> index, const Operand& value, const Stream& stream) {
  const Array target = getitem(x, index);
  if (!value.array || value.array->ndim() <= target.ndim()) return assign_as(Op::setitem, target, value, stream);
  // As in NumPy, leading axes of length 1 that the target lacks are dropped.
  const Array& from = *value.array;
  const int extra = from.ndim() - target.ndim();
  Dims shape, strides;
  for (int d = 0; d < from.ndim(); ++d) {
    if (d < extra && from.shape()[d] == 1) continue;
    shape.push_back(from.shape()[d]);
    strides.push_back(from.strides()[d]);
  }
  assign_as(Op::setitem, target, Array(from.buffer(), from.dtype(), shape, strides, from.offset()), stream);
}

Array copy_to(const Array& x, const Backend& to, const Stream& stream) {
  if (x.backend() == to) return copy(x, stream);
  // The stream belongs to x's backend.
  if (to.device().type == DeviceType::cuda && x.backend().device().type == DeviceType::cuda) {
    constexpr uint16_t op = uint16_t(Op::copy);
    Context& context = buffer_of(x, "Array.to_device").context();
    context.require_open(op);
    const Stream on{Ref<StreamBox>(&context.chosen_stream(stream, x.buffer()->last_stream(), op))};
    const Array from = x.is_contiguous() ? x : copy(x, on);
    Array result = empty(to, x.shape(), x.dtype());
    if (result.size() == 0) return result;
    to.stream(0).synchronize();  // earlier work may still use the memory that the result got
    if (copied_between_devices(from, result, on)) return result;
  }
  // The copy goes through host memory.
  if (to.device().type == DeviceType::cpu) {
    Array result = empty(to, x.shape(), x.dtype());
    if (result.size() == 0) return result;
    to.stream(0).synchronize();  // earlier work may still use the memory that the result got
    x.to_host(result.data_ptr(), stream);
    return result;
  }
  const auto staging = std::make_unique_for_overwrite<unsigned char[]>(x.nbytes());
  x.to_host(staging.get(), stream);
  return from_host(to, staging.get(), x.dtype(), x.shape(), contiguous_strides(x.shape()));
}

}  // namespace stator
