// Softmax over masked elements of lines, and of noisy ones, its logarithm, and the logarithm's gradient. A block takes
// a line. Scores stay in shared memory where they fit; else they are recomputed for the maximum, the sum and the
// result.
#include "device/cascade.cuh"
#include "device/convert.cuh"
#include "device/functional.cuh"
#include "device/group.cuh"
#include "device/math/elementary.cuh"
#include "device/math/math.cuh"
#include "device/philox.cuh"
#include "device/vector.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/nn/softmax_vectors.cuh"
#include "params/nn.hpp"

namespace stator::STATOR_TARGET::nn {
namespace {

using params::MaskedSoftmax;

struct MaskedTuning {
  static constexpr int block = 256;
  static constexpr int64_t shared_bytes = by_target<32 << 10, 256 << 10>::value;  // of scores in shared memory
  static constexpr int run = 256;  // elements whose noise the fast host makes at once
};

// Where the noise of a call comes from.
struct GumbelNoise {
  uint64_t seed, offset;

  STATOR_FN explicit GumbelNoise(const params::Draws& from) : seed(from.seed), offset(from.offset) {
    if (from.state == nullptr) return;
    seed = from.state[0];
    offset += from.state[1];
  }
};

// In what the noise of elements is computed: double but for halves, so that the noise is rounded once.
template <class T>
using NoiseMath = std::conditional_t<is_half<T>, float, double>;
template <class T>
inline constexpr int noise_draws = sizeof(T) == 8 ? 2 : 4;  // elements of a Philox block

// The uniform number of element k of a Philox block: an odd multiple of a unit that keeps it exact and inside (0, 1).
template <class T>
STATOR_FN NoiseMath<T> noise_uniform(const Philox4& words, int k) {
  using C = NoiseMath<T>;
  if constexpr (noise_draws<T> == 2) {
    const bool second = k != 0;
    const uint64_t high = second ? words.x[2] : words.x[0], low = second ? words.x[3] : words.x[1];
    return (C(int64_t((high << 32 | low) >> 12)) + C(0.5)) * C(0x1p-52);
  } else {
    const uint32_t word = k == 0 ? words.x[0] : k == 1 ? words.x[1] : k == 2 ? words.x[2] : words.x[3];
    return (C(int32_t(word >> 9)) + C(0.5)) * C(0x1p-23);
  }
}

// -log(-log(u)) of uniform u: the noise of elements `at`, `at` + step, ... Neighbours of one Philox block share it. A
// call, because the noise of every pass would be most of a kernel's code.
template <class T, int V>
STATOR_CALL Items<opmath_t<T>, V> gumbel_noise(GumbelNoise of, int64_t at, int64_t step) {
  constexpr int draws = noise_draws<T>;
  Items<opmath_t<T>, V> noise;
  Philox4 words{};
  STATOR_UNROLL()
  for (int j = 0; j < V; ++j) {
    const uint64_t i = uint64_t(at + j * step), block = i / draws;
    if (j == 0 || block != (i - uint64_t(step)) / draws) words = philox4x32_10(of.seed, of.offset + block, 0);
    noise[j] = opmath_t<T>(-log(-log(noise_uniform<T>(words, int(i % draws)))));
  }
  return noise;
}

// The same of `count` elements on the fast host, in loops over blocks and over elements that vectorise. Both logarithms
// are of positive and normal numbers.
template <class T>
STATOR_CALL void gumbel_noise_run(GumbelNoise of, int64_t at, int64_t step, int count, opmath_t<T>* out) {
  using C = NoiseMath<T>;
  constexpr int draws = noise_draws<T>, most = MaskedTuning::run;
  const libm::UsualLog<libm::LogBase::e, C> log_of{};
  uint32_t words[4][most];
  C uniform[most];
  const uint64_t first = uint64_t(at) / draws;
  const auto make = [&](int blocks, auto block_of) {
    for (int k = 0; k < blocks; ++k) {
      const Philox4 block = philox4x32_10(of.seed, of.offset + block_of(k), 0);
      for (int j = 0; j < 4; ++j) words[j][k] = block.x[j];
    }
  };
  const bool neighbours = step == 1;  // which share blocks
  if (neighbours)
    make(int(uint64_t(at + count - 1) / draws - first) + 1, [=](int k) { return first + uint64_t(k); });
  else
    make(count, [=](int k) { return uint64_t(at + k * step) / draws; });
  for (int o = 0; o < count; ++o) {
    const uint64_t i = uint64_t(at + o * step);
    const int k = neighbours ? int(i / draws - first) : o;
    uniform[o] = noise_uniform<T>(Philox4{{words[0][k], words[1][k], words[2][k], words[3][k]}}, int(i % draws));
  }
  for (int o = 0; o < count; ++o) out[o] = opmath_t<T>(-log_of(-log_of(uniform[o])));
}

// One line: the input, or backward the gradient and the forward result.
template <class T>
struct MaskedLine {
  using A = opmath_t<T>;
  const T *x, *saved;
  const bool* mask;
  int64_t step, saved_step, mask_step, index_step;
  int64_t y_at = 0, index = 0, end;  // of the elements that `causal` leaves
  A factor;
  bool noisy;
  GumbelNoise noise;

