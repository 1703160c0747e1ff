// A step of an optimiser in one launch: the rule of each element, and the passage of tensors through it.
#pragma once

#include "device/vector.cuh"
#include "kernels/optim/tensors.cuh"

#include <utility>

namespace stator::STATOR_TARGET::optim {

// base^exponent by squaring: equal bits on every target, also where the number of the step is read by the kernel.
STATOR_FN double power(double base, double exponent) {
  double result = 1;
  for (int64_t left = int64_t(exponent); left > 0; left >>= 1, base *= base)
    if (left & 1) result *= base;
  return result;
}

// What f() gives, computed by one thread: the numbers of a step are few, and float64 is slow on many GPUs.
template <class V, class Group, class F>
STATOR_FN V computed_once(const Group& group, F f) {
  if constexpr (fast_host) {
    return f();
  } else {
    struct Shared {
      alignas(V) unsigned char bytes[sizeof(V)];
    };
    Shared& shared = group.template shared<Shared>();
    if (group.rank() == 0) *reinterpret_cast<V*>(shared.bytes) = f();
    group.sync();
    return *reinterpret_cast<const V*>(shared.bytes);
  }
}

struct StepTuning {
  static constexpr int64_t tile = 1024;  // elements that the fast host updates at once, in the nearest cache
};

// A rule, and what gradients are multiplied by before it.
template <class Rule, class A>
struct Prepared {
  Rule rule;
  A factor;
};

template <class A>
STATOR_FN A gradient_factor(const params::OptimNumbers& n) {
  const double factor = value_of(n.grad_factor) / value_of(n.grad_scale);
  return A(n.maximize ? -factor : factor);
}

STATOR_FN bool is_skipped(const params::OptimNumbers& n) { return n.found_inf != nullptr && *n.found_inf; }

// Updates one chunk: rule(gradient, parameter, states) for each element, in vectors if the addresses allow. Parameters
// with a master are rounded copies of it.
template <bool HasMaster, class T, class S, class Group, class Rule>
STATOR_FN void update_chunk(const Group& group, const params::OptimTensor& t, const Chunk& chunk, const Rule& rule,
                            opmath_t<T> factor) {
  using A = opmath_t<T>;
  constexpr int states = Rule::states;
  struct Pointers {
    S* of[states];
  };
  T* const param = static_cast<T*>(t.param) + chunk.first;
  const T* const grad = static_cast<const T*>(t.grad) + chunk.first;
  S* const master = HasMaster ? static_cast<S*>(t.master) + chunk.first : nullptr;
  Pointers state{};
  uintptr_t address = reinterpret_cast<uintptr_t>(param) | reinterpret_cast<uintptr_t>(grad);
  if constexpr (HasMaster) address |= reinterpret_cast<uintptr_t>(master);
  for (int k = 0; k < states; ++k)
    if (t.states[k] != nullptr) {
      state.of[k] = static_cast<S*>(t.states[k]) + chunk.first;
      address |= reinterpret_cast<uintptr_t>(state.of[k]);
    }

  if constexpr (fast_host) {
    // A loop that is vectorised: without loops over the states in it, and without asking which of them are absent.
    // Those are zeros, which rules leave as they are.
    const auto each_state = [](auto f) {
      [&]<int... K>(std::integer_sequence<int, K...>) { (f(K), ...); }(std::make_integer_sequence<int, states>());
    };
    constexpr int64_t tile = StepTuning::tile;
    S zeros[states][tile] = {};
    for (int64_t first = 0; first < chunk.n; first += tile) {
      Pointers at;
      for (int k = 0; k < states; ++k) at.of[k] = state.of[k] != nullptr ? state.of[k] + first : zeros[k];
      const T* const g = grad + first;
      T* const p = param + first;
      S* const wide = HasMaster ? master + first : nullptr;
      group.for_each(chunk.n - first < tile ? chunk.n - first : tile, [=](int64_t i) {
        A value, known[states];
        if constexpr (HasMaster)
          value = A(wide[i]);
        else
          value = A(p[i]);
        each_state([&](int k) { known[k] = A(at.of[k][i]); });
        rule(factor * A(g[i]), value, known);
        if constexpr (Rule::writes_param) {
          p[i] = T(value);
          if constexpr (HasMaster) wide[i] = S(value);
        }
        if constexpr (Rule::writes_states) each_state([&](int k) { at.of[k][i] = S(known[k]); });
      });
    }
    return;
  }

  // Where blocks have threads: W elements at a time.
  const auto update = [=]<int W>(int64_t i, std::integral_constant<int, W>) {
    const Vec<T, W> g = load_vector<W>(grad + i);
    Vec<T, W> p;
    Vec<S, W> wide, s[states];
    if constexpr (HasMaster)
      wide = load_vector<W>(master + i);
    else
      p = load_vector<W>(param + i);
    for (int k = 0; k < states; ++k) s[k] = state.of[k] != nullptr ? load_vector<W>(state.of[k] + i) : Vec<S, W>{};
    for (int j = 0; j < W; ++j) {
      A value;
      if constexpr (HasMaster)
        value = A(wide[j]);
      else
        value = A(p[j]);
      A known[states];
      for (int k = 0; k < states; ++k) known[k] = A(s[k][j]);
      rule(factor * A(g[j]), value, known);
      p[j] = T(value);
      if constexpr (HasMaster) wide[j] = S(value);
      for (int k = 0; k < states; ++k) s[k][j] = S(known[k]);
    }
    if constexpr (Rule::writes_param) {
      store_vector(param + i, p);
      if constexpr (HasMaster) store_vector(master + i, wide);
    }
    if constexpr (Rule::writes_states) {
      for (int k = 0; k < states; ++k)
        if (state.of[k] != nullptr) store_vector(state.of[k] + i, s[k]);
    }
  };

  // Whole vectors where all addresses are aligned.
  constexpr int width = 4;
  constexpr size_t alignment = width * (sizeof(T) > sizeof(S) ? sizeof(T) : sizeof(S));
  if (address % (alignment < 16 ? alignment : 16) == 0 && chunk.n % width == 0)
    group.for_each(chunk.n / width, [=](int64_t i) { update(i * width, std::integral_constant<int, width>{}); });
  else
    group.for_each(chunk.n, [=](int64_t i) { update(i, std::integral_constant<int, 1>{}); });
}

template <class T, class S, class Group, class Rule>
STATOR_FN void update_tensor(const Group& group, const params::OptimTensor& t, const Chunk& chunk, const Rule& rule,
                             opmath_t<T> factor) {
  if constexpr (!std::is_same_v<T, S>) {
    if (t.master != nullptr) return update_chunk<true, T, S>(group, t, chunk, rule, factor);
  }
  update_chunk<false, T, S>(group, t, chunk, rule, factor);
}

template <template <class> class Rule, class T, class S, int Capacity, int Size>
STATOR_KERNEL(Size) void step_kernel(TensorList<params::OptimTensor, Capacity> list, params::OptimNumbers numbers) {
  using A = opmath_t<T>;
  if (is_skipped(numbers)) return;
  const Group<Size> group;
  const Chunk chunk = chunk_of(list, group.block());
  using Step = Prepared<Rule<A>, A>;
  const Step step = computed_once<Step>(group, [&] { return Step{Rule<A>(numbers), gradient_factor<A>(numbers)}; });
  update_tensor<T, S>(group, list.tensors[chunk.tensor], chunk, step.rule, step.factor);
}

template <template <class> class Rule>
void launch_step(const params::Queue& q, const params::OptimStep& p, const char* name) {
  visit_mixed(p.dtype, p.state_dtype, [&]<class T, class S>(type_tag<T>, type_tag<S>) {
    for_lists(p.tensors, p.tensor_count,
              [&]<class Tensor, int Capacity>(const TensorList<Tensor, Capacity>& list, int64_t chunks, int32_t) {
                launch(q, name, step_kernel<Rule, T, S, Capacity, OptimTuning::block>, {chunks, OptimTuning::block},
                       list, p.numbers);
              });
  });
}

}  // namespace stator::STATOR_TARGET::optim
