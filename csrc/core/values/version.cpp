#include <stator/version.hpp>

namespace stator {

BuildInfo build_info() {
#ifdef STATOR_WITH_CUDA
  constexpr bool cuda = true;
#else
  constexpr bool cuda = false;
#endif
  return {STATOR_VERSION, cuda, "GCC " __VERSION__, STATOR_MACHINE_CODE};
}

}  // namespace stator
