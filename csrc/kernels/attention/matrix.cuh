// Attention of halves by the matrix units. A warp has one or two strips of 16 queries, whose scores and sums stay in
// registers: a score is in the lane and register in which the product with v wants it. Strips share what is read of
// keys and values.
#pragma once

#include "device/constants.cuh"
#include "device/tensor_core.cuh"
#include "kernels/attention/heads.cuh"

#include <cmath>

namespace stator::STATOR_TARGET::attention {

// D: the largest size of a head that the kernel takes.
template <int D, int Strips>
struct MatrixTuning {
  static constexpr int block = 128;
  static constexpr int rows = block / 32 * Strips * 16;  // queries of a block
  static constexpr int keys = D <= 128 ? 64 : 32;        // that are in shared memory at a time
  static constexpr int columns = 32;                     // of values that are multiplied, or left out, together
  static constexpr int shared_bytes = (rows + 2 * keys) * D * 2;
  static constexpr int resident = Strips == 1 && D <= 128 ? 3 : 2;  // blocks whose registers fit a multiprocessor
};

// Rows of D halves in shared memory. Chunks of 16 bytes are exchanged within 128 bytes, so that the same chunk of eight
// rows is in different banks.
template <class T, int D>
struct HalfTile {
  static constexpr int chunks = D / 8;
  T* data;

  // Bytes from a chunk to that of the same chunk some rows, a multiple of 8, below, and of chunks, a multiple of 8, on.
  static constexpr int below(int rows, int columns = 0) { return rows * D * 2 + columns * 16; }

  STATOR_FN T* at(int row, int chunk) const { return data + row * D + ((chunk ^ (row & 7)) * 8); }
};

// What a thread of `Size` copies of an operand's next `Rows` rows to a tile: a chunk of 16 bytes of each row that is
// its own. Rows after the operand's last one are zero, as are columns up to a multiple of `Pad`; no others are
// written.
template <class T, int D, int Rows, int Pad, int Size>
struct RowCopies {
  using Tile = HalfTile<T, D>;
  static constexpr int width = Tile::chunks < 16 ? Tile::chunks : 16;  // chunks of a row that threads begin with
  static constexpr int step = Size / width;                            // from a row of the thread to the next one
  static_assert(Size % width == 0 && step % 8 == 0 && Rows % step == 0);
  const T* from;  // the chunk in the first row
  int64_t row_step, column_step;
  int64_t turn_step;  // from a row of the thread to the next one
  T* to;
  int row, column, columns;
  bool vectors;

  STATOR_FN RowCopies(const Tile& tile, const T* operand, int64_t row_step, int64_t column_step, int64_t first,
                      int columns, bool vectors, int rank)
      : row_step(row_step),
        column_step(column_step),
        turn_step(step * row_step),
        to(tile.at(rank / width, rank % width)),
        row(rank / width),
        column(rank % width * 8),
        columns(columns),
        vectors(vectors) {
    from = operand + (first + row) * row_step + column * column_step;
  }

  // left: rows of the operand that have not been copied.
  STATOR_FN void next(int64_t left) {
    const int rows = int(left < Rows ? left : Rows);
    for_constants<Tile::chunks / width>([&](auto group) {
      constexpr int on = group * width * 8;
      if (column + on >= Pad && column + on >= (columns + Pad - 1) / Pad * Pad) return;
      const T* source = from + on * column_step;
      if (vectors) {
        const bool inside = column + on < columns;
        if (inside && left >= Rows) {
          for_constants<Rows / step>([&](auto turn) {
            copy_async<Tile::below(turn * step, on / 8)>(to, source, std::integral_constant<int, 16>{});
            source += turn_step;
          });
          return;
        }
        const int there = inside ? rows - row : 0;
        for_constants<Rows / step>([&](auto turn) {
          constexpr int r = turn * step;
          copy_async<Tile::below(r, on / 8)>(to, source, r < there ? 16 : 0);
          source += turn_step;
        });
        return;
      }
      STATOR_UNROLL(1)
      for (int r = 0; r < Rows; r += step) {
        Vec<T, 8> v;
        STATOR_UNROLL()
        for (int j = 0; j < 8; ++j)
          v[j] = row + r < rows && column + on + j < columns ? source[j * column_step] : T(0.0f);
        store_vector(to + Tile::below(r, on / 8) / 2, v);
        source += step * row_step;
      }
    });
    from += Rows / step * turn_step;
  }
};

// What a lane keeps of a query: what its exponentials are relative to, in units of exp2, and its part of their sum,
// where that is a result. The reference follows the largest score only where that is more than 2^8 times as large,
// which halves can hold, so that what was summed is seldom rescaled, as in FlashAttention-4.
struct QueryState {
  static constexpr float slack = 8;
  float reference = -limits<float>::infinity(), sum = 0;
};

template <class T, int D, int Strips, int Size>
struct MatrixWarp {
  using Tune = MatrixTuning<D, Strips>;
  using Half = HalfTile<T, D>;
  static constexpr int score_tiles = Tune::keys / 8, out_tiles = D / 8;
  int warp, lane;
  struct Strip {
    float out[out_tiles][4];
    // The sums of the exponentials as halves, in each column: products with ones. So what a half has lost is lost in
    // the dividend and in the divisor, and sums take no instructions of lanes.
    float total[4];
    float score[score_tiles][4];
    QueryState state[2];
  };
  Strip strips[Strips];

