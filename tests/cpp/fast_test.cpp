// A fast host target by itself: reductions, conversions, math. Compiled with -DSTATOR_TARGET=host_v2 or host_v3,
// -DSTATOR_HOST=1 and that target's flags.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <random>
#include <vector>

#include "check.hpp"
#include "device/convert.cuh"
#include "device/group.cuh"
#include "device/index.cuh"
#include "device/philox.cuh"
#include "host/lanes/lane_sort.hpp"
#include "host/launch.hpp"

namespace stator::STATOR_TARGET {

struct Sums {
  double sum, product_of_signs;
  float largest, smallest;
  int64_t integer;
};

template <int Size>
STATOR_KERNEL(Size) void reduce_kernel(const float* x, int64_t n, Sums* out) {
  const Group<Size> group;
  const float* row = x + group.block() * n;
  Sums& s = out[group.block()];
  s.sum = group.template map_sum<float>(n, [=](int64_t i) { return row[i]; });
  s.product_of_signs =
      group.template map_reduce<double>(n, Product{}, [=](int64_t i) { return row[i] < 0 ? -1.0 : 1.0; });
  s.largest = group.template map_reduce<float>(n, Max{}, [=](int64_t i) { return row[i]; });
  s.smallest = group.template map_reduce<float>(n, Min{}, [=](int64_t i) { return row[i]; });
  s.integer = group.template map_reduce<int64_t>(n, Sum{}, [=](int64_t i) { return int64_t(row[i]); });
}

template <class T>
struct Scratch {
  T item[4];
};
template <int Size>
STATOR_KERNEL(Size) void shared_kernel(int* y) {
  const Group<Size> group;
  auto& a = group.template shared<Scratch<int>>();
  auto& b = group.template shared<Scratch<float>>();
  int64_t* c = group.template dynamic<int64_t>(100);
  a.item[3] = int(group.block());
  b.item[0] = 5;
  c[99] = 7;
  y[group.block()] = group.template shared<Scratch<int>>().item[3] + int(b.item[0]) + int(c[99]);
}

#define UNARY(name)                                                     \
  template <class T, int Size>                                          \
  STATOR_KERNEL(Size) void name##_kernel(const T* x, T* y, int64_t n) { \
    const Group<Size> group;                                            \
    group.for_each(n, [=](int64_t i) { y[i] = name(x[i]); });           \
  }
UNARY(exp)
UNARY(exp2)
UNARY(expm1)
UNARY(log)
UNARY(log1p)
UNARY(tanh)
UNARY(sin)
UNARY(cos)
UNARY(sqrt)
#undef UNARY

}  // namespace stator::STATOR_TARGET

