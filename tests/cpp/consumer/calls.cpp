// Calls that a program of C++ makes on the host target, one line of output each. Its macros have names that the headers
// of stator use too; the standard library, which does not know them, is included before.
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#define OP(a, b) a
#define UNARY 1
#define FUNCTION 2
#define FAMILY 3
#define MODULE 4
#define sync() 5
#define none 6
#define launches(a, b, c) 7
#define call() 8
#define operands() 9
#define ulp(a) 10
#include <stator/stator.hpp>
static_assert(OP(0, 1) + UNARY + FUNCTION + FAMILY + MODULE + sync() + none + launches(0, 0, 0) + call() + operands() +
                  ulp(0) ==
              55);

namespace {

using namespace stator;

std::string dtype_name(const Array& x) { return std::string(name(x.dtype())); }

template <class F>
void print_error(F f) {
  try {
    f();
    std::printf("no error\n");
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
  }
}

template <class T>
void print_number(const Backend& be, T value) {
  const Array x = zeros(be, {1}, DType::int8), halves = zeros(be, {1}, DType::float16);
  std::printf("%s %s %s %g\n", dtype_name(full(be, {1}, value)).c_str(), dtype_name(add(x, value)).c_str(),
              dtype_name(add(value, halves)).c_str(), add(x, value).item().re);
}

}  // namespace

int main() {
  const Backend be = Backend::open("cpu");
  const Array mask = zeros(be, {2}, DType::bool_);
  std::printf("%s\n", dtype_name(add(mask, true)).c_str());
  print_number(be, short(3));
  print_number(be, 3L);
  print_number(be, int64_t(3));
  print_number(be, 3U);
  print_number(be, size_t(3));
  print_number(be, 3.0F);
  print_number(be, float16(3.0F));
  print_number(be, complex128(3, 1));

  const Operand kept = exp(zeros(be, {100'000}));
  const Array other = zeros(be, {100'000});  // would get the memory of an operand that nothing keeps
  std::printf("%g %g\n", sum(add(kept, other)).item().re, sum(add(exp(other), kept)).item().re);

  print_error([] { promote(std::span<const DType>()); });
  print_error([&] { mask.to_host(nullptr); });
  print_error([&] { linalg::solve(mask, mask); });
  zeros(be, {0}).to_host(nullptr);
  return 0;
}
