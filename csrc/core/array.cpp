// The members of Array. Reading to the host copies a strided array to a contiguous one first, then enqueues the copy on
// the stream that used the buffer last, and synchronises that stream.
#include <stator/array.hpp>

#include "core/context.hpp"
#include "core/text.hpp"
#include "memory/overlap.hpp"

#include <stator/creation.hpp>

#include <cstring>

namespace stator {
namespace {

constexpr uint16_t to_numpy = uint16_t(Op::to_numpy);

// The number that an element of the dtype is.
Scalar scalar_of(DType dtype, const void* element) {
  return visit(dtype, [&]<class T>(type_tag<T>) -> Scalar {
    std::conditional_t<std::is_same_v<T, bool>, uint8_t, T> value;
    std::memcpy(&value, element, sizeof value);
    if constexpr (std::is_same_v<T, bool>)
      return Scalar(value != 0);
    else if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
      return Scalar(double(float(value)));
    else if constexpr (std::is_same_v<T, complex64>)
      return Scalar(complex128{value.re, value.im});
    else if constexpr (std::is_same_v<T, complex128>)
      return Scalar(value);
    else if constexpr (std::is_floating_point_v<T>)
      return Scalar(double(value));
    else if constexpr (std::is_signed_v<T>)
      return Scalar(int64_t(value));
    else
      return Scalar(uint64_t(value));
  });
}

}  // namespace

Buffer& buffer_of(const Array& array, std::string_view call) {
  if (!array) throw ValueError(std::string(call), "got an array without memory", "Pass an array made by a Backend");
  return *array.buffer();
}

Array::Array(Ref<Buffer> buffer, DType dtype, Dims shape, Dims strides, int64_t offset)
    : buffer_(std::move(buffer)),
      shape_(std::move(shape)),
      strides_(std::move(strides)),
      offset_(offset),
      dtype_(dtype) {}

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
  read(destination, stream, reader, true);
}

// Returns false, and reads nothing, where it would wait and must not. It reads without waiting what has one element.
bool Array::read(void* destination, const Stream& stream, Op reader, bool wait) const {
  Context& context = buffer_of(*this, "Array.to_numpy").context();
  if (!wait) {  // the buffer's last stream has noted its use already
    const OpGuard guard(context, to_numpy);
    context.require_host_copies(uint16_t(reader), itemsize(dtype_));
    StreamBox& last = context.opened_stream(buffer_->last_stream());
    if (!context.runtime().read_now(destination, data_ptr(), itemsize(dtype_), last.handle(to_numpy))) return false;
    last.raise_pending(to_numpy);
    return true;
  }
  context.require_open(to_numpy);
  if (!destination && size() > 0)
    throw ValueError("Array.to_numpy", "the destination is null", "Give memory of nbytes() bytes");
  if (size() > 0) context.require_host_copies(uint16_t(reader), nbytes());
  if (!is_contiguous()) {
    const Stream on{Ref<StreamBox>(&context.chosen_stream(stream, buffer_->last_stream(), to_numpy))};
    copy(*this, on).to_host(destination, on, reader);
    return true;
  }
  const OpGuard guard(context, to_numpy);
  StreamBox& on = context.chosen_stream(stream, buffer_->last_stream(), to_numpy);
  const void* source = data_ptr();
  if (size() > 0) {
    buffer_->note_use(on.index());
    buffer_->set_last_stream(on.index());
    const params::Access access{buffer_->memory(to_numpy), offset_ * itemsize(dtype_), int64_t(nbytes()), false};
    context.runtime().copy(destination, source, nbytes(), runtime::CopyKind::device_to_host, on.handle(to_numpy),
                           {to_numpy, &access, 1, buffer_->host_shared()});
  }
  on.synchronize(to_numpy);
  return true;
}

Scalar Array::item(const Stream& stream) const { return item(stream, Op::to_numpy); }

Scalar Array::item(const Stream& stream, Op reader) const {
  if (size() != 1) {
    throw ShapeError("Array.item", "got shape " + str(shape_), "Pass an array of one element");
  }
  unsigned char value[16];
  to_host(value, stream, reader);
  return scalar_of(dtype_, value);
}

std::optional<Scalar> Array::item_if_idle(bool* warned) const {
  unsigned char value[16];
  if (size() != 1 || !read(value, {}, Op::to_numpy, false)) return std::nullopt;
  *warned = buffer_->context().saw_division_by_zero();
  return scalar_of(dtype_, value);
}

}  // namespace stator