namespace {

using namespace stator;
namespace target = stator::STATOR_TARGET;
using stator::test::check;

params::Queue queue() {
  params::Queue q{};
  q.submit = [](const params::Queue&, const params::Launch& l) {
    std::vector<unsigned char> copy(l.argument_bytes);
    std::memcpy(copy.data(), l.arguments, l.argument_bytes);
    params::Launch again = l;
    again.arguments = copy.data();
    for (int64_t b = l.blocks - 1; b >= 0; --b) l.entry(again, b, b + 1);
  };
  return q;
}

void reductions() {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<float> uniform(-100, 101);
  for (int64_t n : {0, 1, 15, 16, 17, 511, 512, 513, 100003}) {
    std::vector<float> x(static_cast<size_t>(2 * n));
    for (float& v : x) v = uniform(random);
    target::Sums out[2];
    target::launch(queue(), "reduce", target::reduce_kernel<256>, {2, 256}, x.data(), n, out);
    for (int64_t r = 0; r < 2; ++r) {
      double sum = 0, sign = 1, size = 0;
      int64_t integer = 0;
      float largest = -INFINITY, smallest = INFINITY;
      for (int64_t i = 0; i < n; ++i) {
        const float v = x[size_t(r * n + i)];
        sum += v, size += std::fabs(v), integer += int64_t(v);
        sign *= v < 0 ? -1 : 1;
        largest = std::max(largest, v), smallest = std::min(smallest, v);
      }
      check(std::fabs(out[r].sum - sum) <= 4e-7 * size, "map_sum", n);
      check(out[r].product_of_signs == sign && out[r].integer == integer, "map_reduce", n);
      check(out[r].largest == largest && out[r].smallest == smallest, "min, max", n);
    }
  }
  // 2^24 ones after a large term: a plain float loop would stop counting
  std::vector<float> x(1 << 24, 1.0f);
  x[0] = 16777216.0f;
  target::Sums out;
  target::launch(queue(), "reduce", target::reduce_kernel<256>, {1, 256}, x.data(), int64_t(x.size()), &out);
  check(std::fabs(out.sum - 2 * 16777216.0) <= 8, "long sums keep their small terms");  // 4 ULP
  x[12345] = NAN;
  target::launch(queue(), "reduce", target::reduce_kernel<256>, {1, 256}, x.data(), int64_t(x.size()), &out);
  check(std::isnan(out.sum) && std::isnan(out.largest) && std::isnan(out.smallest), "NaN propagates");
  x[12345] = INFINITY;
  target::launch(queue(), "reduce", target::reduce_kernel<256>, {1, 256}, x.data(), int64_t(x.size()), &out);
  check(out.sum == INFINITY && out.largest == INFINITY, "an infinite sum is infinite");
}

void shared_memory() {
  std::vector<int> y(5);
  target::launch(queue(), "shared", target::shared_kernel<64>, {5, 64, 800}, y.data());
  for (int b = 0; b < 5; ++b) check(y[size_t(b)] == b + 12, "shared memory", b);
}

template <class T>
double ulps(T got, long double want) {
  const T rounded = T(want);
  if (std::isnan(got) || std::isnan(rounded)) return std::isnan(got) && std::isnan(rounded) ? 0 : INFINITY;
  if (std::isinf(got) || std::isinf(rounded)) return got == rounded ? 0 : INFINITY;
  if (rounded == 0 && got == 0) return std::signbit(got) == std::signbit(rounded) ? 0 : INFINITY;
  const T next = std::nextafter(std::fabs(rounded), T(INFINITY));
  const long double size = std::fabs(rounded);
  const long double unit = std::isinf(next) ? size - std::nextafter(std::fabs(rounded), T(0)) : next - size;
  return double(std::fabs(got - want) / unit);
}

template <class T>
void function(const char* name, void (*kernel)(const T*, T*, int64_t), long double (*want)(long double), T limit) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<T> near(-1, 1), far(-limit, limit);
  std::vector<T> x;
  for (int i = 0; i < 20000; ++i) {
    x.push_back(near(random));
    x.push_back(far(random));
    uint64_t bits = random();
    T any;
    std::memcpy(&any, &bits, sizeof(T));
    if (!(std::fabs(any) > T(1e30))) x.push_back(any);
  }
  using L = std::numeric_limits<T>;
  for (int repeat = 0; repeat < 9; ++repeat)
    for (T v : {T(0), -T(0), T(1), T(-1), L::infinity(), -L::infinity(), L::quiet_NaN(), L::denorm_min(),
                -L::denorm_min(), L::min(), L::min() / 3, L::max(), L::lowest(), L::epsilon()})
      x.push_back(v);
  std::vector<T> y(x.size());
  target::launch(queue(), name, kernel, {1, 256}, x.data(), y.data(), int64_t(x.size()));
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) worst = std::max(worst, ulps(y[i], want(x[i])));
  check(worst <= 4, name, int64_t(sizeof(T)), int64_t(std::min(worst, 1e15)));
}

template <class T>
void functions() {
  const T large = sizeof(T) == 4 ? 100 : 750;
  function<T>("exp", target::exp_kernel<T, 256>, expl, large);
  function<T>("exp2", target::exp2_kernel<T, 256>, exp2l, large * T(1.44));
  function<T>("expm1", target::expm1_kernel<T, 256>, expm1l, large);
  function<T>("log", target::log_kernel<T, 256>, logl, 1000);
  function<T>("log1p", target::log1p_kernel<T, 256>, log1pl, 1000);
  function<T>("tanh", target::tanh_kernel<T, 256>, tanhl, 30);
  function<T>("sin", target::sin_kernel<T, 256>, sinl, 10000);
  function<T>("cos", target::cos_kernel<T, 256>, cosl, 10000);
  function<T>("sqrt", target::sqrt_kernel<T, 256>, sqrtl, 10000);
}

