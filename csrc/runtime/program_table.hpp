// The calls for programs: code that a user compiled, loaded on a device, and its kernels. Only the cuda table has them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace stator::runtime {

using ProgramHandle = void*;
using KernelHandle = const void*;

// What a compiled kernel takes on its context's device.
struct KernelNumbers {
  int registers = 0;                         // of a thread
  int max_threads = 0;                       // of a block, as the registers allow
  size_t shared_bytes = 0, local_bytes = 0;  // static, of a block; of a thread
};

struct KernelLaunch {
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  size_t shared_bytes = 0;     // dynamic
  bool cooperative = false;    // all blocks are resident at once, or the launch fails
  void** arguments = nullptr;  // a pointer to the value of each parameter
};

// The most blocks of a grid and threads of a block per axis, and the shared memory of a block with opting in.
struct LaunchLimits {
  std::array<uint32_t, 3> grid{}, block{};
  size_t shared_bytes = 0;
};

// Members as those of Table (runtime.hpp): none throws, and Status is int.
struct ProgramTable {
  int (*limits)(int device, LaunchLimits* out);
  // The image is PTX that ends in a zero, a cubin or a fat binary, and is not needed afterwards. Where it fails `log`,
  // of `capacity` bytes, gets what the driver's compiler says.
  int (*load)(void* context, const void* image, ProgramHandle* out, char* log, size_t capacity);
  int (*unload)(void* context, ProgramHandle);
  int (*kernel)(void* context, ProgramHandle, const char* name, KernelHandle* out, KernelNumbers* numbers);
  int (*parameter)(void* context, KernelHandle, size_t index, size_t* offset, size_t* bytes);
  // The blocks of `threads` threads that a multiprocessor holds at once.
  int (*resident_blocks)(void* context, KernelHandle, int threads, size_t shared_bytes, int* blocks);
  int (*launch)(void* context, KernelHandle, const KernelLaunch&, void* stream);
};

}  // namespace stator::runtime
