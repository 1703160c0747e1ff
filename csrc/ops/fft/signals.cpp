// Transforms by stator's own kernels: how a length is split, and the launches.
#include "ops/fft/signals.hpp"

#include "ops/fft/tables.hpp"
#include "params/fft.hpp"

#include <algorithm>
#include <cmath>

namespace stator::fft {
namespace {

using libs::FftKind;
using params::FftForm;

// Measured on two cores with vectors of 64 bytes and 1 MiB of cache each.
struct Tuning {
  static constexpr int64_t least_split = 256;        // shorter signals are always transformed whole
  static constexpr int64_t whole_rows = 2048;        // longest signal that is transformed whole, of adjacent points
  static constexpr int64_t whole_columns = 4096;     // the same when signals lie side by side
  static constexpr int64_t shared_signal = 1 << 14;  // shorter signals are not worth two launches
};

struct Split {
  int64_t n1 = 0, n2 = 0;  // 0: none
};

// The two factors of n that are nearest to each other and fill vectors best.
Split split_of(int64_t n, int lanes, double most_waste) {
  Split best;
  double least = 1e300;
  for (int64_t d = 2; d * d <= n; ++d) {
    if (n % d != 0) continue;
    const int64_t e = n / d;
    const auto waste = [lanes](int64_t k) { return double((k + lanes - 1) / lanes * lanes) / double(k); };
    const double cost = waste(d) + waste(e) + 0.1 * std::log2(double(e) / double(d));
    if (cost < least) {
      least = cost;
      best = {e, d};
    }
  }
  return least < most_waste ? best : Split{};
}

class Engine {
 public:
  Engine(OpCall& call, const libs::Fft& fft)
      : call_(call),
        fft_(fft),
        tables_(call, fft.is_double),
        lanes_(kernels::fft::lanes(call.limits(), fft.is_double)),
        complex_bytes_(fft.is_double ? 16 : 8),
        processors_(call.limits().multiprocessors) {}

  void run() {
    const bool even = fft_.n % 2 == 0;
    params::FftSignals p{};
    p.in = side(fft_.in);
    p.out = side(fft_.out);
    p.n = fft_.n;
    if (fft_.kind == FftKind::real_to_complex && even) {
      p.n = fft_.n / 2;
      p.in.form = FftForm::pairs;
      p.out.form = FftForm::packed;
    } else if (fft_.kind == FftKind::complex_to_real && even) {
      p.n = fft_.n / 2;
      p.in.form = FftForm::packed;
      p.out.form = FftForm::pairs;
    } else if (fft_.kind == FftKind::complex_to_real) {
      p.in.form = FftForm::half;
    }
    p.in.points = p.out.points = p.n;
    p.signals = fft_.signals;
    p.ndim = fft_.ndim;
    std::copy_n(fft_.shape, fft_.ndim, p.shape);
    p.scale = fft_.scale;
    p.is_double = fft_.is_double;
    const bool smooth = is_smooth(p.n);
    const Split split = smooth ? split_for(p) : Split{};
    const bool packed_apart = !smooth || split.n1 > 0;
    if (p.in.form == FftForm::packed || p.out.form == FftForm::packed) {
      if (packed_apart) return run_packed(p, smooth, split);
      p.real_roots = tables_.real_roots(p.n);
    }
    run_complex(p, smooth, split);
  }

 private:
  static params::FftSide side(const libs::FftOperand& from) {
    params::FftSide to{};
    to.base = from.data;
    std::copy(std::begin(from.strides), std::end(from.strides), to.strides);
    to.step = from.step;
    to.count = from.count;
    to.form = from.real ? FftForm::real : FftForm::complex;
    to.conjugate = from.conjugate;
    return to;
  }

  // Contiguous signals of n complex points in scratch memory.
  params::FftSide scratch_signals(int64_t n) {
    params::FftSide to{};
    to.base = call_.scratch(size_t(fft_.signals * n * complex_bytes_));
    int64_t stride = n;
    for (int d = fft_.ndim - 1; d >= 0; --d) {
      to.strides[d] = stride;
      stride *= fft_.shape[d];
    }
    to.step = 1;
    to.count = to.points = n;
    to.form = FftForm::complex;
    return to;
  }

