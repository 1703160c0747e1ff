// target_for: choose the target's name (cuda, host_checked, or host_ and the instruction-set level of this CPU), load
// its shared object where it has one, and bind each launcher to the target's function once.
#include "core/target.hpp"

#include "runtime/shared_object.hpp"

#include <dlfcn.h>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

using TargetFunction = const stator::kernels::TargetKernels*();
extern "C" TargetFunction stator_target_host_checked;

namespace stator {
namespace {

// The variable's value, which is one of `choices` (separated by spaces); empty when it is not set.
std::string setting(const char* variable, std::string_view choices) {
  const char* value = std::getenv(variable);
  if (!value || !*value) return {};
  if ((" " + std::string(choices) + " ").find(" " + std::string(value) + " ") == std::string::npos) {
    throw ValueError("Backend", std::string(variable) + "=" + value,
                     "Set it to one of: " + std::string(choices) + "; or not at all");
  }
  return value;
}

const kernels::TargetKernels* load(const std::string& name) {
  const std::string file = own_folder() + "libstator_" + name + ".so";
  // Never closed: kernels may still be queued, and their code must outlive every backend.
  std::string cause;
  void* library = open_shared_object(file, "Backend", cause);
  if (!library) throw LibraryNotFoundError("Backend", cause, "Reinstall stator: the file belongs beside libstator.so");
  const std::string symbol = "stator_target_" + name;
  auto* target = reinterpret_cast<TargetFunction*>(dlsym(library, symbol.c_str()));
  if (!target)
    throw LibraryNotFoundError("Backend", file + " has no " + symbol, "Reinstall stator: the files do not match");
  return target();
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

// STATOR_HOST_ISA, else the highest level that was built and that this CPU supports.
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
  throw DeviceUnavailableError(
      "Backend", "this build of stator has host kernels for x86-64 " + std::string(built) + ", newer than this CPU",
      "Build it on this machine, or with -C cmake.define.STATOR_HOST_ISA=\"v2;v3;v4\"");
}

// Gives the launchers the functions of a target, once. The caller holds the mutex.
void bind(const kernels::TargetKernels& target) {
  static const auto& launchers = *[] {
    auto* by_name = new std::map<std::string_view, kernels::AnyLauncher*>;  // outlives every thread
    for (const auto* r = stator_target_host_checked()->launchers; r; r = r->next)
      by_name->emplace(r->name, r->launcher);
    return by_name;
  }();
  size_t count = 0;
  for (const auto* r = target.launchers; r; r = r->next, ++count) {
    const auto found = launchers.find(r->name);
    if (found == launchers.end()) {
      throw LibraryNotFoundError("Backend", std::string(target.name) + " has an unknown launcher, " + r->name,
                                 "Reinstall stator: the files do not match");
    }
    found->second->bind(target.target, r->function);
  }
  if (count != launchers.size() && target.target != params::Target::cuda) {  // which leaves some work to libraries
    throw LibraryNotFoundError("Backend", std::string(target.name) + " lacks launchers that this library has",
                               "Reinstall stator: the files do not match");
  }
}

// The target of a name: "cuda", "host_checked", or "host_v2" to "host_v4". Opened and bound at first use.
const kernels::TargetKernels& loaded(const std::string& name,
                                     const kernels::TargetKernels* (*open)(const std::string&)) {
  // One entry per level: tests change STATOR_HOST_ISA between backends.
  static std::mutex mutex;
  static auto& targets = *new std::map<std::string, const kernels::TargetKernels*>;  // outlives every thread
  const std::lock_guard<std::mutex> lock(mutex);
  if (const auto found = targets.find(name); found != targets.end()) return *found->second;
  const kernels::TargetKernels* target = open(name);
  bind(*target);
  return *(targets[name] = target);
}

}  // namespace

const kernels::TargetKernels& target_for(DeviceType type) {
  if (type == DeviceType::cuda) return loaded("cuda", load);
  if (setting("STATOR_HOST_MODE", "fast checked") == "checked")
    return loaded("host_checked", [](const std::string&) { return stator_target_host_checked(); });
  return loaded("host_" + host_isa(), load);
}

}  // namespace stator
