#include "core/column.hpp"

#include <dlfcn.h>
#include <cstdlib>
#include <string>
#include <string_view>

using ColumnFunction = const stator::kernels::Table*();
extern "C" {
ColumnFunction stator_column_host_faithful;
__attribute__((weak)) ColumnFunction stator_column_cuda;  // absent from a build without CUDA
}

namespace stator {
namespace {

std::string setting(const char* variable, std::string_view default_value, std::string_view other) {
  const char* value = std::getenv(variable);
  if (!value || !*value) return {};
  if (value != default_value && value != other) {
    throw ValueError("Backend", std::string(variable) + "=" + value,
                     "Set it to " + std::string(default_value) + " or " + std::string(other) + ", or not at all");
  }
  return value;
}

std::string own_folder() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(&column_for), &info) || !info.dli_fname) return {};
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

const kernels::Table* load(const std::string& isa) {
  const std::string file = own_folder() + "libstator_host_" + isa + ".so";
  // Never closed: kernels may be queued, and their code must outlive every backend.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* cause = dlerror();
    throw LibraryNotFoundError("Backend", cause ? cause : file,
                               "Reinstall stator: the file belongs beside libstator.so");
  }
  const std::string symbol = "stator_column_host_" + isa;
  auto* column = reinterpret_cast<ColumnFunction*>(dlsym(library, symbol.c_str()));
  if (!column)
    throw LibraryNotFoundError("Backend", file + " has no " + symbol, "Reinstall stator: the files do not match");
  return column();
}

bool supports_v3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}

}  // namespace

const kernels::Table& column_for(DeviceType type) {
  if (type == DeviceType::cuda) {
    if (!stator_column_cuda) {
      throw DeviceUnavailableError("Backend", "this build of stator has no CUDA kernels",
                                   "Build it with STATOR_CUDA=ON");
    }
    return *stator_column_cuda();
  }
  if (setting("STATOR_HOST_MODE", "fast", "faithful") == "faithful") return *stator_column_host_faithful();
  std::string isa = setting("STATOR_HOST_ISA", "v2", "v3");
  if (isa == "v3" && !supports_v3()) {
    throw ValueError("Backend", "STATOR_HOST_ISA=v3 on a CPU without AVX2, FMA and BMI2", "Unset it, or set it to v2");
  }
  if (isa.empty()) isa = supports_v3() ? "v3" : "v2";
  if (isa == "v3") {
    static const kernels::Table* const v3 = load("v3");
    return *v3;
  }
  static const kernels::Table* const v2 = load("v2");
  return *v2;
}

}  // namespace stator