  STATOR_FN explicit MatrixWarp(int rank) : warp(rank / 32), lane(rank % 32) {
    STATOR_UNROLL()
    for (int u = 0; u < Strips; ++u) {
      STATOR_UNROLL()
      for (int e = 0; e < 4; ++e) {
        strips[u].total[e] = 0;
        STATOR_UNROLL()
        for (int t = 0; t < out_tiles; ++t) strips[u].out[t][e] = 0;
      }
    }
  }
  // The query, of the block, of elements e of the lane in strip u, and the key or column of element e of tile t.
  STATOR_FN int query(int u, int e) const { return (warp * Strips + u) * 16 + lane / 4 + e / 2 * 8; }
  STATOR_FN int column(int t, int e) const { return t * 8 + lane % 4 * 2 + e % 2; }

  STATOR_FN void multiply_keys(const Half& q, const Half& k, int size) {
    meet();
    for_constants<D / 16>([&](auto part) {
      constexpr int s = part;
      if (s > 0 && s * 16 >= size) return;
      constexpr int chunk = s * 2 % 8, on = s / 4 * 8;  // chunks, of which 8 are exchanged
      uint32_t a[Strips][4];
      const T* const of_a = q.at(warp * Strips * 16 + lane % 16, chunk + lane / 16);
      for_constants<Strips>([&](auto u) { load_matrices<Half::below(u * 16, on)>(a[u], of_a); });
      const T* const of_b = k.at(lane / 16 * 8 + lane % 8, chunk + lane / 8 % 2);
      for_constants<score_tiles / 2>([&](auto pair) {
        constexpr int t = pair * 2;
        uint32_t b[4];
        load_matrices<Half::below(t * 8, on)>(b, of_b);
        STATOR_UNROLL()
        for (int u = 0; u < Strips; ++u) {
          multiply_matrices<T, s == 0>(strips[u].score[t], a[u], b[0], b[1]);
          multiply_matrices<T, s == 0>(strips[u].score[t + 1], a[u], b[2], b[3]);
        }
      });
    });
  }

  // Scores in units of exp2, and minus infinity where a key is not seen.
  template <class Mask>
  STATOR_FN void apply_mask(const Attention& p, const Mask& mask, int64_t first_query, int64_t first_key, float unit) {
    STATOR_UNROLL()
    for (int u = 0; u < Strips; ++u) {
      STATOR_UNROLL()
      for (int t = 0; t < score_tiles; ++t) {
        STATOR_UNROLL()
        for (int e = 0; e < 4; ++e) {
          const int64_t i = first_query + query(u, e), j = first_key + column(t, e);
          const bool seen = i < p.queries && j < p.keys && !(p.causal && j > i);
          const float s = strips[u].score[t][e] * unit;
          strips[u].score[t][e] = !seen ? -limits<float>::infinity() : mask.data != nullptr ? mask(s, i, j) : s;
        }
      }
    }
  }

  // How many of the first keys all queries from `first_query` on see, with scores that need only a multiplication.
  template <class Mask>
  STATOR_FN static int64_t seen_by_all(const Attention& p, const Mask& mask, int64_t first_query, float unit) {
    if (mask.data != nullptr || !(unit > 0)) return 0;
    return p.causal && first_query < p.keys ? first_query : p.keys;
  }

  // Scores become exponentials relative to the reference.
  template <class Mask>
  STATOR_FN void exponentials(const Attention& p, const Mask& mask, int64_t first_query, int64_t first_key, float unit,
                              int64_t seen) {
    if (first_key + Tune::keys > seen) {
      apply_mask(p, mask, first_query, first_key, unit);
      unit = 1;
    }
    STATOR_UNROLL()
    for (int u = 0; u < Strips; ++u) exponentials(strips[u], unit, p.lse != nullptr);
  }

