#include "memory/hook.hpp"

#include "core/context.hpp"

#include <exception>
#include <utility>

namespace stator {
namespace {

constinit thread_local int suspended_hooks = 0;

// What the hook makes belongs to no scope, and what the allocation's call makes afterwards to its own again.
struct Asking {
  explicit Asking(const Context& context) : scope(std::exchange(thread_scope, 0)) { hooked_context = &context; }
  ~Asking() {
    hooked_context = nullptr;
    thread_scope = scope;
  }
  Asking(const Asking&) = delete;
  const uint32_t scope;
};

}  // namespace

constinit thread_local const Context* hooked_context = nullptr;

MemoryHooks::SuspendHooks::SuspendHooks() { ++suspended_hooks; }
MemoryHooks::SuspendHooks::~SuspendHooks() { --suspended_hooks; }

// The previous hook is destroyed without the lock.
void MemoryHooks::set(MemoryHook hook) {
  auto next = hook ? std::make_shared<const MemoryHook>(std::move(hook)) : nullptr;
  const std::lock_guard lock(mutex_);
  hook_.swap(next);
}

bool MemoryHooks::ask(const Context& context, size_t bytes, int round) {
  if (round >= most_hook_rounds || hooked_context || suspended_hooks) return false;
  std::shared_ptr<const MemoryHook> hook;
  {
    const std::lock_guard lock(mutex_);
    hook = hook_;
  }
  if (!hook) return false;
  const Asking asking(context);
  try {
    return (*hook)(bytes, round);
  } catch (const std::exception& error) {
    warn("stator: the memory hook failed: %s", error.what());
    return false;
  }
}

void refuse_in_hook(const Context& context, std::string_view call) {
  if (hooked_context != &context) return;
  throw UnsupportedError(std::string(call), "a memory hook of the backend, for whose allocation this would wait",
                         "Do it when the call that allocates has returned or raised");
}

}  // namespace stator
