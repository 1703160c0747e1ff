// One step backward: from the gradients of the states after it to those of the gates, and to what of those before it
// does not go through the gates.
#include "host/launcher.hpp"
#include "kernels/recurrent/cells.cuh"

namespace stator::STATOR_TARGET::recurrent {
namespace {

template <class T, class G>
struct BackwardRow {
  using A = opmath_t<G>;
  int64_t hidden;
  const G *gates, *grad_h;
  const T* grad_y;
  G* before_h;
  T* grad_input;

  STATOR_FN BackwardRow(const Cell& p, int64_t b)
      : hidden(p.hidden),
        gates(row_of<const G>(p.gates, b)),
        grad_h(row_of<const G>(p.grad_h, b)),
        grad_y(row_of<const T>(p.grad_y, b)),
        before_h(row_of<G>(p.before_h, b)),
        grad_input(row_of<T>(p.grad_input_gates, b)) {}

  STATOR_FN A gate(int64_t k) const { return convert<A>(gates[k]); }
  STATOR_FN A grad(int64_t j) const { return convert<A>(grad_y[j]) + convert<A>(grad_h[j]); }
  STATOR_FN void to_input(int64_t k, A value) const { grad_input[k] = convert<T>(value); }
  STATOR_FN void before(int64_t j, A value) const {
    if (before_h != nullptr) before_h[j] = convert<G>(value);
  }
  STATOR_FN void hold(int64_t j) const {
    if (before_h != nullptr) before_h[j] = grad_h[j];
  }
};

template <class T, class G, bool Relu>
struct PlainBackward : BackwardRow<T, G> {
  using Base = BackwardRow<T, G>;
  using A = typename Base::A;
  STATOR_FN PlainBackward(const Cell& p, int64_t b) : Base(p, b) {}

  STATOR_FN void update(int64_t j) const {
    const A y = this->gate(j), grad = this->grad(j);
    this->to_input(j, Relu ? (y > A(0) ? grad : A(0)) : grad * tanh_slope(y));
    this->before(j, A(0));
  }
  STATOR_FN void hold(int64_t j) const {
    this->to_input(j, A(0));
    Base::hold(j);
  }
};

template <class T, class G>
struct LstmBackward : BackwardRow<T, G> {
  using Base = BackwardRow<T, G>;
  using A = typename Base::A;
  const T* c;
  const G* grad_c;
  G* before_c;
  STATOR_FN LstmBackward(const Cell& p, int64_t b)
      : Base(p, b),
        c(row_of<const T>(p.c, b)),
        grad_c(row_of<const G>(p.grad_c, b)),
        before_c(row_of<G>(p.before_c, b)) {}

  STATOR_FN void update(int64_t j) const {
    const int64_t n = this->hidden;
    const A i = this->gate(j), f = this->gate(n + j), g = this->gate(2 * n + j), o = this->gate(3 * n + j);
    const A old = convert<A>(c[j]), y = tanh(f * old + i * g), grad = this->grad(j);
    const A cell = convert<A>(grad_c[j]) + grad * o * tanh_slope(y);
    this->to_input(j, cell * g * logistic_slope(i));
    this->to_input(n + j, cell * old * logistic_slope(f));
    this->to_input(2 * n + j, cell * i * tanh_slope(g));
    this->to_input(3 * n + j, grad * y * logistic_slope(o));
    before_c[j] = convert<G>(cell * f);
    this->before(j, A(0));
  }
  STATOR_FN void hold(int64_t j) const {
    for (int k = 0; k < 4; ++k) this->to_input(k * this->hidden + j, A(0));
    before_c[j] = grad_c[j];
    Base::hold(j);
  }
};

template <class T, class G>
struct GruBackward : BackwardRow<T, G> {
  using Base = BackwardRow<T, G>;
  using A = typename Base::A;
  const T* h;
  const G* hidden_new;
  T* grad_hidden;
  STATOR_FN GruBackward(const Cell& p, int64_t b)
      : Base(p, b),
        h(row_of<const T>(p.h, b)),
        hidden_new(row_of<const G>(p.hidden_new, b)),
        grad_hidden(row_of<T>(p.grad_hidden_gates, b)) {}

  STATOR_FN void to_both(int64_t k, A value) const {
    this->to_input(k, value);
    grad_hidden[k] = convert<T>(value);
  }
  STATOR_FN void update(int64_t j) const {
    const int64_t n = this->hidden;
    const A r = this->gate(j), z = this->gate(n + j), fresh = this->gate(2 * n + j), grad = this->grad(j);
    const A of_new = grad * (A(1) - z) * tanh_slope(fresh);
    this->to_both(j, of_new * convert<A>(hidden_new[j]) * logistic_slope(r));
    this->to_both(n + j, grad * (convert<A>(h[j]) - fresh) * logistic_slope(z));
    this->to_input(2 * n + j, of_new);
    grad_hidden[2 * n + j] = convert<T>(of_new * r);
    this->before(j, grad * z);
  }
  STATOR_FN void hold(int64_t j) const {
    for (int k = 0; k < 3; ++k) this->to_both(k * this->hidden + j, A(0));
    Base::hold(j);
  }
};

template <class T, class G, int Size>
STATOR_KERNEL(Size) void backward_kernel(Cell p, Units units) {
  const Group<Size> group;
  switch (p.kind) {
    case RecurrentKind::tanh: return for_units<PlainBackward<T, G, false>>(group, p, units);
    case RecurrentKind::relu: return for_units<PlainBackward<T, G, true>>(group, p, units);
    case RecurrentKind::lstm: return for_units<LstmBackward<T, G>>(group, p, units);
    default: return for_units<GruBackward<T, G>>(group, p, units);
  }
}

void backward(const params::Queue& q, const Cell& p) {
  const Units units(p);
  visit_mixed(p.dtype, p.gates_dtype, [&]<class T, class G>(type_tag<T>, type_tag<G>) {
    launch(q, "recurrent_backward", backward_kernel<T, G, RecurrentTuning::block>,
           {units.blocks(p), RecurrentTuning::block}, p, units);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::recurrent

STATOR_LAUNCHER(recurrent, backward)
