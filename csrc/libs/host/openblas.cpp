#include "libs/host/openblas.hpp"

#include "libs/loader.hpp"

#include <string>

namespace stator::libs::openblas {
namespace {

bool uses_threads(std::string_view op) {
  if (shared_with_process(Library::openblas)) return true;
  set_num_threads(op)(1);
  return false;
}

}  // namespace

void (*set_num_threads(std::string_view op))(int) {
  static void (*const found)(int) = [&] {
    void (*set)(int) = nullptr;
    require(set, Library::openblas, "openblas_set_num_threads", op);
    return set;
  }();
  return found;
}

template <class T>
const Products<T>& products(std::string_view op) {
  static const Products<T> table = [&] {
    const std::string prefix = std::string("cblas_") + letter<T>;
    Products<T> found{};
    require(found.gemm, Library::openblas, (prefix + "gemm").c_str(), op);
    require(found.gemv, Library::openblas, (prefix + "gemv").c_str(), op);
    require(found.syrk, Library::openblas, (prefix + "syrk").c_str(), op);
    found.threaded = uses_threads(op);
    return found;
  }();
  return table;
}

template const Products<float>& products<float>(std::string_view);
template const Products<double>& products<double>(std::string_view);
template const Products<complex64>& products<complex64>(std::string_view);
template const Products<complex128>& products<complex128>(std::string_view);

}  // namespace stator::libs::openblas
