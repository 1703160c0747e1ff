// The public functions of scopes, which forward to Context and Box.
#include <stator/scopes/scope.hpp>

#include "core/context.hpp"
#include "memory/buffer.hpp"

#include <utility>

namespace stator {

uint32_t new_scope() noexcept {
  static std::atomic<uint32_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

uint32_t enter_scope(uint32_t scope) noexcept { return std::exchange(thread_scope, scope); }

bool end_scope(const Backend& backend, uint32_t scope, double seconds, size_t* closed) {
  if (in_callback) refuse_in_callback("Backend.scoped");
  const auto patience = std::chrono::milliseconds(int64_t(seconds * 1000));
  size_t count = 0;
  const bool ended = !backend.context() || scope == 0 || backend.context()->end_scope(scope, patience, &count);
  if (closed) *closed = count;
  return ended;
}

void change_scope(const Array& array, uint32_t from, uint32_t to) {
  buffer_of(array, "Scope.keep").change_scope(from, to);
}

void change_scope(const Event& event, uint32_t from, uint32_t to) {
  if (event.box()) event.box()->change_scope(from, to);
}

}  // namespace stator
