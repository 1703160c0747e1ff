// Memory hooks, trimming, and budgets of scopes. Sizes are in bytes.
#pragma once

#include <stator/backend.hpp>

#include <functional>
#include <string>

namespace stator {

// Asked for memory by an allocation that failed when cached memory had been freed and work waited for: bytes are
// those of the allocation, and round says how often it has asked before. True: something was freed, and the allocation
// is tried again; false: it throws OutOfMemoryError. It runs on the thread that allocates, without a lock, and may call
// stator: an allocation that fails in it asks no hook. What it throws counts as false, with a warning.
using MemoryHook = std::function<bool(size_t bytes, int round)>;
inline constexpr int most_hook_rounds = 32;  // of one allocation

// An empty one sets none. Kept until another is set or the backend closes. In a hook, Backend::close of its backend
// throws UnsupportedError, shutdown() does nothing but warn, and end_scope does not wait.
STATOR_API void set_memory_hook(const Backend&, MemoryHook hook);

// Free cached memory, of all kinds or page-locked, until at most `keep` bytes of it are cached. The one reservation of
// the policy arena, and memory_pool_size bytes of the driver's pool, stay. They return the bytes that were freed;
// memory of cuda is the device's again when the streams have come so far.
STATOR_API size_t trim_memory(const Backend&, size_t keep);
STATOR_API size_t trim_pinned_memory(const Backend&, size_t keep);

STATOR_API void reset_peak_memory(const Backend&);  // MemoryStats::peak_bytes is what is live now

// What calls make in the scope (scope.hpp), and in those that were opened inside of it, may have at most that many
// bytes at once, as the pool rounds them; 0: as many as the scope around. Allocations beyond it throw OutOfMemoryError,
// which has the name. Memory that is kept beyond the scope counts no more; workspaces of libraries never do.
STATOR_API void open_budget(const Backend&, uint32_t scope, uint32_t around, std::string name, size_t bytes);
STATOR_API void close_budget(const Backend&, uint32_t scope) noexcept;

}  // namespace stator
