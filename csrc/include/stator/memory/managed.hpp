// Managed memory: the host and the device use it by one address, without copies that the program asks for.
#pragma once

#include <stator/array.hpp>
#include <stator/backend.hpp>

#include <cstdint>
#include <optional>
#include <vector>

#include <stator/macros/aside.inc>

namespace stator {

// migrating: cudaMallocManaged, whose pages move to where they are used. pinned: page-locked host memory, for cuda
// devices on which the host cannot use managed memory while kernels run. host: ordinary memory, on cpu.
enum class ManagedKind : uint8_t { migrating, pinned, host };

// The values of cudaMemoryAdvise.
enum class Advice : uint8_t {
  set_read_mostly = 1,
  unset_read_mostly,
  set_preferred_location,
  unset_preferred_location,
  set_accessed_by,
  unset_accessed_by,
};

// Locations are indices of devices of the backend's type, or one of these.
namespace location {
inline constexpr int host = -1, none = -2;
}

// The advice that holds for all pages of a range of migrating memory.
struct AdviceState {
  bool read_mostly = false;
  int preferred = location::none;
  std::vector<int> accessed_by;
};

// Prefetches of a whole allocation, and their bytes. CUDA does not count pages that moved on demand.
struct Migrations {
  uint64_t to_device = 0, to_device_bytes = 0, to_host = 0, to_host_bytes = 0;
  int last = location::none;
};

STATOR_API ManagedKind managed_kind(const Backend&);
// An array of uninitialised managed memory, which the pool keeps once freed. ShapeError, OutOfMemoryError.
STATOR_API Array managed(const Backend&, const Dims& shape, DType dtype);

// The rest throws ValueError for arrays in other memory.

// The host's address of the first element, as interop::export_memory has it, when all work is done that was enqueued so
// far and uses the memory. Pair it with interop::unexport. While work that is enqueued later runs, the host must not
// access the memory.
STATOR_API void* lend_to_host(const Array&);

// Moves the pages of a contiguous array, in the order of the stream. Nothing moves where the kind is not migrating.
// ValueError for a device that does not exist; CaptureError in a capture.
STATOR_API void prefetch(const Array&, int to, const Stream& = {});
// What the driver may assume of the pages; no result depends on it. The location is not used by the advice on
// read_mostly, nor by unset_preferred_location. Memory that was advised is freed with its last array, and not kept by
// the pool.
STATOR_API void advise(const Array&, Advice, int location = location::none);
STATOR_API std::optional<AdviceState> advice_state(const Array&);  // none where the kind is not migrating
STATOR_API Migrations migrations(const Array&);

}  // namespace stator

#include <stator/macros/back.inc>