template <class T>
void complex_function(const char* name, complex<T> (*got)(complex<T>),
                      std::complex<T> (*library)(const std::complex<T>&),
                      std::complex<long double> (*want)(const std::complex<long double>&)) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<T> uniform(-5, 5);
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    const T re = uniform(random), im = uniform(random) * (i % 3 ? T(1) : T(1e-3));
    const complex<T> z = got({re, im});
    const std::complex<long double> w = want({re, im});
    const long double error = std::abs(std::complex<long double>(z.re, z.im) - w) / std::abs(w);
    worst = std::max(worst, double(error / std::numeric_limits<T>::epsilon()));
  }
  check(worst <= 8, name, int64_t(sizeof(T)), int64_t(std::min(worst, 1e15)));
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  for (T re : {T(0), -T(0), T(1), T(-2), inf, -inf, nan, T(50), T(-200), std::numeric_limits<T>::max() / 2})
    for (T im : {T(0), -T(0), T(1), T(-2), inf, -inf, nan}) {
      const complex<T> z = got({re, im});
      const std::complex<T> w = library({re, im});
      const auto close = [](T a, T b) {
        if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
        if (std::isinf(b) || b == 0) return a == b;  // C leaves some of these signs open
        return std::fabs(a - b) <= T(16) * std::numeric_limits<T>::epsilon() * std::fabs(b);
      };
      const bool good = close(z.re, w.real()) && close(z.im, w.imag());
      check(good, name, int64_t(sizeof(T)));
      if (!good)
        std::printf("  (%g, %g): (%g, %g), C has (%g, %g)\n", double(re), double(im), double(z.re), double(z.im),
                    double(w.real()), double(w.imag()));
    }
}

template <class T>
void complex_functions() {
  using L = long double;
  complex_function<T>("complex exp", target::exp<T>, std::exp<T>, std::exp<L>);
  complex_function<T>("complex log", target::log<T>, std::log<T>, std::log<L>);
  complex_function<T>("complex sqrt", target::sqrt<T>, std::sqrt<T>, std::sqrt<L>);
  complex_function<T>("complex tanh", target::tanh<T>, std::tanh<T>, std::tanh<L>);
}

