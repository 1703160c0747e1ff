// Every reducer of the checked target in each of its modes: see kernel_support.hpp.
#include "kernel_support.hpp"
#include "ops/reduce/rules.hpp"

namespace {

using namespace stator;

struct Axis {
  int64_t extent, stride;
};

// Of one array: kept axes, reduced axes. The splits of an axis over blocks come with the long ones, and each has a
// block, a warp and a vector in part.
struct Layout {
  const char* name;
  std::vector<Axis> kept, reduced;
  bool masked;  // tried with masks too

  static int64_t size_of(const std::vector<Axis>& axes) {
    int64_t n = 1;
    for (const Axis& a : axes) n *= a.extent;
    return n;
  }
  int64_t memory() const {
    int64_t last = 0;
    for (const auto* axes : {&kept, &reduced})
      for (const Axis& a : *axes) last += (a.extent - 1) * a.stride;
    return last + 1;
  }
  static int64_t offset(const std::vector<Axis>& axes, int64_t i) {
    int64_t at = 0;
    for (size_t d = axes.size(); d-- > 0; i /= axes[d].extent) at += i % axes[d].extent * axes[d].stride;
    return at;
  }
};

const Layout layouts[] = {
    {"rows", {{19, 301}}, {{301, 1}}, true},
    {"long", {}, {{17011, 1}}, false},
    {"columns", {{301, 1}}, {{19, 301}}, true},
    {"tall", {{5, 1}}, {{1300, 5}}, true},
    {"strided", {{19, 301}}, {{150, 2}}, false},
    {"two axes", {{4, 7}}, {{5, 28}, {7, 1}}, true},
    {"runs", {{2, 1030}}, {{3, 2060}, {1030, 1}}, false},
    {"kept apart", {{3, 900}, {70, 1}}, {{9, 70}}, false},
};

enum class Mask { none, each, of_reduced };
constexpr const char* mask_names[] = {"", " masked", " masked by rows"};

struct Case {
  Op op;
  double parameter;
};
const Case cases[] = {{Op::sum, 0},
                      {Op::nansum, 0},
                      {Op::prod, 0},
                      {Op::mean, 0},
                      {Op::nanmean, 0},
                      {Op::var, 1},
                      {Op::std, 0},
                      {Op::max, 0},
                      {Op::min, 0},
                      {Op::nanmax, 0},
                      {Op::nanmin, 0},
                      {Op::argmax, 0},
                      {Op::argmin, 0},
                      {Op::all, 0},
                      {Op::any, 0},
                      {Op::count_nonzero, 0},
                      {Op::has_inf_nan, 0},
                      {Op::logsumexp, 0},
                      {Op::vector_norm, 2},
                      {Op::vector_norm, 1},
                      {Op::vector_norm, 0},
                      {Op::vector_norm, 3},
                      {Op::vector_norm, HUGE_VAL},
                      {Op::vector_norm, -HUGE_VAL}};

struct Types {
  DType compute, result;
};
Types types_of(const OpInfo& row, DType d) {
  const bool is_integer = in(d, dtypes::integers | dtypes::boolean);
  const DType wide = in(d, dtypes::unsigned_integers) ? DType::uint64 : is_integer ? DType::int64 : d;
  switch (row.result) {
    case ResultRule::boolean: return {d, DType::bool_};
    case ResultRule::index: return {d, DType::int64};
    case ResultRule::inexact: return {to_inexact(d), to_inexact(d)};
    case ResultRule::real: return {to_inexact(d), real_part(to_inexact(d))};
    case ResultRule::accumulate: return {wide, wide};
    default: return {d, d};
  }
}

// What is reduced: products stay small, and NaN stands where it is looked for.
Bytes elements(Op op, DType dtype, int64_t n) {
  Bytes x(dtype, n);
  const bool skips = op == Op::nansum || op == Op::nanmean || op == Op::nanmax || op == Op::nanmin;
  for (int64_t i = 0; i < n; ++i) {
    Value v = varied(dtype, i, 1);
    if (op == Op::prod) v = i % 2003 == 1 ? 2 : 1;
    if (op == Op::all && i % 500 != 1) v = 1;
    if (in(dtype, dtypes::inexact) && ((skips && i % 11 == 5) || (op == Op::has_inf_nan && i % 3001 == 7))) v = NAN;
    write(x, i, v);
  }
  return x;
}

// The extreme of no elements is the other extreme of the dtype.
double of_nothing(Op op, DType dtype) {
  const bool largest = op == Op::max || op == Op::nanmax;
  return visit(dtype, [&]<class T>(type_tag<T>) -> double {
    if constexpr (std::is_integral_v<T>)
      return double(largest ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max());
    else
      return op == Op::nanmax || op == Op::nanmin ? NAN : largest ? -HUGE_VAL : HUGE_VAL;
  });
}

Value reference(const Case& c, DType dtype, const std::vector<Value>& all) {
  std::vector<Value> x;
  const bool skips = c.op == Op::nansum || c.op == Op::nanmean || c.op == Op::nanmax || c.op == Op::nanmin;
  for (const Value& v : all)
    if (!skips || !std::isnan(v.real())) x.push_back(v);
  const double n = double(x.size()), p = c.parameter;
  Value sum = 0, product = 1, exps = 0;
  double nonzero = 0, bad = 0, squares = 0, powers = 0, largest = -HUGE_VAL, smallest = HUGE_VAL;
  double most = 0, least = HUGE_VAL;
  int64_t first = 0, last = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    sum += x[i];
    product *= x[i];
    nonzero += x[i] != 0.0;
    bad += !std::isfinite(x[i].real());
    if (c.op == Op::logsumexp) exps += std::exp(x[i]);
    if (c.op == Op::vector_norm) {
      const double size = std::abs(x[i]);
      powers += std::pow(size, p);
      most = std::max(most, size);
      least = std::min(least, size);
    }
    if (x[i].real() > largest) largest = x[i].real(), first = int64_t(i);
    if (x[i].real() < smallest) smallest = x[i].real(), last = int64_t(i);
  }
  for (const Value& v : x) squares += std::norm(v - sum / n);
  const double variance = squares / std::max(n - p, 0.0);
  switch (c.op) {
    case Op::sum:
    case Op::nansum: return sum;
    case Op::prod: return product;
    case Op::mean:
    case Op::nanmean: return sum / n;
    case Op::var: return variance;
    case Op::std: return std::sqrt(variance);
    case Op::max:
    case Op::nanmax: return n > 0 ? largest : of_nothing(c.op, dtype);
    case Op::min:
    case Op::nanmin: return n > 0 ? smallest : of_nothing(c.op, dtype);
    case Op::argmax: return double(first);
    case Op::argmin: return double(last);
    case Op::count_nonzero: return nonzero;
    case Op::any: return nonzero > 0;
    case Op::all: return nonzero == n;
    case Op::has_inf_nan: return bad > 0;
    case Op::logsumexp: return std::log(exps);
    default: break;
  }
  if (std::isinf(p)) return p > 0 ? most : least;
  return p == 0 ? nonzero : std::pow(powers, 1 / p);
}

