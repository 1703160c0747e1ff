// Gradients of the weights of convolutions: parts, each a sum over some of the results, and then their sum. Where
// blocks have threads, tensor cores multiply halves whose channels are whole vectors, which launches before arrange.
#include "device/index.cuh"
#include "host/launcher.hpp"
#include "kernels/convolution/gradient_fast.cuh"
#include "kernels/convolution/gradient_planes.cuh"
#include "kernels/convolution/gradient_tile.cuh"
#include "kernels/convolution/gradient_vectors.cuh"

namespace stator::STATOR_TARGET::convolution {
namespace {

int64_t elements_of(const params::WeightGradient& p) {
  return p.groups * p.rows * p.channels * p.dweight.taps[0] * p.dweight.taps[1] * p.dweight.taps[2];
}

// Direct sums read all results once per element of the gradient, which is less work than an almost empty tile only for
// few elements.
bool sums_directly(const params::WeightGradient& p) {
  constexpr int64_t few = 128;
  return is_direct(p.rows, p.channels) && elements_of(p) < few * p.groups;
}

// Blocks with threads: as many splits as fill the device, of at least eight steps each.
template <class T>
GradientTilePlan plan_gradient_tiles(const params::DeviceLimits& limits, const params::WeightGradient& p) {
  constexpr int64_t depth = TileOf<T>::depth;
  const int64_t elements = elements_of(p), all = p.samples * axes_of(p).positions();
  GradientTilePlan plan;
  plan.row_tiles = ceil_div(p.rows, TileTuning::rows);
  plan.column_tiles = ceil_div(elements / p.groups / p.rows, TileTuning::columns);
  const int64_t tiles = plan.row_tiles * plan.column_tiles * p.groups, bytes = elements * int64_t(sizeof(sum_of<T>));
  const int64_t splits = std::min({ceil_div(int64_t(limits.multiprocessors) * 2, tiles), ceil_div(all, 8 * depth),
                                   std::max<int64_t>(GradientTuning::partial_bytes / bytes, 1)});
  plan.chunk = ceil_div(ceil_div(all, std::max<int64_t>(splits, 1)), depth) * depth;
  plan.splits = all ? ceil_div(all, plan.chunk) : 0;
  plan.blocks = tiles * plan.splits;
  return plan;
}

inline PartsPlan parts_of(const params::WeightGradient& p, const GradientPlanesPlan& plan) {
  return {
      plan.splits, p.groups * plan.row_blocks, elements_of(p) / p.groups / p.rows, plan.weight_rows, plan.row_blocks,
      p.rows};
}
inline PartsPlan parts_of(const params::WeightGradient& p, const GradientPlan& plan) {
  return {plan.splits, 1, 1, elements_of(p), 1, elements_of(p)};
}

// The elements of all parts.
template <class T>
int64_t partial_elements(const params::DeviceLimits& limits, const params::WeightGradient& p) {
  if constexpr (fast_host) {
    const auto all = [&](const auto& plan) { return plan.splits * parts_of(p, plan).elements(); };
    if (GradientPlanesPlan plan; plan_gradient_planes<sum_of<T>>(p, plan)) return all(plan);
    if (GradientPlan plan; plan_gradient<sum_of<T>>(p, plan)) return all(plan);
    return elements_of(p);
  } else {
    return elements_of(p) * (sums_directly(p) ? 1 : plan_gradient_tiles<T>(limits, p).splits);
  }
}

// Of all parts, at least one; what follows them is at a multiple of 16 bytes.
template <class T>
int64_t partial_bytes(const params::DeviceLimits& limits, const params::WeightGradient& p) {
  const int64_t elements = std::max(partial_elements<T>(limits, p), elements_of(p));
  return ceil_div(elements * int64_t(sizeof(sum_of<T>)), 16) * 16;
}

int64_t weight_gradient_scratch(const params::DeviceLimits& limits, const params::WeightGradient& p) {
  return visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    GradientVectors vectors;
    const int64_t copies = find_vectors<T>(p, vectors) ? vectors.source_bytes + vectors.grad_bytes : 0;
    return partial_bytes<T>(limits, p) + copies;
  });
}