  Split split_for(const params::FftSignals& p) const {
    if (p.n < Tuning::least_split) return {};
    const auto side_by_side = [&](const params::FftSide& s) {
      return p.ndim > 0 && std::abs(s.strides[p.ndim - 1]) == 1 && p.shape[p.ndim - 1] >= lanes_;
    };
    const bool columns = side_by_side(p.in) || side_by_side(p.out);
    const bool few = p.signals < lanes_;
    if (!few && p.n <= (columns ? Tuning::whole_columns : Tuning::whole_rows)) return {};
    // Partly filled vectors are read and written number by number. That is only better than lanes without a signal, or
    // than a work area too large for a cache.
    const bool large = p.n > Tuning::whole_columns;
    return split_of(p.n, lanes_, few || large ? 4.0 : 2.2);
  }

  // Splits or merges real signals in a launch of its own.
  void run_packed(params::FftSignals p, bool smooth, const Split& split) {
    const params::FftSide whole = scratch_signals(p.n);
    params::FftRealPass t{};
    t.n = p.n;
    t.signals = p.signals;
    t.ndim = p.ndim;
    std::copy_n(p.shape, p.ndim, t.shape);
    t.scale = 1;
    t.real_roots = tables_.real_roots(p.n);
    t.is_double = p.is_double;
    if (p.in.form == FftForm::packed) {
      t.in = p.in;
      t.out = whole;
      kernels::fft::real_pass(call_.queue(), t);
      p.in = whole;
      return run_complex(p, smooth, split);
    }
    t.in = whole;
    t.out = p.out;
    t.split = 1;
    std::swap(t.scale, p.scale);
    p.out = whole;
    run_complex(p, smooth, split);
    kernels::fft::real_pass(call_.queue(), t);
  }

  void run_complex(params::FftSignals p, bool smooth, const Split& split) {
    if (smooth) return launch(p, split);
    const int64_t n = p.n, m = convenient_length(2 * n - 1);
    const Tables::Chirp chirp = tables_.chirp(n, m);
    // Convolves with the filter: a forward transform, then the inverse as the conjugate of the transform of the
    // conjugate.
    params::FftSignals first = p, second = p;
    first.n = second.n = m;
    first.in.count = std::min(p.in.count, p.in.form == FftForm::pairs ? 2 * n : n);
    first.pre = chirp.chirp;
    first.post = chirp.filter;
    first.pre_apart = first.post_apart = chirp.apart;
    first.scale = 1;
    first.out = second.in = scratch_signals(m);
    first.out.conjugate = 1;
    second.post = chirp.chirp;
    second.post_apart = 2 * chirp.apart;
    second.out.conjugate = !p.out.conjugate;
    second.out.count = std::min(p.out.count, p.out.form == FftForm::pairs ? 2 * n : n);
    launch(first, split_for(first));
    launch(second, split_for(second));
  }

  void launch(params::FftSignals p, const Split& split) {
    const int64_t point_bytes = complex_bytes_ * lanes_;
    const int64_t most = int64_t(processors_) * kernels::fft::blocks_per_multiprocessor(call_.limits());
    int64_t longest = p.n, units = (p.signals + lanes_ - 1) / lanes_;
    if (split.n1 > 0) {
      p.columns = tables_.passes(split.n1);
      p.rows = tables_.passes(split.n2);
      tables_.columns(split.n1, split.n2, &p.lane_roots, &p.block_roots);
      longest = std::max(split.n1, split.n2);
      const bool shared = p.signals < processors_ && p.n >= Tuning::shared_signal;
      p.stages = shared ? 1 : 3;
      units = shared ? p.signals * ((split.n2 + lanes_ - 1) / lanes_) : p.signals;
    } else {
      p.rows = tables_.passes(p.n);
    }
    p.blocks = std::clamp<int64_t>(units, 1, most);
    p.work_bytes = (2 * (longest + 1) * point_bytes + 127) / 128 * 128;
    p.work = call_.scratch(size_t(p.blocks * p.work_bytes));
    if (split.n1 > 0) p.middle = call_.scratch(size_t((p.stages == 3 ? p.blocks : p.signals) * p.n * complex_bytes_));
    kernels::fft::signals(call_.queue(), p);
    if (p.stages != 1) return;
    p.stages = 2;
    p.blocks = std::clamp<int64_t>(p.signals * ((split.n1 + lanes_ - 1) / lanes_), 1, p.blocks);
    kernels::fft::signals(call_.queue(), p);
  }

  OpCall& call_;
  const libs::Fft& fft_;
  Tables tables_;
  const int lanes_;
  const int64_t complex_bytes_;
  const int processors_;
};

}  // namespace

void transform_signals(OpCall& call, const libs::Fft& fft) { Engine(call, fft).run(); }

}  // namespace stator::fft