struct Task {
  params::Reduction r{};
  kernels::reduce::Reducer reducer;
  std::string name;
};

Bytes run_task(const Task& t, Op op, int64_t outputs) {
  return run(t.name, op, Bytes(t.r.out_dtype, outputs), [&](const params::Queue& q, Bytes& out) {
    params::Reduction r = t.r;
    r.out = out.get();
    const kernels::reduce::Needs needs = kernels::reduce::needs(h200, r);
    std::vector<unsigned char> partials(size_t(needs.partial_bytes));
    std::vector<uint32_t> counters(size_t(needs.counter_bytes / 4));
    kernels::reduce::run(q, t.reducer, r, {partials.data(), counters.data()});
    for (uint32_t c : counters) check(c == 0, t.name + ": counters are left zero");
  });
}

Task task_of(const Case& c, DType dtype, bool masked) {
  const OpInfo& row = op_info(c.op);
  const ReductionRule rule = reduction_rule(c.op, dtype, c.parameter, masked);
  Task t;
  const Types types = types_of(row, dtype);
  t.r.in_dtype = dtype;
  t.r.compute = types.compute;
  t.r.out_dtype = types.result;
  t.r.mode = rule.mode;
  t.reducer = rule.reducer;
  t.name = std::string(row.name) + " " + std::string(stator::name(dtype));
  return t;
}

