// The loss of log-probabilities against class indices, and its gradient, which is 0 except at the target.
#include "device/fault.cuh"
#include "device/functional.cuh"
#include "device/group.cuh"
#include "device/index.cuh"
#include "device/sum_blocks.cuh"
#include "device/vector.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/losses/formulas.cuh"

#include <algorithm>

namespace stator::STATOR_TARGET::losses {
namespace {

using params::NllLoss;

struct NllTuning {
  static constexpr int block = 256;
  static constexpr int64_t rows = by_target<1024, 4096>::value;    // least rows of a block
  static constexpr int64_t cells = by_target<8192, 65536>::value;  // least elements of a block's gradient
  static constexpr int64_t own = 1024;                             // rows whose weights every block sums by itself
  static constexpr int64_t run = 64;  // rows that the fast host adds up without compensation
};

// A sum of rows. A compensated addition waits for the one before, which costs the fast host more than the row itself:
// it adds up runs of rows plainly, and their sums with compensation. On cuda a thread has few rows, and compensates
// each.
struct RowSum {
  Cascade<double> total;
  double part = 0;

  STATOR_FN void add(double value, int64_t row) {
    if constexpr (fast_host) {
      part += value;
      if (row % NllTuning::run == 0) carry();
    } else {
      total.add(value);
    }
  }
  STATOR_FN double value() {
    carry();
    return total.value();
  }

 private:
  STATOR_FN void carry() {
    total.add(part);
    part = 0;
  }
};

// From rows and elements to coordinates.
struct NllCut {
  FastDivmod64 divisor[params::max_dims], inner, classes;
};

// One row's view of the parameters.
template <class T>
struct NllRow {
  int64_t at[NllLoss::operands];
  int64_t target;
  bool counts;  // the target is neither ignored nor out of range

