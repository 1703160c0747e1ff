// Softmax along rows that are too long for registers: a block holds a row in shared memory, as it is stored, so that it
// is read once. Rows start at any address that suits their dtype.
#pragma once

#include "kernels/nn/softmax_lines.cuh"

namespace stator::STATOR_TARGET::nn {

inline constexpr int row_alignment = 16;  // of what a thread copies at a time

// Bytes of shared memory for a row: it begins as far after an address that is aligned as it does in memory.
constexpr int64_t shared_row_bytes(int64_t n, int itemsize) {
  return (n * itemsize + 2 * row_alignment - 1) / row_alignment * row_alignment;
}

// A row of a floating dtype of at most 4 bytes.
struct SharedRow {
  using Io = ErasedAccess<float>;
  const unsigned char* data;
  DType dtype;

  // Elements first, first + apart, ...; those from n on are `fill`.
  template <int N>
  STATOR_FN void read(float (&value)[N], int first, int apart, int n, float fill, float factor = 1.0f) const {
    Io::with_type(dtype, [&]<class T>(type_tag<T>) {
      const T* const row = reinterpret_cast<const T*>(data);
      STATOR_UNROLL()
      for (int k = 0; k < N; ++k) {
        const int i = first + k * apart;
        value[k] = i < n ? convert<float>(row[i]) * factor : fill;
      }
    });
  }
};

// Copies a row of n elements into `memory`. Threads see it after the next barrier.
template <int Size>
STATOR_FN SharedRow hold_row(const Group<Size>& group, unsigned char* memory, const void* base, DType dtype, int bytes,
                             int64_t offset, int n) {
  using Word = Vec<uint32_t, row_alignment / 4>;
  const unsigned char* const from = static_cast<const unsigned char*>(base) + offset * bytes;
  const int skew = int(reinterpret_cast<uintptr_t>(from) % row_alignment), all = n * bytes;
  unsigned char* const to = memory + skew;
  const int begin = (row_alignment - skew) % row_alignment;
  const int head = begin < all ? begin : all, words = (all - head) / row_alignment, tail = head + words * row_alignment;
  constexpr int batch = 4;
  STATOR_UNROLL(1)
  for (int first = group.rank(); first < words; first += batch * Size) {
    Word in[batch];
    STATOR_UNROLL()
    for (int k = 0; k < batch; ++k)
      if (first + k * Size < words)
        in[k] = *reinterpret_cast<const Word*>(from + head + (first + k * Size) * row_alignment);
    STATOR_UNROLL()
    for (int k = 0; k < batch; ++k)
      if (first + k * Size < words) *reinterpret_cast<Word*>(to + head + (first + k * Size) * row_alignment) = in[k];
  }
  // What is before and after the words, in units of two bytes.
  const int at = group.rank() * 2, edge = at < head ? at : tail + at - head;
  if (edge < all) *reinterpret_cast<uint16_t*>(to + edge) = *reinterpret_cast<const uint16_t*>(from + edge);
  return {to, dtype};
}

// Contiguous rows of dtypes of at most 4 bytes.
template <int Size, bool Backward>
STATOR_KERNEL_RESIDENT(Size, 2) void softmax_row_shared_kernel(params::Softmax p, int itemsize, int64_t bytes) {
  using Io = SharedRow::Io;
  constexpr int batch = 8;
  const Group<Size> group;
  const LineOffsets at = line_offsets(p, group.block());
  const int n = int(p.n);
  const float factor = float(p.factor);
  unsigned char* const memory = group.template dynamic<unsigned char>(0);
  const SharedRow x = hold_row(group, memory, p.x, p.dtype, itemsize, at.x, n);
  SharedRow saved{};
  if constexpr (Backward) saved = hold_row(group, memory + bytes, p.saved, p.dtype, itemsize, at.saved, n);
  group.sync();
  LineSums<Io, Backward> sums;
  STATOR_UNROLL(1)
  for (int first = group.rank(); first < n; first += batch * Size) {
    float value[batch];
    x.read(value, first, Size, n, Backward ? 0.0f : -limits<float>::infinity(), factor);
    if constexpr (Backward) {
      if (!p.log) {
        float other[batch];
        saved.read(other, first, Size, n, 0.0f);
        STATOR_UNROLL()
        for (int k = 0; k < batch; ++k) value[k] *= other[k];
      }
    }
    sums.add(value);
  }
  float largest = 0.0f;
  if constexpr (!Backward) largest = group.reduce(sums.largest, Max{});
  const float sum = group.reduce(sums.relative_to(largest), Sum{});
  const float scale = Backward ? sum : softmax_scale(sum, p.log);
  const auto results = [&]<int N>(float(&value)[N], int i) {
    float other[N] = {};
    x.read(value, i, 1, n, 0.0f, factor);
    if constexpr (Backward) saved.read(other, i, 1, n, 0.0f);
    finish_line<Io, Backward>(value, other, largest, scale, p.log, [](int) { return true; });
  };
  // In words where they are aligned in the result, and the elements before and after them.
  const int out_bytes = p.out_dtype == DType::float32 ? 4 : 2, width = row_alignment / out_bytes;
  unsigned char* const y = static_cast<unsigned char*>(p.y) + at.y * out_bytes;
  const int begin = int(-reinterpret_cast<uintptr_t>(y) % row_alignment) / out_bytes, head = begin < n ? begin : n;
  const int vectors = (n - head) / width;
  const auto store_words = [&]<int V>(std::integral_constant<int, V>) {
    STATOR_UNROLL(1)
    for (int v = group.rank(); v < vectors; v += Size) {
      float value[V];
      results(value, head + v * V);
      Io::with_type(p.out_dtype, [&]<class T>(type_tag<T>) {
        if constexpr (sizeof(T) * V == row_alignment) {
          Vec<T, V> out;
          STATOR_UNROLL()
          for (int k = 0; k < V; ++k) out[k] = convert<T>(value[k]);
          store_vector(reinterpret_cast<T*>(y) + head + v * V, out);
        }
      });
    }
  };
  if (out_bytes == 4)
    store_words(std::integral_constant<int, 4>{});
  else
    store_words(std::integral_constant<int, 8>{});
  const int edge = group.rank() < head ? group.rank() : group.rank() + vectors * width;
  if (edge < n) {
    float value[1];
    results(value, edge);
    Io::with_type(p.out_dtype, [&]<class T>(type_tag<T>) { reinterpret_cast<T*>(y)[edge] = convert<T>(value[0]); });
  }
}

}  // namespace stator::STATOR_TARGET::nn
