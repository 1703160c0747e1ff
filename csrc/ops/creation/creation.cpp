#include <stator/creation.hpp>

#include "core/op_call.hpp"
#include "memory/staging.hpp"
#include "ops/collapse.hpp"
#include "ops/scalar.hpp"
#include "params/creation.hpp"
#include "params/elementwise.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace stator {
namespace {

Array filled(Op op, const Backend& backend, const Dims& shape, const Scalar& value, DType dtype, const Stream& stream) {
  OpCall call(op, backend, stream);
  checked_size(call.name(), shape, itemsize(dtype));
  unsigned char bytes[16];
  encode(call.name(), value, dtype, bytes);
  Array result = call.empty(shape, dtype);
  if (result.size() == 0) return result;
  params::Elementwise e = collapse(result, one_number);
  e.in[0].dtype = e.compute = dtype;
  std::memcpy(e.in[0].value, bytes, sizeof bytes);
  call.writes(result);
  kernels::creation::copy(call.queue(), e);
  return result;
}

using Wide = __int128;  // has all values of int64 and uint64

Wide integer_of(const Scalar& s) { return s.type == Scalar::Type::unsigned_integer ? Wide(uint64_t(s.i)) : Wide(s.i); }

// ceil((stop - start) / step), but at most the greatest int64. Negative and empty ranges give 0.
int64_t integer_count(Wide start, Wide stop, Wide step) {
  if (step > 0 ? start >= stop : start <= stop) return 0;
  const Wide count = (stop - start + (step > 0 ? step - 1 : step + 1)) / step;
  return int64_t(std::min<Wide>(count, std::numeric_limits<int64_t>::max()));
}

Scalar last_integer(Wide start, Wide step, int64_t count) {
  const Wide last = start + (count - 1) * step;
  return last > std::numeric_limits<int64_t>::max() ? Scalar(uint64_t(last)) : Scalar(int64_t(last));
}

int64_t floating_count(std::string_view op, double start, double stop, double step) {
  const double count = std::ceil((stop - start) / step);
  if (!(std::abs(count) < 9.2e18))
    throw ValueError(std::string(op), "got a range of " + std::to_string(count) + " elements",
                     "start, stop and step must be finite, and the number of elements below 2^63");
  return count > 0 ? int64_t(count) : 0;
}

bool is_real(const Scalar& s) { return s.type != Scalar::Type::complex_floating; }

// Copies elements with strides into a dense block, one row along the last axis at a time.
void gather(unsigned char* out, const unsigned char* base, const Dims& shape, const Dims& strides, int64_t item) {
  const int inner = shape.size() - 1;
  int64_t rows = 1;
  for (int d = 0; d < inner; ++d) rows *= shape[d];
  Dims at(shape.size());
  const int64_t extent = shape[inner], step = strides[inner] * item;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t offset = 0;
    for (int d = 0; d < inner; ++d) offset += at[d] * strides[d];
    const unsigned char* from = base + offset * item;
    if (step == item) {
      std::memcpy(out, from, size_t(extent * item));
      out += extent * item;
    } else {
      for (int64_t i = 0; i < extent; ++i, out += item) std::memcpy(out, from + i * step, size_t(item));
    }
    for (int d = inner - 1; d >= 0 && ++at[d] == shape[d]; --d) at[d] = 0;
  }
}

bool only_zeros_and_ones(const unsigned char* bytes, size_t count) {
  unsigned char all = 0;
  for (size_t i = 0; i < count; ++i) all |= bytes[i];
  return all <= 1;
}

bool is_dense(const Dims& shape, const Dims& strides) {
  const Dims dense = contiguous_strides(shape);
  for (int d = 0; d < shape.size(); ++d)
    if (shape[d] != 1 && strides[d] != dense[d]) return false;
  return true;
}

// The elements that a foreign array spans: from the lowest to one past the highest, relative to its first.
struct Reach {
  int64_t low = 0, high = 0;
};

