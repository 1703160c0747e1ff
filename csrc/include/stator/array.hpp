// Array: a strided view of a buffer of one backend. It is a value type: copies share the buffer.
#pragma once

#include <stator/backend.hpp>
#include <stator/dtype.hpp>
#include <stator/op_table.hpp>

#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace stator {

class Buffer;

// A number of any C++ or Python type. It is weak in promotion, as Python's numbers are in NumPy 2: it adapts to the
// dtype of the arrays beside it.
struct STATOR_API Scalar {
  enum class Type : uint8_t { boolean, integer, unsigned_integer, floating, complex_floating };
  Type type = Type::integer;
  int64_t i = 0;  // boolean, integer, and the bits of an unsigned_integer
  double re = 0, im = 0;
  template <class T>
  static constexpr bool takes =
      std::is_arithmetic_v<T> || is_complex<T> || std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
  Scalar() = default;
  template <class T>
    requires takes<T>
  Scalar(T v) {
    if constexpr (is_complex<T>) {
      type = Type::complex_floating;
      re = double(v.re);
      im = double(v.im);
    } else if constexpr (std::is_integral_v<T>) {
      type = std::is_same_v<T, bool> ? Type::boolean : std::is_signed_v<T> ? Type::integer : Type::unsigned_integer;
      i = int64_t(v);
      re = double(v);
    } else {
      type = Type::floating;
      if constexpr (std::is_arithmetic_v<T>)
        re = double(v);
      else
        re = double(float(v));  // of a half
    }
  }
};

class STATOR_API Array {
 public:
  Array() = default;
  // offset and strides are in elements, as in DLPack. Nothing is checked: the view must lie within the buffer.
  Array(Ref<Buffer> buffer, DType dtype, Dims shape, Dims strides, int64_t offset);

  explicit operator bool() const { return bool(buffer_); }
  DType dtype() const { return dtype_; }
  const Dims& shape() const { return shape_; }
  const Dims& strides() const { return strides_; }  // elements
  int64_t offset() const { return offset_; }        // elements
  int ndim() const { return shape_.size(); }
  int64_t size() const {
    int64_t size = 1;
    for (int64_t extent : shape_) size *= extent;
    return size;
  }
  size_t nbytes() const { return size_t(size()) * size_t(itemsize(dtype_)); }
  bool is_contiguous() const;  // row-major, without gaps between elements
  // ValueError for a default-constructed array, here and below.
  Backend backend() const;
  Device device() const;
  // device address of the first element; BackendClosedError after the memory was freed; does not synchronise
  void* data_ptr() const;
  const Ref<Buffer>& buffer() const { return buffer_; }
  Ref<Buffer> take_buffer() { return std::move(buffer_); }  // the array has no memory afterwards

  // Copies the elements to `destination`, nbytes() bytes of host memory, in row-major order. Waits for the stream
  // (default: the last that used the buffer) and throws what its error slot holds. ValueError if `destination` is null
  // and there are elements; HostCopyError, which names `reader`, while host copies are forbidden.
  void to_host(void* destination, const Stream& stream = {}) const;
  void to_host(void* destination, const Stream& stream, Op reader) const;
  Scalar item(const Stream& stream = {}) const;  // ShapeError unless size() == 1; synchronises
  Scalar item(const Stream& stream, Op reader) const;
  // item() without waiting: if the array has one element, the device is the cpu and no work is pending on the last
  // stream that used the buffer. Otherwise it reads nothing, and the result is empty. `warned` gets whether
  // Backend::poll_division_by_zero() would return true.
  std::optional<Scalar> item_if_idle(bool* warned) const;

 private:
  bool read(void* destination, const Stream& stream, Op reader, bool wait) const;
  Ref<Buffer> buffer_;
  Dims shape_, strides_;
  int64_t offset_ = 0;
  DType dtype_ = DType::float64;
};

// Row-major strides, in elements.
STATOR_API Dims contiguous_strides(const Dims& shape);
// The number of elements. ShapeError for negative extents, or if the size in bytes does not fit in int64.
STATOR_API int64_t checked_size(std::string_view op, const Dims& shape, int itemsize);
// numpy.broadcast_shapes; the ShapeError names both shapes.
STATOR_API Dims broadcast_shapes(std::string_view op, const Dims& a, const Dims& b);
// An axis in [-ndim, ndim) as a non-negative one; AxisError otherwise.
STATOR_API int normalize_axis(std::string_view op, int64_t axis, int ndim);
STATOR_API std::string str(const Dims& shape);  // "(2, 3)"

// An elementwise operand: an array or a weak scalar. A named array is referred to and must outlive the operand; a
// temporary one is kept.
struct Operand {
  const Array* array = nullptr;
  Scalar scalar;
  Operand(const Array& a) : array(&a) {}
  Operand(Array&& a) : kept_(std::make_shared<const Array>(std::move(a))) { array = kept_.get(); }
  Operand(const Array&&) = delete;
  Operand(Scalar s) : scalar(s) {}
  template <class T>
    requires Scalar::takes<T>
  Operand(T v) : scalar(v) {}

 private:
  std::shared_ptr<const Array> kept_;
};

}  // namespace stator
