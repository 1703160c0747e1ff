// The general kernel, for any strides and dtypes. Operands are converted to the compute type C by a dtype switch, and
// the result to the output's dtype, so that one instance serves every combination; the switches are calls that all
// kernels share, and dense operands still move in wide accesses. The kernel of the fast host is in chunks.cu.
#pragma once

#include "device/fault.cuh"
#include "device/group.cuh"
#include "device/vector.cuh"
#include "kernels/elementwise/layout.cuh"
#include "kernels/elementwise/types.cuh"

#include <cstring>
#include <utility>

namespace stator::STATOR_TARGET::elementwise {

struct StridedTuning {
  static constexpr int block = 256;
  // Elements of a thread: 16 bytes of the compute type, or one if arithmetic is the limit.
  template <class F, class C>
  static constexpr int items = Heavy<F> ? 1 : 16 / int(sizeof(C));
  static constexpr int64_t host_tile = 16384;  // elements of a block
  static constexpr int chunk_bytes = 8192;     // of each buffer on the fast host, so that all of them stay in L1
};

// The parameters: N operands of any dtype, and the output.
template <int N>
struct Strided {
  Layout<N + 1> layout;
  void* out;
  const void* in[N];                       // null: `value`
  alignas(16) unsigned char value[N][16];  // of the compute type
  DType compute, result;                   // of the functor's arguments and result
  DType out_dtype, dtype[N];
  int64_t position;  // linear index of the first element in the whole operation
  bool dense;        // every operand and the output are contiguous or one value
  bool wide[N + 1];  // such an operand is also aligned for one access to all elements of a thread
  params::ErrorSlot slot;
  uint16_t op;

  template <class C>
  STATOR_FN C immediate(int k) const {
    C x;
    std::memcpy(&x, value[k], sizeof(C));
    return x;
  }
};

// Where a kernel reports faults.
struct FaultReports {
  int64_t position;  // as in Strided
  params::ErrorSlot slot;
  uint16_t op;
};

// Fast host: what differs between functors. Computes the results y of the n elements x[k], the first of which has
// linear index `at` in the launch. Elements of x have the compute type, those of y the type of the result.
using ChunkResults = void (*)(const FaultReports& reports, const void* const* x, void* y, int64_t at, int64_t n);
template <int N>
void launch_chunks(const params::Queue& q, const char* name, const params::Elementwise& e, DType compute, DType result,
                   ChunkResults results);

namespace detail {

using STATOR_TARGET::detail::load_each;
using STATOR_TARGET::detail::load_side_by_side;
using STATOR_TARGET::detail::store_each;
using STATOR_TARGET::detail::store_side_by_side;

template <class F, class C, int N, int... K>
STATOR_FN auto call_at(const C (&x)[N], std::integer_sequence<int, K...>) {
  return F{}(x[K]...);
}
template <class F, class C, int N>
STATOR_FN auto call(const C (&x)[N]) {
  return call_at<F>(x, std::make_integer_sequence<int, N>{});
}

template <class F, class C>
STATOR_FN bool faults(const C (&x)[2]) {
  return F::faults(x[0], x[1]);
}
template <class F, class C, class P>
STATOR_FN void report_fault(const P& p, int64_t position, C value) {
  report(p.slot, p.op, F::fault, position, convert<int64_t>(value));
}

// Loads the elements of one operand that a thread computes with.
template <class C, int M, int N>
STATOR_FN Items<C, M> load_operand(const Strided<N>& p, int k, const Items<int64_t, M>& at, int count) {
  const C* const own = static_cast<const C*>(p.in[k]);
  const bool side_by_side = p.wide[k + 1] && count == M;
  if (p.dtype[k] == dtype_of_v<C>)
    return side_by_side ? load_side_by_side<C, M>(own + at[0]) : load_each<C>(own, at, count);
  if constexpr (companions<C> != 0 && M > 1)
    if (side_by_side) return load_items<C, companions<C>, M>(p.in[k], p.dtype[k], at[0]);
  return load_many < C, M == 1 ? 0 : companions < C >> (p.in[k], p.dtype[k], at, count);
}

// Where blocks have threads: the elements that one thread loads, and where its results go.
// Condition: operand 0 is usually bool, of which a thread loads several at a time too.
template <class C, int N, int Count, bool Condition = false>
struct StridedThread {
  int32_t first;  // linear index of its first element
  int32_t count, apart;
  Items<int64_t, Count> at[N + 1];
  Items<C, Count> x[N];

