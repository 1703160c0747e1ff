// Allocator: where the device memory of a backend comes from, where that is not the driver. And the other way: memory
// of a backend's pool for other libraries, by C++ and by two C functions of the form that pluggable allocators have.
#pragma once

#include <stator/backend.hpp>

#include <sys/types.h>

namespace stator {

// The allocator of another library, for Backend::open. It must not call the backend whose memory it gives. Any thread
// may call it, several at once too.
class STATOR_API Allocator {
 public:
  virtual ~Allocator() = default;
  // At least `bytes`, which are more than 0, for work that is enqueued on the stream from now on: cuda: a cudaStream_t,
  // aligned to 256 bytes, memory of the backend's device; cpu: aligned to 64 bytes, and the stream says nothing. Null
  // or an exception where there is none: the backend then frees what it keeps and asks once more.
  virtual void* allocate(size_t bytes, void* stream) = 0;
  // Called once for what allocate() gave, with its bytes, in the order of the stream, which need not be that of the
  // allocation. Null: no work uses the memory any more. On the cpu none does in any case.
  virtual void deallocate(void* memory, size_t bytes, void* stream) noexcept = 0;
};

// Memory of the backend's pool for another library, on cuda for work of the stream `stream` (a cudaStream_t, null for
// the legacy default stream). It is memory of one of the backend's own streams whose past the other one waits for, and
// shows in Backend::resources() as exported. OutOfMemoryError; CaptureError where the stream is being captured.
STATOR_API void* lend_memory(const Backend& backend, size_t bytes, void* stream);
// Gives it back after what the stream holds now, also after the backend was closed. ValueError for other memory.
STATOR_API void return_memory(void* memory, void* stream);
// Whose pool stator_allocate() uses for the device of the backend from now on, as long as that is open.
STATOR_API void serve_allocations(const Backend& backend);

}  // namespace stator

// lend_memory and return_memory for "cuda:<device>", of the backend that serves it, else of one that the first call
// opens. Null where they fail, with a warning that says why.
extern "C" STATOR_API void* stator_allocate(ssize_t size, int device, void* stream);
extern "C" STATOR_API void stator_deallocate(void* memory, ssize_t size, int device, void* stream);
