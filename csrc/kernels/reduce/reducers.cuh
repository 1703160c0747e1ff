// What a reduction accumulates: one struct per reducer, which satisfies the concept Reducer below. R<In, C> reduces
// elements of type In that it converts to C, in one of several modes.
// The table of reducers is at the end, Of<In, C> being the struct: elements of the dtypes `typed` have kernels that
// load them without a conversion by dtype, those of all other dtypes are converted to one of `computes`, and `shared`
// are those of `computes` that the fast host computes in the kernel of another dtype.
#pragma once

#include "kernels/reduce/values.cuh"
#include "params/reduce.hpp"

#include <concepts>
#include <limits>

namespace stator::STATOR_TARGET::reduce {

using params::Finish;
using params::ReductionMode;

// W accumulators side by side, each for at most R::lane_steps elements. clear(r, n) comes first and empties n of them;
// enter(r, lane, v, step) accumulates element v as that lane's element number `step`. fold(r, lane, first, stride) is
// one lane's Acc, where its element number `step` is at position first + step * stride; total(r, first, stride, apart)
// is the Acc of all lanes, where lane l begins l * apart further.
template <class L, class R>
concept ReducerLanes = requires(const R& r, L& lanes, typename R::In v, int n, int64_t position) {
  lanes.clear(r, n);
  lanes.enter(r, n, v, n);
  { lanes.fold(r, n, position, position) } -> std::same_as<typename R::Acc>;
  { lanes.total(r, position, position, position) } -> std::same_as<typename R::Acc>;
};

// A reducer with `located` also has Extreme, extreme() and update(), which the fast host uses. There it may also have a
// function in runs.cuh.
template <class R>
concept Reducer = requires(const R& r, typename R::In v, typename R::Acc acc, int64_t n) {
  requires std::same_as<decltype(R::mode), ReductionMode>;
  requires std::same_as<decltype(R::located), const bool>;    // whether Acc has a position, see PositionOf
  requires std::same_as<decltype(R::lane_steps), const int>;  // the most elements that a lane can accumulate
  requires ReducerLanes<typename R::template Lanes<1>, R>;    // and of any other width
  { r.identity() } -> std::same_as<typename R::Acc>;          // never wins against an element
  { r.single(v, n) } -> std::same_as<typename R::Acc>;  // the element v at row-major position n of the reduced axes
  { r.combine(acc, acc) } -> std::same_as<typename R::Acc>;
  r.finish(acc, n);  // the result of n elements, in a type that the store rounds once
};

// Lanes that ignore positions, for reducers that have Lane, empty(), enter(lane, v), merge(lane, lane), widen(lane).
template <class R, int W>
struct PlainLanes {
  typename R::Lane value[W];

  STATOR_FN void clear(const R& r, int n) {
    for (int j = 0; j < n; ++j) value[j] = r.empty();
  }
  STATOR_FN void enter(const R& r, int j, typename R::In v, int) { value[j] = r.enter(value[j], v); }
  STATOR_FN typename R::Acc fold(const R& r, int j, int64_t, int64_t) const { return r.widen(value[j]); }
  STATOR_FN typename R::Acc total(const R& r, int64_t, int64_t, int64_t) {
    for (int s = W / 2; s > 0; s /= 2)
      for (int j = 0; j < s; ++j) value[j] = r.merge(value[j], value[j + s]);
    return r.widen(value[0]);
  }
};

template <class In_, class C>
struct SumOf {
  using In = In_;
  using Types = SumTypes<In, C>;
  static constexpr bool located = false;
  // A narrow lane can hold 127; a sum of equal floats rounds in one direction, so few of them.
  static constexpr int lane_steps = std::is_integral_v<C> ? 127 : 8;
  using Lane = typename Types::Lane;
  using Acc = typename Types::Acc;
  template <int W>
  using Lanes = PlainLanes<SumOf, W>;
  ReductionMode mode;

