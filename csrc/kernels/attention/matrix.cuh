// Attention of halves by the matrix units. A warp has 16 queries, whose scores and sums stay in registers: a score
// is in the lane and place in which the product with v wants it.
#pragma once

#include "device/tensor_core.cuh"
#include "kernels/attention/heads.cuh"

namespace stator::STATOR_TARGET::attention {

// D: the largest size of a head that the kernel takes.
template <int D>
struct MatrixTuning {
  static constexpr int block = 128;
  static constexpr int rows = block / 32 * 16;     // queries of a block
  static constexpr int keys = D <= 128 ? 64 : 32;  // that are in shared memory at a time
  static constexpr int shared_bytes = (rows + 2 * keys) * D * 2;
};

// Rows of D halves in shared memory. Chunks of 16 bytes are exchanged within 128 bytes, so that the same chunk of eight
// rows is in different banks.
template <class T, int D>
struct HalfTile {
  static constexpr int chunks = D / 8;
  T* data;

  STATOR_FN T* at(int row, int chunk) const { return data + row * D + ((chunk ^ (row & 7)) * 8); }

  // Rows [first, first + Rows) of an operand with `columns` columns; those from `end` on are zero, as are columns
  // up to a multiple of 16.
  template <int Rows, int Size>
  STATOR_FN void load(const Group<Size>& group, const T* from, int64_t row_step, int64_t column_step, int64_t first,
                      int64_t end, int columns, bool vectors) const {
    STATOR_UNROLL(4)
    for (int i = group.rank(); i < Rows * chunks; i += Size) {
      const int r = i / chunks, c = i % chunks;
      if (c * 8 >= (columns + 15) / 16 * 16) continue;
      const bool inside = first + r < end;
      if (vectors) {
        const bool taken = inside && c * 8 < columns;
        copy_async(at(r, c), taken ? from + (first + r) * row_step + c * 8 : from, taken ? 16 : 0);
        continue;
      }
      Vec<T, 8> v;
      STATOR_UNROLL()
      for (int j = 0; j < 8; ++j)
        v[j] = inside && c * 8 + j < columns ? from[(first + r) * row_step + (c * 8 + j) * column_step] : T(0.0f);
      store_vector(at(r, c), v);
    }
  }
};

// What a lane keeps of its two queries: the maximum of the scores, in units of exp2, and its part of the sum.
struct QueryState {
  float largest = -limits<float>::infinity(), sum = 0;
};

template <class T, int D, int Size>
struct MatrixWarp {
  using Tune = MatrixTuning<D>;
  static constexpr int score_tiles = Tune::keys / 8, out_tiles = D / 8;
  int warp, lane;
  float out[out_tiles][4];
  float score[score_tiles][4];
  QueryState state[2];

  STATOR_FN explicit MatrixWarp(int rank) : warp(rank / 32), lane(rank % 32) {
    STATOR_UNROLL()
    for (int t = 0; t < out_tiles; ++t)
      for (int e = 0; e < 4; ++e) out[t][e] = 0;
  }
  // The query, of the block, of elements e of the lane, and the key or column of element e of tile t.
  STATOR_FN int query(int e) const { return warp * 16 + lane / 4 + e / 2 * 8; }
  STATOR_FN int column(int t, int e) const { return t * 8 + lane % 4 * 2 + e % 2; }

  STATOR_FN void multiply_keys(const HalfTile<T, D>& q, const HalfTile<T, D>& k, int size) {
    STATOR_UNROLL()
    for (int t = 0; t < score_tiles; ++t)
      for (int e = 0; e < 4; ++e) score[t][e] = 0;
    meet();
    STATOR_UNROLL()
    for (int s = 0; s < D / 16; ++s) {
      if (s * 16 >= size) break;
      uint32_t a[4];
      load_matrices(a, q.at(warp * 16 + lane % 16, s * 2 + lane / 16));
      STATOR_UNROLL()
      for (int t = 0; t < score_tiles; t += 2) {
        uint32_t b[4];
        load_matrices(b, k.at(t * 8 + lane / 16 * 8 + lane % 8, s * 2 + lane / 8 % 2));
        multiply_matrices<T>(score[t], a, b[0], b[1]);
        multiply_matrices<T>(score[t + 1], a, b[2], b[3]);
      }
    }
  }

  // Scores become exponentials relative to the maximum, which what was summed before follows.
  template <class Mask>
  STATOR_FN void exponentials(const Attention& p, const Mask& mask, int64_t first_query, int64_t first_key,
                              int64_t keys) {
    const float unit = mask.unit * float(p.scale);
    const bool edge =
        mask.data != nullptr || first_key + Tune::keys > keys || (p.causal && first_key + Tune::keys > first_query);
    STATOR_UNROLL()
    for (int t = 0; t < score_tiles; ++t) {
      STATOR_UNROLL()
      for (int e = 0; e < 4; ++e) {
        float& s = score[t][e];
        s *= unit;
        if (!edge) continue;
        const int64_t i = first_query + query(e), j = first_key + column(t, e);
        const bool seen = i < p.queries && j < keys && !(p.causal && j > i);
        s = !seen ? -limits<float>::infinity() : mask.data != nullptr ? mask(s, i, j) : s;
      }
    }
    STATOR_UNROLL()
    for (int h = 0; h < 2; ++h) {
      float largest = -limits<float>::infinity();
      STATOR_UNROLL()
      for (int t = 0; t < score_tiles; ++t) largest = fmaxf(largest, fmaxf(score[t][2 * h], score[t][2 * h + 1]));
      largest = fmaxf(state[h].largest, fold_sublanes(largest, 4, Max{}));
      const float reference = largest == -limits<float>::infinity() ? 0.0f : largest;
      const float scale = quick_exp2(state[h].largest - reference);
      state[h].largest = largest;
      float sum = 0;
      STATOR_UNROLL()
      for (int t = 0; t < score_tiles; ++t) {
        STATOR_UNROLL()
        for (int e = 2 * h; e < 2 * h + 2; ++e) {
          score[t][e] = quick_exp2(score[t][e] - reference);
          sum += score[t][e];
        }
      }
      state[h].sum = state[h].sum * scale + sum;
      STATOR_UNROLL()
      for (int t = 0; t < out_tiles; ++t) {
        out[t][2 * h] *= scale;
        out[t][2 * h + 1] *= scale;
      }
    }
  }

