#include "core/op_call.hpp"
#include "ops/scalar.hpp"
#include "ops/sort/keys.hpp"
#include "params/sets.hpp"

#include <stator/creation.hpp>
#include <stator/movement.hpp>
#include <stator/sets.hpp>

#include <cstring>
#include <string>

namespace stator {
namespace {

struct Wanted {
  bool values, indices, inverse, counts, sorted;
};

Wanted wanted_of(Op op) {
  switch (op) {
    case Op::unique_all: return {true, true, true, true, true};
    case Op::unique_counts: return {true, false, false, true, true};
    case Op::unique_inverse: return {true, false, true, false, true};
    case Op::unique_values: return {true, false, false, false, true};
    case Op::unique_consecutive: return {true, false, true, true, false};
    default:
      throw ValueError(std::string(op_info(op).call), "got an op that does not find distinct elements",
                       "call one of the unique ops");
  }
}

int64_t* integers(const Array& x) { return x ? static_cast<int64_t*>(x.data_ptr()) : nullptr; }

Unique of_nothing(const Array& x, const Wanted& w, const UniqueOptions& o, const Stream& stream) {
  const Backend backend = x.backend();
  const Dims shape{o.size.value_or(0)};
  Unique result;
  result.values = full(backend, shape, o.fill, x.dtype(), stream);
  if (w.indices) result.indices = full(backend, shape, Scalar(-1), DType::int64, stream);
  if (w.inverse) result.inverse = empty(backend, x.shape(), DType::int64, stream);
  if (w.counts) result.counts = zeros(backend, shape, DType::int64, stream);
  return result;
}

}  // namespace

Unique unique(Op op, const Array& x, const UniqueOptions& options, const Stream& stream) {
  const Wanted w = wanted_of(op);
  OpCall call(op, {&x}, stream);
  check_order_dtype(call, x);
  if (options.size && *options.size < 0)
    throw ValueError(std::string(call.name()), "size=" + std::to_string(*options.size),
                     "the number of results must be at least 0");
  unsigned char fill[16] = {};
  encode_fill(call.name(), options.fill, x.dtype(), fill);
  const int64_t n = x.size();
  if (n == 0) return of_nothing(x, w, options, stream);

  params::Runs p{};
  Array elements = x, order;
  if (w.sorted) {
    const int64_t flat[] = {-1};
    const Array flattened = reshape(x, flat, {}, stream);
    elements = call.empty(flattened.shape(), x.dtype());
    if (w.indices || w.inverse) order = call.empty(flattened.shape(), DType::int64);
    launch_sort(call, flattened, 0, false, {0, n}, &elements, order ? &order : nullptr);
  } else {
    call.reads(x);
  }
  const Array total = call.empty(Dims{}, DType::int64);
  call.writes(total);
  p.x = elements.data_ptr();
  if (in(x.dtype(), dtypes::complexes))
    p.complex = x.dtype();
  else
    p.key = key_codec(x.dtype());
  p.elements = segments_of(elements, elements, -1);
  p.order = integers(order);
  p.n = n;
  p.tiles = kernels::sets::run_tiles(call.limits(), n, &p.tile);
  p.tile_counts = static_cast<int64_t*>(call.scratch(size_t(p.tiles) * sizeof(int64_t)));
  p.total = integers(total);
  p.counter = static_cast<uint32_t*>(call.zeroed_scratch(sizeof(uint32_t)));
  std::memcpy(p.fill, fill, sizeof p.fill);
  kernels::sets::count_runs(call.queue(), p);
  p.capacity = options.size ? *options.size : total.item(stream, call.op()).i;

  const Dims shape{p.capacity};
  Unique result;
  result.values = call.empty(shape, x.dtype());
  if (w.indices) result.indices = call.empty(shape, DType::int64);
  if (w.inverse) result.inverse = call.empty(x.shape(), DType::int64);
  if (w.counts) result.counts = call.empty(shape, DType::int64);
  for (const Array* out : {&result.values, &result.indices, &result.inverse, &result.counts})
    if (*out && out->size() > 0) call.writes(*out);
  p.values = result.values.data_ptr();
  p.indices = integers(result.indices);
  p.inverse = integers(result.inverse);
  p.counts = integers(result.counts);
  if (w.counts) p.starts = static_cast<int64_t*>(call.scratch(size_t(p.capacity + 1) * sizeof(int64_t)));
  kernels::sets::write_runs(call.queue(), p);
  // write_runs also writes the start of the first run that does not fit, if there is one: the last length needs it.
  if (p.capacity > 0 && (w.counts || options.size)) kernels::sets::finish_runs(call.queue(), p);
  return result;
}

}  // namespace stator
