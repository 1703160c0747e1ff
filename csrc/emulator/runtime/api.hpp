// The CUDA runtime's functions as the emulator has them: what libstator's shims call instead of CUDA's, and how they
// find it. Handles are opaque pointers, errors are values of cudaError_t; null, 1 and 2 are the default streams.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/runtime/graph/api.hpp"

namespace stator::emulator::runtime {

// What a fat binary's registration gives: magic, version, image, unused.
struct FatBinaryWrapper {
  int32_t magic, version;
  const void* image;
  void* unused;
};

// What cudaFuncGetAttributes says of a kernel. Versions are 10 * major + minor.
struct FunctionNumbers {
  uint64_t shared_bytes, local_bytes;  // static; of a thread
  int32_t max_threads, registers, ptx_version, dynamic_shared_limit;
};

using HostFunction = void(void* data);

// As the functions of CUDA of the same names, whose documentation says what each does. Kernels are named by the pointer
// that was registered, or by the handle that get_kernel gave. Thread-safe.
struct Api {
  uint32_t bytes = 0;  // of this structure, as the emulator was compiled

  int (*last_error)();
  int (*peek_at_last_error)();
  // The report of the fault that made the device's context unusable; empty if there is none. Valid until the next call
  // on the thread.
  const char* (*fault)(int device);

  // What the calling thread enqueues from now on is called so in reports. The text is not copied before that.
  void (*name_work)(const char* text, size_t length);

  int (*device_count)(int* count);
  int (*get_device)(int* device);
  int (*set_device)(int device);
  int (*device_attribute)(int* value, int attribute, int device);
  int (*can_access_peer)(int* can, int device, int peer);
  int (*device_name)(char* name, size_t capacity, uint64_t* memory, int device);
  int (*driver_version)(int* version);
  int (*device_synchronize)();

  int (*pool_create)(void** pool, int device);
  int (*pool_destroy)(void* pool);
  int (*pool_set_attribute)(void* pool, int attribute, void* value);
  int (*pool_get_attribute)(void* pool, int attribute, void* value);
  int (*pool_trim)(void* pool, size_t bytes);
  int (*pool_set_access)(void* pool, int device, int flags);  // 0: none, 3: reads and writes
  int (*memory_info)(size_t* free, size_t* total);
  int (*allocate)(void** pointer, size_t bytes);
  int (*allocate_from_pool)(void** pointer, size_t bytes, void* pool, void* stream);
  int (*free_in_order)(void* pointer, void* stream);
  int (*free)(void* pointer);
  // In the order of the stream, the owner of an allocation lends only its first `bytes`, and nothing of it counts
  // as written any more. No function of CUDA: how a pool of stator's tells what it keeps.
  int (*lend)(void* pointer, size_t bytes, void* stream);
  int (*host_allocate)(void** pointer, size_t bytes, unsigned flags);
  int (*host_free)(void* pointer);
  int (*host_register)(void* pointer, size_t bytes, unsigned flags);
  int (*host_unregister)(void* pointer);
  int (*managed_allocate)(void** pointer, size_t bytes, unsigned flags);
  int (*prefetch)(const void* pointer, size_t bytes, int device, void* stream);
  int (*advise)(const void* pointer, size_t bytes, int advice, int device);
  int (*range_attribute)(void* data, size_t size, int attribute, const void* pointer, size_t bytes);
  // cudaPointerAttributes: type 0 for memory of the host that is unknown, 1 host, 2 device, 3 managed.
  int (*pointer_attributes)(const void* pointer, int* type, int* device);

  int (*copy)(void* to, const void* from, size_t bytes, int kind, void* stream);
  // Between devices, which need no access to each other's memory where they cannot have it.
  int (*copy_peer)(void* to, int to_device, const void* from, int from_device, size_t bytes, void* stream);
  int (*fill)(void* pointer, int byte, size_t bytes, void* stream);

  int (*stream_create)(void** stream, unsigned flags);
  int (*stream_create_with_priority)(void** stream, unsigned flags, int priority);
  int (*stream_priority_range)(int* least, int* greatest);
  int (*stream_priority)(void* stream, int* priority);
  int (*stream_device)(void* stream, int* device);
  int (*stream_destroy)(void* stream);
  int (*stream_synchronize)(void* stream);
  int (*stream_query)(void* stream);
  int (*stream_wait)(void* stream, void* event, unsigned flags);
  // The function runs as all work does: on the thread that waits for it.
  int (*launch_host_function)(void* stream, HostFunction function, void* data);
  // What a captured stream is given becomes a graph's nodes. Modes: 0 global, 1 local to the thread, 2 relaxed.
  int (*stream_begin_capture)(void* stream, int mode);
  int (*stream_begin_capture_to_graph)(void* stream, void* graph, void* const* after, size_t count, int mode);
  int (*stream_end_capture)(void* stream, void** graph);
  int (*stream_is_capturing)(void* stream, int* status);  // 0 no, 1 yes, 2 it was made invalid
  // Pointers may be null, but for that of the status.
  int (*stream_capture_info)(void* stream, int* status, uint64_t* id, void** graph, void* const** nodes, size_t* count);
  int (*stream_update_capture_dependencies)(void* stream, void* const* nodes, size_t count, unsigned flags);
  int (*exchange_capture_mode)(int* mode);
  int (*event_create)(void** event, unsigned flags);
  int (*event_destroy)(void* event);
  int (*event_record)(void* event, void* stream);
  int (*event_record_with_flags)(void* event, void* stream, unsigned flags);
  int (*event_query)(void* event);
  int (*event_synchronize)(void* event);
  int (*event_elapsed)(float* milliseconds, void* from, void* to);

  void** (*register_fat_binary)(const void* wrapper);
  void (*unregister_fat_binary)(void** binary);
  void (*register_function)(void** binary, const void* function, const char* name);
  int (*get_kernel)(void** kernel, const void* function);
  int (*function_attribute)(const void* function, int attribute, int value);
  int (*function_numbers)(FunctionNumbers* numbers, const void* function);
  // Blocks that a multiprocessor holds at once.
  int (*resident_blocks)(int* blocks, const void* function, int threads, size_t shared_bytes);
  int (*launch)(const void* function, const uint32_t grid[3], const uint32_t block[3], void** arguments,
                size_t shared_bytes, void* stream);
  // The same; refused where all blocks cannot be resident at once.
  int (*launch_cooperative)(const void* function, const uint32_t grid[3], const uint32_t block[3], void** arguments,
                            size_t shared_bytes, void* stream);

  // Libraries (cudaLibrary_t): PTX or a fat binary that holds some. `log` gets the report of PTX that is not
  // understood.
  int (*library_load)(void** library, const void* image, char* log, size_t capacity);
  int (*library_unload)(void* library);
  int (*library_kernel)(void** kernel, void* library, const char* name);
  // cudaFuncGetParamInfo.
  int (*parameter)(const void* function, size_t index, size_t* offset, size_t* bytes);

  GraphApi graph;
};

}  // namespace stator::emulator::runtime

// Makes the devices that the text describes, such as "h200,a100:races:seed=7", in place of those of an earlier call,
// which are lost with all that was on them. Null with the reason when the text is not understood. Registered fat
// binaries stay.
extern "C" const stator::emulator::runtime::Api* stator_emulator_open(const char* text, char* reason, size_t capacity);
// The functions in use, for another library of a process whose devices exist; null where there are none. A test may
// replace some of them while no other thread calls.
extern "C" stator::emulator::runtime::Api* stator_emulator_api();
