#include <stator/creation.hpp>
#include <stator/movement.hpp>
#include <stator/reduce.hpp>

#include "core/op_call.hpp"
#include "ops/axes.hpp"
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

// An order of its elements is part of such a result.
bool positional(const OpInfo& row) { return row.name == "argmax" || row.name == "argmin"; }
Types resolve(const OpInfo& row, DType in, const std::optional<DType>& dtype) {
  if (!stator::in(in, row.dtypes))
    throw DTypeError(std::string(row.call), "an array of dtype " + std::string(name(in)), "convert it with astype");
  DType own = in;
  if (row.result == ResultRule::inexact) own = to_inexact(in);
  if (row.result == ResultRule::accumulate && kind_of(in) == Kind::unsigned_integer) own = DType::uint64;
  if (row.result == ResultRule::accumulate && (kind_of(in) == Kind::signed_integer || in == DType::bool_))
    own = DType::int64;
  const bool chosen =
      row.result == ResultRule::accumulate || row.result == ResultRule::inexact || row.result == ResultRule::real;
  if (dtype && (!chosen || (row.result != ResultRule::accumulate && !stator::in(*dtype, dtypes::inexact))))
    throw DTypeError(std::string(row.call), "dtype=" + std::string(name(*dtype)),
                     chosen ? "ask for a floating or complex dtype" : "convert the result with astype");
  if (row.result == ResultRule::boolean) return {in, DType::bool_};
  if (row.result == ResultRule::index) return {in, DType::int64};
  if (row.result == ResultRule::real) {
    // Variances and norms: the moduli of what the elements are computed in.
    const DType computed = to_inexact(dtype && stator::in(*dtype, dtypes::inexact) ? promote(in, *dtype) : in);
    return {computed, dtype.value_or(real_part(computed))};
  }
  if (!dtype) return {own, own};
  if (stator::in(own, dtypes::complexes) && stator::in(*dtype, dtypes::reals))
    throw DTypeError(std::string(row.call), "dtype=" + std::string(name(*dtype)) + " for " + std::string(name(in)),
                     "use a complex dtype, or reduce stator.real(x)");
  // A float result is computed in the wider of the two, and rounded once.
  const bool wider = stator::in(*dtype, dtypes::floats) && stator::in(own, dtypes::floats);
  return {wider ? promote(own, *dtype) : *dtype, *dtype};
}

// Whether each axis is reduced.
std::vector<bool> chosen_axes(const OpInfo& row, const Array& x, const std::optional<std::vector<int64_t>>& axes) {
  if (!axes) return std::vector<bool>(size_t(x.ndim()), true);
  if (positional(row) && axes->size() != 1)
    throw AxisError(std::string(row.call), std::to_string(axes->size()) + " axes",
                    "pass one axis, or none for the flat index");
  return named_axes(row.call, *axes, x.ndim());
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

params::Reduction describe(const OpInfo& row, const Array& x, const Array& mask, const std::vector<bool>& reduced,
                        Types types) {
  params::Reduction r{};
  std::vector<Axis> kept, gone;
  int64_t first = 0;
  for (int d = 0; d < x.ndim(); ++d) {
    Axis axis{x.shape()[d], x.strides()[d], mask ? mask.strides()[d] : 0};
    // Where positions do not matter, memory order serves best.
    if (reduced[size_t(d)] && !positional(row) && !mask && axis.stride < 0) {
      first += (axis.extent - 1) * axis.stride;
      axis.stride = -axis.stride;
    }
    (reduced[size_t(d)] ? gone : kept).push_back(axis);
  }
  if (!positional(row)) sort_axes(std::span(gone), [](const Axis& a, const Axis& b) { return a.stride > b.stride; });
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

void run(OpCall& call, const Array& x, const Array& mask, Array& out, kernels::reduce::Reducer reducer, params::Reduction r) {
  call.reads(x);
  if (mask) call.reads(mask);
  call.writes(out);
  r.out = out.data_ptr();
  r.out_dtype = out.dtype();
  const params::Queue& queue = call.queue();
  const kernels::reduce::Needs needs = kernels::reduce::needs(call.limits(), r);
  kernels::reduce::Scratch scratch{};
  if (needs.partial_bytes) scratch.partials = call.scratch(size_t(needs.partial_bytes));
  if (needs.counter_bytes) scratch.counters = static_cast<uint32_t*>(call.zeroed_scratch(size_t(needs.counter_bytes)));
  kernels::reduce::run(queue, reducer, r, scratch);
}

// The mask in x's shape.
Array broadcast_mask(const OpInfo& row, const Array& x, const Array& mask) {
  if (mask.dtype() != DType::bool_)
    throw DTypeError(std::string(row.call), "where= of dtype " + std::string(name(mask.dtype())),
                     "compare it first: x != 0");
  if (positional(row))
    throw UnsupportedError(std::string(row.call), "where=", "replace what does not count with stator.where first");
  if (!(broadcast_shapes(row.call, x.shape(), mask.shape()) == x.shape()))
    throw ShapeError(std::string(row.call),
                     "where= of shape " + str(mask.shape()) + " for an array of shape " + str(x.shape()),
                     "a mask broadcasts to the array");
  return broadcast_to(mask, x.shape());
}

}  // namespace

Array reduce(Op op, const Array& x, const ReduceOptions& options, const Stream& stream) {
  const OpInfo& row = op_info(op);
  OpCall call(op, {&x, options.where, options.out}, stream);
  const Types types = resolve(row, x.dtype(), options.dtype);
  const std::vector<bool> reduced = chosen_axes(row, x, options.axes);
  const Dims shape = result_shape(x.shape(), reduced, options.keepdims);
  const Array mask = options.where ? broadcast_mask(row, x, *options.where) : Array();
  // Each element is to become a narrow integer or bool before it counts; the kernels accumulate in 64 bits, where
  // integers that cancel, or wrap, would not give bool's result.
  const bool narrowing = (in(x.dtype(), dtypes::inexact) && !in(types.compute, dtypes::inexact)) ||
                         (in(x.dtype(), dtypes::integers) && types.compute == DType::bool_);
  const Array source = narrowing ? astype(x, types.compute, true, stream) : x;
  const ReductionRule rule = reduction_rule(op, source.dtype(), options.parameter, options.where != nullptr);
  params::Reduction r = describe(row, source, mask, reduced, types);
  r.mode = rule.mode;
  if (rule.reducer == kernels::reduce::Reducer::count) r.compute = source.dtype();  // no element is converted to be counted
  if (r.reduced_size == 0 && !rule.has_identity && r.kept_size != 0)
    throw ValueError(std::string(row.call), "no elements to reduce in an array of shape " + str(x.shape()),
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
