// Adam (Kingma and Ba, ICLR 2015) and AdamW (Loshchilov and Hutter, ICLR 2019) for a list of tensors in one launch.
#include "device/group.cuh"
#include "device/launch.cuh"
#include "device/launcher.cuh"
#include "device/math/math.cuh"
#include "device/vector.cuh"
#include "params/nn.hpp"

namespace stator::STATOR_TARGET::nn {
namespace {

struct AdamTuning {
  static constexpr int block = 256;
  static constexpr int chunk = by_target<4096, 16384>::value;  // elements of one tensor that a block updates
  static constexpr int few = 48, many = 640;                   // tensors that fit kernel parameters of 4 KiB and 32 KiB
};

// The scalars of a step, in the type that the update computes in.
template <class A>
struct AdamStep {
  A beta1, beta2, keep1, keep2, eps, decay, rate, root2;
  bool decoupled, maximize;
};

template <int Capacity>
struct AdamList {
  params::AdamTensor tensors[Capacity];
  int32_t count;
};

template <class A>
STATOR_FN void adam_element(const AdamStep<A>& s, A grad, A& param, A& m, A& v) {
  if (s.maximize) grad = -grad;
  if (s.decoupled)
    param -= s.decay * param;
  else
    grad += s.decay * param;
  m = s.beta1 * m + s.keep1 * grad;
  v = s.beta2 * v + s.keep2 * grad * grad;
  param -= s.rate * m / (sqrt(v) * s.root2 + s.eps);
}

template <class T, class S, int Capacity, int Size, int Chunk>
STATOR_KERNEL(Size) void adam_kernel(AdamList<Capacity> list, AdamStep<opmath_t<T>> step) {
  using A = opmath_t<T>;
  const Group<Size> group;
  // Find the tensor and the chunk of it that this block updates.
  int64_t chunk = group.block();
  int at = 0;
  for (; at < list.count; ++at) {
    const int64_t chunks = (list.tensors[at].size + Chunk - 1) / Chunk;
    if (chunk < chunks) break;
    chunk -= chunks;
  }
  const params::AdamTensor t = list.tensors[at];
  const int64_t first = chunk * Chunk;
  const int64_t n = t.size - first < Chunk ? t.size - first : Chunk;
  T* param = static_cast<T*>(t.param) + first;
  S* m = static_cast<S*>(t.exp_avg) + first;
  S* v = static_cast<S*>(t.exp_avg_sq) + first;
  const T* grad = static_cast<const T*>(t.grad) + first;

  // Update in vectors if the chunk and its addresses allow.
  constexpr int width = fast_host ? 1 : 4;
  const auto update = [=]<int W>(int64_t i, std::integral_constant<int, W>) {
    Vec<T, W> p = load_vector<W>(param + i);
    const Vec<T, W> g = load_vector<W>(grad + i);
    Vec<S, W> m1 = load_vector<W>(m + i), m2 = load_vector<W>(v + i);
    for (int j = 0; j < W; ++j) {
      A pj = A(p.value[j]), mj = A(m1.value[j]), vj = A(m2.value[j]);
      adam_element(step, A(g.value[j]), pj, mj, vj);
      p.value[j] = T(pj);
      m1.value[j] = S(mj);
      m2.value[j] = S(vj);
    }
    store_vector(param + i, p);
    store_vector(m + i, m1);
    store_vector(v + i, m2);
  };
  const auto address = reinterpret_cast<uintptr_t>(param) | reinterpret_cast<uintptr_t>(grad) |
                       reinterpret_cast<uintptr_t>(m) | reinterpret_cast<uintptr_t>(v);
  if (width > 1 && address % (width * (sizeof(T) > sizeof(S) ? sizeof(T) : sizeof(S))) == 0 && n % width == 0) {
    group.for_each(n / width, [=](int64_t i) { update(i * width, std::integral_constant<int, width>{}); });
  } else {
    group.for_each(n, [=](int64_t i) { update(i, std::integral_constant<int, 1>{}); });
  }
}

template <class T, class S, int Capacity>
void launch_list(const params::Queue& q, const params::Adam& p, int first, const AdamStep<opmath_t<T>>& step) {
  using Tune = AdamTuning;
  AdamList<Capacity> list{};
  int64_t blocks = 0;
  for (int i = first; i < p.tensor_count && list.count < Capacity; ++i) {
    list.tensors[list.count++] = p.tensors[i];
    blocks += ceil_div(p.tensors[i].size, Tune::chunk);
  }
  if (blocks > 0)
    launch(q, "adam", adam_kernel<T, S, Capacity, Tune::block, Tune::chunk>, {blocks, Tune::block}, list, step);
}

template <class T, class S>
void adam_typed(const params::Queue& q, const params::Adam& p) {
  using A = opmath_t<T>;
  using Tune = AdamTuning;
  const AdamStep<A> step{.beta1 = A(p.beta1),
                         .beta2 = A(p.beta2),
                         .keep1 = A(1 - p.beta1),
                         .keep2 = A(1 - p.beta2),
                         .eps = A(p.eps),
                         .decay = A(p.decoupled ? p.lr * p.weight_decay : p.weight_decay),
                         .rate = A(p.lr / p.bias_correction1),
                         .root2 = A(1 / std::sqrt(p.bias_correction2)),
                         .decoupled = p.decoupled,
                         .maximize = p.maximize};
  if (p.tensor_count <= Tune::few) return launch_list<T, S, Tune::few>(q, p, 0, step);
  for (int first = 0; first < p.tensor_count; first += Tune::many) launch_list<T, S, Tune::many>(q, p, first, step);
}

void adam(const params::Queue& q, const params::Adam& p) {
  const bool wide_state = p.dtype != p.state_dtype;
  switch (p.dtype) {
    case DType::float16: return wide_state ? adam_typed<float16, float>(q, p) : adam_typed<float16, float16>(q, p);
    case DType::bfloat16: return wide_state ? adam_typed<bfloat16, float>(q, p) : adam_typed<bfloat16, bfloat16>(q, p);
    case DType::float32: return adam_typed<float, float>(q, p);
    default: return adam_typed<double, double>(q, p);
  }
}

}  // namespace

}  // namespace stator::STATOR_TARGET::nn

STATOR_LAUNCHER(nn, adam)
