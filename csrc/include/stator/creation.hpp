// Creation of arrays, triangles, transfer between host and device, and conversion of dtypes.
#pragma once

#include <stator/array.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace stator {

// Row-major arrays: of uninitialised memory, of zeros, of a constant. Without a dtype full() has bool, int64, uint64,
// float64 or complex128, by the number's type. ShapeError for negative or overflowing shapes, NumberRangeError for a
// number that the dtype does not hold, OutOfMemoryError. Asynchronous, as everything below unless stated otherwise.
STATOR_API Array empty(const Backend&, const Dims& shape, DType dtype = DType::float64, const Stream& = {});
STATOR_API Array zeros(const Backend&, const Dims& shape, DType dtype = DType::float64, const Stream& = {});
STATOR_API Array full(const Backend&, const Dims& shape, Scalar value, std::optional<DType> dtype = {},
                      const Stream& = {});
// The ceil((stop - start) / step) elements start + i * step, by default int64, or float64 unless all three are
// integers. ValueError for step 0 and infinite ranges, DTypeError for complex numbers.
STATOR_API Array arange(const Backend&, Scalar start, Scalar stop, Scalar step, std::optional<DType> dtype = {},
                        const Stream& = {});

// A copy of host memory, which is read before the call returns. Strides are in elements and may be negative; data
// points to the first element. `pinned` stages all of it in page-locked memory, so that the copy to the device overlaps
// with other work. Every byte of a bool but 0 is true.
STATOR_API Array from_host(const Backend&, const void* data, DType dtype, const Dims& shape, const Dims& strides,
                           bool pinned = false, const Stream& = {});
// Memory that stator did not allocate. cpu: any host memory, whose uses are synchronous if `host_shared`; cuda: device
// memory. Bools are bytes of 0 and 1, see memory/bool_bytes.hpp for others.
struct ForeignMemory {
  void* data = nullptr;  // the first element
  DType dtype{};
  Dims shape, strides;  // strides in elements, which may be negative
  bool host_shared = false, read_only = false;
};
// An array over foreign memory, without a copy. ValueError unless its address is a multiple of the item size. `deleter`
// runs once, in a call of interop::release_owners(). Where this throws it never runs, and the memory stays the
// caller's.
STATOR_API Array from_foreign(const Backend&, const ForeignMemory&, std::function<void()> deleter);

// A row-major copy, of any layout in one launch; transposed layouts go through a tiled kernel. copy_to copies to
// another backend and synchronises: between GPUs directly if the driver can, else through host memory; `stream` is one
// of x's backend.
STATOR_API Array copy(const Array&, const Stream& = {});
STATOR_API Array copy_to(const Array&, const Backend& to, const Stream& = {});
// Conversion to a dtype: float to int saturates and NaN gives 0; complex to real drops the imaginary part. With
// copy = false the result may be x itself.
STATOR_API Array astype(const Array&, DType dtype, bool copy = true, const Stream& = {});
// Writes value, broadcast and converted, to target. DTypeError unless an array's cast is of the same kind,
// NumberRangeError for a number that the dtype does not hold, ShapeError if value does not broadcast, ValueError for
// read-only memory. If they overlap, value is copied first.
STATOR_API void assign(const Array& target, const Operand& value, const Stream& = {});

// The matrices of the last two axes, where elements below (triu) or above (tril) diagonal k are 0.
STATOR_API Array triu(const Array& x, int64_t k = 0, const Stream& = {});
STATOR_API Array tril(const Array& x, int64_t k = 0, const Stream& = {});
// A square matrix with the vector x on diagonal k, or a copy of diagonal k of a matrix x.
STATOR_API Array diag(const Array& x, int64_t k = 0, const Stream& = {});
// Matrices with ones on and below diagonal k (tri), or only on diagonal k (eye), and zeros elsewhere.
STATOR_API Array tri(const Backend&, int64_t rows, int64_t cols, int64_t k = 0, DType dtype = DType::float64,
                     const Stream& = {});
STATOR_API Array eye(const Backend&, int64_t rows, int64_t cols, int64_t k = 0, DType dtype = DType::float64,
                     const Stream& = {});
// `count` evenly spaced values from start to stop; with `endpoint` stop is exactly the last one, else it is excluded.
// Integer dtypes round down. By default float64, or complex128 for complex ends; DTypeError for bool, ValueError for a
// negative count.
STATOR_API Array linspace(const Backend&, Scalar start, Scalar stop, int64_t count, bool endpoint = true,
                          std::optional<DType> dtype = {}, const Stream& = {});

}  // namespace stator
