// The public functions of memory hooks and budgets, which forward to the pool.
#include <stator/memory/memory.hpp>

#include "core/context.hpp"

#include <utility>

namespace stator {

void set_memory_hook(const Backend& backend, MemoryHook hook) {
  const OpGuard guard(*backend.context(), call::set_memory_hook);
  backend.context()->pool().hooks().set(std::move(hook));
}

size_t trim_memory(const Backend& backend, size_t keep) {
  const OpGuard guard(*backend.context(), call::trim_memory);
  ReleaseQueue::drain();
  return backend.context()->pool().trim_to(keep, false);
}

size_t trim_pinned_memory(const Backend& backend, size_t keep) {
  const OpGuard guard(*backend.context(), call::trim_pinned);
  ReleaseQueue::drain();
  return backend.context()->pool().trim_to(keep, true);
}

void reset_peak_memory(const Backend& backend) {
  const OpGuard guard(*backend.context(), call::reset_peak);
  backend.context()->pool().reset_peak();
}

void open_budget(const Backend& backend, uint32_t scope, uint32_t around, std::string name, size_t bytes) {
  const OpGuard guard(*backend.context(), call::scoped);
  backend.context()->pool().budgets().open(scope, around, std::move(name), bytes);
}

void close_budget(const Backend& backend, uint32_t scope) noexcept {
  if (backend.context()) backend.context()->pool().budgets().close(scope);
}

}  // namespace stator
