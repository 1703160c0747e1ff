#include "ops/indexing/plan.hpp"

#include "params/indexing.hpp"

#include <stator/creation.hpp>

#include <algorithm>

namespace stator {
namespace {

// Strides of several operands along one axis.
struct Steps {
  int64_t extent;
  std::vector<int64_t> step;
};

// Drops axes of extent 1 and merges neighbours that step together in all operands. Keeps row-major order, which says
// which of several writes is the last. keep: leaves the axes as they are.
std::vector<Steps> merged(const Dims& shape, std::span<const Dims* const> strides, bool keep = false) {
  std::vector<Steps> axes;
  for (int d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1 && !keep) continue;
    Steps axis{shape[d], {}};
    for (const Dims* s : strides) axis.step.push_back(s ? (*s)[d] : 0);
    bool together = !keep && !axes.empty();
    for (size_t k = 0; together && k < axis.step.size(); ++k)
      together = axes.back().step[k] == axis.step[k] * axis.extent;
    if (together) {
      axis.extent *= axes.back().extent;
      axes.back() = std::move(axis);
    } else {
      axes.push_back(std::move(axis));
    }
  }
  if (axes.empty()) axes.push_back({1, std::vector<int64_t>(strides.size(), 0)});
  return axes;
}

}  // namespace

Dims broadcast_strides(const std::string& op, const Array& x, const Dims& shape) {
  const int lead = shape.size() - x.ndim();
  Dims strides(shape.size());
  for (int d = 0; d < x.ndim(); ++d) {
    if (lead < 0 || (x.shape()[d] != 1 && x.shape()[d] != shape[lead + d]))
      throw ShapeError(op, "shape " + str(x.shape()) + " does not broadcast to " + str(shape),
                       "Trailing extents must be equal, or 1 in the array");
    strides[lead + d] = x.shape()[d] == 1 ? 0 : x.strides()[d];
  }
  return strides;
}

params::Indexed make_indexed(const Dims& shape, const Array& x, const Dims& x_strides, const Array* other,
                             const Dims& other_strides, std::span<const IndexUse> uses) {
  params::Indexed p{};
  std::vector<const Dims*> strides{&x_strides, &other_strides};
  for (const IndexUse& use : uses) strides.push_back(&use.strides);
  const std::vector<Steps> axes = merged(shape, strides);
  p.ndim = int32_t(axes.size());
  p.entry_count = int32_t(uses.size());
  p.size = 1;
  for (int d = 0; d < p.ndim; ++d) {
    p.size *= p.shape[d] = axes[size_t(d)].extent;
    p.x_strides[d] = axes[size_t(d)].step[0];
    p.other_strides[d] = axes[size_t(d)].step[1];
    for (size_t k = 0; k < uses.size(); ++k) p.entries[k].strides[d] = axes[size_t(d)].step[k + 2];
  }
  for (size_t k = 0; k < uses.size(); ++k) {
    params::IndexEntry& e = p.entries[k];
    e.data = uses[k].indices.data_ptr();
    e.dtype = uses[k].indices.dtype();
    e.raw = uses[k].raw;
    e.extent = uses[k].extent;
    e.step = uses[k].step;
  }
  p.x = x.data_ptr();
  p.other = other ? other->data_ptr() : nullptr;
  p.x_dtype = x.dtype();
  p.other_dtype = other ? other->dtype() : x.dtype();
  p.x_end = 1;
  for (int d = 0; d < x.ndim(); ++d) {
    const int64_t reach = (x.shape()[d] - 1) * x.strides()[d];
    (reach < 0 ? p.x_begin : p.x_end) += reach;
  }
  return p;
}

void declare(OpCall& call, const params::Indexed&, const Array& x, const Array* other, std::span<const IndexUse> uses,
             bool write) {
  if (write)
    call.writes(x);
  else
    call.reads(x);
  if (other && write) call.reads(*other);
  if (other && !write) call.writes(*other);
  for (const IndexUse& use : uses) call.reads(use.indices);
}

void require_indices(const std::string& op, const Array& indices) {
  if (!in(indices.dtype(), dtypes::integers))
    throw DTypeError(op, "got indices of dtype " + std::string(name(indices.dtype())), "pass an integer dtype");
}

void require_backend(const OpCall& call, const Array& array) {
  if (&array.buffer()->context() != &call.context())
    throw BackendMismatchError(std::string(call.name()), "got arrays of two backends",
                               "Move one with to_device(), or make both with one Backend");
}

bool deterministic(const OpCall& call, const std::optional<bool>& asked) {
  return asked.value_or(call.context().options().deterministic);
}

void launch_put(OpCall& call, const params::Indexed& p, bool in_order) {
  const int64_t claims = in_order ? kernels::indexing::claims(call.limits(), p) : 0;
  uint64_t* const memory =
      claims > 0 ? static_cast<uint64_t*>(call.scratch(size_t(claims) * sizeof(uint64_t))) : nullptr;
  kernels::indexing::put(call.queue(), p, memory);
}

Ranks count_true(OpCall& call, const Array& mask, const Dims& mask_strides, const Dims& shape, const Dims* x_strides,
                 const Dims* out_strides, bool keep_axes) {
  Ranks r;
  const Dims* strides[] = {&mask_strides, x_strides, out_strides};
  const std::vector<Steps> axes = merged(shape, strides, keep_axes);
  r.p.ndim = int32_t(axes.size());
  r.p.size = 1;
  for (int d = 0; d < r.p.ndim; ++d) {
    r.p.size *= r.p.shape[d] = axes[size_t(d)].extent;
    r.p.mask_strides[d] = axes[size_t(d)].step[0];
    r.p.x_strides[d] = axes[size_t(d)].step[1];
    r.p.out_strides[d] = axes[size_t(d)].step[2];
  }
  r.p.tile = kernels::indexing::tile(call.limits(), r.p.size);
  r.p.tiles = std::max<int64_t>(1, (r.p.size + r.p.tile - 1) / r.p.tile);
  r.base = call.empty(Dims{r.p.tiles + 1}, DType::int64);
  r.p.mask = static_cast<const uint8_t*>(mask.data_ptr());
  r.p.base = static_cast<int64_t*>(r.base.data_ptr());
  r.p.counter = static_cast<uint32_t*>(call.zeroed_scratch(sizeof(uint32_t)));
  call.reads(mask);
  call.writes(r.base);
  kernels::indexing::count(call.queue(), r.p);
  return r;
}

int64_t read_count(const OpCall& call, const Ranks& ranks, const Stream& stream) {
  return Array(ranks.base.buffer(), DType::int64, Dims(), Dims(), ranks.p.tiles).item(stream, call.op()).i;
}

Array cast_within_kind(const std::string& op, const Array& x, DType dtype, const Stream& stream) {
  if (x.dtype() == dtype) return x;
  if (!can_cast_same_kind(x.dtype(), dtype))
    throw DTypeError(
        op, "got values of dtype " + std::string(name(x.dtype())) + " for an array of " + std::string(name(dtype)),
        "convert them with astype first");
  return astype(x, dtype, true, stream);
}

}  // namespace stator
