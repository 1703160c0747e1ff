// Gradients of pooling: each element adds up the slopes of the windows that it is in, in their order.
#include "device/fault.cuh"
#include "host/launcher.hpp"
#include "kernels/pooling/slabs.cuh"

namespace stator::STATOR_TARGET::pooling {

// --- max_pool on the fast host ---------------------------------------------------------------------------------------

// The gradient of max_pool on the fast host: slopes go to the elements that their indices name, where these are in the
// results' windows. The windows of a tile of results are in a table, which serves one plane after the other, or several
// small ones at once, so that all elements are found by one loop of vector instructions.

// Of each result of a tile, which is in one slice of results, the part of its window that is in a slab: the index of
// its first element, its rows and columns, and where the sum of element 0 of its plane would be. All have the same
// slices.
struct WindowTable {
  int32_t first[PoolTuning::tile];
  uint32_t rows[PoolTuning::tile], columns[PoolTuning::tile], origin[PoolTuning::tile];
  Span slices;
  int filled = 0;

  // The table of results of the slice `deep`.
  STATOR_FN WindowTable(const Pool& p, const Slab& slab, int deep)
      : slices(part_of(span_of(p, 0, deep), slab.deep, slab.thick)) {}

  // Appends the windows of `count` results from (row, column) on.
  STATOR_FN void append(const Pool& p, const Slab& slab, int row, int column, int count) {
    const PoolAxis& axis = p.axes[2];
    const Span span = part_of(span_of(p, 1, row), slab.top, slab.high);
    const int above = (slices.first * p.axes[1].in + span.first) * axis.in;
    const auto set = [&](int k, Span window) {
      const Span part = part_of(window, slab.left, slab.wide);
      first[filled + k] = above + part.first;
      rows[filled + k] = uint32_t(span.length);
      columns[filled + k] = uint32_t(part.length);
      origin[filled + k] = uint32_t(-slab.begin);
    };
    if (p.adaptive) {
      for (int k = 0; k < count; ++k) set(k, span_of(p, 2, column + k));
    } else {
      const int length = (axis.kernel - 1) * axis.dilation + 1;
      for (int k = 0; k < count; ++k) set(k, {(column + k) * axis.stride - axis.padding, length});
    }
    filled += count;
  }

  // Makes the table of one plane that of several, whose sums are `apart`: doubles it, and appends the rest.
  STATOR_FN void repeat(int planes, int apart) {
    const int plane = filled;
    for (int have = 1; have < planes;) {
      const int more = std::min(have, planes - have), count = more * plane;
      for (int i = 0; i < count; ++i) {
        first[filled + i] = first[i];
        rows[filled + i] = rows[i];
        columns[filled + i] = columns[i];
        origin[filled + i] = origin[i] + uint32_t(have * apart);
      }
      filled += count;
      have += more;
    }
  }

