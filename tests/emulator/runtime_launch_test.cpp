// Launches of the runtime's double: fat binaries in each packing, limits, and faults that end a context.
#include "runtime_support.hpp"

using namespace stator::test;

namespace {

constexpr int dynamic_shared = 8;  // cudaFuncAttributeMaxDynamicSharedMemorySize

int launch_shared(const Api& api, size_t bytes, void* stream) {
  const uint32_t one[] = {1, 1, 1};
  return api.launch(&shared_kernel, one, one, nullptr, bytes, stream);
}

void kernel_fills(Packing packing) {
  const Api& api = open_devices("h200");
  register_kernels(api, packing);
  void* const stream = new_stream(api);
  void* const memory = new_memory(api, 256, stream);
  check(launch_fill(api, memory, 7, 64, stream) == 0, "launched");
  uint32_t back[64] = {};
  api.copy(back, memory, sizeof back, 2, stream);
  check(back[0] == 0, "late");
  check(api.stream_synchronize(stream) == 0 && back[0] == 7 && back[63] == 7, "filled");
}

void parameters_are_read_at_the_call() {
  const Api& api = open_devices("h200");
  register_kernels(api);
  void* const stream = new_stream(api);
  void* memory = new_memory(api, 4, stream);
  uint32_t value = 1, back = 0;
  void* arguments[] = {&memory, &value};
  const uint32_t one[] = {1, 1, 1};
  check(api.launch(&fill_kernel, one, one, arguments, 0, stream) == 0, "launched");
  value = 2;
  api.copy(&back, memory, 4, 2, stream);
  check(api.stream_synchronize(stream) == 0 && back == 1, "the value at the call", back);
}

void zstd_is_refused() {
  const Api& api = open_devices("h200");
  register_kernels(api, Packing::zstd);
  void* const stream = new_stream(api);
  check(launch_shared(api, 0, stream) == error::not_supported, "cannot be read");
}

void limits_are_those_of_the_profile() {
  const Api& api = open_devices("h200");
  register_kernels(api);
  void* const stream = new_stream(api);
  void* const memory = new_memory(api, 4096, stream);
  check(launch_fill(api, memory, 1, 0, stream) == error::invalid_configuration, "no threads");
  check(launch_fill(api, memory, 1, 1025, stream) == error::invalid_configuration, "too many threads");
  check(launch_shared(api, 48 << 10, stream) == 0, "what needs no opting in");
  check(launch_shared(api, (48 << 10) + 1, stream) == error::invalid_value, "more");
  check(api.function_attribute(&shared_kernel, dynamic_shared, 228 << 10) == error::invalid_value, "above the most");
  check(api.function_attribute(&shared_kernel, dynamic_shared, 100 << 10) == 0, "opted in");
  check(launch_shared(api, 100 << 10, stream) == 0, "what was opted in to");
  check(launch_shared(api, (100 << 10) + 1, stream) == error::invalid_value, "more than that");
  check(api.last_error() == error::invalid_value && api.last_error() == 0, "no sticky error");
  check(api.stream_synchronize(stream) == 0, "and what was launched runs");
}

void unknown_kernels_and_foreign_streams() {
  const Api& api = open_devices("h200,h200");
  register_kernels(api);
  void* const stream = new_stream(api);
  const uint32_t one[] = {1, 1, 1};
  check(api.launch(&one, one, one, nullptr, 0, stream) == error::invalid_device_function, "no kernel");
  void* kernel = nullptr;
  check(api.get_kernel(&kernel, &shared_kernel) == 0, "a handle");
  check(api.launch(kernel, one, one, nullptr, 0, stream) == 0, "launched by its handle");
  api.set_device(1);
  check(launch_shared(api, 0, stream) == error::invalid_resource_handle, "a stream of the other device");
}

void a_fault_ends_the_context() {
  const Api& api = open_devices("h200,h200");
  register_kernels(api);
  std::string log;
  void *const stream = new_stream(api), *const event = new_event(api);
  void* const memory = new_memory(api, 100, stream);
  check(launch_fill(api, memory, 1, 32, stream) == 0, "the launch itself succeeds");
  note(stream, log, 'a');
  api.event_record(event, stream);
  check(api.stream_synchronize(stream) == error::illegal_address, "28 bytes beyond the end");
  check(log.empty(), "what came after does not run");
  check(api.event_query(event) == error::illegal_address, "every call says so");
  check(api.last_error() == error::illegal_address && api.last_error() == error::illegal_address, "again and again");
  const std::string fault = api.fault(0);
  check(fault.find("fill") != std::string::npos && fault.find("100 bytes") != std::string::npos, fault);
  check(api.set_device(1) == 0 && api.device_synchronize() == 0, "the other device lives");
  void* const other = new_stream(api);
  check(launch_fill(api, new_memory(api, 128, other, 1), 1, 32, other) == 0 && api.stream_synchronize(other) == 0,
        "and works");
}

void traps_and_misaligned_accesses_have_their_errors() {
  const uint32_t one[] = {1, 1, 1};
  const Api& api = open_devices("h200");
  register_kernels(api);
  void* stream = new_stream(api);
  check(api.launch(&trap_kernel, one, one, nullptr, 0, stream) == 0, "launched");
  check(api.stream_synchronize(stream) == error::launch_failure, "a trap");
  open_devices("h200");
  stream = new_stream(api);
  void* const memory = static_cast<char*>(new_memory(api, 64, stream)) + 1;
  check(launch_fill(api, memory, 1, 1, stream) == 0, "launched");
  check(api.stream_synchronize(stream) == error::misaligned_address, "a word at an odd address");
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv,
             {{"plain_text", [] { kernel_fills(Packing::none); }},
              {"lz4", [] { kernel_fills(Packing::lz4); }},
              {"zstd_is_refused", zstd_is_refused},
              {"parameters_are_read_at_the_call", parameters_are_read_at_the_call},
              {"limits_are_those_of_the_profile", limits_are_those_of_the_profile},
              {"unknown_kernels_and_foreign_streams", unknown_kernels_and_foreign_streams},
              {"a_fault_ends_the_context", a_fault_ends_the_context},
              {"traps_and_misaligned_accesses_have_their_errors", traps_and_misaligned_accesses_have_their_errors}});
}
