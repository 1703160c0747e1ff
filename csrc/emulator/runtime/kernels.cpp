#include "emulator/runtime/kernels.hpp"

#include "emulator/export.hpp"
#include "emulator/runtime/fat_binary.hpp"
#include "emulator/runtime/instruments.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <set>
#include <vector>

namespace stator::emulator::runtime {
namespace {

struct Registry {
  std::mutex mutex;
  std::vector<std::unique_ptr<FatBinary>> binaries;  // kept when they are unregistered, since launches may be under way
  std::unordered_map<const void*, std::unique_ptr<Function>> functions;
  std::set<const void*> handles;
  std::set<const FatBinary*> libraries;
  Rewrite rewrite = nullptr;
  void* rewrite_self = nullptr;
};

// Never destroyed: shared objects unregister while the process exits.
Registry& registry() {
  static Registry* const instance = new Registry;
  return *instance;
}

// The number after ".target sm_"; 0 if there is none.
uint32_t architecture_of(const std::string& ptx) {
  constexpr std::string_view word = ".target sm_";
  const size_t at = ptx.find(word);
  return at == std::string::npos ? 0 : uint32_t(std::strtoul(ptx.c_str() + at + word.size(), nullptr, 10));
}

void rewrite(std::string& text) {
  Registry& r = registry();
  std::unique_lock lock(r.mutex);
  const Rewrite by = r.rewrite;
  void* const self = r.rewrite_self;
  lock.unlock();
  if (!by) return;
  std::string given = text;
  by(
      self, text.data(), text.size(),
      [](void* into, const char* other, size_t bytes) { static_cast<std::string*>(into)->assign(other, bytes); },
      &given);
  text = std::move(given);
}

}  // namespace

FatBinary* register_binary(const void* image) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  return r.binaries.emplace_back(std::make_unique<FatBinary>(FatBinary{image})).get();
}

FatBinary* register_library(std::string ptx) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  FatBinary* const made =
      r.binaries.emplace_back(std::make_unique<FatBinary>(FatBinary{nullptr, std::move(ptx)})).get();
  r.libraries.insert(made);
  return made;
}

bool is_library(const FatBinary* binary) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  return r.libraries.contains(binary);
}

const Function* library_function(FatBinary* binary, const std::string& name) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  for (const auto& [key, function] : r.functions)
    if (function->binary == binary && function->name == name) return function.get();
  auto made = std::make_unique<Function>(binary, name);
  const Function* const found = made.get();
  r.functions[found] = std::move(made);
  return found;
}

void unregister_binary(FatBinary* binary) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  r.libraries.erase(binary);
  binary->ptx.clear();
  std::erase_if(r.functions, [&](const auto& entry) {
    if (entry.second->binary != binary) return false;
    r.handles.erase(entry.second.get());
    return true;
  });
}

void register_function(FatBinary* binary, const void* function, const char* name) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  auto& kept = r.functions[function];
  if (kept) r.handles.erase(kept.get());
  kept = std::make_unique<Function>(binary, name);
  kept->pointer = function;
  r.handles.insert(kept.get());
}

const Function* find_function(const void* function) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  if (const auto known = r.functions.find(function); known != r.functions.end()) return known->second.get();
  return r.handles.contains(function) ? static_cast<const Function*>(function) : nullptr;
}

std::vector<std::pair<const FatBinary*, std::vector<std::string>>> registered() {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  std::map<const FatBinary*, std::vector<std::string>> names;
  for (const auto& [pointer, function] : r.functions)
    if (function->binary->image) names[function->binary].push_back(function->name);
  std::vector<std::pair<const FatBinary*, std::vector<std::string>>> found;
  for (const auto& binary : r.binaries)
    if (const auto known = names.find(binary.get()); known != names.end()) {
      std::sort(known->second.begin(), known->second.end());
      found.emplace_back(known->first, std::move(known->second));
    }
  return found;
}

Kernels::Loaded& Kernels::load(emulator::Device& device, const FatBinary* binary) {
  const auto [known, fresh] = loaded_.try_emplace(binary);
  Loaded& loaded = known->second;
  if (!fresh) return loaded;
  const uint32_t capability = device.profile().major * 10 + device.profile().minor;
  std::string text, reason;
  if (!binary->image) {
    text = binary->ptx;
  } else if (!ptx_of(binary->image, capability, &text, &reason)) {
    loaded.report.fault = Fault::unsupported;
    loaded.report.sentence = reason;
    return loaded;
  }
  rewrite(text);
  loaded.architecture = architecture_of(text);
  loaded.program = device.load(std::move(text), &loaded.report);
  if (binary->image) loaded.machine_code = machine_code_of(binary->image, capability);
  return loaded;
}

}  // namespace stator::emulator::runtime

using stator::emulator::runtime::registry;

extern "C" {

STATOR_EMULATOR_API void stator_emulator_rewrite(stator::emulator::runtime::Rewrite rewrite, void* self) {
  const std::lock_guard lock(registry().mutex);
  registry().rewrite = rewrite;
  registry().rewrite_self = self;
}

STATOR_EMULATOR_API void stator_emulator_launch_counts(void (*visit)(void* self, const char* kernel, uint64_t count),
                                                       void* self) {
  const std::lock_guard lock(registry().mutex);
  for (const auto& [pointer, function] : registry().functions)
    visit(self, function->name.c_str(), function->launches->load());
}
}
