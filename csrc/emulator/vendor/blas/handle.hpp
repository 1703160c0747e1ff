// cuBLAS handles, which cuBLASLt takes too.
#pragma once

#include "emulator/vendor/common/device.hpp"
#include "emulator/vendor/common/registry.hpp"
#include "emulator/vendor/common/types.hpp"

#include <cstdint>

namespace stator::emulator::vendor::blas {

// cublasStatus_t.
enum class Status : int {
  success = 0,
  not_initialized = 1,
  alloc_failed = 3,
  invalid_value = 7,
  arch_mismatch = 8,
  mapping_error = 11,
  execution_failed = 13,
  internal_error = 14,
  not_supported = 15,
  license_error = 16
};
// cublasComputeType_t.
enum class Compute : int {
  f16 = 64,
  f16_pedantic = 65,
  f32 = 68,
  f32_pedantic = 69,
  f64 = 70,
  f64_pedantic = 71,
  i32 = 72,
  i32_pedantic = 73,
  f32_fast_16f = 74,
  f32_fast_16bf = 75,
  f32_fast_tf32 = 77,
  f32_emulated = 78,
  f64_emulated = 79
};
enum class Fill : int { lower = 0, upper = 1, full = 2 };
enum class Diagonal : int { non_unit = 0, unit = 1 };
enum class Side : int { left = 0, right = 1 };
constexpr int math_tf32 = 3;  // of cublasMath_t

struct Handle {
  ~Handle();
  int device = 0;
  void* stream = nullptr;
  void* workspace = nullptr;  // of the caller; the library's own if null
  uint64_t workspace_bytes = 0;
  void* own_workspace = nullptr;
  int math = 0;
};

extern Registry<Handle> handles;

// The handle if it is alive and of the current device. Else null, and the status says why.
Handle* use(void* handle, const char* what, Status& status);
Status launched(int error);  // of `enqueue`
// For a call that needs scratch memory: the caller's workspace, or the library's own, which it takes at the first need.
Range scratch_of(Handle& handle, Status& status);

inline bool valid(int operation) { return operation >= 0 && operation <= 2; }

// In elements of a column-major matrix, one batch after another.
bool overlapping(int64_t rows, int64_t columns, int64_t ld, int64_t stride, int64_t batches);

}  // namespace stator::emulator::vendor::blas
