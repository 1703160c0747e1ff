// The calls of the runtime's double, by what they are about. Api says what each is.
#pragma once

#include "emulator/runtime/api.hpp"

namespace stator::emulator::runtime {

void add_device_calls(Api& api);
void add_memory_calls(Api& api);
void add_managed_calls(Api& api);
void add_copy_calls(Api& api);
void add_stream_calls(Api& api);
void add_event_calls(Api& api);
void add_launch_calls(Api& api);
void add_capture_calls(Api& api);
void add_graph_calls(GraphApi& api);
void add_node_calls(GraphApi& api);
void add_executable_calls(GraphApi& api);
void add_conditional_calls(GraphApi& api);

}  // namespace stator::emulator::runtime
