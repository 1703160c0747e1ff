// Tiles of a matrix product in shared memory, where blocks have threads: 64 rows of a times 128 columns of b. The
// operands are loaded in vectors of 16 bytes along the depth, four at a time. Halves are multiplied by tensor cores
// where there are any, else sums are in registers, 4 x 8 per thread.
#pragma once

#include "device/group.cuh"
#include "device/math/libm.cuh"
#include "device/tensor_core.cuh"
#include "device/vector.cuh"
#include "kernels/convolution/axes.cuh"

namespace stator::STATOR_TARGET::convolution {

// x y + z, rounded once.
template <class C>
STATOR_FN C fused(C x, C y, C z) {
  if constexpr (std::is_same_v<C, double>)
    return libm::fma(x, y, z);
  else
    return libm::fmaf(x, y, z);
}

struct TileTuning {
  static constexpr int block = 256, rows = 64, columns = 128, vectors = 4;  // vectors: of the depth of a step
  // Blocks per multiprocessor, so that one multiplies while another waits. Sums of float64 take the registers of both.
  template <class T>
  static constexpr int resident = sizeof(T) == 8 ? 1 : 2;
};

// What a thread loads in a step: vector `a_vector` of row `a_row` of a, and one or two vectors of columns of b. A
// vector of depth is either a run of neighbours or, Interleaved, every fourth: so neighbouring threads load
// neighbours.
struct ThreadSlots {
  static constexpr bool interleaved = false;
  int a_row, a_vector, b_column[2], b_vector[2];
  STATOR_FN explicit ThreadSlots(int rank)
      : a_row(rank % 64), a_vector(rank / 64), b_column{rank % 128, rank % 128}, b_vector{rank / 128, rank / 128 + 2} {}
};
struct InterleavedSlots {
  static constexpr bool interleaved = true;
  int a_row, a_vector, b_column[2], b_vector[2];
  STATOR_FN explicit InterleavedSlots(int rank)
      : a_row(rank % 8 + rank / 32 * 8),
        a_vector(rank / 8 % 4),
        b_column{a_row, a_row + 64},
        b_vector{a_vector, a_vector} {}
};
template <class T>
struct Staged {
  static constexpr int width = vector_width<T>;
  Vec<T, width> a, b[2];
};

template <class T, bool Matrices>
struct Tile;

// By registers. Rows of a and columns of b lie side by side, so that a warp reads 16 bytes per thread without
// conflicts; eight more keep the four vectors of InterleavedSlots in distinct banks.
template <class T>
struct Tile<T, false> {
  using C = sum_of<T>;
  static constexpr int width = vector_width<T>, depth = width * TileTuning::vectors;
  static constexpr int each = 16 / int(sizeof(C));  // columns that a thread has side by side
  static constexpr int gap = is_half<T> ? 0 : 8;    // halves are here only in the checked target
  struct Memory {
    alignas(16) C a[2][depth][TileTuning::rows + gap];
    alignas(16) C b[2][depth][TileTuning::columns + gap];
  };
  C sums[4][8] = {};

