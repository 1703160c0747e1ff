// Weight gradients by tensor cores: the gradient and the windows have their channels side by side, and a position for
// every tap, so that both come to shared memory by copy_async. There the depth, the results, is the outer axis, and
// matrices are transposed when they are read.
#pragma once

#include "kernels/convolution/channels_last.cuh"
#include "kernels/convolution/gradient_tile.cuh"

namespace stator::STATOR_TARGET::convolution {

// The operands as the kernel reads them.
struct GradientVectors {
  ChannelsLast source, grad;
  bool copies_source, copies_grad;
  int64_t source_bytes, grad_bytes;  // of the copies
};

// Whether there are such operands, with copies of bounded size.
template <class T>
bool find_vectors(const params::WeightGradient& p, GradientVectors& v) {
  if constexpr (has_tensor_cores && is_half<T>) {
    constexpr int64_t width = vector_width<T>, most = (int64_t(1) << 31) - 1;
    const Axes a = axes_of(p);
    if (p.samples == 0 || is_direct(p.rows, p.channels) || p.rows % width != 0 || p.channels % width != 0) return false;
    constexpr int64_t none[axes] = {};
    int64_t extent[axes];  // that windows are in
    for (int d = 0; d < axes; ++d)
      extent[d] = (p.grad.extent[d] - 1) * p.stride[d] + (p.dweight.taps[d] - 1) * p.dilation[d] + 1;
    v.source = channels_last(p.source, p.samples, p.groups, p.channels, p.padding, extent);
    v.grad = channels_last(p.grad, p.samples, p.groups, p.rows, none, p.grad.extent);
    if (v.source.elements() > most || v.grad.elements() > most) return false;
    v.copies_source = is_needed<T>(v.source);
    v.copies_grad = is_needed<T>(v.grad);
    v.source_bytes = v.copies_source ? v.source.elements() * int64_t(sizeof(T)) : 0;
    v.grad_bytes = v.copies_grad ? v.grad.elements() * int64_t(sizeof(T)) : 0;
    return v.source_bytes + v.grad_bytes <= ChannelsLastTuning::most_bytes;
  } else {
    return false;
  }
}

// A step of the depth in shared memory. Rows are 16 bytes longer than whole lines of banks, so that eight of them are
// in distinct banks.
template <class T>
struct GradientSteps : TileOf<T> {
  static constexpr int depth = TileOf<T>::depth, width = vector_width<T>;
  static constexpr int row_pitch = TileTuning::rows + width, column_pitch = TileTuning::columns + width;
  struct Memory {
    alignas(16) T a[2][depth][row_pitch];
    alignas(16) T b[2][depth][column_pitch];
    int32_t window[2][depth];  // where each result's begins; negative after the last result
  };

