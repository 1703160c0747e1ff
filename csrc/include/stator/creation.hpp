// Creation, transfer, conversion and views.
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

// Views: no kernel, no copy. ShapeError when the result cannot be a view or would leave the buffer.
STATOR_API Array permute_dims(const Array&, std::span<const int64_t> axes);
STATOR_API Array broadcast_to(const Array&, const Dims& shape);
// One -1 is inferred. copy: true always, false never (ShapeError when one is needed), none when needed.
STATOR_API Array reshape(const Array&, std::span<const int64_t> shape, std::optional<bool> copy = {},
                         const Stream& = {});
STATOR_API Array as_strided(const Array&, const Dims& shape, const Dims& strides,
                            int64_t offset = 0);   // elements of the buffer
STATOR_API Array view(const Array&, DType dtype);  // same bytes; the last axis scales when the sizes differ

// AxisError for an axis out of range or named twice; ShapeError where an axis to drop is not 1 long.
STATOR_API Array squeeze(const Array&,
                         const std::optional<std::vector<int64_t>>& axes = {});  // none: all that are 1 long
STATOR_API Array expand_dims(const Array&, std::span<const int64_t> axes);       // axes of the result
STATOR_API Array moveaxis(const Array&, std::span<const int64_t> source, std::span<const int64_t> destination);
STATOR_API Array flip(const Array&, const std::optional<std::vector<int64_t>>& axes = {});  // none: every axis
// Of the last two axes, which ShapeError demands. k: above (positive) or below the main diagonal.
STATOR_API Array matrix_transpose(const Array&);
STATOR_API Array diagonal(const Array&, int64_t k = 0);
STATOR_API std::vector<Array> unstack(const Array&, int64_t axis = 0);  // along the axis, each without it
// Every array in the shape that they broadcast to together. Do not write to the views.
STATOR_API std::vector<Array> broadcast_arrays(std::span<const Array> arrays);
// Coordinates of a grid: the k-th array of n_k elements along axis k of (n_0, n_1, ...), the first two axes swapped if
// asked for. ShapeError for an array of more than one axis. Do not write to the views.
STATOR_API std::vector<Array> meshgrid(std::span<const Array> arrays, bool swapped = true);

// NumPy basic indexing. Exactly one of the four per entry.
struct STATOR_API Index {
  enum class Type : uint8_t { integer, slice, newaxis, ellipsis } type = Type::ellipsis;
  int64_t start = 0, stop = 0, step = 1;  // integer: start. slice: raw values as in Python
  bool has_start = false, has_stop = false;
};
STATOR_API Array getitem(const Array&, std::span<const Index> index);
// x[index] = value: value is broadcast and converted (same kind); overlap as if it were copied first. One launch, but
// for overlap. DTypeError for another kind, ShapeError where it does not broadcast, ValueError for read-only memory.
STATOR_API void setitem(const Array& x, std::span<const Index> index, const Operand& value, const Stream& = {});

}  // namespace stator