template <class T>
void start_sum(const params::Queue& q, const params::WeightGradient& p, const GradientParts& parts) {
  const int64_t elements = elements_of(p);
  launch(q, "weight_gradient_sum", gradient_sum_kernel<DirectTuning::block, T>,
         {ceil_div(elements, DirectTuning::tile), DirectTuning::block}, p, parts, elements);
}

template <class T>
void sum_directly(const params::Queue& q, const params::WeightGradient& p) {
  launch(q, "weight_gradient_direct", gradient_direct_kernel<DirectTuning::block, T>,
         {elements_of(p), DirectTuning::block}, p);
  start_sum<T>(q, p, {1, 1, p.channels});
}

template <class T>
void start_gradient_slab(const params::Queue& q, const params::WeightGradient& p) {
  using C = sum_of<T>;
  const auto start = [&](auto kernel, const auto& plan) {
    launch(q, "weight_gradient", kernel, {plan.blocks, GradientTuning::block, int(plan.shared_bytes)}, p, plan);
    const PartsPlan parts = parts_of(p, plan);
    launch(q, "weight_gradient_sum", sum_parts_kernel<GradientTuning::block, T>,
           {parts.lines * parts.across() * parts.down(), GradientTuning::block, int(PartsPlan::tile * sizeof(C))},
           static_cast<const C*>(p.partials), static_cast<T*>(const_cast<void*>(p.dweight.data)), parts);
  };
  if (GradientPlanesPlan plan; plan_gradient_planes<C>(p, plan))
    return start(gradient_planes_kernel<GradientTuning::block, T>, plan);
  if (GradientPlan plan; plan_gradient<C>(p, plan)) return start(gradient_slab_kernel<GradientTuning::block, T>, plan);
  sum_directly<T>(q, p);
}

template <class T>
void start_gradient_vectors(const params::Queue& q, params::WeightGradient p, const GradientTilePlan& plan,
                            GradientVectors& v) {
  if constexpr (has_tensor_cores && is_half<T>) {
    char* const free = static_cast<char*>(p.partials) + partial_bytes<T>(*q.limits, p);
    v.source.to.data = v.copies_source ? free : p.source.data;
    v.grad.to.data = v.copies_grad ? free + v.source_bytes : p.grad.data;
    if (v.copies_source) start_channels_last<T>(q, v.source);
    if (v.copies_grad) start_channels_last<T>(q, v.grad);
    p.source = v.source.to;
    p.grad = v.grad.to;
    const Axes a = axes_of(p);
    const int32_t row = a[2].count, plane = a[1].count * row, results = int32_t(a.positions());
    launch(q, "weight_gradient", gradient_vectors_kernel<TileTuning::block, T>, {plan.blocks, TileTuning::block}, p,
           plan, {FastDivmod(results), FastDivmod(plane), FastDivmod(row)});
  }
}

template <class T>
void start_gradient_tiles(const params::Queue& q, const params::WeightGradient& p) {
  if (sums_directly(p)) return sum_directly<T>(q, p);
  const GradientTilePlan plan = plan_gradient_tiles<T>(*q.limits, p);
  if (GradientVectors vectors; find_vectors<T>(p, vectors)) {
    start_gradient_vectors<T>(q, p, plan, vectors);
    return start_sum<T>(q, p, {plan.splits, 1, p.channels});
  }
  const Axes a = axes_of(p);
  launch(q, "weight_gradient", gradient_tile_kernel<TileTuning::block, T>, {plan.blocks, TileTuning::block}, p, plan,
         FastDivmod(a[1].count * a[2].count), FastDivmod(a[2].count));
  start_sum<T>(q, p, {plan.splits, 1, p.channels});
}

void weight_gradient(const params::Queue& q, const params::WeightGradient& p) {
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    if constexpr (fast_host)
      start_gradient_slab<T>(q, p);
    else
      start_gradient_tiles<T>(q, p);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::convolution

STATOR_LAUNCHER(convolution, weight_gradient)
STATOR_LAUNCHER(convolution, weight_gradient_scratch)
