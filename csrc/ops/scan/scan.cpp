#include <stator/scan.hpp>

#include "core/op_call.hpp"
#include "ops/checks.hpp"
#include "ops/collapse.hpp"
#include "params/scan.hpp"

#include <stator/creation.hpp>

#include <string>

namespace stator {
namespace {

struct ScanTypes {
  DType compute, result;
};

bool same_family(DType a, DType b) {
  return (in(a, dtypes::floats) && in(b, dtypes::floats)) || (in(a, dtypes::complexes) && in(b, dtypes::complexes));
}

ScanTypes scan_types(const OpInfo& entry, DType in, const std::optional<DType>& dtype) {
  if (!stator::in(in, entry.dtypes))
    throw DTypeError(std::string(entry.call), "got an array of dtype " + std::string(name(in)),
                     "the dtype must be " + dtype_names(entry.dtypes) + ". Convert the array with astype");
  DType own = in;
  if (entry.result == ResultRule::accumulate && stator::in(in, dtypes::unsigned_integers)) own = DType::uint64;
  if (entry.result == ResultRule::accumulate && stator::in(in, dtypes::signed_integers | dtypes::boolean))
    own = DType::int64;
  if (!dtype) return {own, own};
  if (!stator::in(*dtype, entry.dtypes))
    throw DTypeError(std::string(entry.call), "dtype=" + std::string(name(*dtype)),
                     "the dtype must be " + dtype_names(entry.dtypes));
  if (stator::in(in, dtypes::complexes) && stator::in(*dtype, dtypes::reals))
    throw DTypeError(std::string(entry.call), "dtype=" + std::string(name(*dtype)) + " for " + std::string(name(in)),
                     "the dtype must be complex. Pass complex64 or complex128, or scan stator.real(x)");
  // A floating result is computed in the wider of the two, and rounded once.
  return {same_family(own, *dtype) ? promote(own, *dtype) : *dtype, *dtype};
}

int scan_axis(const OpCall& call, const Array& x, const std::optional<int64_t>& axis) {
  const std::string op(call.name());
  if (x.ndim() == 0) throw AxisError(op, "got a 0-d array", "reshape it to one axis");
  if (!axis && x.ndim() > 1)
    throw AxisError(op, "got no axis for shape " + str(x.shape()),
                    "an array of several axes needs an axis. Pass axis, or reshape to one axis");
  return normalize_axis(op, axis.value_or(0), x.ndim());
}

// Collapses the axes other than the scan's: drops axes of extent 1 and merges neighbours that step together in both
// arrays.
void set_segments(params::Scan& s, const Array& x, const Array& out, int axis) {
  s.segments = 1;
  for (int d = 0; d < x.ndim(); ++d) {
    const int64_t extent = x.shape()[d], from = x.strides()[d], to = out.strides()[d];
    if (d == axis) continue;
    s.segments *= extent;
    if (extent == 1) continue;
    const int last = s.ndim - 1;
    const bool together = s.ndim > 0 && s.in_strides[last] == extent * from && s.out_strides[last] == extent * to;
    const int at = together ? last : s.ndim++;
    s.shape[at] = together ? s.shape[at] * extent : extent;
    s.in_strides[at] = from;
    s.out_strides[at] = to;
  }
}

params::Scan describe(const Array& x, const Array& out, int axis, DType compute, bool initial, bool reverse) {
  params::Scan s{};
  s.n = x.shape()[axis];
  s.in_dtype = x.dtype();
  s.compute = compute;
  s.out_dtype = out.dtype();
  s.initial = initial;
  s.in_step = reverse ? -x.strides()[axis] : x.strides()[axis];
  s.out_step = reverse ? -out.strides()[axis] : out.strides()[axis];
  s.first_index = reverse ? s.n - 1 : 0;
  s.index_step = reverse ? -1 : 1;
  const int64_t from = s.first_index * x.strides()[axis];
  const int64_t to = (reverse ? s.n - 1 : initial ? 1 : 0) * out.strides()[axis];
  s.in = static_cast<const char*>(x.data_ptr()) + from * itemsize(x.dtype());
  s.out = static_cast<char*>(out.data_ptr()) + to * itemsize(out.dtype());
  set_segments(s, x, out, axis);
  return s;
}

void* partials(OpCall& call, const params::Scan& s) {
  const int64_t bytes = kernels::scan::scratch(call.limits(), s);
  return bytes > 0 ? call.scratch(size_t(bytes)) : nullptr;
}

Extremes extremes(Op op, const Array& x, const std::optional<int64_t>& axis, bool reverse, const Stream& stream) {
  OpCall call(op, {&x}, stream);
  scan_types(op_info(op), x.dtype(), {});
  const int at = scan_axis(call, x, axis);
  const std::array inputs{&x};
  Extremes result{empty_like(call, x.shape(), x.dtype(), inputs), empty_like(call, x.shape(), DType::int64, inputs)};
  if (x.size() == 0) return result;
  call.reads(x);
  call.writes(result.values);
  call.writes(result.indices);
  params::Scan s = describe(x, result.values, at, x.dtype(), false, reverse);
  s.indices = static_cast<int64_t*>(result.indices.data_ptr()) + s.first_index * result.indices.strides()[at];
  void* const scratch = partials(call, s);
  kernels::scan::extreme(call.queue(), s, op == Op::cumulative_min, scratch);
  return result;
}

}  // namespace

Array scan(Op op, const Array& x, const ScanOptions& options, const Stream& stream) {
  const OpInfo& entry = op_info(op);
  if (op != Op::cumulative_sum && op != Op::cumulative_prod && op != Op::logcumsumexp)
    throw ValueError(std::string(entry.call), "got an op that is not a scan", "call one of the cumulative ops");
  OpCall call(op, {&x, options.out}, stream);
  const ScanTypes types = scan_types(entry, x.dtype(), options.dtype);
  const int axis = scan_axis(call, x, options.axis);
  Dims shape = x.shape();
  if (options.include_initial) ++shape[axis];
  checked_size(call.name(), shape, itemsize(types.result));
  Array result = options.out ? call.output(shape, types.result, options.out)
                             : empty_like(call, shape, types.result, std::array{&x});
  if (result.size() == 0) return result;
  // The kernels convert within a family of dtypes; a result of bool is a family of its own.
  const bool within = same_family(x.dtype(), types.compute) ||
                      (in(x.dtype(), dtypes::integers | dtypes::boolean) && in(types.compute, dtypes::integers)) ||
                      x.dtype() == types.compute;
  const Array source = within ? x : astype(x, types.compute, true, stream);
  const bool direct = result.dtype() == types.result;
  const Array target = direct ? result : call.empty(shape, types.result);
  if (x.size() > 0) call.reads(source);
  call.writes(target);
  const params::Scan s = describe(source, target, axis, types.compute, options.include_initial, options.reverse);
  void* const scratch = partials(call, s);
  (op == Op::cumulative_sum    ? kernels::scan::sum
   : op == Op::cumulative_prod ? kernels::scan::product
                               : kernels::scan::logsumexp)(call.queue(), s, scratch);
  if (!direct) assign(result, target, stream);
  return result;
}

Extremes cumulative_max(const Array& x, std::optional<int64_t> axis, bool reverse, const Stream& stream) {
  return extremes(Op::cumulative_max, x, axis, reverse, stream);
}
Extremes cumulative_min(const Array& x, std::optional<int64_t> axis, bool reverse, const Stream& stream) {
  return extremes(Op::cumulative_min, x, axis, reverse, stream);
}

}  // namespace stator
