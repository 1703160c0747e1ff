#include "ops/checks.hpp"

#include <cstdio>
#include <string>

namespace stator {

void check_floating(const OpCall& call, const Array& x, const char* what) {
  if (!in(x.dtype(), dtypes::floats))
    throw DTypeError(std::string(call.name()), "got " + std::string(what) + " of " + std::string(name(x.dtype())),
                     "pass float16, bfloat16, float32 or float64; astype converts");
}

std::string dtype_names(DTypeSet set) {
  std::string text, last;
  for (int i = 0; i < dtype_count; ++i) {
    if (!in(DType(i), set)) continue;
    if (!last.empty()) text += (text.empty() ? "" : ", ") + last;
    last = name(DType(i));
  }
  return text.empty() ? last : text + " or " + last;
}

std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", number);
  return text;
}

}  // namespace stator
