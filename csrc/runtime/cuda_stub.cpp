// The cuda table of a build without CUDA: every call reports that there is no device.
#include "runtime/devices.hpp"
#include "runtime/nvtx.hpp"
#include "runtime/runtime.hpp"

namespace stator::runtime {
namespace {

Status none() { return status::no_device; }

template <class... A>
Status refuse(A...) {
  return none();
}

Status device_count(int* count) {
  *count = 0;
  return none();
}

Status set_device(int, int* before) {
  *before = -1;
  return status::success;
}

bool pageable(const void*) { return true; }

const char* error_name(Status code) { return code == status::success ? "cudaSuccess" : "cudaErrorNoDevice"; }
std::string fault_message(ContextHandle) { return {}; }
std::array<int64_t, 6> outstanding() { return {}; }

}  // namespace

const Table& cuda_table() {
  static constexpr Table table{
      .target = "cuda",
      .device_count = device_count,
      .properties = refuse,
      .error_name = error_name,
      .context_create = refuse,
      .context_destroy = refuse,
      .set_device = set_device,
      .device_synchronize = refuse,
      .memory_device = refuse,
      .memory_info = refuse,
      .reserve = refuse,
      .pool_keep = refuse,
      .pool_trim = refuse,
      .pool_free_bytes = refuse,
      .allocate = refuse,
      .free = refuse,
      .allocate_pinned = refuse,
      .free_pinned = refuse,
      .register_host = refuse,
      .unregister_host = refuse,
      .copy = refuse,
      .pageable = pageable,
      .fill = refuse,
      .stream_create = refuse,
      .stream_priorities = refuse,
      .stream_properties = refuse,
      .stream_destroy = refuse,
      .stream_synchronize = refuse,
      .stream_query = refuse,
      .stream_capturing = refuse,
      .stream_wait = refuse,
      .host_function = refuse,
      .event_create = refuse,
      .event_destroy = refuse,
      .event_record = refuse,
      .event_query = refuse,
      .event_synchronize = refuse,
      .event_elapsed = refuse,
      .prepare = refuse,
      .launch = refuse,
      .host_work = refuse,
      .library = refuse,
      .managed = nullptr,
      .programs = nullptr,
      .graphs = nullptr,
      .inject_fault = refuse,
      .fault_message = fault_message,
      .outstanding = outstanding,
  };
  return table;
}

bool cuda_available(std::string* reason) {
  if (reason) *reason = "stator was built without CUDA (STATOR_CUDA=OFF)";
  return false;
}

bool cuda_emulated() { return false; }

Status cuda_attributes(int, Attributes*) { return none(); }

Status cuda_copy_between(void*, int, const void*, int, size_t, StreamHandle) { return none(); }

void cuda_name_work(std::string_view) {}

void cuda_lend(void*, size_t, StreamHandle) {}

void cuda_share_memory(ContextHandle) noexcept {}

NvtxState nvtx_state() noexcept {
  return {"stator was built without CUDA (STATOR_CUDA=OFF)", "Build it with STATOR_CUDA=ON"};
}
void nvtx_push(std::string_view) noexcept {}
void nvtx_pop() noexcept {}

}  // namespace stator::runtime
