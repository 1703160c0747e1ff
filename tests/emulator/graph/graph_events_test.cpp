// Events and attributes of nodes: events that each launch records or waits for, and kernels that need all blocks at
// once.
#include "graph_support.hpp"

using namespace stator::test;

namespace {

constexpr unsigned external = 1;  // cudaEventRecordExternal, cudaEventWaitExternal
constexpr int wait_node = 6, record_node = 7;

// Whether the event was recorded, and whether that has run, without a query, which would let it run.
int state_of(const Setting& s, void* event) {
  float milliseconds = 0;
  return s.api.event_elapsed(&milliseconds, event, event);
}

void external_events_are_recorded_at_each_launch() {
  const Setting s;
  std::string log;
  void *const start = new_event(s.api), *const end = new_event(s.api), *const other = new_stream(s.api);
  void* const graph = s.captured([&] {
    check(s.api.event_record_with_flags(start, s.stream, external) == 0, "recorded");
    note(s.stream, log, 'g');
    check(s.api.event_record_with_flags(end, s.stream, external) == 0, "recorded");
  });
  check(s.types(graph) == std::vector<int>{record_node, kernel_node, record_node}, "nodes of their own");
  float milliseconds = -1;
  check(state_of(s, end) == error::invalid_resource_handle, "not recorded yet");
  void* const executable = s.executable(graph);
  check(s.graph.launch(executable, s.stream) == 0 && state_of(s, end) == error::not_ready, "pending");
  check(s.api.stream_wait(other, end, 0) == 0 && s.api.stream_synchronize(other) == 0 && log == "g", "another waits");
  check(s.api.event_elapsed(&milliseconds, start, end) == 0 && milliseconds >= 0, "measured");
  check(s.graph.launch(executable, s.stream) == 0 && state_of(s, end) == error::not_ready, "again");
}

void launches_wait_for_external_events() {
  const Setting s;
  std::string log;
  void *const event = new_event(s.api), *const other = new_stream(s.api);
  note(other, log, 'o');
  check(s.api.event_record(event, other) == 0, "recorded outside");
  void* const graph = s.captured([&] {
    check(s.api.stream_wait(s.stream, event, external) == 0, "no part of the capture is crossed");
    note(s.stream, log, 'g');
  });
  check(s.types(graph) == std::vector<int>{wait_node, kernel_node}, "a node of its own");
  check(s.launch(s.executable(graph)) == 0 && log == "og", log);
}

void nodes_of_events_are_made_asked_and_changed() {
  const Setting s;
  using stator::emulator::runtime::EventCall;
  void *const first = new_event(s.api), *const second = new_event(s.api), *const graph = new_graph(s);
  void *record = nullptr, *wait = nullptr;
  const NodePosition position = at(graph);
  EventCall call{first};
  check(
      s.graph.add_event_record(&record, &position, &call) == 0 && s.graph.add_event_wait(&wait, &position, &call) == 0,
      "made");
  call.event = second;
  check(s.graph.set_event(record, &call) == 0 && s.graph.get_event(record, &call) == 0 && call.event == second, "set");
  check(s.graph.get_event(wait, &call) == 0 && call.event == first, "the other stays");
  void* const executable = s.executable(graph);
  check(s.graph.launch(executable, s.stream) == 0 && state_of(s, second) == error::not_ready, "the second");
  check(state_of(s, first) == error::invalid_resource_handle, "not the first");
  call.event = first;
  check(s.graph.executable_set_event(executable, record, &call) == 0, "changed in the executable graph");
  check(s.graph.launch(executable, s.stream) == 0 && state_of(s, first) == error::not_ready, "the first");
  call.event = graph;
  check(s.graph.add_event_record(&record, &position, &call) == error::invalid_resource_handle, "no event");
  check(s.api.event_destroy(first) == 0, "destroyed");
  check(s.graph.launch(executable, s.stream) == error::invalid_resource_handle, "before a launch");
}

void cooperative_kernels_are_captured_and_marked() {
  const Setting s("one_sm");
  void *const memory = s.memory(1 << 16), *const graph = new_graph(s);
  void* node = nullptr;
  const NodePosition position = at(graph);
  Filling filling(memory, 1, 1024);
  filling.call.grid[0] = 16;
  check(s.graph.add_kernel(&node, &position, &filling.call) == 0, "blocks beyond what is resident");
  check(s.graph.set_cooperative(node, 1) == error::cooperative_launch_too_large, "which cannot cooperate");
  filling.call.grid[0] = 2;
  int cooperative = -1;
  check(s.graph.set_kernel(node, &filling.call) == 0 && s.graph.set_cooperative(node, 1) == 0, "fewer can");
  check(s.graph.get_cooperative(node, &cooperative) == 0 && cooperative == 1, "marked");
  filling.call.grid[0] = 16;
  check(s.graph.set_kernel(node, &filling.call) == error::cooperative_launch_too_large, "the mark stays");
  check(s.launch(s.executable(graph)) == 0 && s.word(memory) == 1, "launched");
  const uint32_t one[] = {1, 1, 1};
  void* const taken =
      s.captured([&] { s.api.launch_cooperative(&fill_kernel, one, one, filling.arguments, 0, s.stream); });
  check(s.graph.get_cooperative(s.nodes(taken)[0], &cooperative) == 0 && cooperative == 1, "captured as such");
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv,
             {{"external_events_are_recorded_at_each_launch", external_events_are_recorded_at_each_launch},
              {"launches_wait_for_external_events", launches_wait_for_external_events},
              {"nodes_of_events_are_made_asked_and_changed", nodes_of_events_are_made_asked_and_changed},
              {"cooperative_kernels_are_captured_and_marked", cooperative_kernels_are_captured_and_marked}});
}
