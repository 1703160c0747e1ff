// What the runtime's double tells about launches: each by itself, what is registered, and the peaks of a device.
#include "emulator/runtime/record.hpp"

#include "runtime_support.hpp"

#include <algorithm>
#include <map>

using namespace stator::test;
using stator::emulator::runtime::LaunchRecord;

namespace {

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
  check(seen().empty(), "nobody watches");
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
  check(seen().empty(), "nobody watches any more");
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
             {{"launches_are_kept_while_watched", launches_are_kept_while_watched},
              {"a_launch_that_fails_is_not_kept", a_launch_that_fails_is_not_kept},
              {"shared_memory_is_static_and_dynamic", shared_memory_is_static_and_dynamic},
              {"what_is_registered_is_listed_without_running", what_is_registered_is_listed_without_running},
              {"peaks_are_those_of_the_profile", peaks_are_those_of_the_profile}});
}
