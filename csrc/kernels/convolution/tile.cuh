// Tiles of a matrix product in shared memory, where blocks have threads: 64 rows of a times 128 columns of b. The
// operands are brought in vectors of 16 bytes along the depth, four at a time. Halves are multiplied by tensor cores
// where there are any, else sums are in registers, 4 x 8 per thread.
#pragma once

#include "device/group.cuh"
#include "device/math/libm.cuh"
#include "device/tensor_core.cuh"
#include "device/vector.cuh"
#include "kernels/convolution/axes.cuh"

namespace stator::STATOR_TARGET::convolution {

struct TileTuning {
  static constexpr int block = 256, rows = 64, columns = 128, vectors = 4;  // vectors: of the depth of a step
};

// Each thread brings vector `rank / 64` of row `rank % 64` of a, and vectors `rank / 128` and two further of column
// `rank % 128` of b.
template <class T>
struct Brought {
  static constexpr int width = vector_width<T>;
  Vec<T, width> a, b[2];
};

template <class T, bool Matrices>
struct Tile;

// By registers. Rows of a and columns of b lie side by side, so that a warp reads 16 bytes per thread without conflicts.
template <class T>
struct Tile<T, false> {
  using C = sum_of<T>;
  static constexpr int width = vector_width<T>, depth = width * TileTuning::vectors;
  static constexpr int each = 16 / int(sizeof(C));  // columns that a thread has side by side
  struct Memory {
    alignas(16) C a[2][depth][TileTuning::rows];
    alignas(16) C b[2][depth][TileTuning::columns];
  };
  C sums[4][8] = {};

  STATOR_FN static void put(Memory& m, int turn, int rank, const Brought<T>& given) {
    STATOR_UNROLL()
    for (int i = 0; i < width; ++i) {
      m.a[turn][rank / 64 * width + i][rank % 64] = convert<C>(given.a[i]);
      m.b[turn][rank / 128 * width + i][rank % 128] = convert<C>(given.b[0][i]);
      m.b[turn][(rank / 128 + 2) * width + i][rank % 128] = convert<C>(given.b[1][i]);
    }
  }
  STATOR_FN void multiply(const Memory& m, int turn, int rank) {
    const int x = rank % 16 * each, y = rank / 16 * 4;
    STATOR_UNROLL(8)
    for (int k = 0; k < depth; ++k) {
      Vec<C, each> a[4 / each], b[8 / each];
      STATOR_UNROLL()
      for (int i = 0; i < 4 / each; ++i) a[i] = load_vector<each>(&m.a[turn][k][y + i * each]);
      STATOR_UNROLL()
      for (int j = 0; j < 8 / each; ++j) b[j] = load_vector<each>(&m.b[turn][k][x + j * 16 * each]);
      STATOR_UNROLL()
      for (int i = 0; i < 4; ++i) {
        STATOR_UNROLL()
        for (int j = 0; j < 8; ++j) {
          if constexpr (std::is_same_v<C, double>)
            sums[i][j] = libm::fma(a[i / each][i % each], b[j / each][j % each], sums[i][j]);
          else
            sums[i][j] = libm::fmaf(a[i / each][i % each], b[j / each][j % each], sums[i][j]);
        }
      }
    }
  }
  // Calls f(column, g), and g(row, sum) is to be called by it, by way of h.
  template <class F>
  STATOR_FN void for_each_column(int rank, const F& f) const {
    STATOR_UNROLL()
    for (int j = 0; j < 8; ++j) {
      f(rank % 16 * each + j / each * 16 * each + j % each, [&](const auto& g) {
        STATOR_UNROLL()
        for (int i = 0; i < 4; ++i) g(rank / 16 * 4 + i, sums[i][j]);
      });
    }
  }
};

// By tensor cores: a warp has 32 x 32 sums. Rows are 80 bytes long, so that eight of them are in distinct banks.
template <class T>
struct Tile<T, true> {
  static constexpr int width = vector_width<T>, depth = width * TileTuning::vectors, pitch = depth + width;
  struct Memory {
    alignas(16) T a[2][TileTuning::rows][pitch];
    alignas(16) T b[2][TileTuning::columns][pitch];
  };
  float sums[2][4][4] = {};

  STATOR_FN static void put(Memory& m, int turn, int rank, const Brought<T>& given) {
    store_vector(&m.a[turn][rank % 64][rank / 64 * width], given.a);
    store_vector(&m.b[turn][rank % 128][rank / 128 * width], given.b[0]);
    store_vector(&m.b[turn][rank % 128][(rank / 128 + 2) * width], given.b[1]);
  }
  STATOR_FN void multiply(const Memory& m, int turn, int rank) {
    const int lane = rank % 32, row = rank / 32 % 2 * 32, column = rank / 64 * 32;
    STATOR_UNROLL()
    for (int k = 0; k < depth; k += 16) {
      Items<uint32_t, 4> a[2], b[2];
      STATOR_UNROLL()
      for (int i = 0; i < 2; ++i) {
        a[i] = load_matrices(&m.a[turn][row + i * 16 + lane % 16][k + lane / 16 * 8]);
        b[i] = load_matrices(&m.b[turn][column + i * 16 + lane % 8 + lane / 16 * 8][k + lane / 8 % 2 * 8]);
      }
      STATOR_UNROLL()
      for (int i = 0; i < 2; ++i) {
        STATOR_UNROLL()
        for (int j = 0; j < 4; ++j) multiply_matrices<T>(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
      }
    }
  }
  template <class F>
  STATOR_FN void for_each_column(int rank, const F& f) const {
    const int lane = rank % 32, row = rank / 32 % 2 * 32, column = rank / 64 * 32;
    STATOR_UNROLL()
    for (int j = 0; j < 8; ++j) {
      f(column + j / 2 * 8 + lane % 4 * 2 + j % 2, [&](const auto& g) {
        STATOR_UNROLL()
        for (int i = 0; i < 4; ++i) g(row + i * 8 + lane / 4, sums[i / 2][j / 2][i % 2 * 2 + j % 2]);
      });
    }
  }
};

template <class T>
using TileOf = Tile<T, has_tensor_cores && is_half<T>>;

// Multiplies `steps` steps of the depth. bring(): the next vectors of the calling thread.
template <class T, int Size, class Bring>
STATOR_FN TileOf<T> multiply_steps(const Group<Size>& group, int64_t steps, const Bring& bring) {
  static_assert(Size == TileTuning::block);
  using Memory = typename TileOf<T>::Memory;
  Memory& memory = group.template shared<Memory>();
  TileOf<T> tile;
  if (steps == 0) return tile;
  TileOf<T>::put(memory, 0, group.rank(), bring());
  group.sync();
  for (int64_t step = 0; step < steps; ++step) {
    // While a step is multiplied, the next one is on its way.
    Brought<T> next;
    const bool more = step + 1 < steps;
    if (more) next = bring();
    tile.multiply(memory, int(step & 1), group.rank());
    if (more) TileOf<T>::put(memory, int(~step & 1), group.rank(), next);
    group.sync();
  }
  return tile;
}

}  // namespace stator::STATOR_TARGET::convolution
