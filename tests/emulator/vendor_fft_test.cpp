// The double of cuFFT against the sum of its definition, and what it refuses.
#include "emulator/vendor/fft/plan.hpp"
#include "vendor_numbers.hpp"
#include "vendor_stub.hpp"

#include <array>
#include <numbers>

using namespace stator::test;
using stator::emulator::vendor::half_bits;
using stator::emulator::vendor::half_value;
using stator::emulator::vendor::Type;
using namespace stator::emulator::vendor::fft;

extern "C" {
Status cufftCreate(int*);
Status cufftDestroy(int);
Status cufftSetAutoAllocation(int, int);
Status cufftXtMakePlanMany(int, int, long long*, long long*, long long, long long, Type, long long*, long long,
                           long long, Type, long long, size_t*, Type);
Status cufftSetStream(int, void*);
Status cufftSetWorkArea(int, void*);
Status cufftXtExec(int, void*, void*, int);
Status cufftGetProperty(int, int*);
}

namespace {

using Wide = std::complex<double>;

// By the definition, over the last `n.size()` axes of an array by rows.
std::vector<Wide> by_definition(std::vector<Wide> x, const std::vector<long long>& n, int sign) {
  int64_t inner = 1;
  for (size_t axis = n.size(); axis-- > 0; inner *= n[axis]) {
    const int64_t length = n[axis];
    std::vector<Wide> y(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const int64_t k = int64_t(i) / inner % length, base = int64_t(i) - k * inner;
      for (int64_t j = 0; j < length; ++j)
        y[i] += x[size_t(base + j * inner)] *
                std::polar(1.0, sign * 2 * std::numbers::pi * double(j * k % length) / double(length));
    }
    x = y;
  }
  return x;
}

struct Layout {
  std::vector<long long> embed;
  long long stride = 1, distance = 0;
};

struct Plan {
  int number = 0;
  size_t work = 1;
  Status status = Status::success;
  Plan(std::vector<long long> n, Type in, Type out, Type execution, long long batch = 1, Layout from = {},
       Layout to = {}, bool automatic = true) {
    CHECK(cufftCreate(&number) == Status::success);
    CHECK(cufftSetAutoAllocation(number, automatic) == Status::success);
    CHECK(cufftSetStream(number, some_stream) == Status::success);
    status = cufftXtMakePlanMany(number, int(n.size()), n.data(), from.embed.empty() ? nullptr : from.embed.data(),
                                 from.stride, from.distance, in, to.embed.empty() ? nullptr : to.embed.data(),
                                 to.stride, to.distance, out, batch, &work, execution);
  }
  ~Plan() { CHECK(cufftDestroy(number) == Status::success); }
};

template <class R>
struct Types;
template <>
struct Types<float> {
  static constexpr Type real = Type::r32f, complex = Type::c32f;
  static constexpr double near = 1e-5;
};
template <>
struct Types<double> {
  static constexpr Type real = Type::r64f, complex = Type::c64f;
  static constexpr double near = 1e-12;
};

template <class R>
void all_lengths() {
  using C = std::complex<R>;
  const std::vector<std::vector<long long>> shapes = {{1},  {2},   {7},    {12},    {37},      {64},
                                                      {74}, {101}, {3, 4}, {5, 37}, {2, 3, 8}, {4, 1, 5}};
  for (const auto& n : shapes) {
    long long count = 1, half = 1;
    for (size_t i = 0; i < n.size(); ++i) {
      count *= n[i];
      half *= i + 1 == n.size() ? n[i] / 2 + 1 : n[i];
    }
    const int batch = 2;
    const auto c = numbers<C>(size_t(count * batch), 1);
    const auto r = numbers<R>(size_t(count * batch), 2);
    for (const int direction : {-1, 1}) {
      const Plan plan(n, Types<R>::complex, Types<R>::complex, Types<R>::complex, batch);
      CHECK(plan.status == Status::success);
      const Device<C> in(c), out(c.size());
      CHECK(cufftXtExec(plan.number, in, out, direction) == Status::success);
      CHECK(cufftXtExec(plan.number, in, in, direction) == Status::success);
      const auto got = out.get();
      CHECK(distance(got, in.get()) == 0);
      for (int b = 0; b < batch; ++b) {
        std::vector<Wide> x(c.begin() + b * count, c.begin() + (b + 1) * count);
        check(distance(std::vector<C>(got.begin() + b * count, got.begin() + (b + 1) * count),
                       by_definition(x, n, direction)) < Types<R>::near * double(count),
              "a complex transform", count, direction);
      }
    }
    const Plan to_complex(n, Types<R>::real, Types<R>::complex, Types<R>::complex, batch);
    const Plan to_real(n, Types<R>::complex, Types<R>::real, Types<R>::complex, batch);
    const Device<R> in(r), back(r.size());
    const Device<C> out(size_t(half * batch));
    CHECK(cufftXtExec(to_complex.number, in, out, -1) == Status::success);
    const auto spectrum = out.get();
    CHECK(in.written());
    const long long last = n.back(), kept = last / 2 + 1;
    for (int b = 0; b < batch; ++b) {
      std::vector<Wide> x(r.begin() + b * count, r.begin() + (b + 1) * count);
      const auto full = by_definition(x, n, -1);
      double worst = 0;
      for (long long i = 0; i < half; ++i)
        worst =
            std::max(worst, std::abs(wide(spectrum[size_t(b * half + i)]) - full[size_t(i / kept * last + i % kept)]));
      check(worst < Types<R>::near * double(count), "a real transform", count);
    }
    CHECK(cufftXtExec(to_real.number, out, back, 1) == Status::success);
    const auto returned = back.get();
    double worst = 0;
    for (size_t i = 0; i < r.size(); ++i)
      worst = std::max(worst, std::fabs(double(returned[i]) / double(count) - double(r[i])));
    check(worst < Types<R>::near, "there and back", count);
    CHECK(!out.written(0, 1));  // the input is spent
  }
}

void advanced_layouts() {
  using C = std::complex<float>;
  // Columns of a 5 x 3 array, of which 4 rows are used; results as rows with a gap.
  const auto a = numbers<C>(15, 3);
  const Device<C> in(a), out(18);
  const Plan plan({4}, Type::c32f, Type::c32f, Type::c32f, 3, {{5}, 3, 1}, {{6}, 1, 6});
  CHECK(plan.status == Status::success);
  CHECK(cufftXtExec(plan.number, in, out, -1) == Status::success);
  const auto got = out.get();
  for (size_t column = 0; column < 3; ++column) {
    std::vector<Wide> x;
    for (size_t i = 0; i < 4; ++i) x.push_back(wide(a[i * 3 + column]));
    CHECK(distance(std::vector<C>(got.begin() + int64_t(column) * 6, got.begin() + int64_t(column) * 6 + 4),
                   by_definition(x, {4}, -1)) < 1e-5);
    CHECK(!out.written(column * 6 + 4, 1));
  }
}

void in_place_real_rows_are_padded() {
  const auto r = numbers<double>(12, 4);
  std::vector<double> padded(16, NAN);
  for (size_t i = 0; i < 12; ++i) padded[i / 6 * 8 + i % 6] = r[i];
  const Device<double> memory(padded);
  const Plan plan({6}, Type::r64f, Type::c64f, Type::c64f, 2);
  CHECK(cufftXtExec(plan.number, memory, memory, -1) == Status::success);
  const auto got = memory.get();
  for (size_t b = 0; b < 2; ++b) {
    const auto full =
        by_definition(std::vector<Wide>(r.begin() + int64_t(b) * 6, r.begin() + int64_t(b + 1) * 6), {6}, -1);
    for (size_t k = 0; k < 4; ++k) CHECK(std::abs(Wide(got[b * 8 + 2 * k], got[b * 8 + 2 * k + 1]) - full[k]) < 1e-12);
  }
}

void halves() {
  using Pair = std::array<uint16_t, 2>;
  std::vector<Pair> x;
  std::vector<Wide> wide_x;
  for (const auto value : numbers<std::complex<float>>(8, 5)) {
    x.push_back({half_bits(value.real()), half_bits(value.imag())});
    wide_x.emplace_back(half_value(x.back()[0]), half_value(x.back()[1]));
  }
  const Device<Pair> in(x), out(8);
  const Plan plan({8}, Type::c16f, Type::c16f, Type::c16f);
  CHECK(plan.status == Status::success);
  CHECK(cufftXtExec(plan.number, in, out, -1) == Status::success);
  const auto expected = by_definition(wide_x, {8}, -1);
  const auto got = out.get();
  for (size_t i = 0; i < 8; ++i)
    CHECK(std::abs(Wide(half_value(got[i][0]), half_value(got[i][1])) - expected[i]) < 4e-3);
  CHECK(Plan({12}, Type::c16f, Type::c16f, Type::c16f).status == Status::not_supported);
  CHECK(Plan({8}, Type::r16f, Type::c16f, Type::c16f, 1, {{8}, 2, 8}, {{8}, 1, 8}).status == Status::not_supported);
  CHECK(Plan({8}, Type::c16bf, Type::c16bf, Type::c16bf).status == Status::success);
  stub.capability = 75;
  CHECK(Plan({8}, Type::c16bf, Type::c16bf, Type::c16bf).status == Status::not_supported);
}

void plans_refuse() {
  const Type c = Type::c32f, r = Type::r32f;
  CHECK(Plan({0}, c, c, c).status == Status::invalid_size);
  CHECK(Plan({2, 2, 2, 2}, c, c, c).status == Status::invalid_size);
  CHECK(Plan({8}, c, c, c, 0).status == Status::invalid_size);
  CHECK(Plan({8}, r, r, c).status == Status::invalid_type);
  CHECK(Plan({8}, c, c, Type::c64f).status == Status::invalid_type);
  CHECK(Plan({8}, c, c, r).status == Status::invalid_type);
  CHECK(Plan({4, 8}, c, c, c, 1, {{4, 7}, 1, 28}, {{4, 8}, 1, 32}).status == Status::invalid_size);
  CHECK(Plan({8}, c, c, c, 2, {{8}, 1, 8}, {{8}, 1, 4}).status == Status::success);
  CHECK(reported().find("overlap") != std::string::npos);

  const Plan plan({8}, c, c, c);
  const Device<std::complex<float>> a(numbers<std::complex<float>>(8)), out(8);
  CHECK(cufftXtExec(plan.number, a, out, 0) == Status::invalid_value);
  CHECK(cufftXtExec(plan.number, nullptr, out, 1) == Status::invalid_value);
  CHECK(cufftXtExec(plan.number + 1, a, out, 1) == Status::invalid_plan);
  CHECK(cufftSetAutoAllocation(plan.number, 1) == Status::invalid_plan);
  CHECK(cufftXtExec(plan.number, a + 1, out, 1) == Status::success);
  CHECK(reported().find("outside") != std::string::npos);
  CHECK(cufftXtExec(plan.number, a, a + 4, 1) == Status::success);
  CHECK(reported().find("Input and output overlap") != std::string::npos);
  stub.device = 1;
  CHECK(cufftXtExec(plan.number, a, out, 1) == Status::exec_failed);
  CHECK(!reported().empty());
  stub.device = 0;

  const Plan real({8}, r, c, c);
  const Device<float> x(numbers<float>(9));
  CHECK(cufftXtExec(real.number, x + 1, out, -1) == Status::exec_failed);  // real data as complex data is aligned
  CHECK(reported().find("aligned") != std::string::npos);
}

void work_areas() {
  const Type c = Type::c32f;
  const Device<std::complex<float>> a(numbers<std::complex<float>>(8)), out(8);
  const uint64_t before = stub_live_bytes();
  {
    const Plan own({8}, c, c, c);
    CHECK(stub_live_bytes() == before + own.work);
  }
  CHECK(stub_live_bytes() == before);
  const Plan plan({8}, c, c, c, 1, {}, {}, false);
  CHECK(plan.work > 0 && stub_live_bytes() == before);
  CHECK(cufftXtExec(plan.number, a, out, 1) == Status::no_workspace);
  const Device<char> small(plan.work - 1), work(plan.work);
  CHECK(cufftSetWorkArea(plan.number, small) == Status::success);
  CHECK(cufftXtExec(plan.number, a, out, 1) == Status::success);
  CHECK(reported().find("work area") != std::string::npos);
  CHECK(cufftSetWorkArea(plan.number, work) == Status::success);
  CHECK(cufftXtExec(plan.number, a, out, 1) == Status::success);
  CHECK(out.written() && !work.written(0, 1));
  int value = 0;
  CHECK(cufftGetProperty(0, &value) == Status::success && value == 12);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv,
             {{"float32", all_lengths<float>},
              {"float64", all_lengths<double>},
              {"advanced layouts", advanced_layouts},
              {"in place", in_place_real_rows_are_padded},
              {"halves", halves},
              {"refusals", plans_refuse},
              {"work areas", work_areas}},
             assert_clean);
}
