// One shard of the reduction launchers: the rows of the op table whose number is STATOR_SHARD modulo STATOR_SHARDS.
#include "kernels/reduction_plan.cuh"
#include "kernels/reduction_shards.cuh"

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

template <class Spec, DTypeSet Set>
void reduce(const abi::Queue& q, const abi::Reduction& r, const kernels::ReductionScratch& scratch) {
  const auto run = [&]<class T>(type_tag<T>) {
    using C = typename Spec::template Compute<T>;
    const bool typed = widest(r.compute) == widest(dtype_of_v<C>);
    ReductionPlan p = plan_reduction(*q.limits, r, typed);
    p.work.partials = scratch.partials;
    p.work.counters = scratch.counters;
    if (typed && p.path != ReductionPath::strided) return submit<typename Spec::template Of<T, C>, Typed<T>>(q, p);
    visit(widest(r.compute), [&]<class W>(type_tag<W>) {
      if constexpr (widest(dtype_of_v<W>) == dtype_of_v<W> && in(dtype_of_v<W>, Spec::computes))
        submit<typename Spec::template Of<W, W>, Any<W>>(q, p);
    });
  };
  visit(r.in_dtype, [&]<class T>(type_tag<T> tag) {
    if constexpr (in(dtype_of_v<T>, Set)) run(tag);
  });
}

}  // namespace

template <>
void fill_reduction_shard<STATOR_SHARD>(kernels::ReductionTable& table) {
  const auto fill = [&]<Op op, class Spec, DTypeSet set>() {
    if constexpr (int(op) % STATOR_SHARDS == STATOR_SHARD) table.op[int(op)] = reduce<Spec, set>;
  };
  using namespace dtypes;
#define STATOR_FILL_reduce(name, set) fill.template operator()<Op::name, reducers::name, set>();
#define STATOR_FILL_creation(name, set)
#define STATOR_FILL_unary(name, set)
#define STATOR_FILL_binary(name, set)
#define STATOR_FILL_view(name, set)
#define STATOR_FILL_other(name, set)
#define STATOR_FILL_method(name, set)
#define OP(name, call, cls, set, ...) STATOR_FILL_##cls(name, (set))
#include <stator/ops.def>
}

}  // namespace stator::STATOR_COLUMN
