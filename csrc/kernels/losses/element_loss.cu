// Elementwise losses in one pass, with their mean or sum, and their gradients. The formula is chosen in the kernel,
// once for a block.
#include "device/group.cuh"
#include "device/index.cuh"
#include "device/sum_blocks.cuh"
#include "device/vector.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/elementwise/segments.cuh"
#include "kernels/losses/formulas.cuh"

#include <algorithm>

namespace stator::STATOR_TARGET::losses {
namespace {

using params::ElementLoss;

struct ElementTuning {
  static constexpr int block = 256;
  static constexpr int64_t elements = by_target<4096, 16384>::value;  // least elements of a block
  static constexpr int64_t chunk = 2048;                              // on the fast host
};

// How the elements are divided among blocks.
struct Cut {
  int64_t blocks, per_block;  // a multiple of 16 elements
  bool vectors;               // operands are dense or one value, and aligned for accesses of 16 bytes
  FastDivmod64 divisor[params::max_dims];
};

// The elements at one index, or the addresses of several.
struct Offsets {
  int64_t at[ElementLoss::operands];

  STATOR_FN Offsets(const ElementLoss& p, const Cut& cut, int64_t linear) {
    STATOR_UNROLL()
    for (int k = 0; k < ElementLoss::operands; ++k) at[k] = 0;
    STATOR_UNROLL(1)
    for (int d = p.ndim - 1; d >= 0; --d) {
      int64_t coordinate = linear;
      if (d > 0) linear = cut.divisor[d].divmod(linear, coordinate);
      STATOR_UNROLL()
      for (int k = 0; k < ElementLoss::operands; ++k) at[k] += coordinate * p.strides[k][d];
    }
  }
};

template <class T>
struct View {
  using A = opmath_t<T>;
  const T* in[5];
  T* out;
  A scale;