  // Returns false for a thread past the end.
  STATOR_PART bool load(const Strided<N>& p, int32_t block, int rank, int threads) {
    const int32_t begin = block * (threads * Count), size = int32_t(p.layout.size);
    first = p.dense ? begin + rank * Count : begin + rank;
    apart = p.dense ? 1 : threads;
    if (first >= size) return false;
    const int32_t left = p.dense ? size - first : (size - first + threads - 1) / threads;
    count = left < Count ? left : Count;
    int32_t linear[Count];
    STATOR_UNROLL()
    for (int u = 0; u < Count; ++u) linear[u] = u < count ? first + u * apart : first;
    if (p.dense)
      p.layout.offsets_in_line(linear, at);
    else
      p.layout.offsets(linear, at);
    STATOR_UNROLL()
    for (int k = 0; k < N; ++k) {
      if (p.in[k] == nullptr) {
        STATOR_UNROLL()
        for (int u = 0; u < Count; ++u) x[k][u] = p.template immediate<C>(k);
      } else {
        if constexpr (Condition) {
          if (k == 0 && p.dtype[0] == DType::bool_ && p.wide[1] && count == Count) {
            x[0] = load_side_by_side<C, Count>(static_cast<const uint8_t*>(p.in[0]) + at[1][0]);
            continue;
          }
        }
        x[k] = load_operand<C, Count>(p, k, at[k + 1], count);
      }
    }
    return true;
  }

  template <class Y>
  STATOR_PART void store(const Strided<N>& p, const Items<Y, Count>& y) const {
    const bool side_by_side = p.wide[0] && count == Count;
    if (p.out_dtype == dtype_of_v<Y>) {
      Y* const out = static_cast<Y*>(p.out);
      if (side_by_side)
        store_side_by_side(out + at[0][0], y);
      else
        store_each(y, out, at[0], count);
      return;
    }
    if constexpr (companions<Y> != 0 && Count > 1)
      if (side_by_side) return store_items<Y, companions<Y>>(p.out, p.out_dtype, at[0][0], y);
    store_many<Y, Count == 1 ? 0 : companions<Y>>(p.out, p.out_dtype, at[0], y, count);
  }
};

template <class F, class C, class Y, int N, int Size>
STATOR_FN void strided_items(const Group<Size>& group, const Strided<N>& p) {
  constexpr int Count = StridedTuning::items<F, C>;
  StridedThread<C, N, Count, is_conditional<F>> thread;
  if (!thread.load(p, int32_t(group.block()), group.rank(), Size)) return;
  Items<Y, Count> y;
  STATOR_UNROLL()
  for (int u = 0; u < Count; ++u) {
    C element[N];
    STATOR_UNROLL()
    for (int k = 0; k < N; ++k) element[k] = thread.x[k][u];
    y[u] = call<F>(element);
    if constexpr (Faulting<F> && std::is_integral_v<C>) {
      if (u < thread.count && faults<F>(element))
        report_fault<F>(p, p.position + thread.first + u * thread.apart, element[N - 1]);
    }
  }
  thread.store(p, y);
}

template <class F, class Y, class... X>
STATOR_FN void results_of(Y* y, int64_t n, const X*... x) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = F{}(x[i]...);
}
// Some functors have a shorter function for usual arguments, with which a chunk is computed that has no others.
template <class F, class C>
concept HasUsual = std::is_floating_point_v<C> && requires { typename F::template Usual<C>; };
template <class F, class C>
concept HasReplaced = HasUsual<F, C> && requires { F::template Usual<C>::replaced; };
// Where the library's vector functions compute usual elements, others are replaced, so that these keep their bits.
// Parts are so short that those functions are at work while it is asked what the next part has.
constexpr int64_t replaced_part = 64;
template <class F, class C>
STATOR_CALL void replace_unusual(C* y, int64_t n, const C* x) {
  using Usual = typename F::template Usual<C>;
  C operand[replaced_part], usual[replaced_part];  // y may be x
  for (int64_t i = 0; i < n; ++i) {
    operand[i] = x[i];
    usual[i] = Usual::rank(operand[i]) > Usual::last ? C(0) : operand[i];
  }
  results_of<Usual>(y, n, usual);
  for (int64_t i = 0; i < n; ++i)
    if (Usual::rank(operand[i]) > Usual::last) y[i] = F{}(operand[i]);
}
template <class F, class C>
STATOR_FN void part_results_of(C* y, int64_t n, const C* x) {
  using Usual = typename F::template Usual<C>;
  auto rank = Usual::rank(C(0));
  for (int64_t i = 0; i < n; ++i) rank = std::max(rank, Usual::rank(x[i]));
  if (rank <= Usual::last)
    results_of<Usual>(y, n, x);
  else
    replace_unusual<F>(y, n, x);
}
template <class F, class C>
STATOR_FN void replaced_results_of(C* y, int64_t n, const C* x) {
  int64_t at = 0;
  for (; at + replaced_part <= n; at += replaced_part) part_results_of<F>(y + at, replaced_part, x + at);
  if (at < n) part_results_of<F>(y + at, n - at, x + at);
}
template <class F, class C, class... X>
STATOR_FN void usual_results_of(C* y, int64_t n, const X*... x) {
  using Usual = typename F::template Usual<C>;
  const auto rank_at = [&](int64_t i) { return Usual::rank(x[i]...); };
  const int64_t part = n / 4;  // four at once, because a maximum waits for the one before
  auto rank = rank_at(n - 1);
  for (int64_t i = 0; i < part; ++i) {
    const auto first = std::max(rank_at(i), rank_at(i + part));
    const auto second = std::max(rank_at(i + 2 * part), rank_at(i + 3 * part));
    rank = std::max(rank, std::max(first, second));
  }
  for (int64_t i = 4 * part; i < n; ++i) rank = std::max(rank, rank_at(i));
  if (rank <= Usual::last)
    results_of<Usual>(y, n, x...);
  else
    results_of<F>(y, n, x...);
}
template <class F, class C, int N, class Y, int... K>
STATOR_FN void chunk_results_of(const FaultReports& p, const C* const* x, Y* y, int64_t at, int64_t n,
                                std::integer_sequence<int, K...>) {
  if constexpr (HasReplaced<F, C>)
    replaced_results_of<F>(y, n, x[K]...);
  else if constexpr (HasUsual<F, C>)
    usual_results_of<F>(y, n, x[K]...);
  else
    results_of<F>(y, n, x[K]...);
  if constexpr (Faulting<F> && std::is_integral_v<C>) {
    int64_t bad = 0;
    for (int64_t i = 0; i < n; ++i) bad += F::faults(x[K][i]...);
    for (int64_t i = 0; bad > 0 && i < n; ++i)
      if (F::faults(x[K][i]...)) report_fault<F>(p, p.position + at + i, x[N - 1][i]), bad = 0;
  }
}
template <class F, class C, class Y, int N>
STATOR_CALL void chunk_results(const FaultReports& p, const void* const* x, void* y, int64_t at, int64_t n) {
  const C* typed[N];
  for (int k = 0; k < N; ++k) typed[k] = static_cast<const C*>(x[k]);
  chunk_results_of<F, C, N>(p, typed, static_cast<Y*>(y), at, n, std::make_integer_sequence<int, N>{});
}

}  // namespace detail

