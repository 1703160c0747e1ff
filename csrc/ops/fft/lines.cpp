#include "ops/fft/lines.hpp"

#include "ops/fft/tables.hpp"
#include "params/fft.hpp"

#include <algorithm>
#include <cmath>

namespace stator::fft {
namespace {

using params::FftForm;
using libs::FftKind;

// Measured on two cores with vectors of 64 bytes and 1 MiB of cache each.
struct Tuning {
  static constexpr int64_t least_split = 256;      // shorter lines are done whole
  static constexpr int64_t whole_rows = 2048;      // lines that are done whole when their points lie side by side
  static constexpr int64_t whole_columns = 4096;   // and when lines lie side by side
  static constexpr int64_t shared_line = 1 << 14;  // shorter lines are not worth two launches
};

struct Split {
  int64_t n1 = 0, n2 = 0;  // 0: none
};

// The factors nearest to each other of which both fill vectors.
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
    params::FftLines p{};
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
    p.lines = fft_.lines;
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

  // Contiguous lines of n complex points in scratch memory.
  params::FftSide scratch_lines(int64_t n) {
    params::FftSide to{};
    to.base = call_.scratch(size_t(fft_.lines * n * complex_bytes_));
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

  Split split_for(const params::FftLines& p) const {
    if (p.n < Tuning::least_split) return {};
    const auto side_by_side = [&](const params::FftSide& s) {
      return p.ndim > 0 && std::abs(s.strides[p.ndim - 1]) == 1 && p.shape[p.ndim - 1] >= lanes_;
    };
    const bool columns = side_by_side(p.in) || side_by_side(p.out);
    const bool few = p.lines < lanes_;
    if (!few && p.n <= (columns ? Tuning::whole_columns : Tuning::whole_rows)) return {};
    // Partly filled vectors are walked number by number: better only than lanes without a line or a work area that no
    // cache holds.
    const bool large = p.n > Tuning::whole_columns;
    return split_of(p.n, lanes_, few || large ? 4.0 : 2.2);
  }

  // The real line's half and its complex transform are made from each other apart.
  void run_packed(params::FftLines p, bool smooth, const Split& split) {
    const params::FftSide whole = scratch_lines(p.n);
    params::FftTangle t{};
    t.n = p.n;
    t.lines = p.lines;
    t.ndim = p.ndim;
    std::copy_n(p.shape, p.ndim, t.shape);
    t.scale = 1;
    t.real_roots = tables_.real_roots(p.n);
    t.is_double = p.is_double;
    if (p.in.form == FftForm::packed) {
      t.in = p.in;
      t.out = whole;
      kernels::fft::tangle(call_.queue(), t);
      p.in = whole;
      return run_complex(p, smooth, split);
    }
    t.in = whole;
    t.out = p.out;
    t.untangle = 1;
    std::swap(t.scale, p.scale);
    p.out = whole;
    run_complex(p, smooth, split);
    kernels::fft::tangle(call_.queue(), t);
  }

  void run_complex(params::FftLines p, bool smooth, const Split& split) {
    if (smooth) return launch(p, split);
    const int64_t n = p.n, m = convenient_length(2 * n - 1);
    const Tables::Chirp chirp = tables_.chirp(n, m);
    // The convolution with the filter: forward, then the inverse as the conjugate of the conjugate's transform.
    params::FftLines first = p, second = p;
    first.n = second.n = m;
    first.in.count = std::min(p.in.count, p.in.form == FftForm::pairs ? 2 * n : n);
    first.pre = chirp.chirp;
    first.post = chirp.filter;
    first.pre_apart = first.post_apart = chirp.apart;
    first.scale = 1;
    first.out = second.in = scratch_lines(m);
    first.out.conjugate = 1;
    second.post = chirp.chirp;
    second.post_apart = 2 * chirp.apart;
    second.out.conjugate = !p.out.conjugate;
    second.out.count = std::min(p.out.count, p.out.form == FftForm::pairs ? 2 * n : n);
    launch(first, split_for(first));
    launch(second, split_for(second));
  }

  void launch(params::FftLines p, const Split& split) {
    const int64_t point_bytes = complex_bytes_ * lanes_;
    const int64_t most = int64_t(processors_) * kernels::fft::blocks_per_multiprocessor(call_.limits());
    int64_t longest = p.n, units = (p.lines + lanes_ - 1) / lanes_;
    if (split.n1 > 0) {
      p.columns = tables_.passes(split.n1);
      p.rows = tables_.passes(split.n2);
      tables_.columns(split.n1, split.n2, &p.lane_roots, &p.block_roots);
      longest = std::max(split.n1, split.n2);
      const bool shared = p.lines < processors_ && p.n >= Tuning::shared_line;
      p.stages = shared ? 1 : 3;
      units = shared ? p.lines * ((split.n2 + lanes_ - 1) / lanes_) : p.lines;
    } else {
      p.rows = tables_.passes(p.n);
    }
    p.blocks = std::clamp<int64_t>(units, 1, most);
    p.work_bytes = (2 * (longest + 1) * point_bytes + 127) / 128 * 128;
    p.work = call_.scratch(size_t(p.blocks * p.work_bytes));
    if (split.n1 > 0) p.middle = call_.scratch(size_t((p.stages == 3 ? p.blocks : p.lines) * p.n * complex_bytes_));
    kernels::fft::lines(call_.queue(), p);
    if (p.stages != 1) return;
    p.stages = 2;
    p.blocks = std::clamp<int64_t>(p.lines * ((split.n1 + lanes_ - 1) / lanes_), 1, p.blocks);
    kernels::fft::lines(call_.queue(), p);
  }

  OpCall& call_;
  const libs::Fft& fft_;
  Tables tables_;
  const int lanes_;
  const int64_t complex_bytes_;
  const int processors_;
};

}  // namespace

void transform_lines(OpCall& call, const libs::Fft& fft) { Engine(call, fft).run(); }

}  // namespace stator::fft
