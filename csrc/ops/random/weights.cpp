// choice and multinomial: draws by probabilities, which stay on the device.
#include "core/fault.hpp"
#include "core/op_call.hpp"
#include "core/text.hpp"
#include "ops/indexing/plan.hpp"
#include "ops/random/blocks.hpp"
#include "ops/sort/keys.hpp"
#include "params/random.hpp"

#include <stator/creation.hpp>
#include <stator/random.hpp>

#include <bit>
#include <cmath>
#include <string>

namespace stator::random {
namespace {

void refuse_probabilities(const params::FaultRecord& seen) {
  const std::string op = op_text(uint16_t(seen.op));
  const std::string number = std::to_string(std::bit_cast<double>(seen.value));
  if (seen.position >= 0)
    throw ValueError(op, "the probability p[" + std::to_string(seen.position) + "] is " + number,
                     "probabilities must be from 0 to 1");
  if (seen.position == params::sum_of_probabilities)
    throw ValueError(op, "probabilities sum to " + number, "the sum must be 1. Divide them by it, in float64");
  throw ValueError(op, "only " + std::to_string(seen.value) + " probabilities are not 0, and more are drawn",
                   "draw with replacement, or fewer");
}
const FaultRegistration probabilities{params::Fault::bad_probability, refuse_probabilities};

Array in_shape(const Array& flat, const Dims& shape) {
  return Array(flat.buffer(), flat.dtype(), shape, contiguous_strides(shape), flat.offset());
}

constexpr int64_t most_trials = int64_t(1) << 53;  // integers that a double represents

// How far the sum of probabilities of a dtype may be from 1, because they are rounded.
double tolerance_of(DType dtype) {
  return dtype == DType::float32 ? 3.5e-4 : itemsize(dtype) == 2 && in(dtype, dtypes::floats) ? 3.2e-2 : 1.5e-8;
}

void check_vector(const OpCall& call, const Array& p) {
  const std::string op(call.name());
  require_backend(call, p);
  if (!in(p.dtype(), dtypes::reals | dtypes::boolean))
    throw DTypeError(op, "got probabilities of dtype " + std::string(name(p.dtype())),
                     "probabilities must be real numbers");
  if (p.ndim() != 1)
    throw ShapeError(op, "got probabilities of shape " + str(p.shape()), "probabilities must have one axis");
}

uint64_t* cdf_scratch(OpCall& call, const Array& p) {
  return static_cast<uint64_t*>(call.scratch(size_t(p.size()) * sizeof(uint64_t)));
}

// The cumulative distribution function of a nonempty p, in one launch. From here on the op must use this queue: making
// another would raise the fault that this launch may have reported, in the middle of the op.
void build_cdf(const params::Queue& queue, const Array& p, int64_t least, uint64_t* cdf) {
  kernels::random::build_cdf(queue, {.p = p.data_ptr(),
                                     .dtype = p.dtype(),
                                     .n = p.size(),
                                     .step = p.strides()[0],
                                     .least = least,
                                     .tolerance = tolerance_of(p.dtype()),
                                     .cdf = cdf});
}

// k indices without replacement: those of the k smallest exponential keys.
Array draw_without_replacement(OpCall& call, State& state, const Array& p, int64_t k) {
  const int64_t n = p.size();
  const Array keys = call.empty(Dims{n}, DType::float64), winners = call.empty(Dims{k}, DType::int64);
  call.reads(p);
  call.writes(keys);
  kernels::random::exponential_keys(call.queue(), {.p = p.data_ptr(),
                                                   .dtype = p.dtype(),
                                                   .n = n,
                                                   .step = p.strides()[0],
                                                   .keys = static_cast<double*>(keys.data_ptr()),
                                                   .from = call.draws(state.seed, state.counter)});
  launch_sort(call, keys, 0, false, {0, k}, nullptr, &winners);
  build_cdf(call.queue(), p, k, cdf_scratch(call, p));
  state.counter += uint64_t(blocks_of(n, 2));
  return winners;
}

}  // namespace

Array probabilities(const Backend& backend, std::string_view op, const std::vector<double>& p, int64_t least,
                    const Stream& stream) {
  double sum = 0, lost = 0;  // Neumaier's sum
  int64_t positive = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    if (!(p[i] >= 0) || !std::isfinite(p[i]))
      throw ValueError(std::string(op), "the probability p[" + std::to_string(i) + "] is " + std::to_string(p[i]),
                       "probabilities must be from 0 to 1");
    const double next = sum + p[i];
    lost += std::abs(sum) >= p[i] ? (sum - next) + p[i] : (p[i] - next) + sum;
    sum = next;
    positive += p[i] > 0;
  }
  if (!(std::abs(sum + lost - 1) <= tolerance_of(DType::float64)))
    throw ValueError(std::string(op), "probabilities sum to " + std::to_string(sum + lost),
                     "the sum must be 1. Divide them by it, in float64");
  if (positive < least)
    throw ValueError(std::string(op),
                     std::to_string(positive) + " probabilities are not 0, " + std::to_string(least) + " are drawn",
                     "draw with replacement, or fewer");
  return from_host(backend, p.data(), DType::float64, Dims{int64_t(p.size())}, Dims{1}, false, stream);
}

