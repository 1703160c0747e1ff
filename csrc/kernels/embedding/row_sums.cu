// The gradient of a table: sums of rows by sorted keys. However often an index occurs, no thread waits for another and
// none adds more than a chunk, and the order of the additions depends only on the keys.
#include "device/fault.cuh"
#include "host/launcher.hpp"
#include "kernels/embedding/columns.cuh"

namespace stator::STATOR_TARGET::embedding {
namespace {

constexpr DTypeSet key_dtypes =
    dtype_bit(DType::uint8) | dtype_bit(DType::uint16) | dtype_bit(DType::uint32) | dtype_bit(DType::int64);

STATOR_FN int64_t load_index(const void* base, DType dtype, int64_t i) { return load_as<int64_t>(base, dtype, i); }

template <int Size>
STATOR_KERNEL(Size) void row_keys_kernel(params::RowKeys p, params::ErrorSlot slot, uint16_t op) {
  constexpr int chunk = 2048;
  const Group<Size> group;
  const int64_t first = group.block() * chunk;
  group.for_each(p.n - first < chunk ? p.n - first : chunk, [=](int64_t k) {
    const int64_t i = first + k, index = load_index(p.indices, p.dtype, i), row = row_of(index, p.rows);
    if (row < 0) report_index(slot, op, i, index, p.dtype == DType::uint64);
    const int64_t key = row < 0 || row == p.padding ? p.rows : row;
    visit<key_dtypes>(p.key_dtype, [=]<class K>(type_tag<K>) { static_cast<K*>(p.keys)[i] = K(key); });
  });
}

STATOR_FN int64_t load_key(const void* keys, DType dtype, int64_t i) {
  return visit<key_dtypes>(dtype, [=]<class K>(type_tag<K>) { return int64_t(static_cast<const K*>(keys)[i]); });
}

// How many of the sorted keys are less than `key`.
STATOR_FN int64_t keys_below(const params::RowSums& p, int64_t key) {
  int64_t low = 0, high = p.n;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (load_key(p.keys, p.key_dtype, middle) < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// What a level adds up: positions with keys, and a row of A for each where it is not the first level.
struct Level {
  const void* keys;
  DType key_dtype;
  const void* rows;  // null: those of the gradient
  int64_t n;
  void* partial_rows;     // two rows of A for each chunk
  int64_t* partial_keys;  // null: there is one chunk
};

// Sums of one chunk for some columns.
template <class T, class A>
struct ChunkSums {
  const params::RowSums& p;
  const Level& level;
  const Columns& columns;
  A sums[EmbeddingTuning::width];

  STATOR_FN void clear() {
    columns.for_each([&](int j) { sums[j] = A(0); });
  }
  STATOR_FN void add(int64_t position) {
    if (level.rows != nullptr) {
      const A* const row = static_cast<const A*>(level.rows) + position * p.d + columns.first;
      columns.for_each([&](int j) { sums[j] += row[j]; });
      return;
    }
    const int64_t from = p.order[position], at = p.bags != nullptr ? p.bags[from] : from;
    const T* const row = static_cast<const T*>(p.grad) + at * p.d + columns.first;
    const A factor = p.factors != nullptr ? static_cast<const A*>(p.factors)[at] : A(1);
    if (p.winners != nullptr) {
      const int64_t* const winners = p.winners + at * p.d + columns.first;
      columns.for_each([&](int j) { sums[j] += winners[j] == from ? A(row[j]) : A(0); });
    } else {
      columns.for_each([&](int j) { sums[j] += factor * A(row[j]); });
    }
  }
  // A row of the result, of which no other chunk has a part.
  STATOR_FN void finish(int64_t key) const {
    const A scale = p.by_frequency ? A(1) / A(keys_below(p, key + 1) - keys_below(p, key)) : A(1);
    T* const out = static_cast<T*>(p.out) + key * p.d + columns.first;
    columns.for_each([&](int j) { out[j] = T(scale * sums[j]); });
  }
  STATOR_FN void leave(int64_t chunk, int slot, int64_t key) const {
    if (columns.first == 0) level.partial_keys[2 * chunk + slot] = key;
    if (key == p.rows) return;
    A* const out = static_cast<A*>(level.partial_rows) + (2 * chunk + slot) * p.d + columns.first;
    columns.for_each([&](int j) { out[j] = sums[j]; });
  }
};

template <class T, int Size>
STATOR_KERNEL(Size) void row_sums_kernel(params::RowSums p, Level level) {
  constexpr int length = EmbeddingTuning::positions;
  const Group<Size> group;
  const Columns columns(group, (level.n + length - 1) / length, p.d);
  if (columns.count == 0) return;
  const bool alone = level.partial_keys == nullptr;
  const int64_t begin = columns.item * length, end = begin + length < level.n ? begin + length : level.n;
  ChunkSums<T, opmath_t<T>> chunk{p, level, columns, {}};
  chunk.clear();
  int64_t current = p.rows;
  bool begun = false;  // whether the first segment of the chunk is over
  for (int64_t i = begin; i < end; ++i) {
    const int64_t key = load_key(level.keys, level.key_dtype, i);
    if (key == p.rows) continue;
    if (key != current && current != p.rows) {
      if (begun || alone)
        chunk.finish(current);
      else
        chunk.leave(columns.item, 0, current);
      begun = true;
      chunk.clear();
    }
    current = key;
    chunk.add(i);
  }
  if (alone) {
    if (current != p.rows) chunk.finish(current);
    return;
  }
  chunk.leave(columns.item, begun ? 1 : 0, current);
  if (!begun) chunk.leave(columns.item, 1, p.rows);
}

int64_t chunks_of(int64_t n) { return ceil_div(n, EmbeddingTuning::positions); }

// Keys and rows that one level leaves.
int64_t level_bytes(const params::RowSums& p, int64_t chunks) {
  return 2 * chunks * (int64_t(sizeof(int64_t)) + p.d * (p.dtype == DType::float64 ? 8 : 4));
}

int64_t row_sums_scratch(const params::DeviceLimits&, const params::RowSums& p) {
  int64_t bytes = 0;
  for (int64_t n = p.n; chunks_of(n) > 1; n = 2 * chunks_of(n)) bytes += ceil_div(level_bytes(p, chunks_of(n)), 8) * 8;
  return bytes;
}

void row_keys(const params::Queue& q, const params::RowKeys& p) {
  constexpr int block = EmbeddingTuning::block;
  launch(q, "row_keys", row_keys_kernel<block>, {ceil_div(p.n, 2048), block}, p, q.slot, q.op);
}

void row_sums(const params::Queue& q, const params::RowSums& p) {
  constexpr int block = EmbeddingTuning::block;
  auto* scratch = static_cast<unsigned char*>(p.scratch);
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    Level level{p.keys, p.key_dtype, nullptr, p.n, nullptr, nullptr};
    for (;;) {
      const int64_t chunks = chunks_of(level.n);
      if (chunks > 1) {
        level.partial_keys = reinterpret_cast<int64_t*>(scratch);
        level.partial_rows = level.partial_keys + 2 * chunks;
        scratch += ceil_div(level_bytes(p, chunks), 8) * 8;
      }
      launch(q, "row_sums", row_sums_kernel<T, block>, {column_blocks(chunks, p.d), block}, p, level);
      if (chunks <= 1) return;
      level = {level.partial_keys, DType::int64, level.partial_rows, 2 * chunks, nullptr, nullptr};
    }
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::embedding

STATOR_LAUNCHER(embedding, row_keys)
STATOR_LAUNCHER(embedding, row_sums_scratch)
STATOR_LAUNCHER(embedding, row_sums)
