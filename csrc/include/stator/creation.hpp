// Creation, triangles, transfer and conversion.
#pragma once

#include <stator/array.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace stator {

// Uninitialised, zero-filled, constant. ShapeError for negative or overflowing shapes, OutOfMemoryError. Asynchronous.
STATOR_API Array empty(const Backend&, const Dims& shape, DType dtype = DType::float64, const Stream& = {});
STATOR_API Array zeros(const Backend&, const Dims& shape, DType dtype = DType::float64, const Stream& = {});
STATOR_API Array full(const Backend&, const Dims& shape, Scalar value, std::optional<DType> dtype = {},
                      const Stream& = {});
// ceil((stop - start) / step) elements, start + i * step; ValueError for step 0.
STATOR_API Array arange(const Backend&, Scalar start, Scalar stop, Scalar step, std::optional<DType> dtype = {},
                        const Stream& = {});

// A copy of host memory with element strides (which may be negative, base points at the first element). Pageable memory
// is read before the call returns; `pinned` stages through page-locked memory so that the device copy overlaps.
STATOR_API Array from_host(const Backend&, const void* data, DType dtype, const Dims& shape, const Dims& strides,
                           bool pinned = false, const Stream& = {});
// No copy: memory of someone else, at a multiple of the item's size, else ValueError. cpu: any host memory, and its
// uses become synchronous; cuda: device memory. `deleter` runs once, on a thread that calls ForeignReleases::drain.
STATOR_API Array from_foreign(const Backend&, void* data, DType dtype, const Dims& shape, const Dims& strides,
                              bool host_shared, bool read_only, std::function<void()> deleter);

// Row-major copy. Every layout in one launch; transposes go through a tiled kernel. `to` copies across backends.
STATOR_API Array copy(const Array&, const Stream& = {});
STATOR_API Array copy_to(const Array&, const Backend& to, const Stream& = {});
// float -> int saturates and NaN gives 0; complex -> real drops the imaginary part. copy=false may return x itself.
STATOR_API Array astype(const Array&, DType dtype, bool copy = true, const Stream& = {});
// Writes value, broadcast and converted (same kind), into target. Overlap is handled as if value were copied first.
STATOR_API void assign(const Array& target, const Operand& value, const Stream& = {});

// Of the last two axes; elements below, above diagonal k become 0.
STATOR_API Array triu(const Array& x, int64_t k = 0, const Stream& = {});
STATOR_API Array tril(const Array& x, int64_t k = 0, const Stream& = {});
// A square matrix with x on diagonal k, or diagonal k of a matrix x.
STATOR_API Array diag(const Array& x, int64_t k = 0, const Stream& = {});
// Ones on and below diagonal k; ones on it.
STATOR_API Array tri(const Backend&, int64_t rows, int64_t cols, int64_t k = 0, DType dtype = DType::float64,
                     const Stream& = {});
STATOR_API Array eye(const Backend&, int64_t rows, int64_t cols, int64_t k = 0, DType dtype = DType::float64,
                     const Stream& = {});
// count values from start to stop, which is the last exactly when endpoint is set. Integer dtypes round down.
STATOR_API Array linspace(const Backend&, Scalar start, Scalar stop, int64_t count, bool endpoint = true,
                          std::optional<DType> dtype = {}, const Stream& = {});

}  // namespace stator
