// Calls that a program of C++ makes on the host target, one line of output each.
#include <stator/stator.hpp>

#include <cstdio>
#include <span>

namespace {

using namespace stator;

template <class F>
void print_error(F f) {
  try {
    f();
    std::printf("no error\n");
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
  }
}

}  // namespace

int main() {
  const Backend be = Backend::open("cpu");
  const Array mask = zeros(be, {2}, DType::bool_);
  print_error([] { promote(std::span<const DType>()); });
  print_error([&] { mask.to_host(nullptr); });
  print_error([&] { linalg::solve(mask, mask); });
  zeros(be, {0}).to_host(nullptr);
  return 0;
}
