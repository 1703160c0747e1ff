// The reductions, one struct a row of the op table. `Compute<In>` is what the fast paths convert elements to,
// `computes` what elements may be converted to; Of<In, C> is:
//   Acc              the accumulator, combined in a fixed order; identity() never wins against an element
//   single(v, i)     of the element v at row-major position i of the reduced axes
//   located          whether a position is asked for (see ArgmaxOf)
//   Lanes<W>         W accumulators side by side that take at most `run` elements each: enter(lane, v, step) after
//                    clear(lanes used); then //                    fold(lane, first, stride) or total(first, stride,
//                    apart) as Acc, where element (lane, step) is at first + step * stride (+ lane * apart)
//   finish(acc, n)   the result of n elements, in the type that is rounded once at the store
#pragma once

#include "kernels/reduction_values.cuh"

namespace stator::STATOR_COLUMN {

// Lanes that do not care where an element stood. R: Lane, empty(), enter(lane, v), merge(lane, lane), widen(lane).
template <class R, int W>
struct PlainLanes {
  typename R::Lane value[W];

  STATOR_FN void clear(int n) {
    for (int j = 0; j < n; ++j) value[j] = R::empty();
  }
  STATOR_FN void enter(int j, typename R::In v, int) { value[j] = R::enter(value[j], v); }
  STATOR_FN typename R::Acc fold(int j, int64_t, int64_t) const { return R::widen(value[j]); }
  STATOR_FN typename R::Acc total(int64_t, int64_t, int64_t) {
    for (int s = W / 2; s > 0; s /= 2)
      for (int j = 0; j < s; ++j) value[j] = R::merge(value[j], value[j + s]);
    return R::widen(value[0]);
  }
};

template <class In_, class C>
struct SumOf {
  using In = In_;
  using Types = SumTypes<In, C>;
  static constexpr bool located = false;
  static constexpr int run = std::is_integral_v<C> ? 127 : 16;  // narrow lanes hold 127 elements; roundings stay few
  using Lane = typename Types::Lane;
  using Acc = typename Types::Acc;
  template <int W>
  using Lanes = PlainLanes<SumOf, W>;

  STATOR_FN static Lane empty() { return Lane(0); }
  STATOR_FN static Lane enter(Lane lane, In v) { return wrapping_add(lane, convert<Lane>(v)); }
  STATOR_FN static Lane merge(Lane a, Lane b) { return wrapping_add(a, b); }
  STATOR_FN static Acc widen(Lane lane) { return Types::widen(lane); }
  STATOR_FN static Acc identity() { return widen(empty()); }
  STATOR_FN static Acc single(In v, int64_t) { return widen(convert<Lane>(v)); }
  STATOR_FN static Acc combine(Acc a, Acc b) { return Types::combine(a, b); }
  STATOR_FN static auto finish(Acc acc, int64_t) { return Types::value(acc); }
};

template <class In, class C>
struct MeanOf : SumOf<In, C> {
  using typename SumOf<In, C>::Acc;
  STATOR_FN static auto finish(Acc acc, int64_t count) {
    const auto total = SumOf<In, C>::Types::value(acc);
    if constexpr (std::is_floating_point_v<C>)
      return total / double(count);
    else
      return complex<double>{total.re / double(count), total.im / double(count)};
  }
};

// Equal: -0 and +0 are one value.
template <class In_, bool Equal = false>
struct MaxOf {
  using In = In_;
  using Order = OrderKey<In>;
  static constexpr bool located = false;
  static constexpr int run = 127;
  using Lane = typename Order::Key;
  using Acc = Lane;
  template <int W>
  using Lanes = PlainLanes<MaxOf, W>;