  template <class Slots>
  STATOR_FN static void store(Memory& m, int turn, const Slots& at, const Staged<T>& given) {
    const auto depth_of = [](int vector, int i) {
      return Slots::interleaved ? i * TileTuning::vectors + vector : vector * width + i;
    };
    STATOR_UNROLL()
    for (int i = 0; i < width; ++i) {
      m.a[turn][depth_of(at.a_vector, i)][at.a_row] = convert<C>(given.a[i]);
      m.b[turn][depth_of(at.b_vector[0], i)][at.b_column[0]] = convert<C>(given.b[0][i]);
      m.b[turn][depth_of(at.b_vector[1], i)][at.b_column[1]] = convert<C>(given.b[1][i]);
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
        for (int j = 0; j < 8; ++j) sums[i][j] = fused(a[i / each][i % each], b[j / each][j % each], sums[i][j]);
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

  template <class Slots>
  STATOR_FN static void store(Memory& m, int turn, const Slots& at, const Staged<T>& given) {
    store_vector(&m.a[turn][at.a_row][at.a_vector * width], given.a);
    store_vector(&m.b[turn][at.b_column[0]][at.b_vector[0] * width], given.b[0]);
    store_vector(&m.b[turn][at.b_column[1]][at.b_vector[1] * width], given.b[1]);
  }
  STATOR_FN void multiply(const Memory& m, int turn, int rank) {
    const int lane = rank % 32, row = rank / 32 % 2 * 32, column = rank / 64 * 32;
    const T* const of_a = &m.a[turn][row + lane % 16][lane / 16 * 8];
    const T* const of_b = &m.b[turn][column + lane % 8 + lane / 16 * 8][lane / 8 % 2 * 8];
    meet();
    multiply_part<0>(of_a, of_b);
    multiply_part<16>(of_a, of_b);
  }
  // Of 16 elements of the depth from K on.
  template <int K>
  STATOR_FN void multiply_part(const T* of_a, const T* of_b) {
    static_assert(depth == 32 || !has_tensor_cores);
    constexpr int first = K * int(sizeof(T)), second = (16 * pitch + K) * int(sizeof(T));
    uint32_t a[2][4] = {}, b[2][4] = {};
    load_matrices<first>(a[0], of_a);
    load_matrices<first>(b[0], of_b);
    load_matrices<second>(a[1], of_a);
    load_matrices<second>(b[1], of_b);
    STATOR_UNROLL()
    for (int i = 0; i < 2; ++i) {
      STATOR_UNROLL()
      for (int j = 0; j < 4; ++j) multiply_matrices<T>(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
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

// Multiplies `steps` steps of the depth. load(): the next vectors of the calling thread.
template <class T, int Size, class Slots, class Load>
STATOR_FN TileOf<T> multiply_steps(const Group<Size>& group, int32_t steps, const Slots& at, const Load& load) {
  static_assert(Size == TileTuning::block);
  using Memory = typename TileOf<T>::Memory;
  Memory& memory = group.template shared<Memory>();
  TileOf<T> tile;
  if (steps == 0) return tile;
  TileOf<T>::store(memory, 0, at, load());
  group.sync();
  for (int32_t step = 0; step < steps; ++step) {
    // While a step is multiplied, the next one is on its way.
    Staged<T> next;
    const bool more = step + 1 < steps;
    if (more) next = load();
    tile.multiply(memory, int(step & 1), group.rank());
    if (more) TileOf<T>::store(memory, int(~step & 1), at, next);
    group.sync();
  }
  return tile;
}

// As multiply_steps, with vectors that go to shared memory without registers: load(a, b) copies the next ones of the
// calling thread to a and b, and to b two vectors further, by copy_async.
template <class T, int Size, class Load>
STATOR_FN TileOf<T> multiply_copies(const Group<Size>& group, int32_t steps, const ThreadSlots& at, const Load& load) {
  using Memory = typename TileOf<T>::Memory;
  constexpr int width = vector_width<T>;
  Memory& memory = group.template shared<Memory>();
  TileOf<T> tile;
  const auto copy = [&](int turn) {
    load(&memory.a[turn][at.a_row][at.a_vector * width], &memory.b[turn][at.b_column[0]][at.b_vector[0] * width]);
  };
  // While a step is multiplied, the next one is on its way. Turns are constants, and so are the offsets of both.
  int32_t left = steps;
  const auto pass = [&]<int Turn>(std::integral_constant<int, Turn>) {
    if (left > 1) copy(1 - Turn);
    tile.multiply(memory, Turn, group.rank());
    copies_arrived();
    group.sync();
    return --left > 0;
  };
  if (left == 0) return tile;
  copy(0);
  copies_arrived();
  group.sync();
  STATOR_UNROLL(1)
  while (pass(std::integral_constant<int, 0>{}) && pass(std::integral_constant<int, 1>{}));
  return tile;
}

}  // namespace stator::STATOR_TARGET::convolution