  STATOR_FN void exponentials(Strip& strip, float unit, bool summed) {
    float scale[2];
    STATOR_UNROLL()
    for (int h = 0; h < 2; ++h) {
      QueryState& state = strip.state[h];
      const auto larger = [](float a, float b) { return fmaxf(a, b); };  // NaN is found by the sum
      float largest = larger(strip.score[0][2 * h], strip.score[0][2 * h + 1]);
      STATOR_UNROLL()
      for (int t = 1; t < score_tiles; ++t)
        largest = larger(largest, larger(strip.score[t][2 * h], strip.score[t][2 * h + 1]));
      largest = fold_sublanes(largest, 4, larger) * unit;
      const bool follows = largest > state.reference + QueryState::slack;
      const float reference = follows ? largest : state.reference;
      scale[h] = follows ? quick_exp2(state.reference - reference) : 1.0f;
      state.reference = reference;
      const float subtracted = reference == -limits<float>::infinity() ? 0.0f : reference;
      STATOR_UNROLL()
      for (int t = 0; t < score_tiles; ++t) {
        STATOR_UNROLL()
        for (int e = 2 * h; e < 2 * h + 2; ++e)
          strip.score[t][e] = quick_exp2(fmaf(strip.score[t][e], unit, -subtracted));
      }
      if (!summed) continue;
      meet();  // which keeps the compiler from adding up without need
      float sum = 0;
      STATOR_UNROLL()
      for (int t = 0; t < score_tiles; ++t) sum += strip.score[t][2 * h] + strip.score[t][2 * h + 1];
      state.sum = fmaf(state.sum, scale[h], sum);
    }
    if (scale[0] == 1 && scale[1] == 1) return;
    STATOR_UNROLL()
    for (int e = 0; e < 4; ++e) {
      strip.total[e] *= scale[e / 2];
      STATOR_UNROLL()
      for (int t = 0; t < out_tiles; ++t) strip.out[t][e] *= scale[e / 2];
    }
  }

  STATOR_FN void multiply_values(const Half& v, int size) {
    constexpr int steps = Tune::keys / 16;
    uint32_t a[Strips][steps][4];
    STATOR_UNROLL()
    for (int u = 0; u < Strips; ++u) {
      STATOR_UNROLL()
      for (int s = 0; s < steps; ++s) {
        STATOR_UNROLL()
        for (int i = 0; i < 4; ++i) {
          const auto& score = strips[u].score[2 * s + i / 2];
          a[u][s][i] = pack_halves<T>(score[i % 2 * 2], score[i % 2 * 2 + 1]);
        }
      }
    }
    meet();
    const uint32_t ones = pack_halves<T>(1, 1);
    STATOR_UNROLL()
    for (int u = 0; u < Strips; ++u) {
      STATOR_UNROLL()
      for (int s = 0; s < steps; ++s) multiply_matrices<T>(strips[u].total, a[u][s], ones, ones);
    }
    for_constants<D / Tune::columns>([&](auto part) {
      constexpr int first = part * (Tune::columns / 8);
      if (first > 0 && first * 8 >= size) return;
      for_constants<steps>([&](auto step) {
        for_constants<Tune::columns / 16>([&](auto pair) {
          constexpr int s = step, t = first + pair * 2;
          uint32_t b[4];
          load_transposed_matrices<Half::below(s * 16, t / 8 * 8)>(b, v.at(lane % 16, t % 8 + lane / 16));
          STATOR_UNROLL()
          for (int u = 0; u < Strips; ++u) {
            multiply_matrices<T>(strips[u].out[t], a[u][s], b[0], b[1]);
            multiply_matrices<T>(strips[u].out[t + 1], a[u][s], b[2], b[3]);
          }
        });
      });
    });
  }

