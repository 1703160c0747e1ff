// The gradient of a product: all factors of each product are multiplied, then each factor is divided out again.
// If the factors are split over blocks, a first launch writes the partial products (`totals`) and a second one the
// gradients.
#include "device/index.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/reduce/product_factors.cuh"
#include "kernels/scan/work.cuh"
#include "params/reduce.hpp"

#include <algorithm>
#include <cstdlib>

namespace stator::STATOR_TARGET::reduce {

using scan::scan_dtypes;
using scan::scan_load_segment;
using scan::scan_store_segment;

namespace {

struct ProductTuning {
  static constexpr int block = 256;
  static constexpr int across = 32;             // products side by side
  static constexpr int width = 512;             // elements of a fast-host chunk
  static constexpr int narrow = 64;             // the least width of a tile whose factors must stay in the cache
  static constexpr int64_t cached = 256 << 10;  // bytes of such a tile, which is read twice
  static constexpr int lanes = 32;              // of a fast-host row; g++ would unroll 16 instead of vectorising them
  static constexpr int64_t least_split = by_target<16, 32768>::value;  // factors per thread or block
  static constexpr int64_t least_block = 32768;                        // factors of a fast-host block
};

struct ProductWork {
  params::ProductBackward p;
  ShapeDivisors kept, reduced;
  bool totals;         // only write the factors of the splits
  bool columns;        // neighbouring products are nearer in memory than neighbouring factors
  int64_t row, tile;   // products that lie side by side, and how many of them a block takes
  int64_t split_size;  // factors of a split
  int32_t splits;      // of a product, one block each
  Factors* partials;   // [kept_size, splits]
};

// A block's products [first, last) and their factors [begin, end).
struct ProductTile {
  int64_t first, last, begin, end;
  int32_t split;
};

STATOR_FN ProductTile product_tile(const ProductWork& w, int64_t block) {
  const int64_t group = block / w.splits, tiles = (w.row + w.tile - 1) / w.tile, row = group / tiles;
  ProductTile t;
  t.split = int32_t(block - group * w.splits);
  t.first = row * w.row + (group - row * tiles) * w.tile;
  t.last = t.first + w.tile < (row + 1) * w.row ? t.first + w.tile : (row + 1) * w.row;
  t.begin = t.split * w.split_size;
  t.end = t.begin + w.split_size < w.p.reduced_size ? t.begin + w.split_size : w.p.reduced_size;
  return t;
}

STATOR_FN int64_t kept_at(const ProductWork& w, const int64_t (&strides)[params::max_dims], int64_t k) {
  return w.kept.offset_of(k, w.p.kept_ndim, strides);
}
STATOR_FN int64_t reduced_at(const ProductWork& w, const int64_t (&strides)[params::max_dims], int64_t r) {
  return w.reduced.offset_of(r, w.p.reduced_ndim, strides);
}

STATOR_FN Factors join_splits(const ProductWork& w, int64_t k) {
  Factors all = Factors::none();
  for (int split = 0; split < w.splits; ++split) all.join(w.partials[k * w.splits + split]);
  return all;
}

// The gradient of the factor v; `quick` is all.quick().
template <class T>
STATOR_FN T gradient_of(const Factors& all, double quick, double v, T grad) {
  return is_moderate(v) && quick != 0 ? T(double(grad) * (quick / v)) : all.gradient(v, grad);
}

// Blocks with threads: thread (x, y) takes every `along`-th factor from y on of product x of the tile.
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
  const int64_t from = kept_at(w, p.kept_x, mine ? k : t.first), to = kept_at(w, p.kept_out, mine ? k : t.first);
  // All factors of the product: a tree over the threads, or the partial products of the first launch.
  Factors all = Factors::none();
  if (w.totals || w.splits == 1) {
    if (mine)
      for (int64_t r = t.begin + y; r < t.end; r += along)
        all.take(load_as<double>(p.x, p.dtype, from + reduced_at(w, p.reduced_x, r)));
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
      if (mine && y == 0) w.partials[k * w.splits + t.split] = all;
      return;
    }
  } else {
    if (y == 0 && mine) shared.factors[x] = join_splits(w, k);
    group.sync();
    if (mine) all = shared.factors[x];
  }
  // The gradient of each factor.
  if (!mine) return;
  const T grad = load_as<T>(p.grad, p.dtype, kept_at(w, p.kept_grad, k));
  const double quick = all.quick();
  for (int64_t r = t.begin + y; r < t.end; r += along) {
    const double v = load_as<double>(p.x, p.dtype, from + reduced_at(w, p.reduced_x, r));
    store_as(p.out, p.dtype, to + reduced_at(w, p.reduced_out, r), gradient_of(all, quick, v, grad));
  }
}

