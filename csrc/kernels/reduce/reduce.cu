// The reduction launchers. Each compilation of this file has the reducers whose number is STATOR_SHARD modulo
// STATOR_SHARDS.
#include "device/launcher.cuh"
#include "kernels/reduce/plan.cuh"

namespace stator::STATOR_TARGET::reduce {

// Indexed by Reducer; each shard sets its own entries when it is loaded.
using ReduceFunction = void (*)(const params::Queue&, const params::Reduction&, const kernels::reduce::Scratch&);
extern ReduceFunction by_reducer[kernels::reduce::reducer_count];

namespace {

// What dtypes are widened to when one kernel reduces elements of several dtypes.
constexpr DType widest(DType d) {
  switch (kind_of(d)) {
    case Kind::signed_integer: return DType::int64;
    case Kind::boolean:
    case Kind::unsigned_integer: return DType::uint64;
    case Kind::floating: return d == DType::float64 ? d : DType::float32;
    default: return d;
  }
}

// The dtype whose kernel serves d. On the fast host some kernels serve a second dtype: int64 for unsigned integers that
// wrap as signed ones do, and complex128 for complex64 that is widened element by element.
template <class Spec>
constexpr DType computed_in(DType d) {
  if (!fast_host || !in(d, Spec::shared)) return d;
  return d == DType::uint64 ? DType::int64 : DType::complex128;
}

template <class R, class Source>
void submit(const params::Queue& q, const ReductionPlan& p) {
  using Tune = ReductionTuning;
  static_assert(Reducer<R>);
  static_assert(sizeof(typename R::Acc) <= most_accumulator_bytes);
  const Config config{p.blocks(), Tune::block};
  if (p.path == ReductionPath::columns)
    launch(q, "reduce_columns", reduce_columns<R, Source, Tune::block>, config, p.work);
  else
    launch(q, "reduce_rows", reduce_rows<R, Source, Tune::block>, config, p.work);
}

template <class Spec>
void reduce(const params::Queue& q, const params::Reduction& r, const kernels::reduce::Scratch& scratch) {
  const auto plan = [&](bool typed, bool runs, int resident) {
    ReductionPlan p = plan_reduction(*q.limits, r, typed, runs, resident);
    p.work.partials = scratch.partials;
    p.work.counters = scratch.counters;
    return p;
  };
  bool done = false;
  visit(r.in_dtype, [&]<class T>(type_tag<T>) {
    // On the fast host ErasedLoad reads elements of the dtype that it computes in directly.
    if constexpr (in(dtype_of_v<T>, Spec::typed) && !(fast_host && widest(dtype_of_v<T>) == dtype_of_v<T>)) {
      using C = typename Spec::template Compute<T>;
      if (r.mask != nullptr || widest(r.compute) != widest(dtype_of_v<C>)) return;
      using R = typename Spec::template Of<T, C>;
      const ReductionPlan p = plan(true, short_rows_are_runs<R>, resident<R, TypedLoad<T>>);
      if (!fast_host && p.path == ReductionPath::strided) return;
      submit<R, TypedLoad<T>>(q, p);
      done = true;
    }
  });
  if (done) return;
  visit(computed_in<Spec>(widest(r.compute)), [&]<class W>(type_tag<W>) {
    constexpr DType computed = computed_in<Spec>(widest(dtype_of_v<W>));
    if constexpr (computed == dtype_of_v<W> && in(computed, Spec::computes)) {
      using R = typename Spec::template Of<W, W>;
      submit<R, ErasedLoad<W>>(q, plan(false, short_rows_are_runs<R>, resident<R, ErasedLoad<W>>));
    }
  });
}

template <int Shard>
bool set_reducers() {
  const auto set = [&]<kernels::reduce::Reducer which, class Spec>() {
    if constexpr (int(which) % STATOR_SHARDS == Shard) by_reducer[int(which)] = reduce<Spec>;
  };
  using enum kernels::reduce::Reducer;
  set.template operator()<sum, reducers::sum>();
  set.template operator()<product, reducers::product>();
  set.template operator()<extreme, reducers::extreme>();
  set.template operator()<position, reducers::position>();
  set.template operator()<count, reducers::count>();
  set.template operator()<moments, reducers::moments>();
  set.template operator()<norm, reducers::norm>();
  set.template operator()<logsumexp, reducers::logsumexp>();
  set.template operator()<euclidean, reducers::euclidean>();
  return true;
}
[[maybe_unused]] const bool are_set = set_reducers<STATOR_SHARD>();

}  // namespace

#if STATOR_SHARD == 0
constinit ReduceFunction by_reducer[kernels::reduce::reducer_count] = {};

void run(const params::Queue& q, kernels::reduce::Reducer reducer, const params::Reduction& r,
         const kernels::reduce::Scratch& scratch) {
  by_reducer[int(reducer)](q, r, scratch);
}

// Enough for every kernel that the launcher may choose: fewer resident blocks never split more.
kernels::reduce::Needs needs(const params::DeviceLimits& limits, const params::Reduction& r) {
  kernels::reduce::Needs needs{};
  for (const bool typed : {false, true}) {
    // Rows that are short enough for runs do not split.
    const ReductionPlan p = plan_reduction(limits, r, typed, false, most_resident);
    needs.partial_bytes = std::max(needs.partial_bytes, p.partials() * most_accumulator_bytes);
    needs.counter_bytes = std::max<int64_t>(needs.counter_bytes, p.split() ? p.groups * int64_t(sizeof(uint32_t)) : 0);
  }
  return needs;
}
#endif

}  // namespace stator::STATOR_TARGET::reduce

#if STATOR_SHARD == 0
STATOR_LAUNCHER(reduce, needs)
STATOR_LAUNCHER(reduce, run)
#endif
