#include "libs/host/lapack.hpp"

#include "libs/loader.hpp"

#include <string>

namespace stator::libs::lapack {

template <class T>
const Api<T>& api(std::string_view op) {
  static const Api<T> table = [&] {
    Api<T> found{};
    const auto name = [](const char* routine) { return std::string(1, openblas::letter<T>) + routine + "_"; };
    const auto find = [&](auto& slot, const char* routine) {
      require(slot, Library::openblas, name(routine).c_str(), op);
    };
    find(found.potrf, "potrf");
    find(found.getrf, "getrf");
    find(found.getrs, "getrs");
    find(found.geqrf, "geqrf");
    find(found.orgqr, is_complex<T> ? "ungqr" : "orgqr");
    find(found.gesdd, "gesdd");
    find(found.syevd, is_complex<T> ? "heevd" : "syevd");
    find(found.geev, "geev");
    require(found.trsm, Library::openblas, (std::string("cblas_") + openblas::letter<T> + "trsm").c_str(), op);
    found.threaded = openblas::products<T>(op).threaded;
    return found;
  }();
  return table;
}

template const Api<float>& api<float>(std::string_view);
template const Api<double>& api<double>(std::string_view);
template const Api<complex64>& api<complex64>(std::string_view);
template const Api<complex128>& api<complex128>(std::string_view);

}  // namespace stator::libs::lapack
