// LAMB (You et al., ICLR 2020): Adam's step, for each tensor as long as the tensor itself. The first launch updates the
// moments and finds the lengths, the second computes the step again and makes it.
#include "host/launcher.hpp"
#include "kernels/optim/length.cuh"
#include "kernels/optim/moments.cuh"

namespace stator::STATOR_TARGET::optim {
namespace {

template <class A>
struct Step {
  Moments<A> moments;
  A decay;

  STATOR_FN explicit Step(const params::OptimNumbers& n) : moments(n), decay(A(n.weight_decay)) {}
  STATOR_FN A operator()(A param, A mean, A square) const {
    return mean * moments.unbias1 / moments.deviation(square) + decay * param;
  }
};

// Where blocks have threads, these add to `squares` what a thread passes: parameters and their steps, by moments as
// they are stored.
template <class A, class S>
struct UpdateMoments {
  static constexpr int states = 2;
  static constexpr bool writes_param = false, writes_states = true;
  Step<A> step;
  A* squares;
  STATOR_FN void operator()(A grad, A& param, A (&s)[2]) const {
    step.moments.update(grad, s);
    if constexpr (!fast_host) {
      const A made = step(param, A(S(s[0])), A(S(s[1])));
      squares[0] += param * param;
      squares[1] += made * made;
    }
  }
};

template <class A>
struct MakeStep {
  static constexpr int states = 2;
  static constexpr bool writes_param = true, writes_states = false;
  Step<A> step;
  A rate;
  STATOR_FN void operator()(A, A& param, A (&s)[2]) const { param -= rate * step(param, s[0], s[1]); }
};

// The lengths of the chunk, of the parameters and of their step, by moments that are stored.
struct Lengths {
  double of_params, of_steps;
};
template <class A, class S, class P, class Group>
STATOR_FN Lengths chunk_lengths(const Group& group, const params::OptimTensor& t, const P* params, const Chunk& chunk,
                                const Step<A>& step) {
  const P* const param = params + chunk.first;
  const S *const mean = static_cast<const S*>(t.states[0]) + chunk.first, *const square =
                                                                              static_cast<const S*>(t.states[1]) +
                                                                              chunk.first;
  return {length_of<A>(group, chunk.n, [=](int64_t i) { return A(param[i]); }),
          length_of<A>(group, chunk.n, [=](int64_t i) { return step(A(param[i]), A(mean[i]), A(square[i])); })};
}
template <class T, class S, class Group>
STATOR_FN Lengths chunk_lengths(const Group& group, const params::OptimTensor& t, const Chunk& chunk,
                                const Step<opmath_t<T>>& step) {
  if constexpr (!std::is_same_v<T, S>)
    if (t.master != nullptr)
      return chunk_lengths<opmath_t<T>, S>(group, t, static_cast<const S*>(t.master), chunk, step);
  return chunk_lengths<opmath_t<T>, S>(group, t, static_cast<const T*>(t.param), chunk, step);
}

template <class T, class S, int Capacity, int Size>
STATOR_KERNEL(Size) void lamb_moments_kernel(TensorList<params::OptimTensor, Capacity> list,
                                             params::OptimNumbers numbers, double* partials, double* ratios,
                                             uint32_t* counters) {
  using A = opmath_t<T>;
  if (is_skipped(numbers)) return;
  const Group<Size> group;
  const Chunk chunk = chunk_of(list, group.block());
  const params::OptimTensor& t = list.tensors[chunk.tensor];
  using Known = Prepared<Step<A>, A>;
  const Known known = computed_once<Known>(group, [&] { return Known{Step<A>(numbers), gradient_factor<A>(numbers)}; });
  const Step<A> step = known.rule;
  A squares[2] = {};
  update_tensor<T, S>(group, t, chunk, UpdateMoments<A, S>{step, squares}, known.factor);
  Lengths own;
  if constexpr (fast_host) {
    own = chunk_lengths<T, S>(group, t, chunk, step);
  } else {
    const A of_params = group.reduce(squares[0], Sum{}), of_steps = group.reduce(squares[1], Sum{});
    if (SquareRange<A>::has(of_params) && SquareRange<A>::has(of_steps))
      own = {sqrt(double(of_params)), sqrt(double(of_steps))};
    else
      own = chunk_lengths<T, S>(group, t, chunk, step);
  }
  if (group.rank() == 0) {
    partials[2 * group.block()] = own.of_params;
    partials[2 * group.block() + 1] = own.of_steps;
  }
  // The last block of the tensor joins what its blocks found.
  const int64_t begin = chunk.tensor > 0 ? list.tensors[chunk.tensor - 1].end : 0;
  const int64_t chunks = t.end - begin;
  if (!group.last_block(counters + chunk.tensor, uint32_t(chunks))) return;
  const double* const all = partials + 2 * begin;
  const double of_params = length_of<double>(group, chunks, [=](int64_t i) { return all[2 * i]; });
  const double of_steps = length_of<double>(group, chunks, [=](int64_t i) { return all[2 * i + 1]; });
  if (group.rank() == 0) ratios[chunk.tensor] = of_params > 0 && of_steps > 0 ? of_params / of_steps : 1.0;
}

template <class T, class S, int Capacity, int Size>
STATOR_KERNEL(Size) void lamb_kernel(TensorList<params::OptimTensor, Capacity> list, params::OptimNumbers numbers,
                                     const double* ratios) {
  using A = opmath_t<T>;
  if (is_skipped(numbers)) return;
  const Group<Size> group;
  const Chunk chunk = chunk_of(list, group.block());
  const MakeStep<A> step = computed_once<MakeStep<A>>(
      group, [&] { return MakeStep<A>{Step<A>(numbers), A(value_of(numbers.lr) * ratios[chunk.tensor])}; });
  update_tensor<T, S>(group, list.tensors[chunk.tensor], chunk, step, A(1));
}

int64_t lamb_chunks(const params::DeviceLimits&, const params::OptimStep& p) {
  return chunks_of(p.tensors, p.tensor_count);
}

void lamb(const params::Queue& q, const params::OptimStep& p) {
  double* const ratios = p.partials + 2 * chunks_of(p.tensors, p.tensor_count);
  visit_mixed(p.dtype, p.state_dtype, [&]<class T, class S>(type_tag<T>, type_tag<S>) {
    constexpr int block = OptimTuning::block;
    double* partials = p.partials;
    for_lists(p.tensors, p.tensor_count,
              [&]<class Tensor, int Capacity>(const TensorList<Tensor, Capacity>& list, int64_t chunks, int32_t first) {
                launch(q, "lamb_moments", lamb_moments_kernel<T, S, Capacity, block>, {chunks, block}, list, p.numbers,
                       partials, ratios + first, p.counters + first);
                launch(q, "lamb", lamb_kernel<T, S, Capacity, block>, {chunks, block}, list, p.numbers, ratios + first);
                partials += 2 * chunks;
              });
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::optim

STATOR_LAUNCHER(optim, lamb)
STATOR_LAUNCHER(optim, lamb_chunks)
