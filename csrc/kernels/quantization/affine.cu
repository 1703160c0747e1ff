// To integers of eight bits, back, and both in one pass. Where blocks have threads each has as many neighbouring
// elements as lie in 16 bytes; the fast host goes along stretches of one scale.
#include "device/index.cuh"
#include "device/vector.cuh"
#include "host/launcher.hpp"
#include "kernels/quantization/lines.cuh"

namespace stator::STATOR_TARGET::quantization {
namespace {

struct ConvertTuning {
  static constexpr int block = 256;
  static constexpr int64_t tile = by_target<8192, 32768>::value;  // elements per block
  static constexpr int batch = 4;                                 // vectors that a thread loads before it stores any
  static constexpr int chunk = 256;                               // fast host: elements with scales of their own
};

// Fast host: n elements from i on, of one step or, given the number of the first, of a step each.
template <class T, class A>
STATOR_FN void convert_run(const params::Affine& p, int64_t i, int64_t n, int64_t number) {
  const int32_t flip = p.is_signed ? 128 : 0;
  const T* const x = static_cast<const T*>(p.x) + i;
  const uint8_t* const q = static_cast<const uint8_t*>(p.x) + i;
  T* const y = static_cast<T*>(p.out) + i;
  uint8_t* const bytes = static_cast<uint8_t*>(p.out) + i;
  const Group<1> group;
  if (!p.lines.varying) {
    const Step<A> step(number_at<A>(p.scale, number), number_at<A>(p.zero, number), p.low, p.high);
    if (p.conversion == params::Conversion::quantize)
      return group.for_each(n, [=](int64_t k) { bytes[k] = step.byte(convert<A>(x[k])); });
    if (p.conversion == params::Conversion::fake)
      return group.for_each(n, [=](int64_t k) { y[k] = convert<T>(step.value(convert<A>(x[k]))); });
    const A scale = step.scale, zero = number_at<A>(p.zero, number);
    return group.for_each(n, [=](int64_t k) { y[k] = convert<T>((A(of_byte(q[k], flip)) - zero) * scale); });
  }
  const A* const scales = static_cast<const A*>(p.scale.data);
  const A* const zeros = static_cast<const A*>(p.zero.data);
  const A one_scale = A(p.scale.number), one_zero = A(p.zero.number);
  for (int64_t done = 0; done < n; done += ConvertTuning::chunk) {
    const int64_t count = n - done < ConvertTuning::chunk ? n - done : ConvertTuning::chunk;
    A scale[ConvertTuning::chunk], zero[ConvertTuning::chunk];
    for (int64_t k = 0; k < count; ++k) scale[k] = scales ? scales[number + done + k] : one_scale;
    for (int64_t k = 0; k < count; ++k) zero[k] = zeros ? zeros[number + done + k] : one_zero;
    const A* const s = scale;
    const A* const z = zero;
    const double low = p.low, high = p.high;
    if (p.conversion == params::Conversion::quantize)
      group.for_each(
          count, [=](int64_t k) { bytes[done + k] = Step<A>(s[k], z[k], low, high).byte(convert<A>(x[done + k])); });
    else if (p.conversion == params::Conversion::fake)
      group.for_each(count, [=](int64_t k) {
        y[done + k] = convert<T>(Step<A>(s[k], z[k], low, high).value(convert<A>(x[done + k])));
      });
    else
      group.for_each(count,
                     [=](int64_t k) { y[done + k] = convert<T>((A(of_byte(q[done + k], flip)) - z[k]) * s[k]); });
  }
}

// One thread: out[k] = f(numbers(scale, zero), x[k]) for N neighbouring elements, which in the array begin at i and all
// exist; loaded and stored at once.
template <class A, int N, class In, class Out, class Numbers, class F>
STATOR_FN void convert_vector(const params::Affine& p, const LineDivisors& divisors, int64_t i, const In* x, Out* out,
                              Numbers numbers, F f) {
  const Vec<In, N> in = load_vector<N>(x);
  Vec<Out, N> y;
  STATOR_UNROLL(1)
  for (int begin = 0; begin < N;) {  // once, unless a line ends within the vector
    const LinePosition at = line_position(p.lines, divisors, i + begin);
    const int end = at.left < N - begin ? begin + int(at.left) : N;
    auto own = numbers(number_at<A>(p.scale, at.number), number_at<A>(p.zero, at.number));
    STATOR_UNROLL()
    for (int k = 0; k < N; ++k) {
      if (k < begin || k >= end) continue;
      if (p.lines.varying && k > begin)
        own = numbers(plain_at<A>(p.scale, at.number + k - begin), plain_at<A>(p.zero, at.number + k - begin));
      y[k] = f(own, in[k]);
    }
    begin = end;
  }
  store_vector(out, y);
}
// The same for `count` elements from i on, by all threads of a block.
template <class A, int N, int Size, class In, class Out, class Numbers, class F>
STATOR_FN void convert_tile(const Group<Size>& group, const params::Affine& p, const LineDivisors& divisors, int64_t i,
                            int64_t count, bool vectors, const In* x, Out* out, Numbers numbers, F f) {
  const int64_t whole = vectors ? count / N : 0, done = whole * N;
  group.for_each(whole, [&](int64_t v) {
    convert_vector<A, N>(p, divisors, i + v * N, x + i + v * N, out + i + v * N, numbers, f);
  });
  group.for_each(count - done, [&](int64_t k) {
    convert_vector<A, 1>(p, divisors, i + done + k, x + i + done + k, out + i + done + k, numbers, f);
  });
}

// out[i] = f(x[i]) for the whole vectors of a tile, of W elements each.
template <int W, class In, class Out, int Size, class F>
STATOR_FN void map_tile(const Group<Size>& group, const In* x, Out* out, int64_t count, F f) {
  constexpr int batch = ConvertTuning::batch;
  for (int64_t v = group.rank(); v * W < count; v += batch * Size) {
    Vec<In, W> in[batch];
    STATOR_UNROLL()
    for (int k = 0; k < batch; ++k)
      if ((v + k * Size) * W < count) in[k] = load_vector<W>(x + (v + k * Size) * W);
    STATOR_UNROLL()
    for (int k = 0; k < batch; ++k) {
      if ((v + k * Size) * W >= count) break;
      Vec<Out, W> y;
      STATOR_UNROLL()
      for (int j = 0; j < W; ++j) y[j] = f(in[k][j]);
      store_vector(out + (v + k * Size) * W, y);
    }
  }
}

// Where blocks have threads: all elements have one scale, and are whole vectors.
template <class T, int Size>
STATOR_KERNEL(Size) void convert_alike_kernel(params::Affine p) {
  using A = opmath_t<T>;
  constexpr int width = vector_width<T>;
  const Group<Size> group;
  const int64_t first = group.block() * ConvertTuning::tile, left = p.lines.size - first;
  const int64_t count = left < ConvertTuning::tile ? left : ConvertTuning::tile;
  const A scale = number_at<A>(p.scale, 0), zero = number_at<A>(p.zero, 0);
  const T* const x = static_cast<const T*>(p.x) + first;
  const uint8_t* const bytes = static_cast<const uint8_t*>(p.x) + first;
  T* const out = static_cast<T*>(p.out) + first;
  if (p.conversion == params::Conversion::dequantize) {
    const int32_t flip = p.is_signed ? 128 : 0;
    map_tile<width>(group, bytes, out, count,
                    [=](uint8_t q) { return convert<T>((A(of_byte(q, flip)) - zero) * scale); });
    return;
  }
  const Step<A> step(scale, zero, p.low, p.high);
  if (p.conversion == params::Conversion::quantize)
    map_tile<width>(group, x, static_cast<uint8_t*>(p.out) + first, count,
                    [=](T v) { return step.byte(convert<A>(v)); });
  else
    map_tile<width>(group, x, out, count, [=](T v) { return convert<T>(step.value(convert<A>(v))); });
}

template <class A>
struct PlainNumbers {
  A scale, zero;
};

template <class T, int Size>
STATOR_KERNEL(Size) void convert_kernel(params::Affine p, LineDivisors divisors, bool vectors) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const int64_t first = group.block() * ConvertTuning::tile;
  const int64_t last = first + ConvertTuning::tile < p.lines.size ? first + ConvertTuning::tile : p.lines.size;
  if constexpr (fast_host) {
    for (int64_t i = first; i < last;) {
      const LinePosition at = line_position(p.lines, divisors, i);
      const int64_t n = at.left < last - i ? at.left : last - i;
      convert_run<T, A>(p, i, n, at.number);
      i += n;
    }
  } else {
    constexpr int width = vector_width<T>;
    const auto convert_all = [&](auto* x, auto* out, auto numbers, auto f) {
      convert_tile<A, width>(group, p, divisors, first, last - first, vectors, x, out, numbers, f);
    };
    const auto step = [&](A scale, A zero) { return Step<A>(scale, zero, p.low, p.high); };
    const T* const x = static_cast<const T*>(p.x);
    T* const out = static_cast<T*>(p.out);
    if (p.conversion == params::Conversion::dequantize)
      convert_all(
          static_cast<const uint8_t*>(p.x), out, [](A scale, A zero) { return PlainNumbers<A>{scale, zero}; },
          [flip = p.is_signed ? 128 : 0](const PlainNumbers<A>& n, uint8_t q) {
            return convert<T>((A(of_byte(q, flip)) - n.zero) * n.scale);
          });
    else if (p.conversion == params::Conversion::quantize)
      convert_all(x, static_cast<uint8_t*>(p.out), step, [](const Step<A>& s, T v) { return s.byte(convert<A>(v)); });
    else
      convert_all(x, out, step, [](const Step<A>& s, T v) { return convert<T>(s.value(convert<A>(v))); });
  }
}

void affine(const params::Queue& q, const params::Affine& p) {
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    constexpr int block = ConvertTuning::block;
    const bool vectors = is_aligned(p.x) && is_aligned(p.out);
    const Config config{ceil_div(p.lines.size, ConvertTuning::tile), block};
    if constexpr (!fast_host)
      if (vectors && p.lines.size % vector_width<T> == 0 && have_one_scale(p.lines))
        return launch(q, "quantize", convert_alike_kernel<T, block>, config, p);
    launch(q, "quantize", convert_kernel<T, block>, config, p, LineDivisors(p.lines), vectors);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::quantization

STATOR_LAUNCHER(quantization, affine)
