// Connectionist temporal classification: the probability that a sequence spells a target, with blanks between labels
// and repetitions, and its gradient by the scores of all states forwards and backwards. A block has a sample.
#include "device/convert.cuh"
#include "device/fault.cuh"
#include "device/functional.cuh"
#include "device/group.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/losses/formulas.cuh"

namespace stator::STATOR_TARGET::losses {
namespace {

using params::CtcLoss;

struct CtcTuning {
  static constexpr int block = 256;
  static constexpr int batch = 64;  // states whose scores the fast host computes together
};

// log(e^a + e^b + e^c), also where some are -infinity. Without a branch, so that loops become vector instructions.
template <class A>
STATOR_FN A log_of_sum(A a, A b, A c) {
  const A most = Max{}(Max{}(a, b), c);
  const A sum = most + log(exp(a - most) + exp(b - most) + exp(c - most));
  return most == -limits<A>::infinity() ? most : sum;
}

// One sample. State s is a blank, or for odd s label s / 2.
template <class T, int Size>
struct CtcSample {
  using A = opmath_t<T>;
  const CtcLoss& p;
  const Group<Size>& group;
  int64_t n, steps = 0, length = 0, first = 0;  // first: index of its labels among all
  bool valid;

  STATOR_FN CtcSample(const CtcLoss& p_, const Group<Size>& group_, const params::ErrorSlot& slot, uint16_t op)
      : p(p_), group(group_), n(group_.block()) {
    steps = number(0, n);
    length = number(1, n);
    int64_t room = p.joined ? p.labels : p.labels / p.samples;
    first = n * room;
    if (p.joined) {
      first = group.template map_reduce<int64_t>(n, Sum{}, [this](int64_t i) {
        const int64_t before = number(1, i);
        return before < 0 ? int64_t(0) : before < p.labels ? before : p.labels;
      });
      room = first < p.labels ? p.labels - first : 0;
    }
    const bool fits = steps >= 0 && steps <= p.steps, all = length >= 0 && length <= room;
    valid = fits && all;
    if (!valid && group.rank() == 0) report(slot, op, params::Fault::index_out_of_range, n, fits ? length : steps);
    if (!valid) return;
    const int64_t bad = group.template map_reduce<int64_t>(length, Min{}, [this](int64_t i) {
      const int64_t l = label(2 * i + 1);
      return l < 0 || l >= p.classes ? i : length;
    });
    valid = bad >= length;  // of no label the largest number
    if (!valid && group.rank() == 0)
      report(slot, op, params::Fault::index_out_of_range, first + bad, label(2 * bad + 1));
  }
  STATOR_FN int64_t number(int which, int64_t i) const {
    return load_one<int64_t>(p.lengths[which], p.length_dtypes[which], i * p.length_strides[which]);
  }
  STATOR_FN int64_t states() const { return 2 * length + 1; }
  STATOR_FN int64_t label(int64_t s) const {
    if (s % 2 == 0) return p.blank;
    const int64_t i = p.joined ? first + s / 2 : s / 2;
    return load_one<int64_t>(p.targets, p.target_dtype, n * p.target_strides[0] + i * p.target_strides[1]);
  }
  STATOR_FN A log_prob(int64_t t, int64_t c) const {
    return A(static_cast<const T*>(p.log_probs)[t * p.strides[0] + n * p.strides[1] + c * p.strides[2]]);
  }
  STATOR_FN A* row(int64_t r) const { return static_cast<A*>(p.states) + p.rows * (2 * first + n) + r * states(); }

