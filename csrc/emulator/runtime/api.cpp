#include "emulator/runtime/api.hpp"

#include "emulator/export.hpp"
#include "emulator/machine/state.hpp"
#include "emulator/runtime/calls.hpp"
#include "emulator/runtime/instruments.hpp"
#include "emulator/runtime/system.hpp"

#include <cstdio>

namespace stator::emulator::runtime {
namespace {

Api& api() {
  static Api table = [] {
    Api made{};
    made.bytes = sizeof made;
    add_device_calls(made);
    add_memory_calls(made);
    add_managed_calls(made);
    add_copy_calls(made);
    add_stream_calls(made);
    add_event_calls(made);
    add_launch_calls(made);
    add_capture_calls(made);
    add_graph_calls(made.graph);
    add_node_calls(made.graph);
    add_executable_calls(made.graph);
    add_conditional_calls(made.graph);
    return made;
  }();
  return table;
}

}  // namespace
}  // namespace stator::emulator::runtime

extern "C" STATOR_EMULATOR_API stator::emulator::runtime::Api* stator_emulator_api() {
  using namespace stator::emulator::runtime;
  return system() ? &api() : nullptr;
}

extern "C" STATOR_EMULATOR_API uint64_t stator_emulator_events() { return stator::emulator::machine::events.load(); }

extern "C" STATOR_EMULATOR_API const stator::emulator::runtime::Api* stator_emulator_open(const char* text,
                                                                                          char* reason,
                                                                                          size_t capacity) {
  using namespace stator::emulator::runtime;
  std::string why;
  try {
    if (make_system(text, &why)) return &api();
  } catch (const std::bad_alloc&) {
    why = "there is no memory for the emulated devices";
  }
  std::snprintf(reason, capacity, "%s", why.c_str());
  return nullptr;
}
