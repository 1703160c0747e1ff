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
  // At least `bytes` (more than 0) of memory, which may be uninitialised, for work enqueued on the stream from now on.
  // cuda: memory of the backend's device, aligned to 256 bytes; the stream is a cudaStream_t. cpu: aligned to 64 bytes;
  // ignore the stream. Null or an exception if there is none: the backend then frees its cache and calls once more.
  virtual void* allocate(size_t bytes, void* stream) = 0;
  // Called once for what allocate() gave, with its bytes, in the order of the stream, which need not be that of the
  // allocation. Null: no work uses the memory any more. On the cpu none does in any case.
  virtual void deallocate(void* memory, size_t bytes, void* stream) noexcept = 0;
};

// Memory of the backend's pool for another library, on cuda for work of the stream `stream` (a cudaStream_t, null for
// the legacy default stream). It is uninitialised, belongs to one of the backend's own streams, for whose earlier work
// `stream` waits, and Backend::resources() lists it as exported. OutOfMemoryError; CaptureError if the stream is being
// captured.
STATOR_API void* lend_memory(const Backend& backend, size_t bytes, void* stream);
// Frees it after the work that the stream has now, also after the backend was closed. Null does nothing; ValueError for
// other memory.
STATOR_API void return_memory(void* memory, void* stream);
// stator_allocate() for the backend's device uses its pool from now on, while it is open. BackendMismatchError unless
// cuda.
STATOR_API void serve_allocations(const Backend& backend);

}  // namespace stator

// lend_memory and return_memory for "cuda:<device>", of the backend that serves it, else of one that the first call
// opens. Null where they fail, with a warning that says why.
extern "C" STATOR_API void* stator_allocate(ssize_t size, int device, void* stream);
extern "C" STATOR_API void stator_deallocate(void* memory, ssize_t size, int device, void* stream);