  STATOR_FN Lane empty() const { return Lane(0); }
  STATOR_FN Lane taken(In v) const {
    const Lane value = convert<Lane>(v);
    if constexpr (std::is_integral_v<Lane>)
      return value;
    else
      return mode.skip_nan && value != value ? Lane(0) : value;
  }
  STATOR_FN Lane enter(Lane lane, In v) const { return wrapping_add(lane, taken(v)); }
  STATOR_FN Lane merge(Lane a, Lane b) const { return wrapping_add(a, b); }
  STATOR_FN Acc widen(Lane lane) const { return Types::widen(lane); }
  STATOR_FN Acc identity() const { return widen(empty()); }
  STATOR_FN Acc single(In v, int64_t) const { return widen(taken(v)); }
  STATOR_FN Acc combine(Acc a, Acc b) const { return Types::combine(a, b); }
  STATOR_FN auto finish(Acc acc, int64_t n) const {
    const auto total = Types::value(acc);
    if constexpr (std::is_integral_v<C>)
      return total;
    else if constexpr (is_complex<C>)
      return mode.finish == Finish::mean ? complex<double>{total.re / double(n), total.im / double(n)}
                                         : complex<double>{total.re, total.im};
    else
      return mode.finish == Finish::mean ? total / double(n) : total;
  }
};

// float32 multiplies in double, so that intermediate products neither overflow nor vanish where the result does not.
template <class In_, class C>
struct ProductOf {
  using In = In_;
  static constexpr bool located = false;
  static constexpr int lane_steps = 127;
  using Acc = std::conditional_t<std::is_same_v<C, float>, double,
                                 std::conditional_t<std::is_same_v<C, complex<float>>, complex<double>, C>>;
  using Lane = Acc;
  template <int W>
  using Lanes = PlainLanes<ProductOf, W>;
  ReductionMode mode;

  STATOR_FN Lane empty() const { return Lane(1); }
  STATOR_FN Lane enter(Lane lane, In v) const { return merge(lane, convert<Lane>(v)); }
  STATOR_FN Lane merge(Lane a, Lane b) const { return wrapping_multiply(a, b); }
  STATOR_FN Acc widen(Lane lane) const { return lane; }
  STATOR_FN Acc identity() const { return empty(); }
  STATOR_FN Acc single(In v, int64_t) const { return convert<Lane>(v); }
  STATOR_FN Acc combine(Acc a, Acc b) const { return merge(a, b); }
  STATOR_FN Acc finish(Acc acc, int64_t) const { return acc; }
};

// The largest or the smallest element. Equal: -0 and +0 are one value.
template <class In_, bool Equal = false>
struct ExtremeOf {
  using In = In_;
  using Order = OrderKey<In>;
  static constexpr bool located = false;
  static constexpr int lane_steps = 127;
  using Lane = typename Order::Key;
  using Acc = Lane;
  template <int W>
  using Lanes = PlainLanes<ExtremeOf, W>;
  ReductionMode mode;

  STATOR_FN Lane flip() const { return mode.smallest ? Lane(~Lane(0)) : Lane(0); }
  STATOR_FN Lane of_nan() const { return mode.skip_nan ? Order::lowest : Order::highest; }
  STATOR_FN Lane key(In v) const {
    return Equal ? Order::of_equal(v, flip(), of_nan()) : Order::of(v, flip(), of_nan());
  }
  STATOR_FN Lane empty() const {
    if constexpr (std::is_signed_v<In> && std::is_integral_v<In>)
      return Lane(Order::lowest >> (mode.bits < 8 * int(sizeof(Lane)) ? 8 * int(sizeof(Lane)) - mode.bits : 0));
    else
      return Order::lowest;
  }
  STATOR_FN Lane enter(Lane lane, In v) const { return merge(lane, key(v)); }
  STATOR_FN Lane merge(Lane a, Lane b) const { return a > b ? a : b; }
  STATOR_FN Acc widen(Lane lane) const { return lane; }
  STATOR_FN Acc identity() const { return empty(); }
  STATOR_FN Acc single(In v, int64_t) const { return key(v); }
  STATOR_FN Acc combine(Acc a, Acc b) const { return merge(a, b); }
  STATOR_FN In finish(Acc acc, int64_t) const { return Order::value(acc, flip(), of_nan()); }
};

// The position of the extreme element: the first of several equal ones; NaN wins.
template <class In_>
struct PositionOf {
  using In = In_;
  using Order = OrderKey<In>;
  using Key = typename Order::Key;
  using Extreme = ExtremeOf<In, true>;
  static constexpr bool located = true;
  static constexpr int lane_steps = 127;  // steps fit in the narrowest lane
  struct Acc {
    Key key;
    int64_t index;
  };
  ReductionMode mode;
  // A lane remembers its step in as few bits as the key has, so that both vectorise alike.
  template <int W>
  struct Lanes {
    using Step = std::conditional_t<fast_host, SignedOf<sizeof(Key)>, int32_t>;
    Key key[W];
    Step at[W];

