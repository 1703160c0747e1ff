// Leaves backends, an array and work on it open at the end of main: first on the cpu, then on the device that is named.
#include <stator/stator.hpp>

#include <cstdio>

namespace {

void leave(const char* device) {
  const auto& backend = *new stator::Backend(stator::Backend::open(device));
  const auto& ones = *new stator::Array(stator::full(backend, {64, 64}, 1.0));
  new stator::Array(stator::add(ones, ones));
}

}  // namespace

int main(int, char** arguments) {
  leave("cpu");
  leave(arguments[1]);
  std::printf("left\n");
}
