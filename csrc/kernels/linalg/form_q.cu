// Q of batches of matrices from their reflectors, as LAPACK's orgqr: Q e_j = H_0 ... H_{k-1} e_j. Columns are computed
// independently: reflectors after the j-th do not change column j. A team of threads has a few columns in shared
// memory.
#include "host/launcher.hpp"
#include "kernels/linalg/reflector.cuh"

namespace stator::STATOR_TARGET::linalg {
namespace {

struct FormQTuning {
  static constexpr int block = 128;
  static constexpr int shared_bytes = 96 << 10;  // at least two blocks per multiprocessor
};

// A block has a tile of `width` columns, and each team at most `each` of them. Teams do not synchronise with each
// other.
template <class T, int Size>
STATOR_KERNEL(Size) void form_q_kernel(params::FormQ p, int width, int each) {
  const Group<Size> group;
  const Team<Size> team(group);
  const int64_t m = p.m, k = p.reflectors, row = p.q.row, col = p.q.col;
  const int64_t tiles = (p.columns + width - 1) / width;
  const int before = team.index() * each;
  T* x = group.template dynamic<T>(width * m) + before * m;
  const int64_t matrix = group.block() / tiles, first = (group.block() - matrix * tiles) * width + before;
  const int64_t left = p.columns - first, rest = width - before, most = left < rest ? left : rest;
  const int own = int(most < each ? most : each);
  if (own <= 0) return;
  T* q = static_cast<T*>(p.q.data) + matrix * p.q.batch + first * col;
  const bool started = p.started, conjugated = p.conjugate;
  // Load C or the identity.
  for (int c = 0; c < own; ++c) {
    T* column = x + c * m;
    const T* given = started && first + c < k ? q + c * col : nullptr;
    team.for_each(0, m, [=](int64_t i) {
      column[i] = given == nullptr ? T(i == first + c) : i < k ? given[i * row] : T(0);
    });
  }
  // Apply the reflectors, the last one first.
  const T* v = static_cast<const T*>(p.factors.data) + matrix * p.factors.batch;
  const T* tau = static_cast<const T*>(p.tau) + matrix * k;
  for (int64_t at = started || first + own > k ? k - 1 : first + own - 1; at >= 0; --at)
    reflect_columns(team, v + at * p.factors.col, at, m, tau[at], x, m, own);
  // Store.
  for (int c = 0; c < own; ++c) {
    const T* column = x + c * m;
    T* to = q + c * col;
    team.for_each(0, m, [=](int64_t i) { to[i * row] = conjugated ? conjugate(column[i]) : column[i]; });
  }
}

}  // namespace

void form_q(const params::Queue& q, const params::FormQ& p) {
  visit<dtypes::blas>(p.dtype, [&]<class T>(type_tag<T>) {
    constexpr int teams = Team<FormQTuning::block>::count;
    const int64_t bytes = p.m * int64_t(sizeof(T)), fit = std::max<int64_t>(1, FormQTuning::shared_bytes / bytes);
    const int each = int(std::clamp<int64_t>(fit / teams, 1, reflected_columns));
    const int width = int(std::min<int64_t>(fit, teams * each));
    if constexpr (!fast_host)
      launch(q, "form_q", form_q_kernel<T, FormQTuning::block>,
             {p.count * ceil_div(p.columns, width), FormQTuning::block, int(width * bytes)}, p, width, each);
  });
}

}  // namespace stator::STATOR_TARGET::linalg

STATOR_LAUNCHER(linalg, form_q, fast_host ? nullptr : form_q)
