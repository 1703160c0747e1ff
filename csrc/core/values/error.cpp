// The texts of errors: op, cause and remedy joined, and the figures of an OutOfMemoryError.
#include <stator/error.hpp>
#include <stator/interop.hpp>

#include "core/text.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

namespace stator {
namespace {

// A capital at the start. python/stator/errors.py does the same.
std::string sentence(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}
// What quotes an argument, as in "axis=5", begins with Got.
std::string cause_sentence(std::string text) {
  const auto of_name = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  size_t end = size_t(std::find_if_not(text.begin(), text.end(), of_name) - text.begin());
  if (end > 0 && text.compare(end, 1, " ") == 0) ++end;
  return end > 0 && text.compare(end, 1, "=") == 0 ? "Got " + text : sentence(std::move(text));
}

// The table has Python's names, which a program without a binding does not know: "linalg.solve" is "linalg::solve".
std::string spoken(std::string op) {
  if (interop::binding()) return op;
  constexpr std::pair<std::string_view, std::string_view> others[] = {
      {"Array.to_numpy", "Array::to_host"},
      {"asarray", "from_host"},
      {"Backend", "Backend::open"},
      {"Backend.capture", "begin_capture"},
  };
  for (const auto& [python, cpp] : others)
    if (op == python) return std::string(cpp);
  for (size_t dot = op.find('.'); dot != std::string::npos; dot = op.find('.', dot + 2)) op.replace(dot, 1, "::");
  return op;
}

std::string join(const std::string& op, const std::string& cause, const std::string& remedy) {
  std::string text = op.empty() ? cause : op + ": " + cause;
  if (!remedy.empty()) text += (text.ends_with('.') ? " " : ". ") + remedy;
  return text;
}

// "3 x 4.0 MiB matmul, 2.0 MiB empty"
std::string describe(const std::vector<MemoryOwner>& owners) {
  std::string text;
  for (const MemoryOwner& owner : owners) {
    if (!text.empty()) text += ", ";
    if (owner.count > 1) text += std::to_string(owner.count) + " x ";
    text += size_text(owner.bytes);
    if (!owner.op.empty()) text += " " + owner.op;
  }
  return text;
}

std::string describe(const OutOfMemoryError::Figures& f) {
  std::string text = "out of memory: requested " + size_text(f.requested) + ", free " + size_text(f.free) +
                     ", cached " + size_text(f.cached);
  if (f.limit) text += ", memory_limit " + size_text(f.limit);
  if (!f.scope.empty())
    text += ", " + size_text(f.in_budget) + " of the budget of " + size_text(f.budget) + " of " + f.scope + " in use";
  if (!f.owners.empty()) text += (f.owners.size() > 1 ? ", largest owners " : ", largest owner ") + describe(f.owners);
  return text;
}

const char* remedy_for(const OutOfMemoryError::Figures& f) {
  if (!f.scope.empty()) return "Release arrays that the scope made, or give it a larger budget";
  return f.limit ? "Release arrays, or raise memory_limit" : "Release arrays, or work in smaller pieces";
}

}  // namespace

std::string size_text(size_t bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 6) value /= 1024, ++unit;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", value, units[unit]);
  return text;
}

Error::Error(std::string op, std::string cause, std::string remedy)
    : std::runtime_error(join(spoken(op), cause_sentence(cause), sentence(remedy))),
      op_(spoken(std::move(op))),
      cause_(cause_sentence(std::move(cause))),
      remedy_(sentence(std::move(remedy))) {}

CudaError::CudaError(std::string op, int code, std::string name, std::string call, std::string remedy)
    : Error(std::move(op), "The call " + call + " failed with " + name + " (" + std::to_string(code) + ")",
            std::move(remedy)),
      code_(code),
      name_(std::move(name)),
      call_(std::move(call)) {}

OutOfMemoryError::OutOfMemoryError(std::string op, Figures figures)
    : Error(std::move(op), describe(figures), remedy_for(figures)), figures_(std::move(figures)) {}

LinAlgError::LinAlgError(std::string op, int64_t index, std::string cause, std::string remedy)
    : Error(std::move(op), std::move(cause), std::move(remedy)), index_(index) {}

}  // namespace stator
