// STATOR_LAUNCHER(family, name) defines the launcher stator::kernels::<family>::<name> for this target, as the function
// of that name in the target's namespace of the family, or as the function in the optional third argument. It stands at
// the end of a kernel file, outside of all namespaces.
#pragma once

#include "device/target.cuh"
#include "params/launcher.hpp"

namespace stator::STATOR_TARGET {

inline constinit const kernels::Registration* launchers = nullptr;

// Adds itself to the list when the library is loaded, before anything can ask for the target.
struct LauncherRegistration : kernels::Registration {
  LauncherRegistration(const char* name, kernels::AnyLauncher::Function function, kernels::AnyLauncher* launcher)
      : Registration{name, function, launcher, launchers} {
    launchers = this;
  }
};

}  // namespace stator::STATOR_TARGET

#if defined(STATOR_CHECKED)
#define STATOR_OWN_LAUNCHER(family, name) \
  constinit decltype(stator::kernels::family::name) stator::kernels::family::name;
#define STATOR_LAUNCHER_ADDRESS(family, name) &stator::kernels::family::name
#else
#define STATOR_OWN_LAUNCHER(family, name)
#define STATOR_LAUNCHER_ADDRESS(family, name) nullptr
#endif

#define STATOR_LAUNCHER(family, name, ...) STATOR_LAUNCHER_OF(family, name, __VA_OPT__(__VA_ARGS__, ) name)
#define STATOR_LAUNCHER_OF(family, launcher, function, ...)                           \
  STATOR_OWN_LAUNCHER(family, launcher)                                               \
  namespace stator::STATOR_TARGET::family {                                           \
  static const LauncherRegistration register_##launcher{                              \
      #family "." #launcher,                                                          \
      reinterpret_cast<kernels::AnyLauncher::Function>(                               \
          static_cast<decltype(stator::kernels::family::launcher)::Typed>(function)), \
      STATOR_LAUNCHER_ADDRESS(family, launcher)};                                     \
  }