void conversions() {
  using target::convert;
  check(convert<int32_t>(3e9f) == INT32_MAX && convert<int32_t>(-3e9f) == INT32_MIN && convert<int32_t>(-1.9f) == -1,
        "float to int32");
  check(convert<int32_t>(NAN) == 0 && convert<int64_t>(1e300) == INT64_MAX && convert<int64_t>(-1e300) == INT64_MIN,
        "saturation");
  check(convert<uint8_t>(-0.5f) == 0 && convert<uint8_t>(-3.f) == 0 && convert<uint8_t>(255.9) == 255 &&
            convert<uint8_t>(256.0) == 255,
        "float to uint8");
  check(convert<uint64_t>(1.8e19) == uint64_t(1.8e19) && convert<uint64_t>(2e19) == UINT64_MAX &&
            convert<uint64_t>(-1.0) == 0,
        "double to uint64");
  check(
      convert<int8_t>(300) == 44 && convert<int16_t>(INFINITY) == INT16_MAX && convert<int16_t>(-INFINITY) == INT16_MIN,
      "int16");
  check(convert<int32_t>(2147483520.f) == 2147483520 && convert<int32_t>(2147483648.f) == INT32_MAX,
        "float at the end of int32");
  check(convert<bool>(NAN) && !convert<bool>(-0.0) && convert<bool>(complex<float>(0, 1)), "to bool");
  check(convert<double>(complex<float>(2, 3)) == 2 && convert<complex<double>>(5) == complex<double>(5, 0), "complex");
  // 1 + 2^-11 is half way between two float16; the next double above it must round up
  check(convert<float16>(1.0 + 0x1p-11 + 0x1p-40).bits == 0x3c01 && convert<float16>(1.0 + 0x1p-11).bits == 0x3c00,
        "double to float16");
  check(convert<bfloat16>(int64_t(0x0101000000000001)).bits == 0x5b81 &&
            convert<bfloat16>(int64_t(0x0101000000000000)).bits == 0x5b80,
        "int64 to bfloat16 rounds once");
  check(convert<float16>(-70000).bits == 0xfc00 && convert<float16>(65519.0).bits == 0x7bff &&
            convert<float16>(65520.0).bits == 0x7c00,
        "float16 overflow");
  check(float(convert<float16>(double(NAN))) != float(convert<float16>(double(NAN))), "NaN stays NaN");
  const target::Items<int64_t, 3> offsets{{2, 0, 1}};
  const double base[3] = {1.5, -2.5, 1e9};
  const auto loaded = target::load_many<double, dtypes::full_floats>(base, DType::float64, offsets, 3);
  check(target::load_many<double, 0>(base, DType::float64, offsets, 3)[0] == loaded[0], "load_many, one by one");
  int16_t stored[3] = {9, 9, 9}, singly[3] = {9, 9, 9};
  target::store_many<double, dtypes::integers>(stored, DType::int16, offsets, loaded, 2);
  target::store_many<double, 0>(singly, DType::int16, offsets, loaded, 2);
  check(loaded[0] == 1e9 && stored[2] == INT16_MAX && stored[0] == 1 && stored[1] == 9, "load_many, store_many");
  check(std::memcmp(stored, singly, sizeof(stored)) == 0, "store_many, one by one");
  check(target::load_as<float>(base, DType::float64, 1) == -2.5f, "load_as");
}

// load_one and store_one share code between dtypes; load_as and store_as have a conversion each.
template <class C>
void compact_conversions_of(std::initializer_list<C> values) {
  const auto same = [](const void* a, const void* b, size_t n) { return std::memcmp(a, b, n) == 0; };
  for (int k = 0; k < dtype_count; ++k) {
    const DType d = DType(k);
    for (const C& value : values) {
      unsigned char one[32] = {}, as[32] = {};
      target::store_one<C>(one, d, 1, value);
      target::store_as<C>(as, d, 1, value);
      check(same(one, as, sizeof(one)), "store_one");
      const C from_one = target::load_one<C>(as, d, 1), from_as = target::load_as<C>(as, d, 1);
      check(same(&from_one, &from_as, sizeof(C)), "load_one");
    }
  }
}

void compact_conversions() {
  const double huge = 1e300;
  compact_conversions_of<double>({0.0,           -0.0,         1.9,      -1.9,      127.5,   128,    255.9,
                                  256,           -129,         32767,    32768,     65536,   -32769, 2147483648.0,
                                  -2147483649.0, 4294967296.0, 9.3e18,   1.8e19,    2e19,    -1e19,  huge,
                                  -huge,         NAN,          INFINITY, -INFINITY, 0x1p-24, 65519.0});
  compact_conversions_of<float>({0.f, -0.f, 1.9f, -1.9f, 127.5f, 255.9f, 256.f, -129.f, 3e4f, 7e4f, 3e9f, 1.8e19f,
                                 2e19f, -1e19f, 1e38f, NAN, INFINITY, -INFINITY});
  compact_conversions_of<int64_t>(
      {0, 1, -1, 127, 128, 255, 256, -129, 65535, 1ll << 31, 1ll << 32, 1ll << 53, INT64_MAX, INT64_MIN});
  compact_conversions_of<uint64_t>({0, 1, 255, 256, 1ull << 32, 1ull << 63, UINT64_MAX});
  compact_conversions_of<bool>({false, true});
  compact_conversions_of<complex<float>>({complex<float>(0, 1), complex<float>(-3.5f, 2), complex<float>(NAN, 1)});
  compact_conversions_of<complex<double>>({complex<double>(0, 1), complex<double>(-1e30, 2), complex<double>(7, NAN)});
}