  STATOR_FN NllRow(const NllLoss& p, const NllCut& cut, int64_t row) {
    STATOR_UNROLL()
    for (int k = 0; k < NllLoss::operands; ++k) at[k] = 0;
    STATOR_UNROLL(1)
    for (int d = p.ndim - 1; d >= 0; --d) {
      int64_t coordinate = row;
      if (d > 0) row = cut.divisor[d].divmod(row, coordinate);
      STATOR_UNROLL()
      for (int k = 0; k < NllLoss::operands; ++k) at[k] += coordinate * p.strides[k][d];
    }
    target = load_one<int64_t>(p.data[NllLoss::target], p.target_dtype, at[NllLoss::target]);
    counts = target != p.ignore_index && target >= 0 && target < p.classes;
  }
  STATOR_FN opmath_t<T> weight(const NllLoss& p) const {
    using A = opmath_t<T>;
    return p.weights != nullptr ? A(static_cast<const T*>(p.weights)[target * p.weight_stride]) : A(1);
  }
  STATOR_FN bool faulty(const NllLoss& p) const { return !counts && target != p.ignore_index; }
};

// The sum of the weights of the targets of rows [first, last).
template <class T, int Size>
STATOR_FN double target_weights(const Group<Size>& group, const NllLoss& p, const NllCut& cut, int64_t first,
                                int64_t last) {
  RowSum weights;
  for (int64_t i = first + group.rank(); i < last; i += Group<Size>::size) {
    const NllRow<T> row(p, cut, i);
    weights.add(row.counts ? double(row.weight(p)) : 0.0, i);
  }
  return group.reduce(weights.value(), Sum{});
}

// The loss; with p.total only the weights of all targets.
template <class T, int Size>
STATOR_KERNEL(Size) void nll_loss_kernel(NllLoss p, NllCut cut, params::ErrorSlot slot, uint16_t op,
                                         int64_t rows_per_block) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const int64_t first = group.block() * rows_per_block;
  const int64_t last = first + rows_per_block < p.rows ? first + rows_per_block : p.rows;
  double loss_sum = 0, weight_sum = 0;
  if (p.total != nullptr) {
    weight_sum = target_weights<T>(group, p, cut, first, last);
  } else {
    RowSum losses, weights;
    for (int64_t i = first + group.rank(); i < last; i += Group<Size>::size) {
      const NllRow<T> row(p, cut, i);
      A loss = 0, weight = 0;
      if (row.counts) {
        weight = row.weight(p);
        loss = -weight * A(static_cast<const T*>(p.data[0])[row.at[0] + row.target * p.class_stride]);
      } else if (row.faulty(p)) {
        report(slot, op, params::Fault::index_out_of_range, i, row.target);
      }
      if (p.each) {
        static_cast<T*>(p.out)[i] = convert<T>(loss);
        continue;
      }
      losses.add(double(loss), i);
      weights.add(double(weight), i);
    }
    if (p.each) return;
    loss_sum = group.reduce(losses.value(), Sum{});
    weight_sum = group.reduce(weights.value(), Sum{});
  }
  double total[] = {loss_sum, weight_sum};
  if (!sum_blocks(group, p.partials, p.counters, total)) return;
  if (p.total != nullptr)
    *p.total = total[1];
  else
    *static_cast<T*>(p.out) = convert<T>(p.mean ? total[0] / total[1] : total[0]);
}

template <class T>
STATOR_FN T slope_at_target(const NllLoss& p, const NllRow<T>& row, double denominator) {
  using A = opmath_t<T>;
  const A grad = A(double(A(static_cast<const T*>(p.data[NllLoss::grad])[row.at[NllLoss::grad]])) / denominator);
  return convert<T>(-row.weight(p) * grad);
}

// Where blocks have threads: elements [first, last) of the gradient, V at once.
template <class T, int Size>
STATOR_FN void fill_cells(const Group<Size>& group, const NllLoss& p, const NllCut& cut, const params::ErrorSlot& slot,
                          uint16_t op, int64_t first, int64_t last, double denominator) {
  constexpr int V = vector_width<T>;
  T* const out = static_cast<T*>(p.out);
  for (int64_t e = first + int64_t(group.rank()) * V; e < last; e += int64_t(Size) * V) {
    int64_t within, c;
    int64_t sample = cut.classes.divmod(cut.inner.divmod(e, within), c);
    NllRow<T> row(p, cut, sample * p.inner + within);
    Vec<T, V> v{};
    const int64_t left = last - e;
    STATOR_UNROLL()
    for (int u = 0; u < V; ++u) {
      if (u >= left) break;
      if (c == 0 && row.faulty(p))
        report(slot, op, params::Fault::index_out_of_range, sample * p.inner + within, row.target);
      v[u] = row.counts && row.target == c ? slope_at_target(p, row, denominator) : T(0.0f);
      if (++within == p.inner) {
        within = 0;
        if (++c == p.classes) c = 0, ++sample;
      }
      if (u + 1 < V && u + 1 < left && (p.inner > 1 || c == 0)) row = NllRow<T>(p, cut, sample * p.inner + within);
    }
    if (left >= V) {
      store_vector(out + e, v);
    } else {
      STATOR_UNROLL()
      for (int u = 0; u < V; ++u)
        if (u < left) out[e + u] = v[u];
    }
  }
}

// Fast host: the gradients of rows [first, last).
template <class T>
STATOR_FN void fill_rows(const NllLoss& p, const NllCut& cut, const params::ErrorSlot& slot, uint16_t op, int64_t first,
                         int64_t last, double denominator) {
  while (first < last) {
    const int64_t sample = first / p.inner, within = first - sample * p.inner;
    const int64_t n = std::min(p.inner - within, last - first);
    T* const out = static_cast<T*>(p.out) + sample * p.classes * p.inner + within;
    if (n == p.inner)
      std::fill_n(out, p.classes * n, T(0.0f));
    else
      for (int64_t c = 0; c < p.classes; ++c) std::fill_n(out + c * p.inner, n, T(0.0f));
    for (int64_t j = 0; j < n; ++j) {
      const NllRow<T> row(p, cut, first + j);
      if (row.counts)
        out[row.target * p.inner + j] = slope_at_target(p, row, denominator);
      else if (row.faulty(p))
        report(slot, op, params::Fault::index_out_of_range, first + j, row.target);
    }
    first += n;
  }
}

// A block has `each` elements of the gradient, or on the fast host rows.
template <class T, int Size>
STATOR_KERNEL(Size) void nll_loss_backward_kernel(NllLoss p, NllCut cut, params::ErrorSlot slot, uint16_t op,
                                                  int64_t each) {
  const Group<Size> group;
  double denominator = 1;
  if (p.mean) denominator = p.total != nullptr ? *p.total : target_weights<T>(group, p, cut, 0, p.rows);
  const int64_t first = group.block() * each, all = fast_host ? p.rows : p.rows * p.classes;
  const int64_t last = first + each < all ? first + each : all;
  if constexpr (fast_host)
    fill_rows<T>(p, cut, slot, op, first, last, denominator);
  else
    fill_cells<T>(group, p, cut, slot, op, first, last, denominator);
}

NllCut nll_cut(const NllLoss& p) {
  NllCut cut{};
  for (int d = 0; d < p.ndim; ++d) cut.divisor[d] = FastDivmod64(std::max<int64_t>(p.shape[d], 1));
  cut.inner = FastDivmod64(std::max<int64_t>(p.inner, 1));
  cut.classes = FastDivmod64(std::max<int64_t>(p.classes, 1));
  return cut;
}

int64_t nll_loss_blocks(const params::DeviceLimits& limits, const NllLoss& p) {
  return std::clamp<int64_t>(ceil_div(p.rows, NllTuning::rows), 1, waves(limits, NllTuning::block));
}

bool nll_loss_totals(const params::DeviceLimits&, const NllLoss& p) { return p.mean && p.rows > NllTuning::own; }

template <class T>
void launch_loss(const params::Queue& q, const NllLoss& p) {
  constexpr int block = NllTuning::block;
  const int64_t blocks = nll_loss_blocks(*q.limits, p);
  launch(q, "nll_loss", nll_loss_kernel<T, block>, {blocks, block}, p, nll_cut(p), q.slot, q.op,
         ceil_div(p.rows, blocks));
}

void nll_loss(const params::Queue& q, const NllLoss& p) {
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) { launch_loss<T>(q, p); });
}

void nll_loss_backward(const params::Queue& q, const NllLoss& p) {
  constexpr int block = NllTuning::block;
  const int64_t cells = p.rows * p.classes;
  const int64_t blocks = std::clamp<int64_t>(ceil_div(cells, NllTuning::cells), 1, waves(*q.limits, block));
  const int64_t each = fast_host ? ceil_div(p.rows, blocks) : ceil_div(ceil_div(cells, blocks), 16) * 16;
  const int64_t all = fast_host ? p.rows : cells;
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    if (p.total != nullptr) launch_loss<T>(q, p);
    launch(q, "nll_loss_backward", nll_loss_backward_kernel<T, block>, {ceil_div(all, each), block}, p, nll_cut(p),
           q.slot, q.op, each);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::losses

STATOR_LAUNCHER(losses, nll_loss_blocks)
STATOR_LAUNCHER(losses, nll_loss_totals)
STATOR_LAUNCHER(losses, nll_loss)
STATOR_LAUNCHER(losses, nll_loss_backward)