Array choice(const Backend& backend, State& state, const Dims& shape, int64_t n, bool replace, const Array* p,
             const Stream& stream) {
  OpCall call(Op::choice, backend, stream);
  const std::string op(call.name());
  const int64_t size = checked_size(op, shape, 8);
  if (p) check_vector(call, *p);
  if (p && p->size() != n)
    throw ShapeError(op, "got " + std::to_string(p->size()) + " probabilities for " + std::to_string(n) + " outcomes",
                     "pass one for each outcome");
  if (n < 0 || (n == 0 && size > 0))
    throw ValueError(op, "got " + std::to_string(n) + " outcomes", "pass at least one outcome");
  if (!replace && size > n)
    throw ValueError(op,
                     "got " + std::to_string(size) + " draws of " + std::to_string(n) + " outcomes without replacement",
                     "draw fewer, or with replacement");
  if (!p && !replace) return in_shape(permutation(backend, state, n, size, stream), shape);
  if (!p && size > 0) return integers(backend, state, shape, Scalar(int64_t(0)), Scalar(n - 1), DType::int64, stream);
  if (size == 0) return call.empty(shape, DType::int64);
  if (!replace) {
    const Array winners = draw_without_replacement(call, state, *p, size);
    call.finish_indices();
    return in_shape(winners, shape);
  }
  const Array result = call.empty(shape, DType::int64);
  uint64_t* const cdf = cdf_scratch(call, *p);
  call.reads(*p);
  call.writes(result);
  const params::Queue& queue = call.queue();
  build_cdf(queue, *p, 0, cdf);
  kernels::random::categorical(queue, {.cdf = cdf,
                                       .out = static_cast<int64_t*>(result.data_ptr()),
                                       .n = n,
                                       .size = size,
                                       .from = call.draws(state.seed, state.counter)});
  state.counter += uint64_t(blocks_of(size, 2));
  call.finish_indices();
  return result;
}

Array multinomial(const Backend& backend, State& state, const Dims& shape, int64_t n, const Array& p,
                  const Stream& stream) {
  OpCall call(Op::multinomial, backend, stream);
  const std::string op(call.name());
  if (n < 0 || n > most_trials)
    throw ValueError(op, "n=" + std::to_string(n), "the number of trials must be from 0 to 2**53");
  check_vector(call, p);
  const int64_t outcomes = p.size();
  if (outcomes == 0)
    throw ValueError(op, "got no probabilities, which sum to 0", "pass one for each outcome, at least one");
  Dims wide = shape;
  wide.push_back(outcomes);
  checked_size(op, wide, 8);
  const Array result = call.empty(wide, DType::int64);
  if (result.size() == 0) return result;
  uint64_t* const cdf = cdf_scratch(call, p);
  call.reads(p);
  call.writes(result);
  const params::Queue& queue = call.queue();
  build_cdf(queue, p, 0, cdf);
  kernels::random::multinomial(queue, {.cdf = cdf,
                                       .counts = static_cast<int64_t*>(result.data_ptr()),
                                       .n = outcomes,
                                       .trials = n,
                                       .experiments = result.size() / outcomes,
                                       .from = call.draws(state.seed, state.counter)});
  state.counter += uint64_t(result.size());
  call.finish_indices();
  return result;
}

}  // namespace stator::random