  // Through the warp's own rows of `tile`, which no other warp reads any more.
  STATOR_FN void finish(const Attention& p, bool hides, const Half& tile, int64_t head, int64_t first_query) {
    constexpr int rows = Strips * 2;  // of a lane
    float totals[rows], references[rows];
    uint32_t broken = 0;  // a bit for each row
    STATOR_UNROLL()
    for (int r = 0; r < rows; ++r) {
      const int u = r / 2, h = r % 2;
      const Strip& strip = strips[u];
      const float total = strip.total[2 * h], scale = total == 0 ? 0.0f : 1 / total;
      const int row = query(u, 2 * h);
      totals[r] = total;
      references[r] = strip.state[h].reference * 0.693147180559945309f;
      STATOR_UNROLL()
      for (int t = 0; t < out_tiles; ++t) {
        STATOR_UNROLL()
        for (int e = 2 * h; e < 2 * h + 2; ++e) broken |= uint32_t(strip.out[t][e] != strip.out[t][e]) << r;
        *reinterpret_cast<uint32_t*>(tile.at(row, t) + lane % 4 * 2) =
            pack_halves<T>(strip.out[t][2 * h] * scale, strip.out[t][2 * h + 1] * scale);
      }
      if (p.lse == nullptr) continue;
      const float sum = fold_sublanes(strip.state[h].sum, 4, Sum{});
      const int64_t i = first_query + row;
      if (lane % 4 == 0 && i < p.queries)
        static_cast<float*>(p.lse)[head * p.queries + i] =
            sum == 0 ? -limits<float>::infinity() : references[r] + logf(sum);
    }
    if (!hides) return;
    broken = fold_sublanes(broken, 4, [](uint32_t a, uint32_t b) { return a | b; });
    meet();  // because others of the four have stored columns that are stored again
    STATOR_UNROLL(1)
    for (int r = 0; r < rows; ++r) {
      float total = 0, reference = 0;
      STATOR_UNROLL()
      for (int k = 0; k < rows; ++k) {
        total = k == r ? totals[k] : total;
        reference = k == r ? references[k] : reference;
      }
      const int row = query(r / 2, r % 2 * 2);
      if ((broken >> r & 1) == 0 || total != total || first_query + row >= p.queries) continue;
      const QueryKeys<T, float> keys(p, head_offsets(p, head), first_query + row);
      sum_without_hidden(keys, reference, total, lane % 4, 4,
                         [&](int c, float result) { tile.at(row, c / 8)[c % 8] = convert<T>(result); });
    }
  }
};

template <class T, int D, int Strips, int Size>
STATOR_KERNEL_RESIDENT(Size, (MatrixTuning<D, Strips>::resident)) void attention_matrix_kernel(Attention p,
                                                                                               bool vectors) {
  using Tune = MatrixTuning<D, Strips>;
  constexpr float log2_e = 1.44269504088896341f;
  const Group<Size> group;
  const QueryTile tile(p, group.block(), Tune::rows);
  const HeadOffsets offsets = head_offsets(p, tile.head);
  const HeadMask<T, float> mask(p, offsets, log2_e);
  T* const memory = group.template dynamic<T>(Tune::shared_bytes / 2);
  const HalfTile<T, D> q{memory}, k{memory + Tune::rows * D}, v{k.data + Tune::keys * D};
  const auto copies = [&]<int Rows, int Pad>(std::integer_sequence<int, Rows, Pad>, const HalfTile<T, D>& to, int which,
                                             int columns, int64_t first) {
    return RowCopies<T, D, Rows, Pad, Size>(to, static_cast<const T*>(p.data[which]) + offsets.at[which], p.row[which],
                                            p.column[which], first, columns, vectors, group.rank());
  };
  MatrixWarp<T, D, Strips, Size> warp(group.rank());
  copies(std::integer_sequence<int, Tune::rows, 16>{}, q, Attention::q, p.size, tile.first)
      .next(p.queries - tile.first);
  auto keys = copies(std::integer_sequence<int, Tune::keys, 16>{}, k, Attention::k, p.size, 0);
  auto values = copies(std::integer_sequence<int, Tune::keys, Tune::columns>{}, v, Attention::v, p.value_size, 0);
  if (tile.keys > 0) keys.next(tile.keys);
  const float unit = mask.unit * float(p.scale);
  const int64_t seen = warp.seen_by_all(p, mask, tile.first, unit);
  STATOR_UNROLL(1)
  for (int64_t first = 0; first < tile.keys; first += Tune::keys) {
    copies_arrived();
    group.sync();  // the keys are there, and the values before them are not needed any more
    values.next(tile.keys - first);
    warp.multiply_keys(q, k, p.size);
    warp.exponentials(p, mask, tile.first, first, unit, seen);
    copies_arrived();
    group.sync();
    if (first + Tune::keys < tile.keys) keys.next(tile.keys - first - Tune::keys);
    warp.multiply_values(v, p.value_size);
  }
  copies_arrived();
  group.sync();
  // By way of another lane, so that it is found again, and not kept from the start.
  const QueryTile end(p, from_first_sublane(group.block()), Tune::rows);
  warp.finish(p, hides_keys(p, mask), q, end.head, end.first);
  group.sync();
  T* const out = static_cast<T*>(p.out) + (end.head * p.queries + end.first) * p.value_size;
  const bool whole = p.value_size % 8 == 0;
  for (int i = group.rank(); i < Tune::rows * HalfTile<T, D>::chunks; i += Size) {
    const int r = i / HalfTile<T, D>::chunks, c = i % HalfTile<T, D>::chunks;
    if (end.first + r >= p.queries || c * 8 >= p.value_size) continue;
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