// `source`, `counts`: values for x and the mask, more than enough.
void test_layout(const Case& c, DType dtype, const Layout& l, Mask masking, const Bytes& source, const Bytes& counts) {
  const bool masked = masking != Mask::none;
  Task t = task_of(c, dtype, masked);
  t.name += std::string(" ") + l.name + mask_names[int(masking)];
  const int64_t size = l.memory();
  Bytes x(dtype, size), mask(DType::bool_, masked ? size : 0);
  std::copy_n(source.data.begin(), x.data.size(), x.data.begin());
  std::copy_n(counts.data.begin(), mask.data.size(), mask.data.begin());
  params::Reduction& r = t.r;
  r.in = x.get();
  if (masked) r.mask = static_cast<const bool*>(mask.get());
  r.kept_ndim = int32_t(l.kept.size());
  r.reduced_ndim = int32_t(l.reduced.size());
  r.kept_size = Layout::size_of(l.kept);
  r.reduced_size = Layout::size_of(l.reduced);
  for (size_t d = 0; d < l.kept.size(); ++d) {
    r.kept_shape[d] = l.kept[d].extent;
    r.kept_strides[d] = l.kept[d].stride;
    r.kept_mask_strides[d] = masking == Mask::each ? l.kept[d].stride : 0;
  }
  for (size_t d = 0; d < l.reduced.size(); ++d) {
    r.reduced_shape[d] = l.reduced[d].extent;
    r.reduced_strides[d] = r.reduced_mask_strides[d] = l.reduced[d].stride;
  }
  const Bytes got = run_task(t, c.op, r.kept_size);
  expect(
      t.name, got,
      [&](int64_t k) {
        const int64_t base = Layout::offset(l.kept, k);
        std::vector<Value> counted;
        for (int64_t i = 0; i < r.reduced_size; ++i) {
          const int64_t at = Layout::offset(l.reduced, i);
          if (!masked || mask.data[size_t(at + (masking == Mask::each ? base : 0))])
            counted.push_back(read(x, base + at));
        }
        return reference(c, dtype, counted);
      },
      4 * tolerance(t.r.out_dtype));
}

// The mask leaves nothing.
void test_nothing(const Case& c, DType dtype) {
  Task t = task_of(c, dtype, true);
  t.name += " of no elements";
  Bytes x = elements(c.op, dtype, 3 * 40), mask(DType::bool_, 3 * 40);
  params::Reduction& r = t.r;
  r.in = x.get();
  r.mask = static_cast<const bool*>(mask.get());
  r.kept_ndim = r.reduced_ndim = 1;
  r.kept_shape[0] = r.kept_size = 3;
  r.reduced_shape[0] = r.reduced_size = 40;
  r.kept_strides[0] = r.kept_mask_strides[0] = 40;
  r.reduced_strides[0] = r.reduced_mask_strides[0] = 1;
  expect(t.name, run_task(t, c.op, 3), [&](int64_t) { return reference(c, dtype, {}); }, 0);
}

constexpr int64_t most = 17011;

// Those that have kernels of their own, and of the others one that is converted to each type of accumulation.
constexpr DTypeSet tested = dtypes::full_floats | dtypes::complexes | dtypes::boolean | dtype_bit(DType::int64) |
                            dtype_bit(DType::int32) | dtype_bit(DType::int8) | dtype_bit(DType::uint16) |
                            dtype_bit(DType::bfloat16);
// With a mask, kernels convert always: a dtype for each type of accumulation.
constexpr DTypeSet masked = dtypes::boolean | dtype_bit(DType::int8) | dtype_bit(DType::bfloat16) |
                            dtype_bit(DType::float64) | dtype_bit(DType::complex64);

void test_case(const Case& c) {
  Bytes counts(DType::bool_, most);
  for (int64_t i = 0; i < most; ++i) write(counts, i, (i * 7 + i / 9) % 5 < 3);
  const OpInfo& row = op_info(c.op);
  const bool positional = row.name.starts_with("arg");
  for (int d = 0; d < dtype_count; ++d) {
    const DType dtype = DType(d);
    if (!in(dtype, row.dtypes & tested)) continue;
    const Bytes source = elements(c.op, dtype, most);
    for (const Layout& l : layouts) {
      test_layout(c, dtype, l, Mask::none, source, counts);
      if (positional || !l.masked || !in(dtype, masked)) continue;
      for (Mask masking : {Mask::each, Mask::of_reduced}) test_layout(c, dtype, l, masking, source, counts);
    }
    if (!positional) test_nothing(c, dtype);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<stator::test::Case> named;
  for (const Case& c : cases) {
    std::string name(op_info(c.op).name);
    const double order = c.parameter;
    if (c.op == Op::vector_norm)
      name += std::isinf(order) ? order > 0 ? "_inf" : "_minus_inf" : "_" + std::to_string(int(order));
    named.push_back({name, [&c] { test_case(c); }});
  }
  return stator::test::run(argc, argv, named);
}
