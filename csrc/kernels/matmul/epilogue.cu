// What a library's product needs around it. Before it, lists of the addresses of a batch's matrices. What follows it,
// in one pass: scales, a bias, an activation, rounding to the result. There is one kernel per dtype of the computation.
// The activation is chosen at run time; on the fast host once per chunk of a row.
#include "device/convert.cuh"
#include "device/functors/activation.cuh"
#include "device/functors/hyperbolic.cuh"
#include "device/group.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "params/matmul.hpp"

namespace stator::STATOR_TARGET::matmul {
namespace {

struct EpilogueTuning {
  static constexpr int block = 256;
  static constexpr int64_t tile = by_target<2048, 16384>::value;  // elements per block
  static constexpr int chunk = 512;  // fast host: elements of a row at once, which fit into the L1 cache
};

template <class F>
STATOR_FN void with_activation(params::Activation activation, const F& f) {
  switch (activation) {
    case params::Activation::none: return;
    case params::Activation::relu: return f(elementwise::functors::relu{});
    case params::Activation::gelu: return f(elementwise::functors::gelu{});
    case params::Activation::gelu_tanh: return f(elementwise::functors::gelu_tanh{});
    case params::Activation::silu: return f(elementwise::functors::silu{});
    case params::Activation::sigmoid: return f(elementwise::functors::sigmoid{});
    case params::Activation::tanh: return f(elementwise::functors::tanh{});
  }
}

// Fast host: n elements of one row from column `at` on.
template <class C>
STATOR_CALL void epilogue_chunk(const params::ProductEpilogue& p, int64_t row, int64_t at, int64_t n) {
  C buffer[EpilogueTuning::chunk];
  const C* from = static_cast<const C*>(p.x) + row * p.cols + at;
  const C scale = p.scale_a ? C(p.scale_a[row * p.scale_a_stride]) : C(1);
  for (int64_t j = 0; j < n; ++j) buffer[j] = from[j] * scale;
  if (p.scale_b)
    for (int64_t j = 0; j < n; ++j) buffer[j] *= C(p.scale_b[(at + j) * p.scale_b_stride]);
  if (p.bias) {
    visit<dtypes::floats>(p.bias_dtype, [&]<class T>(type_tag<T>) {
      const auto* bias = static_cast<const T*>(p.bias) + at * p.bias_stride;
      if (p.bias_stride == 1)
        for (int64_t j = 0; j < n; ++j) buffer[j] += convert<C>(bias[j]);
      else
        for (int64_t j = 0; j < n; ++j) buffer[j] += convert<C>(bias[j * p.bias_stride]);
    });
  }
  with_activation(p.activation, [&](auto f) {
    for (int64_t j = 0; j < n; ++j) buffer[j] = f(buffer[j]);
  });
  visit<dtypes::floats>(p.out_dtype, [&]<class T>(type_tag<T>) {
    T* to = static_cast<T*>(p.out) + row * p.out_row + at * p.out_col;
    if (p.out_col == 1)
      for (int64_t j = 0; j < n; ++j) to[j] = convert<T>(buffer[j]);
    else
      for (int64_t j = 0; j < n; ++j) to[j * p.out_col] = convert<T>(buffer[j]);
  });
}

template <class C>
STATOR_FN void epilogue_element(const params::ProductEpilogue& p, int64_t row, int64_t col) {
  C v = static_cast<const C*>(p.x)[row * p.cols + col];
  if (p.scale_a) v *= C(p.scale_a[row * p.scale_a_stride]);
  if (p.scale_b) v *= C(p.scale_b[col * p.scale_b_stride]);
  if (p.bias)
    visit<dtypes::floats>(p.bias_dtype, [&]<class T>(type_tag<T>) {
      v += convert<C>(static_cast<const T*>(p.bias)[col * p.bias_stride]);
    });
  with_activation(p.activation, [&](auto f) { v = f(v); });
  visit<dtypes::floats>(p.out_dtype, [&]<class T>(type_tag<T>) {
    static_cast<T*>(p.out)[row * p.out_row + col * p.out_col] = convert<T>(v);
  });
}

// A block takes whole rows, or a tile of one row.
template <int Size, class C>
STATOR_KERNEL(Size) void epilogue_kernel(params::ProductEpilogue p, int64_t rows_each, int64_t col_tiles) {
  const Group<Size> group;
  const int64_t first_row = group.block() / col_tiles * rows_each,
                first = group.block() % col_tiles * EpilogueTuning::tile;
  const int64_t last_row = first_row + rows_each < p.rows ? first_row + rows_each : p.rows;
  const int64_t last = first + EpilogueTuning::tile < p.cols ? first + EpilogueTuning::tile : p.cols;
  for (int64_t row = first_row; row < last_row; ++row) {
    if constexpr (fast_host) {
      for (int64_t at = first; at < last; at += EpilogueTuning::chunk)
        epilogue_chunk<C>(p, row, at, last - at < EpilogueTuning::chunk ? last - at : EpilogueTuning::chunk);
    } else {
      group.for_each(last - first, [=](int64_t j) { epilogue_element<C>(p, row, first + j); });
    }
  }
}

void epilogue(const params::Queue& q, const params::ProductEpilogue& p) {
  const int64_t col_tiles = ceil_div(p.cols, EpilogueTuning::tile);
  const int64_t rows_each = col_tiles > 1 ? 1 : std::max(int64_t(1), EpilogueTuning::tile / p.cols);
  const int64_t blocks = ceil_div(p.rows, rows_each) * col_tiles;
  const auto kernel = p.x_dtype == DType::float64 ? epilogue_kernel<EpilogueTuning::block, double>
                                                  : epilogue_kernel<EpilogueTuning::block, float>;
  launch(q, "product_epilogue", kernel, {blocks, EpilogueTuning::block}, p, rows_each, col_tiles);
}

template <int Size>
STATOR_KERNEL(Size) void batch_addresses_kernel(params::BatchAddresses p) {
  const Group<Size> group;
  const int32_t first = int32_t(group.block()) * Size, left = p.count - first;
  group.for_each(left < Size ? left : Size, [=](int64_t k) {
    const int32_t i = first + int32_t(k), inner = i % p.group, outer = i / p.group;
    for (int o = 0; o < 3; ++o) p.out[int64_t(o) * p.count + i] = p.base[o] + inner * p.step[o] + outer * p.outer[o];
  });
}

void batch_addresses(const params::Queue& q, const params::BatchAddresses& p) {
  constexpr int block = EpilogueTuning::block;
  launch(q, "batch_addresses", batch_addresses_kernel<block>, {ceil_div(p.count, block), block}, p);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::matmul

STATOR_LAUNCHER(matmul, epilogue)
STATOR_LAUNCHER(matmul, batch_addresses)
