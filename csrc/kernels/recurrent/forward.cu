// One step forward: the functions of the gates, the new states, and what the gradient needs of them.
#include "host/launcher.hpp"
#include "kernels/recurrent/cells.cuh"

namespace stator::STATOR_TARGET::recurrent {
namespace {

// The operands that all kinds have. T: of states, G: of gates.
template <class T, class G>
struct ForwardRow {
  using A = opmath_t<G>;
  int64_t hidden;
  const G *input, *recurrent;
  const T *bias_ih, *bias_hh, *h;
  T *next_h, *y;
  G* gates;

  STATOR_FN ForwardRow(const Cell& p, int64_t b)
      : hidden(p.hidden),
        input(row_of<const G>(p.input_gates, b)),
        recurrent(row_of<const G>(p.hidden_gates, b)),
        bias_ih(static_cast<const T*>(p.bias_ih)),
        bias_hh(static_cast<const T*>(p.bias_hh)),
        h(row_of<const T>(p.h, b)),
        next_h(row_of<T>(p.next_h, b)),
        y(row_of<T>(p.y, b)),
        gates(row_of<G>(p.gates, b)) {}

  STATOR_FN A of_input(int64_t k) const { return convert<A>(input[k]) + convert<A>(bias_ih[k]); }
  STATOR_FN A of_state(int64_t k) const { return convert<A>(recurrent[k]) + convert<A>(bias_hh[k]); }
  STATOR_FN A gate(int64_t k) const { return of_input(k) + of_state(k); }
  STATOR_FN void finish(int64_t j, T value) const {
    next_h[j] = value;
    if (y != nullptr) y[j] = value;
  }
  STATOR_FN void hold(int64_t j) const {
    next_h[j] = h[j];
    if (y != nullptr) y[j] = T(0);
  }
};

template <class T, class G, bool Relu>
struct PlainForward : ForwardRow<T, G> {
  using Base = ForwardRow<T, G>;
  using A = typename Base::A;
  STATOR_FN PlainForward(const Cell& p, int64_t b) : Base(p, b) {}

  STATOR_FN void update(int64_t j) const {
    const A v = this->gate(j), y = Relu ? (v < A(0) ? A(0) : v) : tanh(v);
    if (this->gates != nullptr) this->gates[j] = convert<G>(y);
    this->finish(j, convert<T>(y));
  }
};

template <class T, class G>
struct LstmForward : ForwardRow<T, G> {
  using Base = ForwardRow<T, G>;
  using A = typename Base::A;
  const T* c;
  T* next_c;
  STATOR_FN LstmForward(const Cell& p, int64_t b)
      : Base(p, b), c(row_of<const T>(p.c, b)), next_c(row_of<T>(p.next_c, b)) {}

  STATOR_FN void update(int64_t j) const {
    const int64_t n = this->hidden;
    const A i = logistic(this->gate(j)), f = logistic(this->gate(n + j)), g = tanh(this->gate(2 * n + j)),
            o = logistic(this->gate(3 * n + j));
    const A cell = f * convert<A>(c[j]) + i * g;
    if (this->gates != nullptr) {
      this->gates[j] = convert<G>(i);
      this->gates[n + j] = convert<G>(f);
      this->gates[2 * n + j] = convert<G>(g);
      this->gates[3 * n + j] = convert<G>(o);
    }
    next_c[j] = convert<T>(cell);
    this->finish(j, convert<T>(o * tanh(cell)));
  }
  STATOR_FN void hold(int64_t j) const {
    next_c[j] = c[j];
    Base::hold(j);
  }
};

template <class T, class G>
struct GruForward : ForwardRow<T, G> {
  using Base = ForwardRow<T, G>;
  using A = typename Base::A;
  G *hidden_new, *saved_h;
  STATOR_FN GruForward(const Cell& p, int64_t b)
      : Base(p, b), hidden_new(row_of<G>(p.hidden_new, b)), saved_h(row_of<G>(p.saved_h, b)) {}

  STATOR_FN void update(int64_t j) const {
    const int64_t n = this->hidden;
    const A r = logistic(this->gate(j)), z = logistic(this->gate(n + j)), recurrent = this->of_state(2 * n + j);
    const A fresh = tanh(this->of_input(2 * n + j) + r * recurrent), before = convert<A>(this->h[j]);
    if (this->gates != nullptr) {
      this->gates[j] = convert<G>(r);
      this->gates[n + j] = convert<G>(z);
      this->gates[2 * n + j] = convert<G>(fresh);
      hidden_new[j] = convert<G>(recurrent);
    }
    if (saved_h != nullptr) saved_h[j] = convert<G>(before);
    this->finish(j, convert<T>(fresh + z * (before - fresh)));
  }
};

template <class T, class G, int Size>
STATOR_KERNEL(Size) void forward_kernel(Cell p, Units units) {
  const Group<Size> group;
  switch (p.kind) {
    case RecurrentKind::tanh: return for_units<PlainForward<T, G, false>>(group, p, units);
    case RecurrentKind::relu: return for_units<PlainForward<T, G, true>>(group, p, units);
    case RecurrentKind::lstm: return for_units<LstmForward<T, G>>(group, p, units);
    default: return for_units<GruForward<T, G>>(group, p, units);
  }
}

void forward(const params::Queue& q, const Cell& p) {
  const Units units(p);
  visit_mixed(p.dtype, p.gates_dtype, [&]<class T, class G>(type_tag<T>, type_tag<G>) {
    launch(q, "recurrent_forward", forward_kernel<T, G, RecurrentTuning::block>,
           {units.blocks(p), RecurrentTuning::block}, p, units);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::recurrent

STATOR_LAUNCHER(recurrent, forward)