// Calls f(r, count) for chunks of factors along the innermost reduced axis.
template <class F>
STATOR_FN void for_each_chunk(const params::ProductBackward& p, const ProductTile& t, F f) {
  const int64_t extent = p.reduced_ndim > 0 ? p.reduced_shape[p.reduced_ndim - 1] : 1;
  for (int64_t r = t.begin; r < t.end;) {
    const int64_t left = std::min(extent - r % extent, t.end - r);
    const int count = int(std::min<int64_t>(left, ProductTuning::width));
    f(r, count);
    r += count;
  }
}

// Whether a product of doubles is exact enough for a result in T: its relative error is 2^-53 per factor.
template <class T>
STATOR_FN bool is_rough(const ProductWork& w) {
  return sizeof(T) < sizeof(double) && w.p.reduced_size <= 1 << 24;
}

// result[i] is the gradient of v[i], a factor of product all[i], or of all[0] if Same. `easy`: it is known that all
// factors are moderate and no quick is 0.
template <bool Same, class T>
STATOR_FN void gradients(const Factors* all, const double* quick, bool easy, const T* grad, const double* v, int count,
                         T* result) {
  if (!easy) {
    easy = all_moderate(v, count);
    for (int i = 0; i < (Same ? 1 : count); ++i) easy = easy && quick[i] != 0;
  }
  if (easy)
    for (int i = 0; i < count; ++i) result[i] = T(double(grad[Same ? 0 : i]) * (quick[Same ? 0 : i] / v[i]));
  else
    for (int i = 0; i < count; ++i)
      result[i] = gradient_of(all[Same ? 0 : i], quick[Same ? 0 : i], v[i], grad[Same ? 0 : i]);
}

// Fast host, products along the rows of memory.
template <class T>
STATOR_FN void product_rows(const ProductWork& w, const ProductTile& t) {
  const params::ProductBackward& p = w.p;
  constexpr DTypeSet reads = dtypes::floats, writes = scan_dtypes<T>;
  const int inner = p.reduced_ndim - 1;
  const int64_t x_step = inner < 0 ? 0 : p.reduced_x[inner], out_step = inner < 0 ? 0 : p.reduced_out[inner];
  double v[ProductTuning::width];
  T result[ProductTuning::width];
  for (int64_t k = t.first; k < t.last; ++k) {
    const int64_t from = kept_at(w, p.kept_x, k), to = kept_at(w, p.kept_out, k);
    Factors all = Factors::none();
    bool easy = w.splits == 1;
    if (w.totals || w.splits == 1) {
      constexpr int K = ProductTuning::lanes;
      FactorLanes<K> lanes;
      lanes.begin(K, is_rough<T>(w));
      for_each_chunk(p, t, [&](int64_t r, int count) {
        scan_load_segment<double, reads>(v, p.x, p.dtype, from + reduced_at(w, p.reduced_x, r), x_step, count);
        int i = 0;
        for (; i + K <= count; i += K) lanes.take(v + i, K);
        easy = easy && all_moderate(v + i, count - i);
        for (; i < count; ++i) all.take(v[i]);
      });
      all.join(lanes.total());
      easy = easy && !lanes.any;
    } else {
      all = join_splits(w, k);
    }
    if (w.totals) {
      w.partials[k * w.splits + t.split] = all;
      continue;
    }
    const double quick = all.quick();
    easy = easy && quick != 0;
    T grad;
    scan_load_segment<T, writes>(&grad, p.grad, p.dtype, kept_at(w, p.kept_grad, k), 1, 1);
    for_each_chunk(p, t, [&](int64_t r, int count) {
      scan_load_segment<double, reads>(v, p.x, p.dtype, from + reduced_at(w, p.reduced_x, r), x_step, count);
      gradients<true>(&all, &quick, easy, &grad, v, count, result);
      scan_store_segment<T, writes>(result, p.out, p.dtype, to + reduced_at(w, p.reduced_out, r), out_step, count);
    });
  }
}