  STATOR_FN MaskedLine(const MaskedSoftmax& p, int64_t line)
      : step(p.of.x_step),
        saved_step(p.of.saved_step),
        mask_step(p.mask_step),
        index_step(p.index_step),
        end(p.of.n),
        factor(A(p.of.factor)),
        noisy(p.noisy),
        noise(p.draws) {
    int64_t x_at = 0, saved_at = 0, mask_at = 0;
    STATOR_UNROLL(1)
    for (int d = p.of.ndim - 1; d >= 0; --d) {
      const int64_t rest = d == 0 ? 0 : line / p.of.shape[d], i = line - rest * p.of.shape[d];
      if (d == p.of.ndim - 1 && p.causal && i < end) end = i + 1;
      x_at += i * p.of.x_strides[d];
      saved_at += i * p.of.saved_strides[d];
      y_at += i * p.of.y_strides[d];
      mask_at += i * p.mask_strides[d];
      index += i * p.index_strides[d];
      line = rest;
    }
    x = static_cast<const T*>(p.of.x) + x_at;
    saved = static_cast<const T*>(p.of.saved) + saved_at;
    mask = p.mask != nullptr ? p.mask + mask_at : nullptr;
  }

  // Elements j to j + V - 1. If V > 1, they and their elements of a mask are contiguous.
  template <int V>
  STATOR_FN static Items<A, V> load(const T* from, int64_t step, int64_t j) {
    if constexpr (V == 1)
      return {{convert<A>(from[j * step])}};
    else
      return STATOR_TARGET::detail::load_side_by_side<A, V>(from + j);
  }
  template <int V>
  STATOR_FN Items<bool, V> masked(int64_t j) const {
    Items<bool, V> is;
    Vec<bool, V> bits{};
    if (V > 1 && mask != nullptr && mask_step != 0) bits = load_vector<V>(mask + j);
    STATOR_UNROLL()
    for (int i = 0; i < V; ++i)
      is[i] = j + i < end && (mask == nullptr || (V > 1 && mask_step != 0 ? bits[i] : mask[j * mask_step]));
    return is;
  }
  // The scores, or backward the gradients, of those that take part; `rest` for the others. After `end` nothing is
  // read. more(): their noise.
  template <int V, class Noise>
  STATOR_FN Items<A, V> scores(int64_t j, A rest, Noise more) const {
    Items<A, V> score;
    STATOR_UNROLL()
    for (int i = 0; i < V; ++i) score[i] = rest;
    if (j >= end) return score;
    const Items<bool, V> is = masked<V>(j);
    Items<A, V> value = load<V>(x, step, j);
    if (noisy) {
      const Items<A, V> by = more();
      STATOR_UNROLL()
      for (int i = 0; i < V; ++i) value[i] += by[i];
    }
    STATOR_UNROLL()
    for (int i = 0; i < V; ++i)
      if (is[i]) score[i] = value[i] * factor;
    return score;
  }
  template <int V>
  STATOR_FN Items<A, V> scores(int64_t j, A rest) const {
    return scores<V>(j, rest, [=, this] { return gumbel_noise<T, V>(noise, index + j * index_step, index_step); });
  }
};

// Loops over the vectors of a line. Where blocks have threads they are not unrolled, as those of Group are, because
// each would have several copies of how a score is made.
template <int Size, class F>
STATOR_FN void for_vectors(const Group<Size>& group, int64_t vectors, F f) {
  if constexpr (fast_host) {
    group.for_each(vectors, f);
  } else {
    STATOR_UNROLL(1)
    for (int64_t u = group.rank(); u < vectors; u += Size) f(u);
  }
}
template <class A, class Op, int Size, class F>
STATOR_FN A fold_vectors(const Group<Size>& group, int64_t vectors, Op op, F f) {
  if constexpr (fast_host) {
    return group.template map_reduce<A>(vectors, op, f);
  } else {
    A value = op.template identity<A>();
    STATOR_UNROLL(1)
    for (int64_t u = group.rank(); u < vectors; u += Size) value = op(value, f(u));
    return group.reduce(value, op);
  }
}
template <class A, int Size, class F>
STATOR_FN A sum_vectors(const Group<Size>& group, int64_t vectors, F f) {
  if constexpr (fast_host) {
    return group.template map_sum<A>(vectors, f);
  } else {
    constexpr int run = 8;  // that are added without compensation
    Cascade<A> sum;
    int64_t u = group.rank();
    while (u < vectors) {
      A partial = A(0);
      STATOR_UNROLL(1)
      for (int k = 0; k < run && u < vectors; ++k, u += Size) partial += f(u);
      sum.add(partial);
    }
    return group.reduce(sum.value(), Sum{});
  }
}

// Whether scores are stored, which on the fast host is known where a kernel is compiled, so that its loops over them
// vectorise.
enum class Hold { never, always, maybe };

// The scores of a line in vectors of V. Stored ones are in shared memory, element i of vector u at i * vectors
// + u, so that neighbouring threads use neighbouring banks. Each thread reads back what it wrote itself.
template <int V, class T, Hold H>
struct StoredScores {
  using A = opmath_t<T>;
  const MaskedLine<T>& line;
  A* stored;  // or null
  int64_t vectors;
  A rest;