  // The scores of step t, to `to`, from those of the step before it, or with Direction = -1 after it.
  template <int Direction>
  STATOR_FN void step(int64_t t, A* to, const A* from, bool begins) const {
    const int64_t count = states();
    constexpr A none = -limits<A>::infinity();
    const auto skips = [&](int64_t i, int64_t s, int64_t c) {
      return i > 1 && s % 2 != 0 && label(s - 2 * Direction) != c;
    };
    if constexpr (fast_host) {
      constexpr int batch = CtcTuning::batch;
      for (int64_t first = 0; first < count; first += batch) {
        const int n = int(count - first < batch ? count - first : batch);
        A stays[batch], moves[batch], jumps[batch], gains[batch];
        for (int k = 0; k < n; ++k) {
          const int64_t i = first + k, s = Direction > 0 ? i : count - 1 - i, c = label(s);
          gains[k] = log_prob(t, c);
          stays[k] = begins ? (i < 2 ? A(0) : none) : from[s];
          moves[k] = !begins && i > 0 ? from[s - Direction] : none;
          jumps[k] = !begins && skips(i, s, c) ? from[s - 2 * Direction] : none;
        }
#pragma GCC ivdep
        for (int k = 0; k < n; ++k) gains[k] += log_of_sum(stays[k], moves[k], jumps[k]);
        for (int k = 0; k < n; ++k) to[Direction > 0 ? first + k : count - 1 - first - k] = gains[k];
      }
      return;
    }
    group.for_each(count, [&](int64_t i) {
      const int64_t s = Direction > 0 ? i : count - 1 - i;  // the i-th from where alignments begin
      const int64_t c = label(s);
      A score = i < 2 ? A(0) : none;
      if (!begins)
        score =
            log_of_sum(from[s], i > 0 ? from[s - Direction] : none, skips(i, s, c) ? from[s - 2 * Direction] : none);
      to[s] = score + log_prob(t, c);
    });
    group.sync();
  }
  // -log of the probability; every row of `rows` in turn gets the scores of a step.
  STATOR_FN A forward(int64_t rows) const {
    if (steps == 0) return length == 0 ? A(0) : limits<A>::infinity();
    STATOR_UNROLL(1)
    for (int64_t t = 0; t < steps; ++t) step<1>(t, row(t % rows), row((t + rows - 1) % rows), t == 0);
    const A* const last = row((steps - 1) % rows);
    const int64_t count = states();
    constexpr A none = -limits<A>::infinity();
    return -log_of_sum(last[count - 1], count > 1 ? last[count - 2] : none, none);
  }
};

template <class A>
STATOR_FN bool is_infinite(A loss) {
  return loss == limits<A>::infinity();
}

template <class T, int Size>
STATOR_KERNEL(Size) void ctc_loss_kernel(CtcLoss p, params::ErrorSlot slot, uint16_t op) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const CtcSample<T, Size> sample(p, group, slot, op);
  A loss = sample.valid ? sample.forward(2) : limits<A>::nan();
  if (p.zero_infinity && is_infinite(loss)) loss = A(0);
  if (p.each) {
    if (group.rank() == 0) static_cast<T*>(p.out)[sample.n] = convert<T>(loss);
    return;
  }
  if (group.rank() == 0)
    p.losses[sample.n] = p.mean ? double(loss) / double(sample.length > 0 ? sample.length : 1) : double(loss);
  if (!group.last_block(p.counters, uint32_t(group.blocks()))) return;
  const double total = group.template map_reduce<double>(p.samples, Sum{}, [&](int64_t i) { return p.losses[i]; });
  if (group.rank() == 0) *static_cast<T*>(p.out) = convert<T>(p.mean ? total / double(p.samples) : total);
}

// Beside each label the next index of the same one, or -1, and whether it is the first.
template <class T, int Size>
STATOR_FN void link_labels(const CtcSample<T, Size>& sample, int32_t* chain) {
  sample.group.for_each(sample.length, [&](int64_t i) {
    const int64_t c = sample.label(2 * i + 1);
    int64_t next = i + 1, before = i - 1;
    while (next < sample.length && sample.label(2 * next + 1) != c) ++next;
    while (before >= 0 && sample.label(2 * before + 1) != c) --before;
    chain[2 * i] = next < sample.length ? int32_t(next) : -1;
    chain[2 * i + 1] = before < 0 && c != sample.p.blank;
  });
  sample.group.sync();
}

template <class T, int Size>
STATOR_KERNEL(Size) void ctc_loss_backward_kernel(CtcLoss p, params::ErrorSlot slot, uint16_t op) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const CtcSample<T, Size> sample(p, group, slot, op);
  const A loss = sample.valid ? sample.forward(p.steps) : A(0);
  const bool zero = !sample.valid || (p.zero_infinity && is_infinite(loss));
  const int64_t used = zero ? 0 : sample.steps, n = sample.n;
  T* const out = static_cast<T*>(p.out);
  const auto index = [&](int64_t t, int64_t c) { return (t * p.samples + n) * p.classes + c; };
  A grad = A(static_cast<const T*>(p.grad)[n * p.grad_stride]);
  if (p.mean) grad /= A(double(p.samples) * double(sample.length > 0 ? sample.length : 1));
  for (int64_t t = used; t < p.steps; ++t) group.for_each(p.classes, [&](int64_t c) { out[index(t, c)] = T(0.0f); });
  if (used == 0) return;
  int32_t* const chain = p.chain + 2 * sample.first;
  link_labels(sample, chain);
  A* const probability = sample.row(p.steps + 2);  // the probability of each state
  STATOR_UNROLL(1)
  for (int64_t t = used - 1; t >= 0; --t) {
    const A* const before = sample.row(t);
    A* const behind = sample.row(p.steps + t % 2);
    sample.template step<-1>(t, behind, sample.row(p.steps + (t + 1) % 2), t == used - 1);
    group.for_each(sample.states(), [&](int64_t s) {
      probability[s] = exp(before[s] + behind[s] - sample.log_prob(t, sample.label(s)) + loss);
    });
    // A loss that is infinite has no gradient.
    const A base = is_infinite(loss) ? limits<A>::nan() : grad;
    group.for_each(p.classes, [&](int64_t c) { out[index(t, c)] = convert<T>(exp(sample.log_prob(t, c)) * base); });
    group.sync();
    const auto write = [&](int64_t c, A part) {
      out[index(t, c)] = convert<T>((exp(sample.log_prob(t, c)) - part) * base);
    };
    // Blanks, and labels that are the blank.
    const A blanks = group.template map_reduce<A>(
        sample.states(), Sum{}, [&](int64_t s) { return sample.label(s) == p.blank ? probability[s] : A(0); });
    if (group.rank() == 0) write(p.blank, blanks);
    group.for_each(sample.length, [&](int64_t i) {
      if (!chain[2 * i + 1]) return;
      A part = 0;
      for (int64_t k = i; k >= 0; k = chain[2 * k]) part += probability[2 * k + 1];
      write(sample.label(2 * i + 1), part);
    });
    group.sync();
  }
}

void ctc_loss(const params::Queue& q, const CtcLoss& p) {
  constexpr int block = CtcTuning::block;
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "ctc_loss", ctc_loss_kernel<T, block>, {p.samples, block}, p, q.slot, q.op);
  });
}

void ctc_loss_backward(const params::Queue& q, const CtcLoss& p) {
  constexpr int block = CtcTuning::block;
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "ctc_loss_backward", ctc_loss_backward_kernel<T, block>, {p.samples, block}, p, q.slot, q.op);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::losses

STATOR_LAUNCHER(losses, ctc_loss)
STATOR_LAUNCHER(losses, ctc_loss_backward)