    STATOR_FN void clear(const PositionOf&, int n) {
      for (int j = 0; j < n; ++j) key[j] = Order::lowest, at[j] = 0;
    }
    STATOR_FN void enter(const PositionOf& r, int j, In v, int step) {
      const Key k = r.extreme().key(v);
      at[j] = k > key[j] ? Step(step) : at[j];
      key[j] = k > key[j] ? k : key[j];
    }
    STATOR_FN Acc fold(const PositionOf&, int j, int64_t first, int64_t stride) const {
      return {key[j], first + at[j] * stride};
    }
    STATOR_FN Acc total(const PositionOf& r, int64_t first, int64_t stride, int64_t apart) const {
      Acc acc = fold(r, 0, first, stride);
      for (int j = 1; j < W; ++j) acc = r.combine(acc, fold(r, j, first + j * apart, stride));
      return acc;
    }
  };

  STATOR_FN Extreme extreme() const { return {mode}; }
  STATOR_FN Acc identity() const { return {Order::lowest, std::numeric_limits<int64_t>::max()}; }
  STATOR_FN Acc single(In v, int64_t index) const { return {extreme().key(v), index}; }
  STATOR_FN Acc combine(Acc a, Acc b) const { return a.key > b.key || (a.key == b.key && a.index <= b.index) ? a : b; }
  // The fast host finds the extreme of n elements first, and its position only if it beats the elements before them.
  STATOR_FN void update(Acc& acc, const In* p, int n, int64_t first, Key best) const {
    if (best < acc.key || (best == acc.key && acc.index < first)) return;
    constexpr int stretch = 64;
    const Extreme e = extreme();
    int i = 0;
    for (; i + stretch <= n; i += stretch) {
      Key hits = 0;
      for (int j = 0; j < stretch; ++j) hits |= Key(e.key(p[i + j]) == best);
      if (hits) break;
    }
    while (e.key(p[i]) != best) ++i;
    acc = {best, first + i};
  }
  STATOR_FN int64_t finish(Acc acc, int64_t) const { return acc.index; }
};

namespace reducers {

// What narrow integers are summed in, and what everything else is computed in.
template <class In>
using Wide =
    std::conditional_t<std::is_integral_v<In>,
                       std::conditional_t<std::is_unsigned_v<In> && !std::is_same_v<In, bool>, uint64_t, int64_t>,
                       opmath_t<In>>;
inline constexpr DTypeSet common = dtypes::full_floats | dtype_bit(DType::int32) | dtype_bit(DType::int64);

struct sum {
  static constexpr DTypeSet typed = common, computes = dtypes::all, shared = dtype_bit(DType::uint64);
  template <class In>
  using Compute = Wide<In>;
  template <class In, class C>
  using Of = SumOf<In, C>;
};

struct product {
  static constexpr DTypeSet typed = dtypes::full_floats, computes = dtypes::all;
  static constexpr DTypeSet shared = dtype_bit(DType::uint64) | dtype_bit(DType::complex64);
  template <class In>
  using Compute = Wide<In>;
  template <class In, class C>
  using Of = ProductOf<In, C>;
};

// Computed in the type of the elements.
template <template <class> class R, DTypeSet Typed, DTypeSet Computes, DTypeSet Shared = 0>
struct InOwnType {
  static constexpr DTypeSet typed = Typed, computes = Computes, shared = Shared;
  template <class In>
  using Compute = In;
  template <class In, class>
  using Of = R<In>;
};

template <class In>
using LargestOf = ExtremeOf<In>;
using extreme = InOwnType<LargestOf, common, dtypes::reals | dtypes::boolean>;
using position = InOwnType<PositionOf, common, dtypes::reals | dtypes::boolean>;

}  // namespace reducers

}  // namespace stator::STATOR_TARGET::reduce