  STATOR_FN bool are_stored() const { return H == Hold::always || (H == Hold::maybe && stored != nullptr); }
  template <class G>
  STATOR_FN void fill(const G& group) const {
    if (!are_stored()) return;
    if constexpr (fast_host) {
      if (line.noisy) return fill_noisy(group);
    }
    change(group, [*this](int64_t u) { return line.template scores<V>(u * V, rest); });
  }
  // On the fast host, where V is 1.
  template <class G>
  STATOR_FN void fill_noisy(const G& group) const {
    A noise[MaskedTuning::run];
    for (int64_t first = 0; first < vectors; first += MaskedTuning::run) {
      const int count = vectors - first < MaskedTuning::run ? int(vectors - first) : MaskedTuning::run;
      gumbel_noise_run<T>(line.noise, line.index + first * line.index_step, line.index_step, count, noise);
      for_vectors(group, count, [&](int64_t u) {
        stored[first + u] = line.template scores<V>(first + u, rest, [&] { return Items<A, V>{{noise[u]}}; })[0];
      });
    }
  }
  template <class G, class F>
  STATOR_FN void change(const G& group, F f) const {
    for_vectors(group, vectors, [*this, f](int64_t u) {
      const Items<A, V> value = f(u);
      STATOR_UNROLL()
      for (int i = 0; i < V; ++i) stored[i * vectors + u] = value[i];
    });
  }
  STATOR_FN Items<A, V> operator()(int64_t u) const {
    if (!are_stored()) return line.template scores<V>(u * V, rest);
    Items<A, V> value;
    STATOR_UNROLL()
    for (int i = 0; i < V; ++i) value[i] = stored[i * vectors + u];
    return value;
  }
};

template <int V, class A>
STATOR_FN A sum_of_items(const Items<A, V>& value) {
  A sum = value[0];
  STATOR_UNROLL()
  for (int i = 1; i < V; ++i) sum += value[i];
  return sum;
}

// f(flag), which on the fast host is a type, so that loops in f are without a branch by it.
template <class F>
STATOR_FN auto with_flag(bool flag, F f) {
  if constexpr (fast_host)
    return flag ? f(std::true_type{}) : f(std::false_type{});
  else
    return f(flag);
}

// y[u] = f(u) for vectors of the result.
template <int V, class T, int Size, class F>
STATOR_FN void store_vectors(const Group<Size>& group, const MaskedSoftmax& p, const MaskedLine<T>& line,
                             int64_t vectors, F f) {
  const int64_t step = p.of.y_step, first = line.y_at;
  const DType dtype = p.of.out_dtype;
  void* const y = p.of.y;
  with_flag(dtype == dtype_of_v<T> && (!fast_host || step == 1), [=](auto direct) {
    for_vectors(group, vectors, [=](int64_t u) {
      const int64_t at = first + (V > 1 ? u * V : fast_host && direct ? u : u * step);
      const Items<opmath_t<T>, V> value = f(u);
      if (direct)
        STATOR_TARGET::detail::store_side_by_side(static_cast<T*>(y) + at, value);
      else
        store_items<opmath_t<T>, dtypes::floats>(y, dtype, at, value);
    });
  });
}

template <int V, Hold H, class T, int Size>
STATOR_FN void softmax_line(const Group<Size>& group, const MaskedSoftmax& p, const MaskedLine<T>& line,
                            opmath_t<T>* stored) {
  using A = opmath_t<T>;
  using Scores = Items<A, V>;
  const int64_t vectors = p.of.n / V;
  const StoredScores<V, T, H> score{line, stored, vectors, -limits<A>::infinity()};
  score.fill(group);
  const A largest = fold_vectors<A>(group, vectors, Max{}, [=](int64_t u) {
    const Scores s = score(u);
    A most = s[0];
    STATOR_UNROLL()
    for (int i = 1; i < V; ++i) most = Max{}(most, s[i]);
    return most;
  });
  const bool none = largest == -limits<A>::infinity();
  if (p.hardest) {
    // The first of the largest, or of NaN; none where nothing takes part.
    const int64_t n = p.of.n;
    const int64_t at = fold_vectors<int64_t>(group, vectors, Min{}, [=](int64_t u) {
      const Scores s = score(u);
      int64_t first = n;
      STATOR_UNROLL()
      for (int i = V - 1; i >= 0; --i)
        if (s[i] == largest || s[i] != s[i]) first = u * V + i;
      return first;
    });
    store_vectors<V>(group, p, line, vectors, [=](int64_t u) {
      Scores y;
      STATOR_UNROLL()
      for (int i = 0; i < V; ++i) y[i] = A(u * V + i == at && !none ? 1 : 0);
      return y;
    });
    return;
  }
  const A reference = none ? A(0) : largest;
  const auto powers = [=](int64_t u, bool made) {
    Scores s = score(u);
    if (made) return s;
    STATOR_UNROLL()
    for (int i = 0; i < V; ++i) s[i] = libm::polynomial_exp(s[i] - reference);
    return s;
  };
  with_flag(p.of.log, [&](auto log_of) {
    const bool kept = score.are_stored() && !log_of;  // as powers
    if (kept) score.change(group, [=](int64_t u) { return powers(u, false); });
    const A sum = sum_vectors<A>(group, vectors, [=](int64_t u) { return sum_of_items(powers(u, kept)); });
    const A scale = sum == A(0) ? A(0) : A(1) / sum, shift = none ? A(0) : log(sum);
    store_vectors<V>(group, p, line, vectors, [=](int64_t u) {
      Scores s = powers(u, kept || log_of);
      STATOR_UNROLL()
      for (int i = 0; i < V; ++i) s[i] = log_of ? (s[i] - reference) - shift : s[i] * scale;
      return s;
    });
  });
}

template <int V, Hold H, class T, int Size>
STATOR_FN void gradient_line(const Group<Size>& group, const MaskedSoftmax& p, const MaskedLine<T>& line,
                             opmath_t<T>* stored) {
  using A = opmath_t<T>;
  const int64_t vectors = p.of.n / V;
  const StoredScores<V, T, H> grad{line, stored, vectors, A(0)};
  grad.fill(group);
  const A sum = sum_vectors<A>(group, vectors, [=](int64_t u) { return sum_of_items(grad(u)); });
  store_vectors<V>(group, p, line, vectors, [=, &line](int64_t u) {
    Items<A, V> slope = grad(u);
    if (u * V < line.end) {
      const Items<bool, V> is = line.template masked<V>(u * V);
      const Items<A, V> y = line.template load<V>(line.saved, line.saved_step, u * V);
      STATOR_UNROLL()
      for (int i = 0; i < V; ++i) slope[i] = is[i] ? slope[i] - libm::polynomial_exp(y[i]) * sum : A(0);
    }
    return slope;
  });
}

template <class T, int Size, bool Backward>
STATOR_KERNEL(Size) void masked_softmax_kernel(MaskedSoftmax p, bool hold, bool vectors) {
  using A = opmath_t<T>;
  constexpr int V = fast_host ? 1 : vector_width<T>;
  const Group<Size> group;
  const MaskedLine<T> line(p, group.block());
  A* const stored = hold ? group.template dynamic<A>(p.of.n) : nullptr;
  const auto run = [&]<int W, Hold H>() {
    if constexpr (Backward)
      gradient_line<W, H>(group, p, line, stored);
    else
      softmax_line<W, H>(group, p, line, stored);
  };
  if constexpr (fast_host)
    hold ? run.template operator()<1, Hold::always>() : run.template operator()<1, Hold::never>();
  else
    vectors ? run.template operator()<V, Hold::maybe>() : run.template operator()<1, Hold::maybe>();
}

// Masks have a byte for an element, or one for a line.
bool are_in_vectors(const MaskedSoftmax& p) {
  const int width = 16 / itemsize(p.of.dtype);
  if (fast_host || p.of.n % width != 0) return false;
  const auto fits = [&](const void* base, DType dtype, const int64_t* strides, int64_t step) {
    return in_vectors(p.of, base, dtype, strides, step, true, width);
  };
  return fits(p.of.x, p.of.dtype, p.of.x_strides, p.of.x_step) &&
         fits(p.of.saved, p.of.dtype, p.of.saved_strides, p.of.saved_step) &&
         fits(p.of.y, p.of.out_dtype, p.of.y_strides, p.of.y_step) &&
         (p.mask_step == 0 || fits(p.mask, DType::bool_, p.mask_strides, p.mask_step));
}

template <bool Backward>
void launch_masked(const params::Queue& q, const MaskedSoftmax& p) {
  constexpr int block = MaskedTuning::block;
  visit<dtypes::floats>(p.of.dtype, [&]<class T>(type_tag<T>) {
    const int64_t bytes = p.of.n * int64_t(sizeof(opmath_t<T>));
    const bool hold = bytes <= MaskedTuning::shared_bytes;
    launch(q, Backward ? "masked_log_softmax_backward" : "masked_softmax", masked_softmax_kernel<T, block, Backward>,
           {p.of.rows, block, hold ? int(bytes) : 0}, p, hold, are_in_vectors(p));
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::nn

STATOR_LAUNCHER(nn, masked_softmax, launch_masked<false>)
STATOR_LAUNCHER(nn, masked_log_softmax_backward, launch_masked<true>)
