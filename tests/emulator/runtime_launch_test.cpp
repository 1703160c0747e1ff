// Launches of the runtime's double: fat binaries in each packing, limits, faults that end a context, and what is
// reported of launches.
#include "emulator/runtime/record.hpp"

#include "runtime_support.hpp"

#include <dlfcn.h>

#include <map>

using namespace stator::test;
namespace emulator = stator::emulator;
using stator::emulator::runtime::LaunchRecord;

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

void zstd_is_read_where_its_library_is() {
  const Api& api = open_devices("h200");
  register_kernels(api, Packing::zstd);
  void* const stream = new_stream(api);
  void* const library = dlopen("libzstd.so.1", RTLD_NOW);
  check(launch_shared(api, 0, stream) == (library ? 0 : error::not_supported), "read by the library, else refused");
}

void malformed_zstd_is_refused() {
  const Api& api = open_devices("h200");
  register_kernels(api, Packing::malformed_zstd);
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

struct Seen {
  std::string kernel;
  LaunchRecord launch;
  std::map<std::string, uint64_t> counters;
};

std::vector<Seen> seen() {
  std::vector<Seen> all;
  stator_emulator_launches(
      [](void* self, const LaunchRecord* launch) {
        Seen one{launch->kernel, *launch, {}};
        for (uint32_t i = 0; const char* const name = stator_emulator_counter(i); ++i)
          one.counters[name] = launch->counters[i];
        static_cast<std::vector<Seen>*>(self)->push_back(one);
      },
      &all);
  return all;
}

void launches_are_kept_while_watched() {
  const Api& api = open_devices("one_sm");
  register_kernels(api);
  void* const stream = new_stream(api);
  void* const memory = new_memory(api, 256, stream);
  const auto fill = [&](uint32_t threads) {
    check(launch_fill(api, memory, 7, threads, stream) == 0 && api.stream_synchronize(stream) == 0, "launched");
  };
  fill(8);
  check(seen().empty(), "no observer");
  stator_emulator_watch(1);
  fill(64);
  fill(33);
  const std::vector<Seen> found = seen();
  check(found.size() == 2 && found[0].kernel == "fill", "two launches", found.size());
  if (found.size() != 2) return;
  check(found[0].launch.grid[0] == 1 && found[0].launch.block[0] == 64 && found[1].launch.block[0] == 33,
        "their sizes");
  check(found[0].launch.multiprocessors == 1 && found[0].launch.resident == 32, "blocks that are resident",
        found[0].launch.resident);
  check(found[0].counters.at("global_stores") == 2 && found[0].counters.at("global_store_sectors") == 8,
        "two requests");
  check(found[1].counters.at("global_store_bytes") == 33 * 4 && found[1].counters.at("warps") == 2, "33 threads");
  check(found[1].counters.at("lane_instructions_memory") == 3 * 33, "two parameters and a word for each lane");
  stator_emulator_watch(1);
  check(seen().empty(), "a new mark forgets");
  fill(1);
  check(seen().size() == 1, "and keeps what comes");
  stator_emulator_watch(0);
  fill(1);
  check(seen().empty(), "no observer any more");
}

void a_launch_that_fails_is_not_kept() {
  const Api& api = open_devices("h200");
  register_kernels(api);
  void* const stream = new_stream(api);
  stator_emulator_watch(1);
  const uint32_t one[] = {1, 1, 1};
  check(api.launch(&trap_kernel, one, one, nullptr, 0, stream) == 0, "launched");
  check(api.stream_synchronize(stream) == error::launch_failure && seen().empty(), "a trap");
  stator_emulator_watch(0);
}

void shared_memory_is_static_and_dynamic() {
  const Api& api = open_devices("h200");
  register_kernels(api);
  void* const stream = new_stream(api);
  stator_emulator_watch(1);
  const uint32_t one[] = {1, 1, 1};
  check(api.launch(&shared_kernel, one, one, nullptr, 1000, stream) == 0 && api.stream_synchronize(stream) == 0, "ran");
  const std::vector<Seen> found = seen();
  check(found.size() == 1 && found[0].launch.shared_bytes == 1000, "bytes of a block");
  stator_emulator_watch(0);
}

void a_kernel_has_its_numbers() {
  check(stator_emulator_api() != nullptr, "the devices of the cases before");
  const Api& api = open_devices("one_sm");
  check(stator_emulator_api() == &api, "the functions for another library");
  register_kernels(api);
  emulator::runtime::FunctionNumbers numbers{};
  check(api.function_numbers(&numbers, &fill_kernel) == 0, "known");
  check(numbers.ptx_version == 80 && numbers.max_threads == 1024 && numbers.shared_bytes == 0, "of fill");
  check(numbers.dynamic_shared_limit == 48 << 10, "without opting in");
  api.function_attribute(&shared_kernel, dynamic_shared, 100 << 10);
  check(api.function_numbers(&numbers, &shared_kernel) == 0 && numbers.dynamic_shared_limit == 100 << 10, "with it");
  int blocks = 0;
  check(api.resident_blocks(&blocks, &fill_kernel, 256, 0) == 0 && blocks == 8, "by threads", blocks);
  check(api.resident_blocks(&blocks, &shared_kernel, 32, 80 << 10) == 0 && blocks == 2, "by shared memory", blocks);
  check(api.resident_blocks(&blocks, &fill_kernel, 2048, 0) == 0 && blocks == 0, "none of such a size", blocks);
  check(api.function_numbers(&numbers, &blocks) == error::invalid_device_function, "no kernel");
  check(api.last_error() == error::invalid_device_function, "which is kept");
}

struct Built {
  std::map<std::string, uint32_t> kernels;
  std::map<std::string, uint64_t> forms;
};

void what_is_registered_is_listed_without_running() {
  const Api& api = open_devices("h200");
  void** const binary = api.register_fat_binary(fat_binary_of(kernel_text));
  static const char trap_twin = 0, fill_twin = 0;
  api.register_function(binary, &trap_twin, "trap");
  api.register_function(binary, &fill_twin, "fill");
  Built built;
  stator_emulator_built(
      [](void* self, uint32_t number, const char* name) { static_cast<Built*>(self)->kernels[name] = number; },
      [](void* self, const char* form, uint64_t count) { static_cast<Built*>(self)->forms[form] += count; }, &built);
  check(built.kernels.contains("trap") && built.kernels.contains("fill"), "the kernels");
  check(built.forms["trap"] >= 1 &&
            built.forms["mad.lo.s32"] == built.forms["mul.wide.s32"] + built.forms["mul.wide.u32"],
        "the forms of their text");
  check(!built.forms.contains(""), "forms have names");
  api.unregister_fat_binary(binary);
}

void peaks_are_those_of_the_profile() {
  open_devices("h200,a100");
  double bytes = 0, instructions = 0;
  check(stator_emulator_peaks(0, &bytes, &instructions) && bytes > 4.8e12 && bytes < 5e12, "4.9 TB/s of an H200");
  check(instructions == 132 * 4 * 1.98e9, "four schedulers of 132 multiprocessors at 1.98 GHz");
  check(stator_emulator_peaks(1, &bytes, &instructions) && bytes > 2e12 && bytes < 2.1e12, "2.0 TB/s of an A100");
  check(!stator_emulator_peaks(2, &bytes, &instructions), "no third device");
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv,
             {{"plain_text", [] { kernel_fills(Packing::none); }},
              {"lz4", [] { kernel_fills(Packing::lz4); }},
              {"zstd_is_read_where_its_library_is", zstd_is_read_where_its_library_is},
              {"malformed_zstd_is_refused", malformed_zstd_is_refused},
              {"parameters_are_read_at_the_call", parameters_are_read_at_the_call},
              {"limits_are_those_of_the_profile", limits_are_those_of_the_profile},
              {"unknown_kernels_and_foreign_streams", unknown_kernels_and_foreign_streams},
              {"a_fault_ends_the_context", a_fault_ends_the_context},
              {"traps_and_misaligned_accesses_have_their_errors", traps_and_misaligned_accesses_have_their_errors},
              {"launches_are_kept_while_watched", launches_are_kept_while_watched},
              {"a_launch_that_fails_is_not_kept", a_launch_that_fails_is_not_kept},
              {"shared_memory_is_static_and_dynamic", shared_memory_is_static_and_dynamic},
              {"a_kernel_has_its_numbers", a_kernel_has_its_numbers},
              {"what_is_registered_is_listed_without_running", what_is_registered_is_listed_without_running},
              {"peaks_are_those_of_the_profile", peaks_are_those_of_the_profile}});
}
