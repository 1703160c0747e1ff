#include "core/column.hpp"

#include <dlfcn.h>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

using ColumnFunction = const stator::kernels::Table*();
extern "C" {
ColumnFunction stator_column_host_faithful;
__attribute__((weak)) ColumnFunction stator_column_cuda;  // absent from a build without CUDA
}

namespace stator {
namespace {

// The variable's value, one of `choices` (a list with spaces between); empty where it is not set.
std::string setting(const char* variable, std::string_view choices) {
  const char* value = std::getenv(variable);
  if (!value || !*value) return {};
  if ((" " + std::string(choices) + " ").find(" " + std::string(value) + " ") == std::string::npos) {
    throw ValueError("Backend", std::string(variable) + "=" + value,
                     "Set it to one of: " + std::string(choices) + "; or not at all");
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

constexpr std::string_view built = STATOR_HOST_ISAS;  // such as "v2 v3 v4", ascending

bool supported(std::string_view isa) {
  if (isa == "v4") {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
  }
  if (isa == "v3")
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
}

// STATOR_HOST_ISA, else the highest level that was built and that this CPU has.
std::string host_isa() {
  const std::string chosen = setting("STATOR_HOST_ISA", built);
  if (!chosen.empty() && !supported(chosen))
    throw ValueError("Backend", "STATOR_HOST_ISA=" + chosen + " on a CPU without it", "Unset it");
  if (!chosen.empty()) return chosen;
  for (std::string_view left = built; !left.empty();) {
    const size_t space = left.rfind(' ');
    const std::string_view isa = space == left.npos ? left : left.substr(space + 1);
    if (supported(isa)) return std::string(isa);
    left = space == left.npos ? std::string_view() : left.substr(0, space);
  }
  throw DeviceUnavailableError("Backend",
                               "this build of stator has host kernels for x86-64 " + std::string(built) +
                                   ", newer than this CPU",
                               "Build it on this machine, or with -C cmake.define.STATOR_HOST_ISA=\"v2;v3;v4\"");
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
  if (setting("STATOR_HOST_MODE", "fast faithful") == "faithful") return *stator_column_host_faithful();
  // One entry a level: tests change STATOR_HOST_ISA between backends.
  static std::mutex mutex;
  static auto& loaded = *new std::map<std::string, const kernels::Table*>;  // outlives every thread
  const std::string isa = host_isa();
  const std::lock_guard<std::mutex> lock(mutex);
  const kernels::Table*& column = loaded[isa];
  if (!column) column = load(isa);
  return *column;
}

}  // namespace stator
