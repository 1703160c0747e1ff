// The members of Array. Reading to the host copies a strided array to a contiguous one first, then enqueues the copy on
// the stream that used the buffer last, and synchronises that stream.
#include <stator/array.hpp>

#include "core/context.hpp"
#include "core/memory/overlap.hpp"
#include "core/text.hpp"

#include <stator/creation.hpp>

namespace stator {
namespace {

constexpr uint16_t to_numpy = uint16_t(Op::to_numpy);

}  // namespace

Buffer& buffer_of(const Array& array, std::string_view call) {
  if (!array) throw ValueError(std::string(call), "an array without memory", "Pass an array made by a Backend");
  return *array.buffer();
}

Array::Array(Ref<Buffer> buffer, DType dtype, Dims shape, Dims strides, int64_t offset)
    : buffer_(std::move(buffer)),
      shape_(std::move(shape)),
      strides_(std::move(strides)),
      offset_(offset),
      dtype_(dtype) {}

int64_t Array::size() const {
  int64_t size = 1;
  for (int64_t extent : shape_) size *= extent;
  return size;
}

bool Array::is_contiguous() const {
  int64_t step = 1;
  bool dense = true;
  for (int d = ndim() - 1; d >= 0; --d) {
    if (shape_[d] == 0) return true;
    dense = dense && (shape_[d] == 1 || strides_[d] == step);
    step *= shape_[d];
  }
  return dense;
}

Backend Array::backend() const { return Backend(Ref<Context>(&buffer_of(*this, "Array.backend").context())); }
Device Array::device() const { return buffer_of(*this, "Array.device").context().device(); }

void* Array::data_ptr() const {
  char* memory = static_cast<char*>(buffer_of(*this, "Array.data_ptr").memory(uint16_t(Op::data_ptr)));
  return memory + offset_ * itemsize(dtype_);
}

void Array::to_host(void* destination, const Stream& stream) const { to_host(destination, stream, Op::to_numpy); }

void Array::to_host(void* destination, const Stream& stream, Op reader) const {
  Context& context = buffer_of(*this, "Array.to_numpy").context();
  context.require_open(to_numpy);
  if (size() > 0) context.require_host_copies(uint16_t(reader), nbytes());
  if (stream && &stream.box()->context() != &context) {
    throw BackendMismatchError(op_text(to_numpy), "a stream of another backend",
                               "Pass a stream of the array's backend");
  }
  const Ref<StreamBox> on = stream ? stream.box() : context.stream(buffer_->last_stream());
  if (!is_contiguous()) {
    copy(*this, Stream(on)).to_host(destination, Stream(on), reader);
    return;
  }
  const OpGuard guard(context, to_numpy);
  const void* source = data_ptr();
  if (size() > 0) {
    buffer_->note_use(on->index());
    buffer_->set_last_stream(on->index());
    const params::Access access{buffer_->memory(to_numpy), offset_ * itemsize(dtype_), int64_t(nbytes()), false};
    context.runtime().copy(destination, source, nbytes(), runtime::CopyKind::device_to_host, on->handle(to_numpy),
                           {to_numpy, &access, 1, buffer_->host_shared()});
  }
  on->synchronize(to_numpy);
}

Scalar Array::item(const Stream& stream) const { return item(stream, Op::to_numpy); }

Scalar Array::item(const Stream& stream, Op reader) const {
  if (size() != 1) {
    throw ShapeError("Array.item", "shape " + str(shape_), "Only an array of one element converts to a number");
  }
  return visit(dtype_, [&]<class T>(type_tag<T>) -> Scalar {
    T value;
    to_host(&value, stream, reader);
    if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
      return Scalar(double(float(value)));
    else if constexpr (std::is_same_v<T, complex64>)
      return Scalar(complex128{value.re, value.im});
    else if constexpr (std::is_same_v<T, complex128> || std::is_same_v<T, bool>)
      return Scalar(value);
    else if constexpr (std::is_floating_point_v<T>)
      return Scalar(double(value));
    else if constexpr (std::is_signed_v<T>)
      return Scalar(int64_t(value));
    else
      return Scalar(uint64_t(value));
  });
}

}  // namespace stator
