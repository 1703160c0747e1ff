// A C++ program that uses an installed stator: multiplies two matrices on the host target, then shows that closing a
// backend releases what hangs off it, in order, while its arrays are still in scope.
#include <stator/stator.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace {

stator::Array matrix(const stator::Backend& backend, const std::vector<double>& values, int64_t rows, int64_t columns) {
  const stator::Dims shape{rows, columns};
  return stator::from_host(backend, values.data(), stator::DType::float64, shape, stator::contiguous_strides(shape));
}

}  // namespace

int main() {
  const stator::Backend backend = stator::Backend::open("cpu");
  const stator::Array a = matrix(backend, {1, 2, 3, 4, 5, 6}, 2, 3);
  const stator::Array b = matrix(backend, {1, 0, 0, 1, 1, 1}, 3, 2);
  const stator::Array c = stator::matmul(a, b);
  std::vector<double> result(4);
  c.to_host(result.data());
  std::printf("product: %g %g %g %g\n", result[0], result[1], result[2], result[3]);
  for (const stator::LibraryInfo& library : stator::libraries(false))
    if (library.name == "openblas") std::printf("OpenBLAS %s: %s\n", library.version.c_str(), library.path.c_str());

  std::printf("live before close: %s\n", backend.resources().empty() ? "no" : "yes");
  backend.close();
  backend.close();
  std::printf("live after close: %zu\n", backend.resources().size());
  try {
    stator::matmul(a, b);
    return 1;
  } catch (const stator::BackendClosedError& error) {
    std::printf("after close: %s\n", error.what());
  }
  stator::shutdown();
  const size_t left = backend.resources().size();
  std::printf("outstanding at the end: %zu\n", left);
  return left == 0 ? 0 : 1;
}
