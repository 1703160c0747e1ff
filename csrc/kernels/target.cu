// The one symbol of a target that core looks up: stator_target_<target>() describes its launchers.
#include "host/launch.hpp"
#include "host/launcher.hpp"

#define STATOR_JOIN_(a, b) a##b
#define STATOR_JOIN(a, b) STATOR_JOIN_(a, b)
#define STATOR_TEXT_(a) #a
#define STATOR_TEXT(a) STATOR_TEXT_(a)

// Called after the library is loaded, when every launcher has registered itself.
extern "C" __attribute__((visibility("default"))) const stator::kernels::TargetKernels* STATOR_JOIN(stator_target_,
                                                                                                    STATOR_TARGET)() {
  static const stator::kernels::TargetKernels target{STATOR_TEXT(STATOR_TARGET), stator::params::Target::STATOR_TARGET,
                                                     stator::STATOR_TARGET::launchers,
                                                     stator::STATOR_TARGET::block_seed_setter()};
  return &target;
}