  STATOR_FN static Lane key(In v) { return Equal ? Order::of_equal(v) : Order::of(v); }
  STATOR_FN static Lane empty() { return Order::lowest; }
  STATOR_FN static Lane enter(Lane lane, In v) { return merge(lane, key(v)); }
  STATOR_FN static Lane merge(Lane a, Lane b) { return a > b ? a : b; }
  STATOR_FN static Acc widen(Lane lane) { return lane; }
  STATOR_FN static Acc identity() { return Order::lowest; }
  STATOR_FN static Acc single(In v, int64_t) { return key(v); }
  STATOR_FN static Acc combine(Acc a, Acc b) { return merge(a, b); }
  STATOR_FN static In finish(Acc acc, int64_t) { return Order::value(acc); }
};

template <class In_>
struct ArgmaxOf {
  using In = In_;
  using Order = OrderKey<In>;
  using Key = typename Order::Key;
  using Extreme = MaxOf<In, true>;
  static constexpr bool located = true;
  static constexpr int run = 127;  // steps fit in the narrowest lane
  struct Acc {
    Key key;
    int64_t index;
  };
  // A lane remembers its step in as few bits as the key has, so that both vectorise alike.
  template <int W>
  struct Lanes {
    using Step = std::conditional_t<fast_host, SignedOf<sizeof(Key)>, int32_t>;
    Key key[W];
    Step at[W];

    STATOR_FN void clear(int n) {
      for (int j = 0; j < n; ++j) key[j] = Order::lowest, at[j] = 0;
    }
    STATOR_FN void enter(int j, In v, int step) {
      const Key k = Order::of_equal(v);
      at[j] = k > key[j] ? Step(step) : at[j];
      key[j] = k > key[j] ? k : key[j];
    }
    STATOR_FN Acc fold(int j, int64_t first, int64_t stride) const { return {key[j], first + at[j] * stride}; }
    STATOR_FN Acc total(int64_t first, int64_t stride, int64_t apart) const {
      Acc acc = fold(0, first, stride);
      for (int j = 1; j < W; ++j) acc = combine(acc, fold(j, first + j * apart, stride));
      return acc;
    }
  };

  STATOR_FN static Acc identity() { return {Order::lowest, std::numeric_limits<int64_t>::max()}; }
  STATOR_FN static Acc single(In v, int64_t index) { return {Order::of_equal(v), index}; }
  STATOR_FN static Acc combine(Acc a, Acc b) { return a.key > b.key || (a.key == b.key && a.index <= b.index) ? a : b; }
  // The fast host finds the extreme of a run first, and its place only where it beats the runs before.
  STATOR_FN static void update(Acc& acc, const In* p, int n, int64_t first, Key extreme) {
    if (extreme < acc.key || (extreme == acc.key && acc.index < first)) return;
    constexpr int piece = 64;
    int i = 0;
    for (; i + piece <= n; i += piece) {
      Key hits = 0;
      for (int j = 0; j < piece; ++j) hits |= Key(Order::of_equal(p[i + j]) == extreme);
      if (hits) break;
    }
    while (Order::of_equal(p[i]) != extreme) ++i;
    acc = {extreme, first + i};
  }
  STATOR_FN static int64_t finish(Acc acc, int64_t) { return acc.index; }
};

namespace reducers {

struct sum {
  static constexpr DTypeSet computes = dtypes::all;
  template <class In>
  using Compute =
      std::conditional_t<std::is_integral_v<In>,
                         std::conditional_t<std::is_unsigned_v<In> && !std::is_same_v<In, bool>, uint64_t, int64_t>,
                         opmath_t<In>>;
  template <class In, class C>
  using Of = SumOf<In, C>;
};

struct mean {
  static constexpr DTypeSet computes = dtypes::inexact;
  template <class In>
  using Compute = std::conditional_t<std::is_integral_v<In>, double, opmath_t<In>>;
  template <class In, class C>
  using Of = MeanOf<In, C>;
};

struct max {
  static constexpr DTypeSet computes = dtypes::reals | dtypes::boolean;
  template <class In>
  using Compute = In;
  template <class In, class>
  using Of = MaxOf<In>;
};

struct argmax {
  static constexpr DTypeSet computes = dtypes::reals | dtypes::boolean;
  template <class In>
  using Compute = In;
  template <class In, class>
  using Of = ArgmaxOf<In>;
};

}  // namespace reducers

}  // namespace stator::STATOR_COLUMN
