#include "ops/window_options.hpp"

#include <limits>
#include <string>

namespace stator {

void option_per_axis(const OpCall& call, const char* what, const Dims& given, int64_t least, int axes, int64_t* out) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  const std::string op(call.name());
  if (given.size() != 1 && given.size() != axes)
    throw ValueError(op, std::string(what) + "=" + str(given) + " for " + std::to_string(axes) + " axes",
                     "pass a number, or one for each axis");
  for (int d = 0; d < axes; ++d) {
    const int64_t number = given[given.size() == 1 ? 0 : d];
    if (number < least || number > most)
      throw ValueError(op, std::string(what) + "=" + str(given),
                       "pass numbers from " + std::to_string(least) + " to " + std::to_string(most));
    out[spatial_axes - axes + d] = number;
  }
}

}  // namespace stator
