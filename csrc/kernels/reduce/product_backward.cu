// The gradient of a product: the factors of each product are gathered, then each is taken out of them again.
#include "device/launch.cuh"
#include "device/launcher.cuh"
#include "kernels/reduce/product_factors.cuh"
#include "params/reduce.hpp"
#include "kernels/scan/work.cuh"

#include <algorithm>
#include <cstdlib>

namespace stator::STATOR_TARGET::reduce {

using scan::scan_dtypes;
using scan::scan_load_line;
using scan::scan_store_line;

namespace {

struct ProductTuning {
  static constexpr int block = 256;
  static constexpr int across = 32;  // products side by side
  static constexpr int width = 512;  // elements of a fast-host step
  static constexpr int lanes = 32;   // of a fast-host row; 16 would be unrolled, not vectorised
  static constexpr int64_t share = by_target<16, 32768>::value;  // least factors of a part, of a thread or a block
  static constexpr int64_t least = 32768;                        // factors of a fast-host block
};

struct ProductWork {
  params::ProductBackward p;
  bool totals;        // only the factors of the parts
  bool columns;       // neighbouring products are nearer in memory than neighbouring factors
  int64_t row, tile;  // products that lie side by side, and how many of them a block takes
  int64_t share;      // factors of a part
  int32_t parts;      // of a product, one block each
  Factors* partials;  // [kept_size, parts]
};

// A block's products [first, last) and their factors [begin, end).
struct ProductTile {
  int64_t first, last, begin, end;
  int32_t part;
};

STATOR_FN ProductTile product_tile(const ProductWork& w, int64_t block) {
  const int64_t group = block / w.parts, tiles = (w.row + w.tile - 1) / w.tile, row = group / tiles;
  ProductTile t;
  t.part = int32_t(block - group * w.parts);
  t.first = row * w.row + (group - row * tiles) * w.tile;
  t.last = t.first + w.tile < (row + 1) * w.row ? t.first + w.tile : (row + 1) * w.row;
  t.begin = t.part * w.share;
  t.end = t.begin + w.share < w.p.reduced_size ? t.begin + w.share : w.p.reduced_size;
  return t;
}

STATOR_FN int64_t kept_at(const params::ProductBackward& p, const int64_t (&strides)[params::max_dims], int64_t k) {
  return offset_of(k, p.kept_ndim, p.kept_shape, strides);
}
STATOR_FN int64_t reduced_at(const params::ProductBackward& p, const int64_t (&strides)[params::max_dims], int64_t r) {
  return offset_of(r, p.reduced_ndim, p.reduced_shape, strides);
}

STATOR_FN Factors all_parts(const ProductWork& w, int64_t k) {
  Factors all = Factors::none();
  for (int part = 0; part < w.parts; ++part) all.join(w.partials[k * w.parts + part]);
  return all;
}

// Of one factor; `quick` is all.quick().
template <class T>
STATOR_FN T gradient_of(const Factors& all, double quick, double v, T grad) {
  return is_moderate(v) && quick != 0 ? T(double(grad) * (quick / v)) : all.gradient(v, grad);
}

template <class T, class G>
STATOR_FN void product_threads(const G& group, const ProductWork& w) {
  struct Shared {
    Factors factors[G::size];
  };
  Shared& shared = group.template shared<Shared>();
  const params::ProductBackward& p = w.p;
  const ProductTile t = product_tile(w, group.block());
  const int across = int(w.tile), along = G::size / across;
  const int x = w.columns ? group.rank() % across : group.rank() / along;
  const int y = w.columns ? group.rank() / across : group.rank() % along;
  const int64_t k = t.first + x;
  const bool mine = k < t.last;
  const int64_t from = kept_at(p, p.kept_x, mine ? k : t.first), to = kept_at(p, p.kept_out, mine ? k : t.first);
  Factors all = Factors::none();
  if (w.totals || w.parts == 1) {
    if (mine)
      for (int64_t r = t.begin + y; r < t.end; r += along)
        all.take(load_as<double>(p.x, p.dtype, from + reduced_at(p, p.reduced_x, r)));
    shared.factors[x * along + y] = all;
    group.sync();
    for (int half = along / 2; half > 0; half /= 2) {
      if (y < half) {
        all.join(shared.factors[x * along + y + half]);
        shared.factors[x * along + y] = all;
      }
      group.sync();
    }
    all = shared.factors[x * along];
    if (w.totals) {
      if (mine && y == 0) w.partials[k * w.parts + t.part] = all;
      return;
    }
  } else {
    if (y == 0 && mine) shared.factors[x] = all_parts(w, k);
    group.sync();
    all = shared.factors[x];
  }
  if (!mine) return;
  const T grad = load_as<T>(p.grad, p.dtype, kept_at(p, p.kept_grad, k));
  const double quick = all.quick();
  for (int64_t r = t.begin + y; r < t.end; r += along) {
    const double v = load_as<double>(p.x, p.dtype, from + reduced_at(p, p.reduced_x, r));
    store_as(p.out, p.dtype, to + reduced_at(p, p.reduced_out, r), gradient_of(all, quick, v, grad));
  }
}

// f(r, count) for runs of factors that are evenly apart.
template <class F>
STATOR_FN void for_each_run(const params::ProductBackward& p, const ProductTile& t, F f) {
  const int64_t extent = p.reduced_ndim > 0 ? p.reduced_shape[p.reduced_ndim - 1] : 1;
  for (int64_t r = t.begin; r < t.end;) {
    const int64_t left = std::min(extent - r % extent, t.end - r);
    const int count = int(std::min<int64_t>(left, ProductTuning::width));
    f(r, count);
    r += count;
  }
}

// result[i]: the gradient of v[i], a factor of the i-th of `all`, or of its only product where Same.
template <bool Same, class T>
STATOR_FN void gradients(const Factors* all, const double* quick, const T* grad, const double* v, int count,
                         T* result) {
  int far = 0;
  for (int i = 0; i < count; ++i) far += !is_moderate(v[i]) | (quick[Same ? 0 : i] == 0);
  if (far == 0)
    for (int i = 0; i < count; ++i) result[i] = T(double(grad[Same ? 0 : i]) * (quick[Same ? 0 : i] / v[i]));
  else
    for (int i = 0; i < count; ++i)
      result[i] = gradient_of(all[Same ? 0 : i], quick[Same ? 0 : i], v[i], grad[Same ? 0 : i]);
}

template <class T>
STATOR_FN void product_rows(const ProductWork& w, const ProductTile& t) {
  const params::ProductBackward& p = w.p;
  constexpr DTypeSet reads = dtypes::floats, writes = scan_dtypes<T>;
  const int inner = p.reduced_ndim - 1;
  const int64_t x_step = inner < 0 ? 0 : p.reduced_x[inner], out_step = inner < 0 ? 0 : p.reduced_out[inner];
  double v[ProductTuning::width];
  T result[ProductTuning::width];
  for (int64_t k = t.first; k < t.last; ++k) {
    const int64_t from = kept_at(p, p.kept_x, k), to = kept_at(p, p.kept_out, k);
    Factors all = Factors::none();
    if (w.totals || w.parts == 1) {
      constexpr int K = ProductTuning::lanes;
      FactorLanes<K> lanes;
      lanes.begin(K);
      for_each_run(p, t, [&](int64_t r, int count) {
        scan_load_line<double, reads>(v, p.x, p.dtype, from + reduced_at(p, p.reduced_x, r), x_step, count);
        int i = 0;
        for (; i + K <= count; i += K) lanes.take(v + i, K);
        for (; i < count; ++i) all.take(v[i]);
      });
      all.join(lanes.total());
    } else {
      all = all_parts(w, k);
    }
    if (w.totals) {
      w.partials[k * w.parts + t.part] = all;
      continue;
    }
    const double quick = all.quick();
    T grad;
    scan_load_line<T, writes>(&grad, p.grad, p.dtype, kept_at(p, p.kept_grad, k), 1, 1);
    for_each_run(p, t, [&](int64_t r, int count) {
      scan_load_line<double, reads>(v, p.x, p.dtype, from + reduced_at(p, p.reduced_x, r), x_step, count);
      gradients<true>(&all, &quick, &grad, v, count, result);
      scan_store_line<T, writes>(result, p.out, p.dtype, to + reduced_at(p, p.reduced_out, r), out_step, count);
    });
  }
}

template <class T>
STATOR_FN void product_columns(const ProductWork& w, const ProductTile& t) {
  const params::ProductBackward& p = w.p;
  constexpr int W = ProductTuning::width;
  constexpr DTypeSet reads = dtypes::floats, writes = scan_dtypes<T>;
  const int inner = p.kept_ndim - 1, count = int(t.last - t.first);
  const int64_t from = kept_at(p, p.kept_x, t.first), to = kept_at(p, p.kept_out, t.first);
  double v[W], quick[W];
  T grad[W], result[W];
  Factors all[W];
  if (w.totals || w.parts == 1) {
    FactorLanes<W> lanes;
    lanes.begin(count);
    for (int64_t r = t.begin; r < t.end; ++r) {
      scan_load_line<double, reads>(v, p.x, p.dtype, from + reduced_at(p, p.reduced_x, r), p.kept_x[inner], count);
      lanes.take(v, count);
    }
    for (int j = 0; j < count; ++j) all[j] = lanes.total(j);
  } else {
    for (int j = 0; j < count; ++j) all[j] = all_parts(w, t.first + j);
  }
  if (w.totals) {
    for (int j = 0; j < count; ++j) w.partials[(t.first + j) * w.parts + t.part] = all[j];
    return;
  }
  for (int j = 0; j < count; ++j) quick[j] = all[j].quick();
  scan_load_line<T, writes>(grad, p.grad, p.dtype, kept_at(p, p.kept_grad, t.first), p.kept_grad[inner], count);
  for (int64_t r = t.begin; r < t.end; ++r) {
    scan_load_line<double, reads>(v, p.x, p.dtype, from + reduced_at(p, p.reduced_x, r), p.kept_x[inner], count);
    gradients<false>(all, quick, grad, v, count, result);
    scan_store_line<T, writes>(result, p.out, p.dtype, to + reduced_at(p, p.reduced_out, r), p.kept_out[inner], count);
  }
}

template <class T, int Size>
STATOR_KERNEL void product_backward_kernel(ProductWork w) {
  const Group<Size> group;
  if constexpr (fast_host) {
    const ProductTile t = product_tile(w, group.block());
    if (w.columns)
      product_columns<T>(w, t);
    else
      product_rows<T>(w, t);
  } else {
    product_threads<T>(group, w);
  }
}

struct ProductPlan {
  ProductWork work;
  int64_t groups;
  int64_t blocks() const { return groups * work.parts; }
};

ProductPlan plan_product(const params::DeviceLimits& limits, const params::ProductBackward& p) {
  using Tune = ProductTuning;
  const int64_t inner = p.kept_ndim > 0 ? p.kept_shape[p.kept_ndim - 1] : 1, n = std::max<int64_t>(p.reduced_size, 1);
  const bool nearer = p.kept_ndim > 0 && p.reduced_ndim > 0 &&
                      std::abs(p.kept_x[p.kept_ndim - 1]) < std::abs(p.reduced_x[p.reduced_ndim - 1]);
  ProductPlan plan{{p, false, nearer, p.kept_size, 1, p.reduced_size, 1, nullptr}, 0};
  ProductWork& w = plan.work;
  const int64_t resident = waves(limits, Tune::block);
  int64_t least = Tune::share, enough = resident;
  if (fast_host) {
    w.columns = nearer && inner >= Tune::lanes;
    w.row = w.columns ? inner : p.kept_size;
    w.tile = w.columns ? std::min<int64_t>(inner, Tune::width)
                       : std::clamp<int64_t>(Tune::least / n, 1, ceil_div(p.kept_size, resident));
    least = Tune::share / w.tile + 1;
    enough = std::max(1, limits.multiprocessors);
  } else {
    const int64_t most = nearer ? Tune::block / Tune::across : Tune::block;
    int along = 1;
    while (along < most && along * 4 < n) along *= 2;
    w.tile = Tune::block / along;
    least = Tune::share * along;
    enough = 2 * std::max(1, limits.multiprocessors);
  }
  plan.groups = p.kept_size / w.row * ceil_div(w.row, w.tile);
  const int64_t wanted = plan.groups < enough ? std::min(ceil_div(resident, plan.groups), n / least) : 1;
  if (wanted > 1) {
    w.share = ceil_div(n, wanted);
    w.parts = int32_t(ceil_div(n, w.share));
  }
  return plan;
}

int64_t product_scratch(const params::DeviceLimits& limits, const params::ProductBackward& p) {
  const ProductWork w = plan_product(limits, p).work;
  return w.parts > 1 ? p.kept_size * w.parts * int64_t(sizeof(Factors)) : 0;
}

void product_backward(const params::Queue& q, const params::ProductBackward& p, void* partials) {
  ProductPlan plan = plan_product(*q.limits, p);
  ProductWork& w = plan.work;
  w.partials = static_cast<Factors*>(partials);
  constexpr int block = ProductTuning::block;
  const auto kernel =
      p.dtype == DType::float64 ? product_backward_kernel<double, block> : product_backward_kernel<float, block>;
  if (w.parts > 1) {
    w.totals = true;
    launch(q, "prod_backward", kernel, {plan.blocks(), block}, w);
    w.totals = false;
  }
  launch(q, "prod_backward", kernel, {plan.blocks(), block}, w);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::reduce

STATOR_LAUNCHER(reduce, product_scratch)
STATOR_LAUNCHER(reduce, product_backward)
