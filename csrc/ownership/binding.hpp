// The backends of a binding to another language, whose interpreter may end before the process.
#pragma once

#include <atomic>

namespace stator {

class Context;
class Tracker;

void bind_to_interpreter(Context& context);  // BackendClosedError once the interpreter has ended
void end_interpreter() noexcept;             // closes those contexts
bool interpreter_ended() noexcept;

// Of a context that could not be closed, because a thread that was stopped is in a call: what belongs to it is leaked.
void leave_alone(const Tracker& tracker);
extern std::atomic<int> left_count;
bool find_left(const Tracker& tracker) noexcept;
inline bool is_left(const Tracker& tracker) noexcept {
  return left_count.load(std::memory_order_acquire) > 0 && find_left(tracker);
}

// Hands on the deleters of foreign memory that no work uses any more, of every open context.
void poll_foreign_of_all() noexcept;

}  // namespace stator
