// MemoryHooks: the user's function that is asked for memory where none is left, and who must not ask it.
#pragma once

#include <stator/memory/memory.hpp>

#include <memory>
#include <mutex>

namespace stator {

class Context;

// The context whose hook the thread is in; null.
extern constinit thread_local const Context* hooked_context;

class MemoryHooks {
 public:
  void set(MemoryHook hook);
  // Whether the hook wants the allocation to be tried again. Asked without a lock, since it may call stator. False
  // without a hook, where the thread is in one, where one is held back, and for rounds from most_hook_rounds on.
  bool ask(const Context& context, size_t bytes, int round);

  // While it lives, this thread asks no hook: it holds a lock that one could wait for.
  class SuspendHooks {
   public:
    SuspendHooks();
    ~SuspendHooks();
    SuspendHooks(const SuspendHooks&) = delete;
  };

 private:
  std::mutex mutex_;
  std::shared_ptr<const MemoryHook> hook_;  // copied while it is called, so that another may be set meanwhile
};

// UnsupportedError, naming the call, where the thread is in the hook of the context, for whose call it would wait.
void refuse_in_hook(const Context& context, std::string_view call);

}  // namespace stator
