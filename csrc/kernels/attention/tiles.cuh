// Attention in the operands' own arithmetic where blocks have threads. A block has 32 queries and takes 32 keys at a
// time; eight neighbouring threads share a row of scores.
#pragma once

#include "device/sublanes.cuh"
#include "kernels/attention/heads.cuh"

namespace stator::STATOR_TARGET::attention {

struct TileTuning {
  static constexpr int block = 128;
  static constexpr int rows = 32, keys = 32, across = 8, below = block / across;
  static constexpr int chunk = 64;  // columns of an operand that are in shared memory at a time
  // Blocks whose registers fit a multiprocessor, so that what is rare does not take them from the others; 0: any.
  template <class A, int D>
  static constexpr int resident = sizeof(A) == 4 && D == 128 ? 6 : 0;
};

template <class A>
struct TileMemory {
  static constexpr int V = vector_width<A>, pitch = TileTuning::chunk + V, score_pitch = TileTuning::keys + 8;
  alignas(16) A q[TileTuning::rows * pitch];
  alignas(16) A kv[TileTuning::keys * pitch];
  A score[TileTuning::rows * score_pitch];
};

// Rows [first, end) and columns [column, columns) of an operand, as many as there are slots; the others are zero.
template <class A, class T, int Size>
STATOR_FN void load_tile(const Group<Size>& group, A* to, const T* from, int64_t row_step, int64_t column_step,
                         int64_t first, int64_t end, int column, int columns, bool vectors) {
  constexpr int V = TileMemory<A>::V, wide = TileTuning::chunk / V;
  static_assert(TileTuning::rows == TileTuning::keys);
  STATOR_UNROLL(4)
  for (int i = group.rank(); i < TileTuning::rows * wide; i += Size) {
    const int r = i / wide, c = column + i % wide * V;
    const T* const row = from + (first + r) * row_step;
    Vec<A, V> x;
    if (std::is_same_v<T, A> && vectors && first + r < end && c < columns) {
      const Vec<T, V> in = load_vector<V>(row + c);
      STATOR_UNROLL()
      for (int j = 0; j < V; ++j) x[j] = A(in[j]);
    } else {
      STATOR_UNROLL()
      for (int j = 0; j < V; ++j) x[j] = first + r < end && c + j < columns ? A(row[(c + j) * column_step]) : A(0);
    }
    store_vector(to + r * TileMemory<A>::pitch + i % wide * V, x);
  }
}

template <class T, int D, int Size>
STATOR_KERNEL_RESIDENT(Size, (TileTuning::resident<opmath_t<T>, D>)) void attention_tile_kernel(Attention p,
                                                                                                bool vectors) {
  using Tune = TileTuning;
  using A = opmath_t<T>;
  using Memory = TileMemory<A>;
  constexpr int V = Memory::V, chunks = D / Tune::chunk, pieces = Tune::chunk / (Tune::across * V);
  constexpr int own_rows = Tune::rows / Tune::below, own_keys = Tune::keys / Tune::across;
  const Group<Size> group;
  const QueryTile tile(p, group.block(), Tune::rows);
  const HeadOffsets offsets = head_offsets(p, tile.head);
  const HeadMask<T, A> mask(p, offsets, A(1));
  Memory& memory = group.template shared<Memory>();
  const int x = group.rank() % Tune::across, y = group.rank() / Tune::across;
  const auto load = [&](A* to, int k, int64_t first, int64_t end, int column, int columns) {
    load_tile(group, to, static_cast<const T*>(p.data[k]) + offsets.at[k], p.row[k], p.column[k], first, end, column,
              columns, vectors);
  };
  A out[own_rows][chunks][pieces][V] = {};
  A largest[own_rows], sum[own_rows] = {};
  STATOR_UNROLL()
  for (int r = 0; r < own_rows; ++r) largest[r] = -limits<A>::infinity();
  STATOR_UNROLL(1)
  for (int64_t first = 0; first < tile.keys; first += Tune::keys) {
    // Scores: stage chunks of q and k in shared memory, and multiply.
    A score[own_rows][own_keys] = {};
    STATOR_UNROLL(1)
    for (int c = 0; c < p.size; c += Tune::chunk) {
      group.sync();
      if (first == 0 || p.size > Tune::chunk) load(memory.q, Attention::q, tile.first, p.queries, c, p.size);
      load(memory.kv, Attention::k, first, tile.keys, c, p.size);
      group.sync();
      STATOR_UNROLL(2)
      for (int i = 0; i < Tune::chunk; i += V) {
        Vec<A, V> q[own_rows], k[own_keys];
        STATOR_UNROLL()
        for (int r = 0; r < own_rows; ++r) q[r] = load_vector<V>(memory.q + (y + r * Tune::below) * Memory::pitch + i);
        STATOR_UNROLL()
        for (int j = 0; j < own_keys; ++j)
          k[j] = load_vector<V>(memory.kv + (x + j * Tune::across) * Memory::pitch + i);
        STATOR_UNROLL()
        for (int r = 0; r < own_rows; ++r)
          for (int j = 0; j < own_keys; ++j)
            for (int e = 0; e < V; ++e) score[r][j] += q[r][e] * k[j][e];
      }
    }
    // Softmax: mask the scores, update the maxima, and rescale the sums.
    STATOR_UNROLL()
    for (int r = 0; r < own_rows; ++r) {
      const int row = y + r * Tune::below;
      const int64_t query = tile.first + row;
      A most = -limits<A>::infinity();
      STATOR_UNROLL()
      for (int j = 0; j < own_keys; ++j) {
        const int64_t key = first + x + j * Tune::across;
        const bool seen = query < p.queries && key < tile.keys && !(p.causal && key > query);
        A& s = score[r][j];
        s *= A(p.scale);
        s = !seen ? -limits<A>::infinity() : mask.data != nullptr ? mask(s, query, key) : s;
        most = Max{}(most, s);
      }
      most = Max{}(largest[r], fold_sublanes(most, Tune::across, Max{}));
      const A reference = most == -limits<A>::infinity() ? A(0) : most;
      const A scale = libm::polynomial_exp(largest[r] - reference);
      largest[r] = most;
      A part = 0;
      STATOR_UNROLL()
      for (int j = 0; j < own_keys; ++j) {
        const A e = libm::polynomial_exp(score[r][j] - reference);
        memory.score[row * Memory::score_pitch + x + j * Tune::across] = e;
        part += e;
      }
      sum[r] = sum[r] * scale + part;
      STATOR_UNROLL()
      for (int c = 0; c < chunks; ++c)
        for (int u = 0; u < pieces; ++u)
          for (int e = 0; e < V; ++e) out[r][c][u][e] *= scale;
    }
    // Outputs: stage chunks of v in shared memory, and add them by their weights.
    STATOR_UNROLL()
    for (int c = 0; c < chunks; ++c) {
      if (c * Tune::chunk >= p.value_size) break;
      group.sync();
      load(memory.kv, Attention::v, first, tile.keys, c * Tune::chunk, p.value_size);
      group.sync();
      STATOR_UNROLL(4)
      for (int j = 0; j < Tune::keys; ++j) {
        A weight[own_rows];
        STATOR_UNROLL()
        for (int r = 0; r < own_rows; ++r) weight[r] = memory.score[(y + r * Tune::below) * Memory::score_pitch + j];
        STATOR_UNROLL()
        for (int u = 0; u < pieces; ++u) {
          const Vec<A, V> v = load_vector<V>(memory.kv + j * Memory::pitch + (u * Tune::across + x) * V);
          STATOR_UNROLL()
          for (int r = 0; r < own_rows; ++r)
            for (int e = 0; e < V; ++e) out[r][c][u][e] += weight[r] * v[e];
        }
      }
    }
  }
  // Divide by the sums, and store.
  const bool whole = std::is_same_v<T, A> && p.value_size % V == 0;
  STATOR_UNROLL()
  for (int r = 0; r < own_rows; ++r) {
    const int64_t query = tile.first + y + r * Tune::below;
    const A total = fold_sublanes(sum[r], Tune::across, Sum{}), scale = total == A(0) ? A(0) : A(1) / total;
    int broken = 0;
    STATOR_UNROLL()
    for (int c = 0; c < chunks; ++c)
      for (int u = 0; u < pieces; ++u)
        for (int e = 0; e < V; ++e) broken |= int(out[r][c][u][e] != out[r][c][u][e]);
    broken = fold_sublanes(broken, Tune::across, Max{});
    if (query >= p.queries) continue;
    const int64_t row = tile.head * p.queries + query;
    T* const to = static_cast<T*>(p.out) + row * p.value_size;
    const bool again = broken != 0 && total == total && hides_keys(p, mask);
    if (again)
      sum_without_hidden(QueryKeys<T, A>(p, offsets, query), largest[r], total, x, Tune::across,
                         [=](int c, A result) { to[c] = convert<T>(result); });
    STATOR_UNROLL()
    for (int c = 0; c < chunks && !again; ++c) {
      STATOR_UNROLL()
      for (int u = 0; u < pieces; ++u) {
        const int at = c * Tune::chunk + (u * Tune::across + x) * V;
        Vec<T, V> result;
        STATOR_UNROLL()
        for (int e = 0; e < V; ++e) result[e] = convert<T>(out[r][c][u][e] * scale);
        if (whole && at < p.value_size) {
          store_vector(to + at, result);
        } else if (at < p.value_size) {
          STATOR_UNROLL()
          for (int e = 0; e < V; ++e)
            if (at + e < p.value_size) to[at + e] = result[e];
        }
      }
    }
    if (p.lse != nullptr && x == 0)
      static_cast<A*>(p.lse)[row] = total == A(0) ? -limits<A>::infinity() : largest[r] + log(total);
  }
}

}  // namespace stator::STATOR_TARGET::attention
