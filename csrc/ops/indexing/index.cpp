// x[index] and x[index] = value with arrays and masks among the entries.
#include "core/op_call.hpp"
#include "memory/overlap.hpp"
#include "ops/axes.hpp"
#include "ops/collapse.hpp"
#include "ops/indexing/plan.hpp"
#include "ops/scalar.hpp"
#include "params/elementwise.hpp"
#include "params/indexing.hpp"

#include <stator/creation.hpp>
#include <stator/elementwise.hpp>
#include <stator/indexing.hpp>

#include <array>
#include <cstdlib>
#include <cstring>

namespace stator {
namespace {

// One array, mask or number that indexes axes [axis, axis + axes) of the view.
struct Advanced {
  const ArrayIndex* entry;
  int axis, axes;
};

// A parsed index: `view` is x with the slices applied and whole axes where arrays index it.
struct IndexPlan {
  Array view;
  std::vector<Advanced> advanced;
  std::vector<bool> indexed;  // per axis of the view
  int before = 0;             // number of kept axes before the indexed ones in the result
};

bool is_mask(const ArrayIndex& i) { return i.array && i.array.dtype() == DType::bool_; }
bool is_basic(const ArrayIndex& i) { return !i.array && !i.is_boolean; }
bool is_integer_entry(const ArrayIndex& i) { return is_basic(i) && i.basic.type == Index::Type::integer; }
int axes_of(const ArrayIndex& i) {
  if (i.is_boolean) return 0;
  if (i.array) return is_mask(i) ? i.array.ndim() : 1;
  return i.basic.type == Index::Type::integer || i.basic.type == Index::Type::slice;
}

IndexPlan make_plan(const OpCall& call, const Array& x, std::span<const ArrayIndex> index) {
  const std::string op(call.name());
  IndexPlan plan;
  std::vector<Index> basic;
  int consumed = 0, ellipses = 0;
  for (const ArrayIndex& i : index) {
    if (i.array) require_backend(call, i.array);
    if (i.array && !is_mask(i)) require_indices(op, i.array);
    consumed += axes_of(i);
    ellipses += is_basic(i) && i.basic.type == Index::Type::ellipsis;
  }
  if (ellipses > 1) throw IndexError(op, "got more than one ellipsis", "Write ... once");
  if (consumed > x.ndim())
    throw IndexError(op, "got indices of " + std::to_string(consumed) + " axes for shape " + str(x.shape()),
                     "Pass at most one index for each axis; a mask takes one for each of its axes");
  const int rest = x.ndim() - consumed;
  Index whole;
  whole.type = Index::Type::slice;
  int axis = 0, own = 0;  // of the view, of x
  bool contiguous = true, separated = false;
  const auto keep = [&](int count) { plan.indexed.insert(plan.indexed.end(), size_t(count), false); };
  for (const ArrayIndex& i : index) {
    const int count = axes_of(i);
    if (is_basic(i) && !is_integer_entry(i)) {
      const int shown = i.basic.type == Index::Type::ellipsis ? rest : 1;
      basic.push_back(i.basic);
      keep(shown);
      axis += shown;
      own += i.basic.type == Index::Type::ellipsis ? rest : count;
      separated = separated || !plan.advanced.empty();
      continue;
    }
    // As in NumPy, integers beside arrays count as arrays.
    if (separated) contiguous = false;
    if (plan.advanced.empty()) plan.before = axis;
    plan.advanced.push_back({&i, axis, count});
    for (int k = 0; k < count; ++k) {
      // As in NumPy, an axis without elements fits every axis: such a mask selects nothing.
      if (is_mask(i) && i.array.shape()[k] != 0 && i.array.shape()[k] != x.shape()[own + k])
        throw IndexError(op,
                         "got a mask of shape " + str(i.array.shape()) + " for axis " + std::to_string(own) +
                             " of an array of shape " + str(x.shape()),
                         "A mask must have the extents of the axes that it indexes");
      basic.push_back(whole);
      plan.indexed.push_back(true);
    }
    axis += count;
    own += count;
  }
  if (ellipses == 0) keep(rest);
  if (!contiguous) plan.before = 0;
  plan.view = getitem(x, basic);
  return plan;
}

// The offsets of a mask's true positions, in elements from the view's first one. Synchronises.
Array mask_offsets(OpCall& call, const Array& view, const Advanced& a, const Stream& stream) {
  const Array& mask = a.entry->array;
  if (mask.size() == 0) return call.empty(Dims{0}, DType::int64);
  Dims strides;
  for (int k = 0; k < a.axes; ++k) strides.push_back(view.strides()[a.axis + k]);
  Ranks ranks = count_true(call, mask, mask.strides(), mask.shape(), &strides, nullptr);
  ranks.p.capacity = read_count(call, ranks, stream);
  Array offsets = call.empty(Dims{ranks.p.capacity}, DType::int64);
  if (offsets.size() == 0) return offsets;
  ranks.p.out = offsets.data_ptr();
  call.writes(offsets);
  kernels::indexing::nonzero(call.queue(), ranks.p, false);
  return offsets;
}

// The iteration space of a plan's result, the strides of the view along it, and the arrays of indices over it.
struct Space {
  Dims shape, x_strides;
  std::vector<IndexUse> uses;
  Array x;  // the view, offset by the integers of the index
};

// Copies arrays of indices that share memory with `written`.
Space make_space(OpCall& call, const IndexPlan& plan, const Array* written, const Stream& stream) {
  const std::string op(call.name());
  Space s;
  int64_t offset = plan.view.offset();
  Dims common;
  std::vector<Dims> shapes;
  for (const Advanced& a : plan.advanced) {
    if (is_integer_entry(*a.entry)) {
      const int64_t n = plan.view.shape()[a.axis], at = a.entry->basic.start;
      if (at < -n || at >= n)
        throw IndexError(op, "got index " + std::to_string(at) + " for an axis of extent " + std::to_string(n),
                         "Indices must be from -n to n - 1 for an axis of n elements");
      offset += (at < 0 ? at + n : at) * plan.view.strides()[a.axis];
      continue;
    }
    if (a.entry->is_boolean) {
      common = broadcast_shapes(op, common, Dims{a.entry->boolean ? 1 : 0});
      continue;
    }
    IndexUse use;
    use.raw = is_mask(*a.entry);
    use.indices = use.raw ? mask_offsets(call, plan.view, a, stream) : a.entry->array;
    if (!use.raw) {
      if (written && may_overlap(use.indices, *written)) use.indices = copy(use.indices, stream);
      use.extent = plan.view.shape()[a.axis];
      use.step = plan.view.strides()[a.axis];
    }
    common = broadcast_shapes(op, common, use.indices.shape());
    s.uses.push_back(std::move(use));
  }
  if (int(s.uses.size()) > params::Indexed::most_entries)
    throw UnsupportedError(
        op, "got " + std::to_string(s.uses.size()) + " arrays of indices",
        "at most " + std::to_string(params::Indexed::most_entries) + " are supported. Index in two steps");
  const auto add_axis = [&](int64_t extent, int64_t stride) {
    require_ndim(op, s.shape.size() + 1);
    s.shape.push_back(extent);
    s.x_strides.push_back(stride);
  };
  int kept = 0;
  const auto add_common = [&] {
    for (int64_t extent : common) add_axis(extent, 0);
  };
  if (plan.before == 0) add_common();
  for (size_t d = 0; d < plan.indexed.size(); ++d) {
    if (plan.indexed[d]) continue;
    add_axis(plan.view.shape()[int(d)], plan.view.strides()[int(d)]);
    if (++kept == plan.before) add_common();
  }
  for (IndexUse& use : s.uses) {
    const Dims own = broadcast_strides(op, use.indices, common);
    use.strides = Dims(s.shape.size());
    for (int d = 0; d < own.size(); ++d) use.strides[plan.before + d] = own[d];
  }
  s.x = Array(plan.view.buffer(), plan.view.dtype(), plan.view.shape(), plan.view.strides(), offset);
  return s;
}

// The mask of an index that has no other array; null for other indices, and for a mask without elements, which need not
// have the extents of its axes.
const Advanced* only_mask(const IndexPlan& plan) {
  if (plan.advanced.size() != 1) return nullptr;
  const Advanced& a = plan.advanced[0];
  return is_mask(*a.entry) && a.axes > 0 && a.entry->array.size() > 0 ? &a : nullptr;
}

// A mask over the axes of the view that it indexes, broadcast along the others.
Array mask_of_view(const IndexPlan& plan, const Advanced& a) {
  const Array& mask = a.entry->array;
  Dims strides(plan.view.ndim());
  for (int k = 0; k < a.axes; ++k) strides[a.axis + k] = mask.strides()[k];
  return Array(mask.buffer(), DType::bool_, plan.view.shape(), strides, mask.offset());
}

// view = number where the mask is true, in add_axis and in one launch.
void fill_where(OpCall& call, const Array& view, const Array& mask, const Array* value, const Scalar& number) {
  unsigned char bytes[16] = {};
  if (!value) {
    encode(call.name(), number, view.dtype(), bytes);
    widen(view.dtype(), bytes);
  }
  if (view.size() == 0) return;
  const std::array<const Array*, 3> inputs{&mask, value, &view};
  params::Elementwise e = collapse(view, inputs);
  e.compute = compute_dtype(view.dtype());
  if (!value) {
    e.in[1].dtype = e.compute;
    std::memcpy(e.in[1].value, bytes, sizeof bytes);
  }
  call.reads(mask);
  if (value) call.reads(*value);
  call.writes(view);
  kernels::elementwise::run(call.queue(), Op::where, e);
}

// view = values, of one axis, where a mask of its shape is true. Synchronises: reads how many these are.
void put_where(OpCall& call, const Array& view, const Array& mask, const Array& values, const Stream& stream) {
  Ranks ranks = count_true(call, mask, mask.strides(), view.shape(), &view.strides(), &view.strides());
  ranks.p.source_size = read_count(call, ranks, stream);
  const Dims strides = broadcast_strides(std::string(call.name()), values, Dims{ranks.p.source_size});
  if (ranks.p.source_size == 0) return;
  ranks.p.x = ranks.p.out = view.data_ptr();
  ranks.p.source = values.data_ptr();
  ranks.p.source_stride = strides[0];
  ranks.p.itemsize = itemsize(view.dtype());
  call.reads(values);
  call.writes(view);
  kernels::indexing::spread(call.queue(), ranks.p);
}

// Whether no two positions of a view are one element: the steps along each axis go beyond what the shorter ones reach.
// False also of a few views without such positions.
bool is_injective(const Array& view) {
  std::vector<int> axes;
  for (int d = 0; d < view.ndim(); ++d)
    if (view.shape()[d] > 1) axes.push_back(d);
  const auto step = [&](int d) { return std::abs(view.strides()[d]); };
  sort_axes(std::span(axes), [&](int a, int b) { return step(a) < step(b); });
  int64_t reach = 0;
  for (const int d : axes) {
    if (step(d) <= reach) return false;
    reach += (view.shape()[d] - 1) * step(d);
  }
  return true;
}

// Drops leading axes of extent 1 that the target does not have.
Array without_leading(const Array& x, int ndim) {
  Dims shape, strides;
  int skip = x.ndim() - ndim;
  for (int d = 0; d < x.ndim(); ++d) {
    if (skip > 0 && x.shape()[d] == 1) {
      --skip;
      continue;
    }
    skip = 0;
    shape.push_back(x.shape()[d]);
    strides.push_back(x.strides()[d]);
  }
  return Array(x.buffer(), x.dtype(), shape, strides, x.offset());
}

}  // namespace

Array index_get(const Array& x, std::span<const ArrayIndex> index, const Stream& stream) {
  OpCall call(Op::index_get, {&x}, stream);
  const std::string op(call.name());
  const IndexPlan plan = make_plan(call, x, index);
  const Advanced* mask = only_mask(plan);
  if (mask && mask->axes == plan.view.ndim()) return masked_select(plan.view, mask->entry->array, {}, stream);
  const Space s = make_space(call, plan, nullptr, stream);
  checked_size(op, s.shape, itemsize(x.dtype()));
  Array result = call.empty(s.shape, x.dtype());
  if (result.size() == 0) return result;
  const params::Indexed p = make_indexed(s.shape, s.x, s.x_strides, &result, result.strides(), s.uses);
  declare(call, p, plan.view, &result, s.uses, false);
  kernels::indexing::get(call.queue(), p);
  call.finish_indices();
  return result;
}

void index_put(const Array& x, std::span<const ArrayIndex> index, const Operand& value, const Stream& stream) {
  OpCall call(Op::index_put, {&x, value.array}, stream);
  const std::string op(call.name());
  require_writable(op, x);
  const IndexPlan plan = make_plan(call, x, index);
  Array values;
  unsigned char number[16];
  if (value.array)
    values = astype(*value.array, x.dtype(), false, stream);
  else
    encode(op, value.scalar, x.dtype(), number);
  if (value.array && may_overlap(values, x)) values = copy(values, stream);
  const Advanced* mask = only_mask(plan);
  if (mask && (!value.array || values.size() == 1)) {
    Array one;
    if (value.array) one = Array(values.buffer(), values.dtype(), Dims(), Dims(), values.offset());
    Array where = mask_of_view(plan, *mask);
    if (may_overlap(where, x)) where = copy(where, stream);
    return fill_where(call, plan.view, where, value.array ? &one : nullptr, value.scalar);
  }
  if (mask && mask->axes == plan.view.ndim() && is_injective(plan.view)) {
    Array where = mask->entry->array;
    if (may_overlap(where, x)) where = copy(where, stream);
    return put_where(call, plan.view, where, without_leading(values, 1), stream);
  }
  const Space s = make_space(call, plan, &x, stream);
  if (value.array) {
    values = without_leading(values, s.shape.size());
    broadcast_strides(op, values, s.shape);
  }
  if (checked_size(op, s.shape, 1) == 0) return;
  const Dims strides = value.array ? broadcast_strides(op, values, s.shape) : Dims(s.shape.size());
  params::Indexed p = make_indexed(s.shape, s.x, s.x_strides, value.array ? &values : nullptr, strides, s.uses);
  if (!value.array) std::memcpy(p.value, number, sizeof number);
  declare(call, p, plan.view, value.array ? &values : nullptr, s.uses, true);
  launch_put(call, p, deterministic(call, {}));
  call.finish_indices();
}

}  // namespace stator