// The reach of foreign memory; an error unless all of it has addresses. Reads none of it.
Reach checked_reach(std::string_view op, const void* data, const Dims& shape, const Dims& strides, int64_t item) {
  if (shape.size() != strides.size())
    throw ShapeError(std::string(op), "got " + std::to_string(strides.size()) + " strides for shape " + str(shape),
                     "pass one stride for each axis");
  if (checked_size(op, shape, int(item)) == 0) return {};
  if (!data)
    throw ValueError(std::string(op), "got shape " + str(shape) + " without memory",
                     "pass the address of the first element");
  Wide low = 0, high = 1;
  for (int d = 0; d < shape.size(); ++d) {
    const Wide reach = Wide(shape[d] - 1) * strides[d];
    (reach < 0 ? low : high) += reach;
  }
  const Wide first = Wide(reinterpret_cast<uintptr_t>(data)) + low * item, last = first + (high - low) * item;
  if (first < 0 || last > Wide(1) << 57)  // the widest addresses that a CPU or a GPU has
    throw ValueError(std::string(op),
                     "strides " + str(strides) + " of shape " + str(shape) + " leave the address space",
                     "every element must lie in one allocation. Pass strides that stay in it");
  return {int64_t(low), int64_t(high)};
}

}  // namespace

Array empty(const Backend& backend, const Dims& shape, DType dtype, const Stream& stream) {
  OpCall call(Op::empty, backend, stream);
  checked_size(call.name(), shape, itemsize(dtype));
  return call.empty(shape, dtype);
}

Array zeros(const Backend& backend, const Dims& shape, DType dtype, const Stream& stream) {
  return filled(Op::zeros, backend, shape, Scalar(false), dtype, stream);
}

Array full(const Backend& backend, const Dims& shape, Scalar value, std::optional<DType> dtype, const Stream& stream) {
  return filled(Op::full, backend, shape, value, dtype.value_or(default_dtype(value)), stream);
}

Array arange(const Backend& backend, Scalar start, Scalar stop, Scalar step, std::optional<DType> dtype,
             const Stream& stream) {
  OpCall call(Op::arange, backend, stream);
  const std::string op(call.name());
  const bool integers = is_integer(start) && is_integer(stop) && is_integer(step);
  const DType d = dtype.value_or(integers ? DType::int64 : DType::float64);
  if (!is_real(start) || !is_real(stop) || !is_real(step))
    throw DTypeError(op, "got a complex number as start, stop or step", "use real numbers");
  if (!in(d, op_info(Op::arange).dtypes))
    throw DTypeError(op, "got a range of dtype " + std::string(name(d)), "use a real dtype");
  if (step.re == 0) throw ValueError(op, "step=0", "the step must not be 0");
  const int64_t count = integers ? integer_count(integer_of(start), integer_of(stop), integer_of(step))
                                 : floating_count(op, start.re, stop.re, step.re);
  checked_size(op, Dims{count}, itemsize(d));
  if (count > 0 && integers) {
    unsigned char bytes[16];  // only to check that both ends are in range
    encode(op, start, d, bytes);
    encode(op, last_integer(integer_of(start), integer_of(step), count), d, bytes);
  }
  Array result = call.empty(Dims{count}, d);
  if (count == 0) return result;
  params::Arange p{.out = result.data_ptr(),
                   .dtype = d,
                   .size = count,
                   .start = start.re,
                   .step = step.re,
                   .start_int = start.i,
                   .step_int = step.i};
  if (in(d, dtypes::integers) && !integers) {
    // As in NumPy: the first two elements are converted, and their difference is the step.
    unsigned char bytes[16];
    encode(op, start, DType::int64, bytes);
    std::memcpy(&p.start_int, bytes, sizeof p.start_int);
    encode(op, Scalar(start.re + step.re), DType::int64, bytes);
    std::memcpy(&p.step_int, bytes, sizeof p.step_int);
    p.step_int -= p.start_int;
  }
  call.writes(result);
  kernels::creation::arange(call.queue(), p);
  return result;
}

