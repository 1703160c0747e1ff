// One shard of the reduction launchers: the reducers whose number is STATOR_SHARD modulo STATOR_SHARDS.
#include "kernels/reduce/plan.cuh"
#include "kernels/reduce/shards.cuh"

namespace stator::STATOR_COLUMN {
namespace {

// What narrow types are widened to when elements of any dtype are reduced by one kernel.
constexpr DType widest(DType d) {
  switch (kind_of(d)) {
    case Kind::signed_integer: return DType::int64;
    case Kind::boolean:
    case Kind::unsigned_integer: return DType::uint64;
    case Kind::floating: return d == DType::float64 ? d : DType::float32;
    default: return d;
  }
}

// On the fast host kernels serve a second type too: unsigned integers where they wrap as signed ones do, and complex64
// where it is widened element by element.
template <class Spec>
constexpr DType computed_in(DType d) {
  if (!fast_host || !in(d, Spec::shared)) return d;
  return d == DType::uint64 ? DType::int64 : DType::complex128;
}

template <class R, class Source>
void submit(const abi::Queue& q, const ReductionPlan& p) {
  using Tune = ReductionTuning;
  static_assert(sizeof(typename R::Acc) <= most_accumulator_bytes);
  const Config config{p.blocks(), Tune::block};
  if (p.path == ReductionPath::columns)
    launch(q, "reduce_columns", reduce_columns<R, Source, Tune::block>, config, p.work);
  else
    launch(q, "reduce_rows", reduce_rows<R, Source, Tune::block>, config, p.work);
}

template <class Spec>
void reduce(const abi::Queue& q, const abi::Reduction& r, const kernels::ReductionScratch& scratch) {
  const auto plan = [&](bool typed) {
    ReductionPlan p = plan_reduction(*q.limits, r, typed);
    p.work.partials = scratch.partials;
    p.work.counters = scratch.counters;
    return p;
  };
  bool done = false;
  visit(r.in_dtype, [&]<class T>(type_tag<T>) {
    // On the fast host the kernel of any dtype reads what it computes in as it is.
    if constexpr (in(dtype_of_v<T>, Spec::typed) && !(fast_host && widest(dtype_of_v<T>) == dtype_of_v<T>)) {
      using C = typename Spec::template Compute<T>;
      if (r.mask != nullptr || widest(r.compute) != widest(dtype_of_v<C>)) return;
      const ReductionPlan p = plan(true);
      if (!fast_host && p.path == ReductionPath::strided) return;
      submit<typename Spec::template Of<T, C>, Typed<T>>(q, p);
      done = true;
    }
  });
  if (done) return;
  visit(computed_in<Spec>(widest(r.compute)), [&]<class W>(type_tag<W>) {
    constexpr DType computed = computed_in<Spec>(widest(dtype_of_v<W>));
    if constexpr (computed == dtype_of_v<W> && in(computed, Spec::computes))
      submit<typename Spec::template Of<W, W>, Any<W>>(q, plan(false));
  });
}

}  // namespace

template <>
void fill_reduction_shard<STATOR_SHARD>(kernels::ReductionTable& table) {
  const auto fill = [&]<kernels::Reducer which, class Spec>() {
    if constexpr (int(which) % STATOR_SHARDS == STATOR_SHARD) table.run[int(which)] = reduce<Spec>;
  };
  using enum kernels::Reducer;
  fill.template operator()<sum, reducers::sum>();
  fill.template operator()<product, reducers::product>();
  fill.template operator()<extreme, reducers::extreme>();
  fill.template operator()<position, reducers::position>();
  fill.template operator()<count, reducers::count>();
  fill.template operator()<moments, reducers::moments>();
  fill.template operator()<norm, reducers::norm>();
  fill.template operator()<logsumexp, reducers::logsumexp>();
  fill.template operator()<euclidean, reducers::euclidean>();
}

}  // namespace stator::STATOR_COLUMN
