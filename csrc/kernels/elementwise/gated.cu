// Gated units and their gradients: activation(gate) * up in one pass. The activation is chosen in the kernel.
#include "device/functors/activation.cuh"
#include "device/functors/activation_backward.cuh"
#include "host/launcher.hpp"
#include "kernels/elementwise/segments.cuh"
#include "kernels/elementwise/strided.cuh"

namespace stator::STATOR_TARGET::elementwise {
namespace {

using params::Gate;

// value(x), and slope(grad, x), which is grad times the derivative.
struct SigmoidGate {
  template <class C>
  STATOR_FN static C value(C x) {
    const C e = exp(-abs(x)), near = C(1) / (C(1) + e);
    return x < C(0) ? e * near : near;
  }
  template <class C>
  STATOR_FN static C slope(C grad, C x) {
    // sigmoid(x) sigmoid(-x): 1 - sigmoid(x) would lose digits.
    const C e = exp(-abs(x)), near = C(1) / (C(1) + e);
    return grad * near * (e * near);
  }
};
template <class Forward, class Backward>
struct GateOf {
  template <class C>
  STATOR_FN static C value(C x) {
    return Forward{}(x);
  }
  template <class C>
  STATOR_FN static C slope(C grad, C x) {
    return Backward{}(grad, x);
  }
};

template <class F>
STATOR_FN void with_gate(Gate gate, const F& f) {
  switch (gate) {
    case Gate::sigmoid: return f(SigmoidGate{});
    case Gate::silu: return f(GateOf<functors::silu, functors::silu_backward>{});
    case Gate::gelu: return f(GateOf<functors::gelu, functors::gelu_backward>{});
    default: return f(GateOf<functors::gelu_tanh, functors::gelu_tanh_backward>{});
  }
}

template <class C>
inline constexpr int gated_items = 16 / int(sizeof(C));

template <class C, int Size>
STATOR_KERNEL(Size) void gated_kernel(Strided<2> p, Gate gate) {
  constexpr int Count = gated_items<C>;
  const Group<Size> group;
  detail::StridedThread<C, 2, Count> thread;
  if (!thread.load(p, int32_t(group.block()), group.rank(), Size)) return;
  Items<C, Count> y;
  with_gate(gate, [&](auto f) {
    STATOR_UNROLL()
    for (int u = 0; u < Count; ++u) y[u] = f.value(thread.x[0][u]) * thread.x[1][u];
  });
  thread.store(p, y);
}

// Operand 3 of p is where the gradient of `up` goes, and is not loaded.
template <class C, int Size>
STATOR_KERNEL(Size) void gated_backward_kernel(Strided<4> p, void* up, Gate gate) {
  constexpr int Count = gated_items<C>;
  const Group<Size> group;
  detail::StridedThread<C, 4, Count> thread;
  if (!thread.load(p, int32_t(group.block()), group.rank(), Size)) return;
  Items<C, Count> of_gate, of_up;
  with_gate(gate, [&](auto f) {
    STATOR_UNROLL()
    for (int u = 0; u < Count; ++u) {
      const C grad = thread.x[0][u], x = thread.x[1][u];
      of_gate[u] = f.slope(grad * thread.x[2][u], x);
      of_up[u] = grad * f.value(x);
    }
  });
  thread.store(p, of_gate);
  if (p.wide[4] && thread.count == Count)
    store_items<C, dtypes::floats>(up, p.out_dtype, thread.at[4][0], of_up);
  else
    store_many<C, dtypes::floats>(up, p.out_dtype, thread.at[4], of_up, thread.count);
}

// Fast host: the function of a chunk, and both gradients of one.
template <class G>
struct GatedValue {
  template <class C>
  STATOR_FN C operator()(C gate, C up) const {
    return G::value(gate) * up;
  }
};
template <class G, class C>
STATOR_CALL void chunk_slopes(const C* STATOR_RESTRICT grad, const C* STATOR_RESTRICT gate, const C* STATOR_RESTRICT up,
                              int64_t n, C* STATOR_RESTRICT of_gate, C* STATOR_RESTRICT of_up) {
  for (int64_t i = 0; i < n; ++i) {
    of_gate[i] = G::slope(grad[i] * up[i], gate[i]);
    of_up[i] = grad[i] * G::value(gate[i]);
  }
}

template <class C, int Size>
STATOR_KERNEL(Size) void gated_backward_chunks_kernel(Strided<4> p, void* up, Gate gate) {
  constexpr int64_t chunk = StridedTuning::chunk_bytes / int64_t(sizeof(C));
  const Group<Size> group;
  const auto& l = p.layout;
  const int64_t begin = group.block() * StridedTuning::host_tile;
  const int64_t end = std::min(begin + StridedTuning::host_tile, l.size);
  C buffer[3][chunk], results[2][chunk];
  void* const out[2] = {p.out, up};
  for (int64_t at = begin; at < end; at += chunk) {
    const int64_t n = std::min(end - at, chunk);
    const auto walk = [&](int operand) { return Walk{l.shape, l.strides[operand], l.ndim, at, n}; };
    const C* x[3];
    for (int k = 0; k < 3; ++k) {
      x[k] = buffer[k];
      if (p.dtype[k] == p.compute && is_row_major(l, k + 1))
        x[k] = static_cast<const C*>(p.in[k]) + at;
      else
        load_segments(buffer[k], p.compute, p.in[k], p.dtype[k], walk(k + 1));
    }
    with_gate(gate, [&]<class G>(G) { chunk_slopes<G>(x[0], x[1], x[2], n, results[0], results[1]); });
    for (int k = 0; k < 2; ++k) store_segments(results[k], p.result, out[k], p.out_dtype, walk(4 * k));
  }
}

template <class C>
void run_chunks(const params::Queue& q, Gate gate, const params::Elementwise& e, bool backward) {
  constexpr DType dtype = dtype_of_v<C>;
  if (!backward)
    return with_gate(gate, [&]<class G>(G) {
      launch_chunks<2>(q, "gated", e, dtype, dtype, detail::chunk_results<GatedValue<G>, C, C, 2>);
    });
  Strided<4> p;
  detail::prepare(p, q, e, dtype, dtype, 1);
  launch(q, "gated_backward", gated_backward_chunks_kernel<C, StridedTuning::block>,
         {ceil_div(e.size, StridedTuning::host_tile), StridedTuning::block}, p, e.in[3].data, gate);
}

template <class C>
void run_gated(const params::Queue& q, Gate gate, const params::Elementwise& e, bool backward) {
  constexpr int block = StridedTuning::block, count = gated_items<C>;
  constexpr DType dtype = dtype_of_v<C>;
  if constexpr (fast_host) {
    run_chunks<C>(q, gate, e, backward);
  } else {
    for_each_small_subspace(e, 0, [&](const params::Elementwise& part, int64_t) {
      const Config config{ceil_div(part.size, block * count), block};
      if (!backward) {
        Strided<2> p;
        detail::prepare(p, q, part, dtype, dtype, count);
        return launch(q, "gated", gated_kernel<C, block>, config, p, gate);
      }
      Strided<4> p;
      detail::prepare(p, q, part, dtype, dtype, count);
      p.in[3] = nullptr;
      launch(q, "gated_backward", gated_backward_kernel<C, block>, config, p, part.in[3].data, gate);
    });
  }
}

void gated(const params::Queue& q, Gate gate, const params::Elementwise& e) {
  e.out.dtype == DType::float64 ? run_gated<double>(q, gate, e, false) : run_gated<float>(q, gate, e, false);
}
void gated_backward(const params::Queue& q, Gate gate, const params::Elementwise& e) {
  e.out.dtype == DType::float64 ? run_gated<double>(q, gate, e, true) : run_gated<float>(q, gate, e, true);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::elementwise

STATOR_LAUNCHER(elementwise, gated)
STATOR_LAUNCHER(elementwise, gated_backward)