namespace {

// Returns when the memory has been read. Without page-locked memory, that is when the copy is done, which is waited for
// since the caller's memory may be page-locked itself.
void copy_in_chunks(OpCall& call, char* to, const char* from, size_t bytes) {
  const uint16_t op = uint16_t(call.op());
  runtime::Runtime& runtime = call.context().runtime();
  const auto enqueue = [&](size_t begin, const void* source, size_t size) {
    runtime.copy(to + begin, source, size, runtime::CopyKind::host_to_device, call.stream().handle(op), call.record());
  };
  Staging staging(call.context(), call.stream(), op);
  for (size_t begin = 0; begin < bytes; begin += Staging::chunk_bytes) {
    const size_t size = std::min(Staging::chunk_bytes, bytes - begin);
    Ref<Buffer> chunk;
    try {
      chunk = staging.take(size);
    } catch (const OutOfMemoryError&) {
      enqueue(begin, from + begin, bytes - begin);
      return runtime.stream_synchronize(call.stream().handle(op), op);
    }
    void* const memory = chunk->memory(op);
    std::memcpy(memory, from + begin, size);
    enqueue(begin, memory, size);
  }
}

}  // namespace

Array from_host(const Backend& backend, const void* data, DType dtype, const Dims& shape, const Dims& strides,
                bool pinned, const Stream& stream) {
  OpCall call(Op::asarray, backend, stream);
  checked_reach(call.name(), data, shape, strides, itemsize(dtype));
  Array result = call.empty(shape, dtype);
  if (result.size() == 0) return result;
  const size_t bytes = result.nbytes();
  const void* dense = data;
  std::vector<unsigned char> gathered;
  Array staging;
  if (pinned) {
    staging = Array(call.context().pool().allocate_pinned(bytes, uint16_t(call.op())), DType::uint8,
                    Dims{int64_t(bytes)}, Dims{1}, 0);
    dense = staging.data_ptr();
  } else if (!is_dense(shape, strides) ||
             (dtype == DType::bool_ && !only_zeros_and_ones(static_cast<const unsigned char*>(data), bytes))) {
    gathered.resize(bytes);
    dense = gathered.data();
  }
  if (dense != data) {
    auto* to = static_cast<unsigned char*>(const_cast<void*>(dense));
    if (is_dense(shape, strides))
      std::memcpy(to, data, bytes);
    else
      gather(to, static_cast<const unsigned char*>(data), shape, strides, itemsize(dtype));
    if (dtype == DType::bool_) std::transform(to, to + bytes, to, [](unsigned char byte) { return byte != 0; });
  }
  if (pinned) call.reads(staging);
  call.writes(result);
  if (!pinned && !call.context().runtime().is_host()) {
    copy_in_chunks(call, static_cast<char*>(result.data_ptr()), static_cast<const char*>(dense), bytes);
    return result;
  }
  // A page-locked source would be read in stream order: the caller's is read before the call returns.
  runtime::Record record = call.record();
  record.synchronous = !pinned;
  call.context().runtime().copy(result.data_ptr(), dense, bytes, runtime::CopyKind::host_to_device,
                                call.stream().handle(uint16_t(call.op())), record);
  return result;
}

Array from_foreign(const Backend& backend, const ForeignMemory& memory, std::function<void()> deleter) {
  OpCall call(Op::asarray, backend, {});
  const auto& [data, dtype, shape, strides, host_shared, read_only] = memory;
  const int64_t item = itemsize(dtype);
  const Reach extent = checked_reach(call.name(), data, shape, strides, item);
  // Kernels load an item in one access, so every dtype is aligned to its size.
  if (extent.high > extent.low && reinterpret_cast<uintptr_t>(data) % size_t(item) != 0)
    throw ValueError(std::string(call.name()),
                     "got memory of dtype " + std::string(name(dtype)) + " at an address that is not a multiple of " +
                         std::to_string(item),
                     "elements must be aligned to their size. Pass copy=None in Python, or call from_host in C++");
  void* lowest = static_cast<unsigned char*>(data) + extent.low * item;
  Ref<Buffer> buffer = Buffer::foreign(call.context(), lowest, size_t((extent.high - extent.low) * item), host_shared,
                                       read_only, std::move(deleter), uint16_t(call.op()));
  if (dtype == DType::bool_) buffer->note_any_bytes();
  return Array(std::move(buffer), dtype, shape, strides, -extent.low);
}

}  // namespace stator