  STATOR_FN void multiply(const Memory& m, int turn, int rank) {
    const int lane = rank % 32, row = rank / 32 % 2 * 32, column = rank / 64 * 32;
    const T* const of_a = &m.a[turn][lane % 8 + lane / 16 * 8][row + lane / 8 % 2 * 8];
    const T* const of_b = &m.b[turn][lane % 16][column + lane / 16 * 8];
    meet();
    multiply_part<0>(of_a, of_b);
    multiply_part<16>(of_a, of_b);
  }
  // Of 16 results from K on.
  template <int K>
  STATOR_FN void multiply_part(const T* of_a, const T* of_b) {
    constexpr int in_a = K * row_pitch * int(sizeof(T)), in_b = K * column_pitch * int(sizeof(T));
    constexpr int next = 16 * int(sizeof(T));
    uint32_t a[2][4] = {}, b[2][4] = {};
    load_transposed_matrices<in_a>(a[0], of_a);
    load_transposed_matrices<in_b>(b[0], of_b);
    load_transposed_matrices<in_a + next>(a[1], of_a);
    load_transposed_matrices<in_b + next>(b[1], of_b);
    STATOR_UNROLL()
    for (int i = 0; i < 2; ++i) {
      STATOR_UNROLL()
      for (int j = 0; j < 4; ++j)
        multiply_matrices<T>(this->sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
  }
};

// What divides the number of a result among all samples.
struct ResultDivisors {
  FastDivmod results, plane_size, row_size;
};

// As gradient_tile_kernel, of operands as find_vectors gives them.
template <int Size, class T>
STATOR_KERNEL(Size) void gradient_vectors_kernel(params::WeightGradient p, GradientTilePlan plan,
                                                 ResultDivisors divisors) {
  using Steps = GradientSteps<T>;
  using Memory = typename Steps::Memory;
  constexpr int width = Steps::width, depth = Steps::depth;
  constexpr int row_vectors = TileTuning::rows / width, column_vectors = TileTuning::columns / width;
  static_assert(Size == depth * row_vectors && 2 * Size == depth * column_vectors);
  const Group<Size> group;
  const int rank = group.rank();
  Memory& memory = group.template shared<Memory>();
  const auto [first_row, first_column, g, split] = tile_of(plan, p.groups, group.block());
  const Axes a = axes_of(p);
  const int32_t all = int32_t(p.samples * a.positions()), first = int32_t(split * plan.chunk);
  const int32_t length = all - first < plan.chunk ? all - first : int32_t(plan.chunk);

  // A thread loads a vector of rows of one result, and a vector of channels of one tap for two results.
  const int a_result = rank / row_vectors, b_result = rank / column_vectors;
  const int a_row = rank % row_vectors * width, b_column = rank % column_vectors * width;
  const int64_t columns = int64_t(a.taps()) * p.channels, column = first_column + b_column;
  const bool has_row = first_row + a_row < p.rows, has_column = column < columns;
  const T* const grad = static_cast<const T*>(p.grad.data);
  const T* from_a = grad + (first + a_result) * p.grad.axis[2] + g * p.grad.group + first_row + a_row;
  const T* from_b = static_cast<const T*>(p.source.data) + g * p.source.group;
  if (has_column) {
    int32_t tap = int32_t(column / p.channels);
    from_b += column % p.channels;
    STATOR_UNROLL()
    for (int d = axes - 1; d >= 0; --d) {
      from_b += tap % a[d].taps * a[d].tap_scale * p.source.axis[d];
      tap /= a[d].taps;
    }
  }
  const auto find_windows = [&](int turn, int32_t step) {
    if (rank >= depth) return;
    const int32_t result = step * depth + rank;
    int32_t rest, x, sample = divisors.results.divmod(first + result, rest);
    const int32_t z = divisors.plane_size.divmod(rest, rest), y = divisors.row_size.divmod(rest, x);
    const int64_t window = sample * p.source.sample + z * a[0].scale * p.source.axis[0] +
                           y * a[1].scale * p.source.axis[1] + x * a[2].scale * p.source.axis[2];
    memory.window[turn][rank] = result < length ? int32_t(window) : -1;
  };
  const auto copy = [&](int turn, int32_t step) {
    const bool exists = has_row && step * depth + a_result < length;
    copy_async(&memory.a[turn][a_result][a_row], exists ? from_a : grad, exists ? 16 : 0);
    from_a += depth * p.grad.axis[2];
    STATOR_UNROLL()
    for (int i = 0; i < 2; ++i) {
      const int at = b_result + i * (depth / 2);
      const int32_t window = memory.window[turn][at];
      copy_async(&memory.b[turn][at][b_column], from_b + (window < 0 ? 0 : window), has_column && window >= 0 ? 16 : 0);
    }
  };

  // Multiply a step while the next one is copied, and the windows of the one after it are found.
  const int32_t steps = (length + depth - 1) / depth;
  Steps tile;
  find_windows(0, 0);
  find_windows(1, 1);
  group.sync();
  copy(0, 0);
  copies_arrived();
  group.sync();
  int32_t step = 0;
  const auto pass = [&]<int Turn>(std::integral_constant<int, Turn>) {
    if (step + 1 < steps) copy(1 - Turn, step + 1);
    tile.multiply(memory, Turn, rank);
    find_windows(Turn, step + 2);
    copies_arrived();
    group.sync();
    return ++step < steps;
  };
  STATOR_UNROLL(1)
  while (pass(std::integral_constant<int, 0>{}) && pass(std::integral_constant<int, 1>{}));

  // Store the partial sums.
  float* to = static_cast<float*>(p.partials) + (split * p.groups + g) * p.rows * columns;
  tile.for_each_column(rank, [&](int j, const auto& each_row) {
    if (first_column + j >= columns) return;
    each_row([&](int i, auto sum) {
      if (first_row + i < p.rows) to[(first_row + i) * columns + first_column + j] = sum;
    });
  });
}

}  // namespace stator::STATOR_TARGET::convolution
