#include "core/op_call.hpp"
#include "ops/sort/keys.hpp"
#include "params/sets.hpp"
#include "params/sort.hpp"

#include <stator/creation.hpp>
#include <stator/elementwise.hpp>
#include <stator/movement.hpp>
#include <stator/sets.hpp>

#include <limits>
#include <string>

namespace stator {
namespace {

Array as(const Array& x, DType dtype, const Stream& stream) { return astype(x, dtype, false, stream); }

void check_rows(const std::string& op, const Array& boundaries, const Array& values) {
  if (boundaries.ndim() == 0)
    throw ShapeError(op, "got boundaries of no axis", "boundaries must have at least one axis");
  if (boundaries.ndim() == 1) return;
  bool fits = values.ndim() == boundaries.ndim();
  for (int d = 0; fits && d + 1 < values.ndim(); ++d) fits = values.shape()[d] == boundaries.shape()[d];
  if (!fits)
    throw ShapeError(op, "got boundaries of shape " + str(boundaries.shape()) + ", values of " + str(values.shape()),
                     "boundaries must have one axis, or the leading axes of the values");
}

// isin of an int64 and a uint64, of which no integer dtype holds both: what is in both has the same bits, and bits of
// x that the other dtype reads otherwise are in neither.
Array isin_beside_unsigned(const Array& x, const Array& test, bool invert, const Stream& stream) {
  const bool is_signed = in(x.dtype(), dtypes::signed_integers);
  const DType own = is_signed ? DType::int64 : DType::uint64;
  const Array found = isin(as(x, own, stream), as(test, own, stream), invert, stream);
  const Scalar end = is_signed ? Scalar(int64_t(0)) : Scalar(std::numeric_limits<int64_t>::max());
  const Op within = is_signed ? Op::greater_equal : Op::less_equal, beyond = is_signed ? Op::less : Op::greater;
  const Array kept = binary(invert ? beyond : within, x, end, {}, stream);
  return binary(invert ? Op::logical_or : Op::logical_and, found, kept, {}, stream);
}

// What searchsorted and isin have in common: `sorted` is searched along its last axis.
params::Search describe(OpCall& call, const Array& sorted, const Array& values) {
  const int last = sorted.ndim() - 1;
  params::Search p{};
  p.boundaries = sorted.data_ptr();
  p.values = values.data_ptr();
  p.key = key_codec(sorted.dtype());
  p.n = sorted.shape()[last];
  p.step = sorted.strides()[last];
  p.rows = segments_of(sorted, sorted, last);
  p.elements = segments_of(values, values, -1);
  p.per_row = values.ndim() > 0 ? values.shape()[values.ndim() - 1] : 1;
  if (sorted.size() > 0) call.reads(sorted);
  call.reads(values);
  return p;
}

}  // namespace

Array searchsorted(const Array& boundaries, const Array& values, const SearchOptions& options, const Stream& stream) {
  OpCall call(Op::searchsorted, {&boundaries, &values, options.sorter}, stream);
  const std::string op(call.name());
  check_order_dtype(call, boundaries);
  check_order_dtype(call, values);
  check_rows(op, boundaries, values);
  const Array* const sorter = options.sorter;
  if (sorter && !in(sorter->dtype(), dtypes::integers))
    throw DTypeError(op, "got a sorter of dtype " + std::string(name(sorter->dtype())),
                     "a sorter must be integers, as from argsort");
  if (sorter && !(sorter->shape() == boundaries.shape()))
    throw ShapeError(op, "got a sorter of shape " + str(sorter->shape()) + " for " + str(boundaries.shape()),
                     "pass one index for each boundary");
  const Array result = call.empty(values.shape(), DType::int64);
  if (result.size() == 0) return result;
  const DType common = promote(boundaries.dtype(), values.dtype());
  const Array sorted = as(boundaries, common, stream), wanted = as(values, common, stream);
  params::Search p = describe(call, sorted, wanted);
  p.out = static_cast<int64_t*>(result.data_ptr());
  p.right = options.right;
  if (sorter) {
    const int last = sorted.ndim() - 1;
    p.sorter = sorter->data_ptr();
    p.sorter_dtype = sorter->dtype();
    p.sorter_step = sorter->strides()[last];
    p.rows = segments_of(sorted, *sorter, last);
    if (sorter->size() > 0) call.reads(*sorter);
  }
  call.writes(result);
  kernels::sets::search(call.queue(), p);
  if (sorter) call.finish_indices();
  return result;
}

Array isin(const Array& x, const Array& test, bool invert, const Stream& stream) {
  OpCall call(Op::isin, {&x, &test}, stream);
  check_order_dtype(call, x);
  check_order_dtype(call, test);
  const DType common = promote(x.dtype(), test.dtype());
  if (in(x.dtype(), dtypes::integers) && in(test.dtype(), dtypes::integers) && !in(common, dtypes::integers))
    return isin_beside_unsigned(x, test, invert, stream);
  const Array result = call.empty(x.shape(), DType::bool_);
  if (result.size() == 0) return result;
  const int64_t flat[] = {-1};
  const Array elements = reshape(as(test, common, stream), flat, {}, stream), wanted = as(x, common, stream);
  const Array sorted = call.empty(elements.shape(), common);
  launch_sort(call, elements, 0, false, {0, elements.size()}, &sorted, nullptr);
  if (in(common, dtypes::complexes)) {
    call.reads(wanted);
    call.writes(result);
    kernels::sort::complex_search(call.queue(), {.sorted = sorted.data_ptr(),
                                                 .values = wanted.data_ptr(),
                                                 .dtype = common,
                                                 .found = static_cast<bool*>(result.data_ptr()),
                                                 .invert = invert,
                                                 .n = sorted.size(),
                                                 .elements = segments_of(wanted, wanted, -1)});
    return result;
  }
  params::Search p = describe(call, sorted, wanted);
  p.found = static_cast<bool*>(result.data_ptr());
  p.invert = invert;
  call.writes(result);
  kernels::sets::search(call.queue(), p);
  return result;
}

}  // namespace stator