  STATOR_FN void multiply_values(const HalfTile<T, D>& v, int size) {
    meet();
    STATOR_UNROLL()
    for (int s = 0; s < Tune::keys / 16; ++s) {
      const auto& left = score[2 * s];
      const auto& right = score[2 * s + 1];
      const uint32_t a[4] = {pack_halves<T>(left[0], left[1]), pack_halves<T>(left[2], left[3]),
                             pack_halves<T>(right[0], right[1]), pack_halves<T>(right[2], right[3])};
      STATOR_UNROLL()
      for (int t = 0; t < out_tiles; t += 2) {
        if (t * 8 >= size) break;
        uint32_t b[4];
        load_transposed_matrices(b, v.at(s * 16 + lane % 16, t + lane / 16));
        multiply_matrices<T>(out[t], a, b[0], b[1]);
        multiply_matrices<T>(out[t + 1], a, b[2], b[3]);
      }
    }
  }

  // Through the warp's own rows of `tile`, which nobody else reads any more.
  STATOR_FN void finish(const Attention& p, const HalfTile<T, D>& tile, int64_t head, int64_t first_query) {
    STATOR_UNROLL()
    for (int h = 0; h < 2; ++h) {
      const float sum = fold_sublanes(state[h].sum, 4, Sum{}), scale = sum == 0 ? 0.0f : 1 / sum;
      const int row = query(2 * h);
      STATOR_UNROLL()
      for (int t = 0; t < out_tiles; ++t)
        *reinterpret_cast<uint32_t*>(tile.at(row, t) + lane % 4 * 2) =
            pack_halves<T>(out[t][2 * h] * scale, out[t][2 * h + 1] * scale);
      const int64_t i = first_query + row;
      if (p.lse != nullptr && lane % 4 == 0 && i < p.queries)
        static_cast<float*>(p.lse)[head * p.queries + i] =
            sum == 0 ? -limits<float>::infinity() : state[h].largest * 0.693147180559945309f + logf(sum);
    }
  }
};

template <class T, int D, int Size>
STATOR_KERNEL(Size) void attention_matrix_kernel(Attention p, bool vectors) {
  using Tune = MatrixTuning<D>;
  constexpr float log2_e = 1.44269504088896341f;
  const Group<Size> group;
  const QueryTile tile(p, group.block(), Tune::rows);
  const HeadOffsets offsets = head_offsets(p, tile.head);
  const HeadMask<T, float> mask(p, offsets, log2_e);
  const auto operand = [&](int k) { return static_cast<const T*>(p.data[k]) + offsets.at[k]; };
  T* const memory = group.template dynamic<T>(Tune::shared_bytes / 2);
  const HalfTile<T, D> q{memory}, k{memory + Tune::rows * D}, v{k.data + Tune::keys * D};
  const auto load_keys = [&](const HalfTile<T, D>& to, int which, int columns, int64_t first) {
    to.template load<Tune::keys>(group, operand(which), p.row[which], p.column[which], first, tile.keys, columns,
                                 vectors);
  };
  MatrixWarp<T, D, Size> warp(group.rank());
  q.template load<Tune::rows>(group, operand(Attention::q), p.row[Attention::q], p.column[Attention::q], tile.first,
                              p.queries, p.size, vectors);
  if (tile.keys > 0) load_keys(k, Attention::k, p.size, 0);
  STATOR_UNROLL(1)
  for (int64_t first = 0; first < tile.keys; first += Tune::keys) {
    copies_arrived();
    group.sync();  // the keys are there, and the values before them are not needed any more
    load_keys(v, Attention::v, p.value_size, first);
    warp.multiply_keys(q, k, p.size);
    warp.exponentials(p, mask, tile.first, first, tile.keys);
    copies_arrived();
    group.sync();
    if (first + Tune::keys < tile.keys) load_keys(k, Attention::k, p.size, first + Tune::keys);
    warp.multiply_values(v, p.value_size);
  }
  copies_arrived();
  group.sync();
  warp.finish(p, q, tile.head, tile.first);
  group.sync();
  T* const out = static_cast<T*>(p.out) + (tile.head * p.queries + tile.first) * p.value_size;
  const bool whole = p.value_size % 8 == 0;
  for (int i = group.rank(); i < Tune::rows * HalfTile<T, D>::chunks; i += Size) {
    const int r = i / HalfTile<T, D>::chunks, c = i % HalfTile<T, D>::chunks;
    if (tile.first + r >= p.queries || c * 8 >= p.value_size) continue;
    const Vec<T, 8> x = load_vector<8>(q.at(r, c));
    T* const to = out + int64_t(r) * p.value_size + c * 8;
    if (whole) {
      store_vector(to, x);
      continue;
    }
    STATOR_UNROLL()
    for (int j = 0; j < 8; ++j)
      if (c * 8 + j < p.value_size) to[j] = x[j];
  }
}

}  // namespace stator::STATOR_TARGET::attention
