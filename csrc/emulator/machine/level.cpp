#include "emulator/machine/level.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <sstream>

namespace stator::emulator::machine {
namespace {

bool cpu_has(const std::string& level) {
  __builtin_cpu_init();
  if (level == "v4") return __builtin_cpu_supports("x86-64-v4");
  if (level == "v3") return __builtin_cpu_supports("x86-64-v3");
  return level == "v2" && __builtin_cpu_supports("x86-64-v2");
}

const Level* open(const std::string& name, std::string* reason) {
  Dl_info here{};
  dladdr(reinterpret_cast<void*>(&load_level), &here);
  std::string path = here.dli_fname ? here.dli_fname : "";
  path = path.substr(0, path.rfind('/') + 1) + "libstator_emulator_" + name + ".so";
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    *reason = dlerror();
    return nullptr;
  }
  using Get = const Level* (*)();
  const auto get = reinterpret_cast<Get>(dlsym(library, "stator_emulator_level"));
  if (!get) *reason = path + " is not a level of the emulator.";
  return get ? get() : nullptr;
}

const Level* choose(std::string* reason) {
  const char* const wanted = std::getenv("STATOR_EMULATOR_ISA");
  std::string found;
  std::istringstream built(STATOR_EMULATOR_ISAS);  // from the lowest
  for (std::string level; built >> level;)
    if (wanted ? level == wanted : cpu_has(level)) found = level;
  if (!found.empty()) return open(found, reason);
  *reason = std::string("The emulator has the x86-64 levels ") + STATOR_EMULATOR_ISAS +
            (wanted ? std::string(", not STATOR_EMULATOR_ISA=") + wanted + "." : ", of which the CPU has none.");
  return nullptr;
}

}  // namespace

const Level* load_level(std::string* reason) {
  static std::string why;
  static const Level* const level = choose(&why);
  if (!level) *reason = why;
  return level;
}

}  // namespace stator::emulator::machine
