// What is registered, whether it runs or not.
#include "emulator/ptx/body.hpp"
#include "emulator/runtime/fat_binary.hpp"
#include "emulator/runtime/record.hpp"
#include "emulator/runtime/system.hpp"

#include <optional>

namespace stator::emulator::runtime {
namespace {

using FormNumbers = std::map<std::string, uint64_t>;

// Throws ptx::Error.
FormNumbers forms_of(std::string text) {
  FormNumbers found;
  const ptx::Module module(std::move(text));
  for (const ptx::Function& function : module.functions()) {
    if (!function.defined) continue;
    for (const ptx::Statement& s : module.body(function).statements)
      if (s.kind == ptx::Statement::Kind::instruction && !s.name.starts_with("call")) ++found[std::string(s.name)];
  }
  return found;
}

// The PTX of a fat binary that the first device would load.
std::optional<std::string> text_of(const System& s, const void* image) {
  const auto& profile = s.devices.front()->profile;
  std::string text, reason;
  if (!ptx_of(image, profile.major * 10 + profile.minor, &text, &reason)) return std::nullopt;
  return text;
}

}  // namespace
}  // namespace stator::emulator::runtime

void stator_emulator_built(void (*kernel)(void* self, uint32_t binary, const char* name),
                           void (*form)(void* self, const char* form, uint64_t instructions), void* self) {
  using namespace stator::emulator::runtime;
  System* const s = system();
  if (!s) return;
  uint32_t number = 0;
  for (const auto& [binary, names] : registered()) {
    for (const std::string& name : names) kernel(self, number, name.c_str());
    ++number;
    std::optional<std::string> text = text_of(*s, binary->image);
    if (!text) continue;
    try {
      for (const auto& [name, count] : forms_of(std::move(*text))) form(self, name.c_str(), count);
    } catch (const stator::emulator::ptx::Error&) {  // a launch says what is wrong
    }
  }
}

void stator_emulator_ptx(void (*visit)(void* self, const char* text), void* self) {
  using namespace stator::emulator::runtime;
  System* const s = system();
  if (!s) return;
  for (const auto& [binary, names] : registered())
    if (const std::optional<std::string> text = text_of(*s, binary->image)) visit(self, text->c_str());
}