// Fast host, products side by side: a tile of neighbouring products, factor after factor.
template <class T>
STATOR_FN void product_columns(const ProductWork& w, const ProductTile& t) {
  const params::ProductBackward& p = w.p;
  constexpr int W = ProductTuning::width;
  constexpr DTypeSet reads = dtypes::floats, writes = scan_dtypes<T>;
  const int inner = p.kept_ndim - 1, count = int(t.last - t.first);
  const int64_t from = kept_at(w, p.kept_x, t.first), to = kept_at(w, p.kept_out, t.first);
  double v[W], quick[W];
  T grad[W], result[W];
  Factors all[W];
  bool easy = w.splits == 1;
  if (w.totals || w.splits == 1) {
    FactorLanes<W> lanes;
    lanes.begin(count, is_rough<T>(w));
    for (int64_t r = t.begin; r < t.end; ++r) {
      scan_load_segment<double, reads>(v, p.x, p.dtype, from + reduced_at(w, p.reduced_x, r), p.kept_x[inner], count);
      lanes.take(v, count);
    }
    for (int j = 0; j < count; ++j) all[j] = lanes.total(j);
    easy = easy && !lanes.any;
  } else {
    for (int j = 0; j < count; ++j) all[j] = join_splits(w, t.first + j);
  }
  if (w.totals) {
    for (int j = 0; j < count; ++j) w.partials[(t.first + j) * w.splits + t.split] = all[j];
    return;
  }
  for (int j = 0; j < count; ++j) {
    quick[j] = all[j].quick();
    easy = easy && quick[j] != 0;
  }
  scan_load_segment<T, writes>(grad, p.grad, p.dtype, kept_at(w, p.kept_grad, t.first), p.kept_grad[inner], count);
  for (int64_t r = t.begin; r < t.end; ++r) {
    scan_load_segment<double, reads>(v, p.x, p.dtype, from + reduced_at(w, p.reduced_x, r), p.kept_x[inner], count);
    gradients<false>(all, quick, easy, grad, v, count, result);
    scan_store_segment<T, writes>(result, p.out, p.dtype, to + reduced_at(w, p.reduced_out, r), p.kept_out[inner],
                                  count);
  }
}

template <class T, int Size>
STATOR_KERNEL(Size) void product_backward_kernel(ProductWork w) {
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
  int64_t blocks() const { return groups * work.splits; }
};

ProductPlan plan_product(const params::DeviceLimits& limits, const params::ProductBackward& p) {
  using Tune = ProductTuning;
  const int64_t inner = p.kept_ndim > 0 ? p.kept_shape[p.kept_ndim - 1] : 1, n = std::max<int64_t>(p.reduced_size, 1);
  const bool nearer = p.kept_ndim > 0 && p.reduced_ndim > 0 &&
                      std::abs(p.kept_x[p.kept_ndim - 1]) < std::abs(p.reduced_x[p.reduced_ndim - 1]);
  ProductPlan plan{.work = {.p = p,
                            .kept = {p.kept_ndim, p.kept_shape},
                            .reduced = {p.reduced_ndim, p.reduced_shape},
                            .totals = false,
                            .columns = nearer,
                            .row = p.kept_size,
                            .tile = 1,
                            .split_size = p.reduced_size,
                            .splits = 1,
                            .partials = nullptr},
                   .groups = 0};
  ProductWork& w = plan.work;
  const int64_t resident = waves(limits, Tune::block);
  int64_t least = Tune::least_split, enough = resident;
  if (fast_host) {
    w.columns = nearer && inner >= Tune::lanes;
    w.row = w.columns ? inner : p.kept_size;
    const int64_t width = Tune::cached / (n * itemsize(p.dtype)) / Tune::narrow * Tune::narrow;
    w.tile = w.columns ? std::min<int64_t>(inner, std::clamp<int64_t>(width, Tune::narrow, Tune::width))
                       : std::clamp<int64_t>(Tune::least_block / n, 1, ceil_div(p.kept_size, resident));
    least = Tune::least_split / w.tile + 1;
    enough = std::max(1, limits.multiprocessors);
  } else {
    const int64_t most = nearer ? Tune::block / Tune::across : Tune::block;
    int along = 1;
    while (along < most && along * 4 < n) along *= 2;
    w.tile = Tune::block / along;
    least = Tune::least_split * along;
    enough = 2 * std::max(1, limits.multiprocessors);
  }
  plan.groups = p.kept_size / w.row * ceil_div(w.row, w.tile);
  const int64_t wanted = plan.groups < enough ? std::min(ceil_div(resident, plan.groups), n / least) : 1;
  if (wanted > 1) {
    w.split_size = ceil_div(n, wanted);
    w.splits = int32_t(ceil_div(n, w.split_size));
  }
  return plan;
}

int64_t product_scratch(const params::DeviceLimits& limits, const params::ProductBackward& p) {
  const ProductWork w = plan_product(limits, p).work;
  return w.splits > 1 ? p.kept_size * w.splits * int64_t(sizeof(Factors)) : 0;
}

void product_backward(const params::Queue& q, const params::ProductBackward& p, void* partials) {
  ProductPlan plan = plan_product(*q.limits, p);
  ProductWork& w = plan.work;
  w.partials = static_cast<Factors*>(partials);
  constexpr int block = ProductTuning::block;
  const auto kernel =
      p.dtype == DType::float64 ? product_backward_kernel<double, block> : product_backward_kernel<float, block>;
  if (w.splits > 1) {
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
