#include "libs/openblas.hpp"

#include "libs/loader.hpp"

#include <stator/complex.hpp>

#include <string>

namespace stator::libs::openblas {
namespace {

template <class T>
constexpr char letter = 's';
template <>
constexpr char letter<double> = 'd';
template <>
constexpr char letter<complex64> = 'c';
template <>
constexpr char letter<complex128> = 'z';

// OpenBLAS has threads of its own, as many as the machine has; a process limited to fewer workers gets no more.
void limit_threads(int threads, std::string_view op) {
  int (*get)() = nullptr;
  void (*set)(int) = nullptr;
  require(get, Library::openblas, "openblas_get_num_threads", op);
  require(set, Library::openblas, "openblas_set_num_threads", op);
  if (get() > threads) set(threads);
}

}  // namespace

template <class T>
const Products<T>& products(int threads, std::string_view op) {
  static const Products<T> table = [&] {
    limit_threads(threads, op);
    const std::string prefix = std::string("cblas_") + letter<T>;
    Products<T> found{};
    require(found.gemm, Library::openblas, (prefix + "gemm").c_str(), op);
    require(found.gemv, Library::openblas, (prefix + "gemv").c_str(), op);
    return found;
  }();
  return table;
}

template const Products<float>& products<float>(int, std::string_view);
template const Products<double>& products<double>(int, std::string_view);
template const Products<complex64>& products<complex64>(int, std::string_view);
template const Products<complex128>& products<complex128>(int, std::string_view);

}  // namespace stator::libs::openblas
