// NumPy's basic indexing by integers, slices, newaxis and one ellipsis. The results are views.
#include "core/context.hpp"
#include "ops/axes.hpp"

#include <stator/creation.hpp>
#include <stator/indexing.hpp>
#include <stator/op_table.hpp>

#include <algorithm>

namespace stator {
namespace {

struct Range {
  int64_t start, step, count;
};

// Python's slice.indices(extent).
Range resolve(std::string_view op, const Index& index, int64_t extent) {
  const int64_t step = index.step;
  if (step == 0) throw ValueError(std::string(op), "got a slice of step 0", "The step must not be 0");
  const int64_t lowest = step < 0 ? -1 : 0, highest = step < 0 ? extent - 1 : extent;
  const auto clamp = [&](int64_t value) { return std::clamp(value < 0 ? value + extent : value, lowest, highest); };
  const int64_t start = index.has_start ? clamp(index.start) : step < 0 ? highest : lowest;
  const int64_t stop = index.has_stop ? clamp(index.stop) : step < 0 ? lowest : highest;
  const int64_t span = step < 0 ? start - stop : stop - start;
  if (span <= 0) return {0, 1, 0};
  const uint64_t stride = step < 0 ? -uint64_t(step) : uint64_t(step);
  return {start, step, int64_t((uint64_t(span) - 1) / stride) + 1};
}

}  // namespace

Array getitem(const Array& x, std::span<const Index> index) {
  const std::string_view op = op_info(Op::getitem).call;
  if (!x) throw ValueError(std::string(op), "got an array without memory", "Pass an array made by a Backend");
  buffer_of(x, "Array.__getitem__").context().require_open(uint16_t(Op::getitem));
  int consumed = 0, ellipses = 0;
  for (const Index& i : index) {
    consumed += i.type == Index::Type::integer || i.type == Index::Type::slice;
    ellipses += i.type == Index::Type::ellipsis;
  }
  if (ellipses > 1) throw IndexError(std::string(op), "got more than one ellipsis", "Write ... once");
  if (consumed > x.ndim()) {
    throw IndexError(std::string(op), "got " + std::to_string(consumed) + " indices for shape " + str(x.shape()),
                     "Pass at most one index for each axis");
  }
  Dims shape, strides;
  int64_t offset = x.offset();
  int axis = 0;
  const auto keep = [&](int64_t extent, int64_t stride) {
    require_ndim(op, shape.size() + 1);
    shape.push_back(extent);
    strides.push_back(stride);
  };
  const auto keep_until = [&](int end) {
    for (; axis < end; ++axis) keep(x.shape()[axis], x.strides()[axis]);
  };
  for (const Index& i : index) {
    switch (i.type) {
      case Index::Type::newaxis: keep(1, 0); break;
      case Index::Type::ellipsis: keep_until(axis + x.ndim() - consumed); break;
      case Index::Type::integer: {
        const int64_t extent = x.shape()[axis];
        if (i.start < -extent || i.start >= extent) {
          throw IndexError(std::string(op),
                           "got index " + std::to_string(i.start) + " for axis " + std::to_string(axis) +
                               " of extent " + std::to_string(extent),
                           "Indices must be from -n to n - 1 for an axis of n elements");
        }
        offset += (i.start < 0 ? i.start + extent : i.start) * x.strides()[axis++];
        break;
      }
      case Index::Type::slice: {
        const Range range = resolve(op, i, x.shape()[axis]);
        offset += range.start * x.strides()[axis];
        // With fewer than two elements the step may be huge, and is not used.
        keep(range.count, range.count > 1 ? range.step * x.strides()[axis] : x.strides()[axis]);
        ++axis;
        break;
      }
    }
  }
  keep_until(x.ndim());
  return Array(x.buffer(), x.dtype(), std::move(shape), std::move(strides), offset);
}

}  // namespace stator
