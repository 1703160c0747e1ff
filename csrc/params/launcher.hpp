// Launchers: host functions that choose a kernel, its block size, vector width and index width, and submit it.
// Operations call a launcher by name, as in kernels::nn::softmax(call.queue(), p); the device of the queue decides
// which target's kernels run. A launcher is defined beside its kernel, by STATOR_LAUNCHER (host/launcher.hpp).
#pragma once

#include "params/launch.hpp"

namespace stator::kernels {

using params::DeviceLimits;
using params::Queue;

inline params::Target target_of(const Queue& queue) { return queue.limits->target; }
inline params::Target target_of(const DeviceLimits& limits) { return limits.target; }

// One function per target; null if a target was not built, is not loaded yet, or leaves the work to a library.
class AnyLauncher {
 public:
  using Function = void (*)();
  constexpr AnyLauncher() = default;
  AnyLauncher(const AnyLauncher&) = delete;
  void bind(params::Target target, Function function) { functions_[int(target)] = function; }

 protected:
  Function functions_[params::target_count] = {};
};

template <class Signature>
class Launcher;
// The first parameter gives the target: it is the Queue that the launcher submits to, or the DeviceLimits to plan for.
template <class R, class First, class... Rest>
class Launcher<R(First, Rest...)> : public AnyLauncher {
 public:
  using Typed = R (*)(First, Rest...);
  R operator()(First first, Rest... rest) const {
    return reinterpret_cast<Typed>(functions_[int(target_of(first))])(first, rest...);
  }
};

// A list that a target builds when it is loaded, with one entry per launcher that it has.
struct Registration {
  const char* name;  // "nn.softmax"
  AnyLauncher::Function function;
  AnyLauncher* launcher;  // in the checked target, which every build has and which defines the launchers; else null
  const Registration* next;
};

// What a target's stator_target_<name>() returns.
struct TargetKernels {
  const char* name;  // "cuda", "host_v2" to "host_v4", "host_checked"
  params::Target target;
  const Registration* launchers;
  void (*set_block_seed)(uint64_t seed);  // of the checked target; null elsewhere
};

}  // namespace stator::kernels