void numbers() {
  const target::Philox4 p = target::philox4x32_10(0, 0, 0);
  check(p.x[0] == 0x6627e8d5 && p.x[1] == 0xe169c58d && p.x[2] == 0xbc57ac4c && p.x[3] == 0x9b00dbd8, "Philox, zeros");
  const target::Philox4 o = target::philox4x32_10(~0ull, ~0ull, ~0ull);
  check(o.x[0] == 0x408f276d && o.x[1] == 0x41c83b0e && o.x[2] == 0xa20bc7c6 && o.x[3] == 0x6d5451fd, "Philox, ones");
  bool good = true;
  for (int32_t d : {1, 2, 3, 5, 7, 10, 641, 65535, 65536, 1 << 30, INT32_MAX}) {
    const target::MultipliedDivmod<int32_t> f(d);
    for (int32_t n : {0, 1, 2, d - 1, d, 99999, 1 << 30, INT32_MAX - 1, INT32_MAX}) good &= f.divide(n) == n / d;
  }
  check(good, "MultipliedDivmod, 32 bits");
  std::mt19937_64 random(7);
  good = true;
  for (int k = 0; k < 20000; ++k) {
    const int64_t d = int64_t(random() >> (1 + random() % 63)) | (k % 2), n = int64_t(random() >> (1 + random() % 63));
    if (d == 0) continue;
    const target::MultipliedDivmod<int64_t> f(d);
    for (const int64_t m : {n, n / d * d, INT64_MAX}) {
      int64_t rest;
      good &= f.divmod(m, rest) == m / d && rest == m % d;
    }
  }
  check(good, "MultipliedDivmod, 64 bits");
  const int64_t shape[3] = {4, 5, 6}, strides[3] = {1, 100, -7};
  check(target::offset_of(int64_t(3 * 30 + 2 * 6 + 5), 3, shape, strides) == 3 + 200 - 35, "offset_of");
}

// Sizes about those of the networks; few values, sorted ones, all alike, and what makes every sample misleading.
template <class K>
void sorting() {
  std::mt19937_64 random(5);
  using Sort = target::LaneSort<K>;
  for (int64_t n : {1, 2, 15, 16, 17, 64, 65, 129, 255, 256, 257, 1000, 20000})
    for (int kind = 0; kind < 4; ++kind) {
      std::vector<K> x(static_cast<size_t>(n)), a, b(x.size());
      for (int64_t i = 0; i < n; ++i)
        x[size_t(i)] = kind == 0 ? K(random()) : kind == 1 ? K(random() % 9) : kind == 2 ? K(i) : ~K(0);
      std::vector<K> want = x;
      std::sort(want.begin(), want.end());
      a = x;
      Sort::sort(a.data(), a.data(), b.data(), n);
      check(a == want, "LaneSort: sort", n);
      for (int64_t first : {int64_t(0), n / 3, n - 1}) {
        const int64_t last = std::min(first + 3, n);
        a = x;
        Sort::select(a.data(), a.data(), b.data(), n, first, last);
        check(std::equal(a.begin() + first, a.begin() + last, want.begin() + first), "LaneSort: select", n);
        std::sort(a.begin(), a.begin() + first);
        std::sort(a.begin() + last, a.end());
        check(a == want, "LaneSort: what stands beside", n);
      }
    }
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {
#if !defined(__SANITIZE_ADDRESS__)  // the networks take minutes to compile with checks
                               {"sorting_uint32", sorting<uint32_t>},
                               {"sorting_uint64", sorting<uint64_t>},
#endif
                               {"reductions", reductions},
                               {"shared_memory", shared_memory},
                               {"functions_float", functions<float>},
                               {"functions_double", functions<double>},
                               {"complex_functions_float", complex_functions<float>},
                               {"complex_functions_double", complex_functions<double>},
                               {"conversions", conversions},
                               {"compact_conversions", compact_conversions},
                               {"numbers", numbers}});
}
