#include <stator/creation.hpp>
#include <stator/movement.hpp>
#include <stator/reduce.hpp>

#include "core/op_call.hpp"
#include "ops/axes.hpp"
#include "ops/checks.hpp"
#include "ops/reduce/rules.hpp"
#include "params/reduce.hpp"

#include <cstdlib>
#include <string>
#include <utility>

namespace stator {
namespace {

struct Axis {
  int64_t extent, stride, mask_stride;
};

struct Types {
  DType compute, result;
};

// Whether the result depends on the order of the elements.
bool positional(const OpInfo& entry) { return entry.name == "argmax" || entry.name == "argmin"; }
Types resolve(const OpInfo& entry, DType in, const std::optional<DType>& dtype) {
  if (!stator::in(in, entry.dtypes))
    throw DTypeError(std::string(entry.call), "got an array of dtype " + std::string(name(in)),
                     "the dtype must be " + dtype_names(entry.dtypes) + ". Convert the array with astype");
  DType own = in;
  if (entry.result == ResultRule::inexact) own = to_inexact(in);
  if (entry.result == ResultRule::accumulate && kind_of(in) == Kind::unsigned_integer) own = DType::uint64;
  if (entry.result == ResultRule::accumulate && (kind_of(in) == Kind::signed_integer || in == DType::bool_))
    own = DType::int64;
  const bool chosen =
      entry.result == ResultRule::accumulate || entry.result == ResultRule::inexact || entry.result == ResultRule::real;
  if (dtype && (!chosen || (entry.result != ResultRule::accumulate && !stator::in(*dtype, dtypes::inexact))))
    throw DTypeError(
        std::string(entry.call), "dtype=" + std::string(name(*dtype)),
        chosen ? "the dtype must be floating or complex" : "the op takes no dtype. Convert the result with astype");
  if (entry.result == ResultRule::boolean) return {in, DType::bool_};
  if (entry.result == ResultRule::index) return {in, DType::int64};
  if (entry.result == ResultRule::real) {
    // Variances and norms are real numbers of the precision that the elements are computed in.
    const DType computed = to_inexact(dtype && stator::in(*dtype, dtypes::inexact) ? promote(in, *dtype) : in);
    return {computed, dtype.value_or(real_part(computed))};
  }
  if (!dtype) return {own, own};
  if (stator::in(own, dtypes::complexes) && stator::in(*dtype, dtypes::reals))
    throw DTypeError(std::string(entry.call), "dtype=" + std::string(name(*dtype)) + " for " + std::string(name(in)),
                     "the dtype must be complex. Pass complex64 or complex128, or reduce stator.real(x)");
  // A float result is computed in the wider of the two, and rounded once.
  const bool wider = stator::in(*dtype, dtypes::floats) && stator::in(own, dtypes::floats);
  return {wider ? promote(own, *dtype) : *dtype, *dtype};
}

// Whether each axis is reduced.
std::vector<bool> chosen_axes(const OpInfo& entry, const Array& x, const std::optional<std::vector<int64_t>>& axes) {
  if (!axes) return std::vector<bool>(size_t(x.ndim()), true);
  if (positional(entry) && axes->size() != 1)
    throw AxisError(std::string(entry.call), "got " + std::to_string(axes->size()) + " axes",
                    "pass one axis, or none for the flat index");
  return named_axes(entry.call, *axes, x.ndim());
}

Dims result_shape(const Dims& shape, const std::vector<bool>& reduced, bool keepdims) {
  Dims result;
  for (int d = 0; d < shape.size(); ++d) {
    if (!reduced[size_t(d)])
      result.push_back(shape[d]);
    else if (keepdims)
      result.push_back(1);
  }
  return result;
}

// Drops axes of extent 1 and merges neighbours that step together.
int collapse(const std::vector<Axis>& axes, int64_t* shape, int64_t* strides, int64_t* mask_strides, int64_t* size) {
  int n = 0;
  *size = 1;
  for (const Axis& a : axes) {
    *size *= a.extent;
    if (a.extent == 1) continue;
    if (n > 0 && strides[n - 1] == a.extent * a.stride && mask_strides[n - 1] == a.extent * a.mask_stride) {
      shape[n - 1] *= a.extent;
    } else {
      shape[n++] = a.extent;
    }
    strides[n - 1] = a.stride;
    mask_strides[n - 1] = a.mask_stride;
  }
  return n;
}

params::Reduction describe(const OpInfo& entry, const Array& x, const Array& mask, const std::vector<bool>& reduced,
                           Types types) {
  params::Reduction r{};
  std::vector<Axis> kept, gone;
  int64_t first = 0;
  for (int d = 0; d < x.ndim(); ++d) {
    Axis axis{x.shape()[d], x.strides()[d], mask ? mask.strides()[d] : 0};
    // Where positions do not matter, elements are read in the order of memory.
    if (reduced[size_t(d)] && !positional(entry) && !mask && axis.stride < 0) {
      first += (axis.extent - 1) * axis.stride;
      axis.stride = -axis.stride;
    }
    (reduced[size_t(d)] ? gone : kept).push_back(axis);
  }
  if (!positional(entry)) sort_axes(std::span(gone), [](const Axis& a, const Axis& b) { return a.stride > b.stride; });
  r.kept_ndim = collapse(kept, r.kept_shape, r.kept_strides, r.kept_mask_strides, &r.kept_size);
  r.reduced_ndim = collapse(gone, r.reduced_shape, r.reduced_strides, r.reduced_mask_strides, &r.reduced_size);
  if (r.reduced_size == 0) {
    r.reduced_ndim = 1;
    r.reduced_shape[0] = 0;
    r.reduced_strides[0] = 1;
  }
  r.in_dtype = x.dtype();
  r.compute = types.compute;
  r.out_dtype = types.result;
  if (mask && r.kept_size != 0 && r.reduced_size != 0) r.mask = static_cast<const bool*>(mask.data_ptr());
  if (r.kept_size != 0 && r.reduced_size != 0)
    r.in = static_cast<const char*>(x.data_ptr()) + first * itemsize(x.dtype());
  return r;
}

void run(OpCall& call, const Array& x, const Array& mask, Array& out, kernels::reduce::Reducer reducer,
         params::Reduction r) {
  call.reads(x);
  if (mask) call.reads(mask);
  call.writes(out);
  r.out = out.data_ptr();
  r.out_dtype = out.dtype();
  // One element may decide, and then starting other threads takes longer than the rest.
  constexpr int64_t soon_read = 2 << 20;
  const bool may_end = r.mode.finish == params::Finish::any || r.mode.finish == params::Finish::none;
  if (may_end && int64_t(x.nbytes()) <= soon_read) call.expect_bytes(0);
  const params::Queue& queue = call.queue();
  const kernels::reduce::Needs needs = kernels::reduce::needs(call.limits(), r);
  kernels::reduce::Scratch scratch{};
  if (needs.partial_bytes) scratch.partials = call.scratch(size_t(needs.partial_bytes));
  if (needs.counter_bytes) scratch.counters = static_cast<uint32_t*>(call.zeroed_scratch(size_t(needs.counter_bytes)));
  kernels::reduce::run(queue, reducer, r, scratch);
}

// The mask in x's shape.
Array broadcast_mask(const OpInfo& entry, const Array& x, const Array& mask) {
  if (mask.dtype() != DType::bool_)
    throw DTypeError(std::string(entry.call), "got where= of dtype " + std::string(name(mask.dtype())),
                     "a mask must be bool. Compare first: x != 0");
  if (positional(entry))
    throw UnsupportedError(std::string(entry.call),
                           "got where=", "the op takes no mask. Replace masked-out elements with stator.where first");
  if (!(broadcast_shapes(entry.call, x.shape(), mask.shape()) == x.shape()))
    throw ShapeError(std::string(entry.call),
                     "got where= of shape " + str(mask.shape()) + " for an array of shape " + str(x.shape()),
                     "a mask must broadcast to the array");
  return broadcast_to(mask, x.shape());
}

}  // namespace

Array reduce(Op op, const Array& x, const ReduceOptions& options, const Stream& stream) {
  const OpInfo& entry = op_info(op);
  OpCall call(op, {&x, options.where, options.out}, stream);
  const Types types = resolve(entry, x.dtype(), options.dtype);
  const std::vector<bool> reduced = chosen_axes(entry, x, options.axes);
  const Dims shape = result_shape(x.shape(), reduced, options.keepdims);
  const Array mask = options.where ? broadcast_mask(entry, x, *options.where) : Array();
  // If each element must first become a narrow integer or bool, it is converted here: the kernels accumulate in 64
  // bits, where integers that cancel or wrap would give another result.
  const bool narrowing = (in(x.dtype(), dtypes::inexact) && !in(types.compute, dtypes::inexact)) ||
                         (in(x.dtype(), dtypes::integers) && types.compute == DType::bool_);
  const Array source = narrowing ? astype(x, types.compute, true, stream) : x;
  const ReductionRule rule = reduction_rule(op, source.dtype(), options.parameter, options.where != nullptr);
  params::Reduction r = describe(entry, source, mask, reduced, types);
  r.mode = rule.mode;
  if (rule.reducer == kernels::reduce::Reducer::count)
    r.compute = source.dtype();  // no element is converted to be counted
  if (r.reduced_size == 0 && !rule.has_identity && r.kept_size != 0)
    throw ValueError(std::string(entry.call), "got no elements to reduce in an array of shape " + str(x.shape()),
                     "reduce over axes that are not empty");
  Array result = call.output(shape, types.result, options.out);
  if (result.size() == 0) return result;
  const bool direct = result.is_contiguous() && result.dtype() == types.result;
  Array dense = direct ? result : call.empty(shape, types.result);
  run(call, source, mask, dense, rule.reducer, r);
  if (!direct) assign(result, dense, stream);
  return result;
}

}  // namespace stator