 private:
  // What a window has of [first, first + count): nothing, or less than that.
  STATOR_FN static Span part_of(Span window, int first, int count) {
    const int begin = window.first > first ? window.first : first, end = window.first + window.length;
    const int length = (end < first + count ? end : first + count) - begin;
    return {begin, length > 0 ? length : 0};
  }
};

inline constexpr uint32_t nowhere = ~uint32_t(0);

// Where the sums of the elements are that `count` indices name, and `nowhere` for those outside of their windows;
// whether there are none of these. line: the columns of a plane. slice: its elements of a slice. Deep: whether windows
// have any number of slices, and not one.
template <bool Deep>
STATOR_FN bool find_named(const WindowTable& t, const int64_t* STATOR_RESTRICT indices, int count, int line, int slice,
                          uint32_t* STATOR_RESTRICT at) {
  // Rows and slices of offsets up to the size of a slab are exact in float; larger ones are outside of any window.
  const float per_line = 1.0f / float(line), per_slice = 1.0f / float(slice);
  const auto quotient_of = [](uint32_t n, float per) { return uint32_t(int32_t((float(int32_t(n)) + 0.5f) * per)); };
  int64_t bits = 0;
  uint32_t outside = 0;
  for (int i = 0; i < count; ++i) {
    bits |= indices[i];
    const uint32_t index = uint32_t(indices[i]), offset = index - uint32_t(t.first[i]);
    uint32_t rest = offset < PoolTuning::slab ? offset : PoolTuning::slab;
    if constexpr (Deep) {
      const uint32_t number = quotient_of(rest, per_slice);
      rest = number < uint32_t(t.slices.length) ? rest - number * uint32_t(slice) : PoolTuning::slab;
    }
    const uint32_t row = quotient_of(rest, per_line), column = rest - row * uint32_t(line);
    const uint32_t is_outside = (row < t.rows[i] ? 0u : nowhere) | (column < t.columns[i] ? 0u : nowhere);
    at[i] = (index + t.origin[i]) | is_outside;
    outside |= is_outside;
  }
  return outside == 0 && bits >> 31 == 0;
}

// Whether no element is in two windows.
STATOR_FN bool are_disjoint(const Pool& p) {
  bool disjoint = !p.adaptive;
  for (const PoolAxis& a : p.axes) disjoint = disjoint && (a.kernel - 1) * a.dilation < a.stride;
  return disjoint;
}

// Adds the slopes of results [begin, end) of the slice `deep` of results, of each of the slab's planes. The sums of a
// plane are `apart` after those of the one before.
template <class A, class T>
STATOR_FN void add_tile(const Pool& p, const Slab& slab, int deep, int begin, int end, int64_t apart, A* sums,
                        const params::ErrorSlot& slot, uint16_t op) {
  const int wide = p.axes[2].out, count = end - begin;
  const int64_t size = plane_size(p, false);
  // Several planes at once if they are whole and side by side, before and after.
  const bool whole = count == size && slab.size() == plane_size(p, true);
  const int most = whole ? PoolTuning::tile / count : 1, planes = most < slab.planes ? most : slab.planes;
  const bool disjoint = are_disjoint(p);
  WindowTable table(p, slab, deep);
  for (int o = begin; o < end;) {
    const int some = std::min(wide - o % wide, end - o);
    table.append(p, slab, o / wide, o % wide, some);
    o += some;
  }
  table.repeat(planes, int(apart));
  for (int q = 0; q < slab.planes; q += planes) {
    const int64_t result = (slab.plane + q) * size + int64_t(deep) * p.axes[1].out * wide + begin;
    const T* STATOR_RESTRICT const grad = static_cast<const T*>(p.grad) + result;
    const int64_t* const indices = p.indices + result;
    A* STATOR_RESTRICT const to = sums + q * apart;
    const int slopes = std::min(planes, slab.planes - q) * count;
    uint32_t at[PoolTuning::tile];
    const auto find = table.slices.length == 1 ? find_named<false> : find_named<true>;
    if (find(table, indices, slopes, p.axes[2].in, p.axes[1].in * p.axes[2].in, at)) {
      // Indices and slopes of the next tile are fetched meanwhile, because additions leave the memory idle.
      constexpr int line = 64 / sizeof(int64_t);
      int i = 0;
      for (; i + line <= slopes; i += line) {
        __builtin_prefetch(indices + slopes + i);
        __builtin_prefetch(grad + slopes + i);
        if (disjoint)  // nothing to wait for
          for (int k = 0; k < line; ++k) to[at[i + k]] = A(0) + convert<A>(grad[i + k]);
        else
          for (int k = 0; k < line; ++k) to[at[i + k]] += convert<A>(grad[i + k]);
      }
      for (; i < slopes; ++i) to[at[i]] += convert<A>(grad[i]);
    } else {
      const int64_t plane = plane_size(p, true);
      for (int i = 0; i < slopes; ++i) {
        if (uint64_t(indices[i]) < uint64_t(plane)) {
          if (at[i] != nowhere) to[at[i]] += convert<A>(grad[i]);
        } else if (is_wrong_index(p, int((result + i) % size), indices[i])) {
          report_index(slot, op, result + i, indices[i], false);
        }
      }
    }
  }
}

// Adds the slopes of all results whose windows the slab is in.
template <class A, class T>
STATOR_FN void add_named(const Pool& p, const Slab& slab, int64_t apart, A* sums, const params::ErrorSlot& slot,
                         uint16_t op) {
  const Results d = results_of_run(p, 0, slab.deep, slab.thick), h = results_of_run(p, 1, slab.top, slab.high),
                w = results_of_run(p, 2, slab.left, slab.wide);
  const int wide = p.axes[2].out;
  const bool all_columns = w.first == 0 && w.last == wide - 1;
  for (int i = d.first; i <= d.last; ++i)
    for (int j = h.first; j <= h.last; j += all_columns ? h.last + 1 : 1) {
      const int last = (all_columns ? h.last : j) * wide + w.last;
      for (int o = j * wide + w.first; o <= last; o += PoolTuning::tile)
        add_tile<A, T>(p, slab, i, o, std::min(o + PoolTuning::tile, last + 1), apart, sums, slot, op);
    }
}

// --- all gradients
// -----------------------------------------------------------------------------------------------------

namespace {

using params::PoolKind;

// Calls f(index in the plane of results, their number of elements) for the windows that may have an element.
template <class F>
STATOR_FN void for_results(const Pool& p, const Position& at, F f) {
  const Results d = results_of(p, 0, at.at[0]), h = results_of(p, 1, at.at[1]), w = results_of(p, 2, at.at[2]);
  const bool counted = p.kind != PoolKind::max && p.divisor == 0;
  STATOR_UNROLL(1)
  for (int i = d.first; i <= d.last; ++i) {
    const int deep = counted ? window_of(p, 0, i).count : 1;
    STATOR_UNROLL(1)
    for (int j = h.first; j <= h.last; ++j) {
      const int high = counted ? window_of(p, 1, j).count : 1;
      const int row = (i * p.axes[1].out + j) * p.axes[2].out;
      STATOR_UNROLL(1)
      for (int k = w.first; k <= w.last; ++k) f(row + k, counted ? int64_t(deep) * high * window_of(p, 2, k).count : 1);
    }
  }
}

template <class T, int Size>
STATOR_KERNEL_RESIDENT(Size, 4) void pool_backward_kernel(Pool p, Cut cut, params::ErrorSlot slot, uint16_t op) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const int64_t size = plane_size(p, false);
  const A divisor = p.divisor == 0 ? A(1) : A(p.divisor), exponent = A(p.power);
  cut.for_each(group, [&](const Position& at) {
    const T* const grad = static_cast<const T*>(p.grad) + at.plane * size;
    A sum = A(0);
    if (p.kind == PoolKind::max) {
      const int64_t* const indices = p.indices + at.plane * size;
      const int here = (at.at[0] * cut.extent[1] + at.at[1]) * cut.extent[2] + at.at[2];
      const int64_t plane = int64_t(cut.extent[0]) * cut.extent[1] * cut.extent[2];
      for_results(p, at, [&](int o, int64_t) {
        const int64_t index = indices[o];
        sum += index == here ? convert<A>(grad[o]) : A(0);
        if (uint64_t(index) >= uint64_t(plane) && is_wrong_index(p, o, index))
          report_index(slot, op, at.plane * size + o, index, false);
      });
    } else if (p.kind == PoolKind::mean) {
      for_results(p, at, [&](int o, int64_t count) { sum += convert<A>(grad[o]) / A(count); });
      sum = sum / divisor;
    } else {
      const T* const y = static_cast<const T*>(p.y) + at.plane * size;
      const A v = convert<A>(static_cast<const T*>(p.x)[at.linear]);
      for_results(p, at, [&](int o, int64_t count) {
        const A root = convert<A>(y[o]);
        const A slope = root == A(0) ? A(0) : power_of(v / root, exponent - A(1));
        sum += convert<A>(grad[o]) * slope * (A(p.factor) / A(count));
      });
    }
    static_cast<T*>(p.out)[at.linear] = convert<T>(sum);
  });
}

template <class T, int Size>
STATOR_KERNEL(Size) void pool_backward_slabs_kernel(Pool p, SlabCut cut, params::ErrorSlot slot, uint16_t op) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const Slab slab = cut.slab(p, group.block());
  const int size = slab.size();
  T* const out = static_cast<T*>(p.out) + slab.plane * plane_size(p, true) + slab.begin;
  if (has_whole_planes(p)) {
    for (int q = 0; q < slab.planes; ++q) {
      const A grad = convert<A>(static_cast<const T*>(p.grad)[slab.plane + q]);
      std::fill_n(out + q * plane_size(p, true), size, convert<T>(A(0) + grad / divisor_of_planes<A>(p)));
    }
    return;
  }
  // The sums, in place if they have the dtype.
  constexpr bool in_place = std::is_same_v<A, T>;
  A own[in_place ? 1 : PoolTuning::batch];
  A* const sums = in_place ? reinterpret_cast<A*>(out) : own;
  const int64_t apart = in_place ? plane_size(p, true) : size;
  const int runs = apart == size ? 1 : slab.planes;  // whole planes lie side by side
  for (int q = 0; q < runs; ++q) std::memset(sums + q * apart, 0, size_t(slab.planes / runs * size) * sizeof(A));
  if (p.kind == PoolKind::max) {
    add_named<A, T>(p, slab, apart, sums, slot, op);
  } else {
    Slab slice = slab;
    slice.thick = 1;
    for (; slice.deep < slab.deep + slab.thick; ++slice.deep, slice.begin += slab.slice())
      for (int q = 0; q < slab.planes; ++q)
        add_slopes<A, T>(p, slice, slab.plane + q, sums + q * apart + (slice.begin - slab.begin));
  }
  const A divisor = p.divisor == 0 || p.kind != PoolKind::mean ? A(1) : A(p.divisor);
  for (int q = 0; q < slab.planes; ++q) {
    A* const own_sums = sums + q * apart;
    if (divisor != A(1))
      for (int i = 0; i < size; ++i) own_sums[i] = own_sums[i] / divisor;
    if constexpr (!in_place)
      for (int i = 0; i < size; ++i) out[q * plane_size(p, true) + i] = convert<T>(own_sums[i]);
  }
}

void pool_backward(const params::Queue& q, const params::Pool& p) {
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    if constexpr (fast_host) {
      const Pool fixed(with_fixed_windows(p));
      const SlabCut cut(*q.limits, fixed);
      launch(q, "pool_backward", pool_backward_slabs_kernel<T, PoolTuning::block>,
             {cut.blocks(fixed), PoolTuning::block}, fixed, cut, q.slot, q.op);
    } else {
      const Cut cut = cut_of(p, true);
      launch(q, "pool_backward", pool_backward_kernel<T, PoolTuning::block>, {cut.blocks(), PoolTuning::block}, Pool(p),
             cut, q.slot, q.op);
    }
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::pooling

STATOR_LAUNCHER(pooling, pool_backward)