// The kernel where blocks have threads.
template <class F, class C, class Y, int N, int Size>
STATOR_KERNEL(Size) void elementwise_strided_kernel(Strided<N> p) {
  const Group<Size> group;
  detail::strided_items<F, C, Y>(group, p);
}

namespace detail {
inline bool is_wide(const params::Elementwise& e, const params::ElementwiseOperand& operand, DType computed, int count,
                    DTypeSet others) {
  if (operand.dtype != computed && !in(operand.dtype, companions_of(computed) | others)) return false;
  return e.ndim == 1 && operand.strides[0] == 1 &&
         is_aligned(operand.data, items_alignment(itemsize(operand.dtype), count));
}

// Threads take `count` elements each, and results have dtype `result`; operand 0 may have a dtype of `others` and be
// wide. Not inlined, because all functors share it.
template <int N>
STATOR_COMMON void prepare(Strided<N>& p, const params::Queue& q, const params::Elementwise& e, DType compute,
                           DType result, int count, DTypeSet others = 0) {
  lay_out(p.layout, e);
  p.out = e.out.data;
  p.compute = compute;
  p.result = result;
  p.out_dtype = e.out.dtype;
  p.dense = e.ndim == 0 || (e.ndim == 1 && e.out.strides[0] == 1);
  p.wide[0] = is_wide(e, e.out, result, count, 0);
  for (int k = 0; k < N; ++k) {
    p.in[k] = e.in[k].immediate ? nullptr : e.in[k].data;
    p.dtype[k] = e.in[k].dtype;
    std::memcpy(p.value[k], e.in[k].value, sizeof(p.value[k]));
    p.wide[k + 1] = p.in[k] != nullptr && is_wide(e, e.in[k], compute, count, k == 0 ? others : 0);
    p.dense = p.dense && (p.in[k] == nullptr || e.ndim == 0 || e.in[k].strides[0] == 0 || e.in[k].strides[0] == 1);
  }
  for (int k = 0; k <= N; ++k) p.wide[k] = p.wide[k] && p.dense;
  p.position = 0;
  p.slot = q.slot;
  p.op = q.op;
}

template <int N>
STATOR_COMMON void launch_threads(const params::Queue& q, const char* name, const params::Elementwise& e,
                                  void (*kernel)(Strided<N>), DType compute, DType result, int count, DTypeSet others) {
  constexpr int block = StridedTuning::block;
  Strided<N> p;
  for_each_small_subspace(e, 0, [&](const params::Elementwise& subspace, int64_t position) {
    prepare(p, q, subspace, compute, result, count, others);
    p.position = position;
    launch(q, name, kernel, {ceil_div(subspace.size, block * count), block}, p);
  });
}
}  // namespace detail

// Y is the type of F's result for arguments of type C, which the host pass of nvcc cannot deduce.
template <class F, class C, class Y, int N>
void launch_strided(const params::Queue& q, const char* name, const params::Elementwise& e) {
  if constexpr (fast_host)
    launch_chunks<N>(q, name, e, dtype_of_v<C>, dtype_of_v<Y>, detail::chunk_results<F, C, Y, N>);
  else
    detail::launch_threads(q, name, e, elementwise_strided_kernel<F, C, Y, N, StridedTuning::block>, dtype_of_v<C>,
                           dtype_of_v<Y>, StridedTuning::items<F, C>, is_conditional<F> ? dtypes::boolean : 0);
}

}  // namespace stator::STATOR_TARGET::elementwise