  STATOR_FN explicit View(const ElementLoss& p)
      : out(static_cast<T*>(p.data[ElementLoss::out])), scale(A(1.0 / p.divisor)) {
    STATOR_UNROLL()
    for (int k = 0; k < 5; ++k) in[k] = static_cast<const T*>(p.data[k]);
  }
  STATOR_FN A weight(int k, int64_t at) const { return in[k] != nullptr ? A(in[k][at]) : A(1); }
  template <bool Backward, class Formula>
  STATOR_FN A operator()(const Formula& f, const int64_t (&at)[ElementLoss::operands]) const {
    const A x = A(in[0][at[0]]), y = A(in[1][at[1]]);
    const A w = Formula::weighted ? weight(2, at[2]) : A(1), positive = Formula::weighted ? weight(3, at[3]) : A(1);
    if constexpr (Backward)
      return A(in[4][at[4]]) * scale * f.slope(x, y, w, positive);
    else
      return f.value(x, y, w, positive);
  }
};

// Where blocks have threads: V elements of an operand, which may be one value or absent.
template <int V, class T>
STATOR_FN Items<opmath_t<T>, V> load(const ElementLoss& p, int k, int64_t i) {
  using A = opmath_t<T>;
  const T* const base = static_cast<const T*>(p.data[k]);
  Items<A, V> out;
  if (base != nullptr && p.strides[k][0] == 1) {
    const Vec<T, V> v = load_vector<V>(base + i);
    STATOR_UNROLL()
    for (int u = 0; u < V; ++u) out[u] = A(v[u]);
  } else {
    const A one = base != nullptr ? A(*base) : A(1);
    STATOR_UNROLL()
    for (int u = 0; u < V; ++u) out[u] = one;
  }
  return out;
}

// Computes the elements of [first, last), stores them if `store`, else returns their sum, which each thread has.
template <class T, bool Backward, class Formula, int Size>
STATOR_FN double threads_range(const Group<Size>& group, const ElementLoss& p, const Cut& cut, const Formula& f,
                               int64_t first, int64_t last, bool store) {
  using A = opmath_t<T>;
  constexpr int V = vector_width<T>;
  const View<T> view(p);
  Cascade<A> total;
  if (cut.vectors) {
    for (int64_t i = first + int64_t(group.rank()) * V; i + V <= last; i += int64_t(Size) * V) {
      const Items<A, V> x = load<V, T>(p, 0, i), y = load<V, T>(p, 1, i);
      Items<A, V> w{}, positive{}, g{}, r{};
      if constexpr (Formula::weighted) {
        w = load<V, T>(p, 2, i);
        positive = load<V, T>(p, 3, i);
      }
      if constexpr (Backward) g = load<V, T>(p, 4, i);
      STATOR_UNROLL()
      for (int u = 0; u < V; ++u) {
        const A by = Formula::weighted ? w[u] : A(1), of = Formula::weighted ? positive[u] : A(1);
        if constexpr (Backward)
          r[u] = g[u] * view.scale * f.slope(x[u], y[u], by, of);
        else
          r[u] = f.value(x[u], y[u], by, of);
      }
      if (Backward || store) {
        Vec<T, V> stored;
        STATOR_UNROLL()
        for (int u = 0; u < V; ++u) stored[u] = convert<T>(r[u]);
        store_vector(view.out + i, stored);
      } else {
        A sum = r[0];
        STATOR_UNROLL()
        for (int u = 1; u < V; ++u) sum = sum + r[u];
        total.add(sum);
      }
    }
    first = last - (last - first) % V;
  }
  for (int64_t i = first + group.rank(); i < last; i += Size) {
    const Offsets offsets(p, cut, i);
    const A r = view.template operator()<Backward>(f, offsets.at);
    if (Backward || store)
      view.out[offsets.at[ElementLoss::out]] = convert<T>(r);
    else
      total.add(r);
  }
  if (Backward || store) return 0;
  return double(group.reduce(total.value(), Sum{}));
}

// The fast host computes chunks that stay in the first cache, from operands that are gathered there where they are not
// contiguous numbers of the computed type. So a formula needs loops only for the computed types, and these are vector
// instructions whatever the strides and dtypes are.
template <class A>
using Chunk = A[ElementTuning::chunk];

// Where element `first` of an operand is, if the elements are contiguous numbers of the computed type; else null.
template <class A>
STATOR_FN A* in_place(const ElementLoss& p, int k, int64_t first) {
  return p.dtype == dtype_of_v<A> && p.ndim == 1 && p.strides[k][0] == 1 ? static_cast<A*>(p.data[k]) + first : nullptr;
}
// `n` elements of operand k from element `first` on, in place or in the buffer; null where it is absent.
template <class A>
STATOR_FN const A* gathered(const ElementLoss& p, int k, int64_t first, int64_t n, Chunk<A>& buffer) {
  if (p.data[k] == nullptr) return nullptr;
  if (const A* const there = in_place<A>(p, k, first)) return there;
  elementwise::load_segments(buffer, dtype_of_v<A>, p.data[k], p.dtype, {p.shape, p.strides[k], p.ndim, first, n});
  return buffer;
}

template <bool Backward, class Formula, class A>
STATOR_FN A result_of(const Formula& f, A x, A y, A weight, A positive) {
  return Backward ? f.slope(x, y, weight, positive) : f.value(x, y, weight, positive);
}
// The formula of n elements.
template <bool Backward, class Formula, class A>
STATOR_CALL void chunk_results(const Formula& f, const A* STATOR_RESTRICT x, const A* STATOR_RESTRICT y,
                               const A* STATOR_RESTRICT w, const A* STATOR_RESTRICT positive, int64_t n,
                               A* STATOR_RESTRICT result) {
  if (!Formula::weighted || (w == nullptr && positive == nullptr))
    for (int64_t i = 0; i < n; ++i) result[i] = result_of<Backward>(f, x[i], y[i], A(1), A(1));
  else if (positive == nullptr)
    for (int64_t i = 0; i < n; ++i) result[i] = result_of<Backward>(f, x[i], y[i], w[i], A(1));
  else if (w == nullptr)
    for (int64_t i = 0; i < n; ++i) result[i] = result_of<Backward>(f, x[i], y[i], A(1), positive[i]);
  else
    for (int64_t i = 0; i < n; ++i) result[i] = result_of<Backward>(f, x[i], y[i], w[i], positive[i]);
}

// Computes the elements of [first, last), stores them if `store`, else returns their sum.
template <class A, bool Backward, int Size>
STATOR_CALL double fast_range(const Group<Size>& group, const ElementLoss& p, int64_t first, int64_t last, bool store) {
  constexpr int operands = 4 + Backward, out = ElementLoss::out;
  Chunk<A> buffer[operands], own;
  // The gradient of a mean or of a sum is one number.
  bool one_grad = Backward;
  for (int d = 0; d < p.ndim; ++d) one_grad = one_grad && p.strides[4][d] == 0;
  double total = 0;
  for (; first < last; first += ElementTuning::chunk) {
    const int64_t n = last - first < ElementTuning::chunk ? last - first : ElementTuning::chunk;
    const A* in[operands];
    for (int k = 0; k < operands; ++k) in[k] = gathered(p, k, first, k == 4 && one_grad ? 1 : n, buffer[k]);
    A* const there = store || Backward ? in_place<A>(p, out, first) : nullptr;
    A* STATOR_RESTRICT const result = there ? there : own;
    with_formula<A>(p.kind, p.parameter,
                    [&](const auto& f) { chunk_results<Backward>(f, in[0], in[1], in[2], in[3], n, result); });
    if constexpr (Backward) {
      const A scale = A(1.0 / p.divisor);
      const A* const grad = in[4];
      if (const A factor = grad[0] * scale; one_grad)
        for (int64_t i = 0; i < n; ++i) result[i] = factor * result[i];
      else
        for (int64_t i = 0; i < n; ++i) result[i] = grad[i] * scale * result[i];
    }
    if (!Backward && !store)
      total += double(group.template map_sum<A>(n, [&](int64_t i) { return result[i]; }));
    else if (!there)
      elementwise::store_segments(result, dtype_of_v<A>, p.data[out], p.dtype,
                                  {p.shape, p.strides[out], p.ndim, first, n});
  }
  return total;
}

template <class T, bool Backward, int Size>
STATOR_FN double range(const Group<Size>& group, const ElementLoss& p, const Cut& cut, bool store) {
  const int64_t first = group.block() * cut.per_block;
  const int64_t last = first + cut.per_block < p.size ? first + cut.per_block : p.size;
  if constexpr (fast_host) {
    return fast_range<opmath_t<T>, Backward>(group, p, first, last, store);
  } else {
    double sum = 0;
    with_formula<opmath_t<T>>(p.kind, p.parameter, [&](const auto& f) {
      sum = threads_range<T, Backward>(group, p, cut, f, first, last, store);
    });
    return sum;
  }
}

template <class T, int Size>
STATOR_KERNEL(Size) void element_loss_kernel(ElementLoss p, Cut cut) {
  const Group<Size> group;
  double total[] = {range<T, false>(group, p, cut, p.each)};
  if (p.each || !sum_blocks(group, p.partials, p.counters, total)) return;
  *static_cast<T*>(p.data[ElementLoss::out]) = convert<T>(total[0] / p.divisor);
}

template <class T, int Size>
STATOR_KERNEL(Size) void element_loss_backward_kernel(ElementLoss p, Cut cut) {
  const Group<Size> group;
  range<T, true>(group, p, cut, true);
}

int64_t blocks_of(const params::DeviceLimits& limits, int64_t size) {
  return std::clamp<int64_t>(ceil_div(size, ElementTuning::elements), 1, waves(limits, ElementTuning::block));
}

Cut cut_of(const params::DeviceLimits& limits, const ElementLoss& p) {
  Cut cut{};
  const int64_t blocks = blocks_of(limits, p.size);
  cut.per_block = ceil_div(std::max<int64_t>(ceil_div(p.size, blocks), 1), 16) * 16;
  cut.blocks = std::max<int64_t>(ceil_div(p.size, cut.per_block), 1);  // nothing is one block without elements
  cut.vectors = p.ndim == 1;
  for (int k = 0; k < ElementLoss::operands; ++k) {
    if (p.data[k] == nullptr || p.ndim != 1) continue;
    cut.vectors &=
        p.strides[k][0] == 0 ? k != ElementLoss::out || !p.each : p.strides[k][0] == 1 && is_aligned(p.data[k]);
  }
  for (int d = 0; d < p.ndim; ++d) cut.divisor[d] = FastDivmod64(std::max<int64_t>(p.shape[d], 1));
  return cut;
}

int64_t element_loss_blocks(const params::DeviceLimits& limits, const ElementLoss& p) {
  return blocks_of(limits, p.size);
}

void element_loss(const params::Queue& q, const ElementLoss& p) {
  const Cut cut = cut_of(*q.limits, p);
  constexpr int block = ElementTuning::block;
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "element_loss", element_loss_kernel<T, block>, {cut.blocks, block}, p, cut);
  });
}

void element_loss_backward(const params::Queue& q, const ElementLoss& p) {
  const Cut cut = cut_of(*q.limits, p);
  constexpr int block = ElementTuning::block;
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "element_loss_backward", element_loss_backward_kernel<T, block>, {cut.blocks, block}, p, cut);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::losses

STATOR_LAUNCHER(losses, element_loss_blocks)
STATOR_LAUNCHER(losses, element_loss)
STATOR_LAUNCHER(losses, element_loss_backward)
