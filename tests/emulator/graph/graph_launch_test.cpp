// Launches of executable graphs: order, faults, counters, and changes of parameters.
#include "emulator/runtime/instruments.hpp"
#include "emulator/runtime/record.hpp"

#include "graph_support.hpp"

#include <set>
#include <thread>

using namespace stator::test;
using stator::emulator::runtime::LaunchRecord;

namespace {

// Two branches of three nodes each between a first and a last one.
struct Branches {
  explicit Branches(const Setting& s) : graph(new_graph(s)) {
    void* const first = add_letter(s, graph, letters[0]);
    void *left = first, *right = first;
    for (int i = 0; i < 3; ++i) left = add_letter(s, graph, letters[1 + i], {left});
    for (int i = 0; i < 3; ++i) right = add_letter(s, graph, letters[4 + i], {right});
    add_letter(s, graph, letters[7], {left, right});
  }
  Branches(const Branches&) = delete;

  std::string log;
  Letter letters[8] = {{&log, '<'}, {&log, 'a'}, {&log, 'b'}, {&log, 'c'},
                       {&log, 'x'}, {&log, 'y'}, {&log, 'z'}, {&log, '>'}};
  void* graph;
};

std::string order_with(const char* text) {
  const Setting s(text);
  Branches b(s);
  check(s.launch(s.executable(b.graph)) == 0, "launched");
  return b.log;
}

void seeds_reorder_nodes_as_edges_permit() {
  check(order_with("h200") == "<abcxyz>", "the order of the nodes");
  std::set<std::string> seen;
  for (int seed = 1; seed < 9; ++seed) {
    const std::string text = "h200:seed=" + std::to_string(seed), order = order_with(text.c_str());
    check(order == order_with(text.c_str()), "repeatable");
    std::string left, right;
    for (const char letter : order) (letter < 'x' ? left : right) += letter;
    check(left == "<abc>" && right == "xyz" && order.front() == '<' && order.back() == '>', order);
    seen.insert(order);
  }
  check(seen.size() > 3, "several orders", seen.size());
}

void launches_of_one_graph_are_ordered_across_streams() {
  const Setting s;
  std::string log;
  void* const other = new_stream(s.api);
  void* const executable = s.executable(s.captured([&] { note(s.stream, log, 'g'); }));
  note(s.stream, log, 'a');
  check(s.graph.launch(executable, s.stream) == 0, "first");
  note(other, log, 'b');
  check(s.graph.launch(executable, other) == 0, "second");
  check(s.api.stream_synchronize(other) == 0 && log == "bagg", "the second waits for the first: " + log);
}

void a_launch_takes_its_turn_in_the_stream() {
  const Setting s;
  std::string log;
  void *const event = new_event(s.api), *const other = new_stream(s.api);
  void* const executable = s.executable(s.captured([&] { note(s.stream, log, 'g'); }));
  note(s.stream, log, 'a');
  s.graph.launch(executable, s.stream);
  note(s.stream, log, 'b');
  s.api.event_record(event, s.stream);
  s.api.stream_wait(other, event, 0);
  check(s.api.stream_synchronize(other) == 0 && log == "agb", log);
  check(s.graph.launch(executable, &log) == error::invalid_resource_handle, "no stream");
}

void destroyed_graphs_finish_what_was_launched() {
  const Setting s;
  std::string log;
  void* const graph = s.captured([&] { note(s.stream, log, 'g'); });
  void* const executable = s.executable(graph);
  s.graph.launch(executable, s.stream);
  check(s.graph.destroy(graph) == 0 && s.graph.executable_destroy(executable) == 0, "destroyed");
  check(log.empty() && s.api.stream_synchronize(s.stream) == 0 && log == "g", "and run");
}

struct Watched {
  int runs = 0, ends = 0;
};

void a_librarys_work_is_released_with_the_last_that_may_run_it() {
  const Setting s;
  Watched watched;
  void* const graph = s.captured([&] {
    stator_emulator_services()->enqueue(
        s.stream, "work", [](void* self) { ++static_cast<Watched*>(self)->runs; },
        [](void* self) { ++static_cast<Watched*>(self)->ends; }, &watched);
  });
  void* const executable = s.executable(graph);
  check(s.graph.destroy(graph) == 0 && watched.ends == 0, "the executable graph has it");
  s.graph.launch(executable, s.stream);
  check(s.graph.executable_destroy(executable) == 0 && watched.ends == 0, "the launch has it");
  check(s.api.stream_synchronize(s.stream) == 0 && watched.runs == 1 && watched.ends == 1, "once");
  void* dropped = nullptr;
  s.api.stream_begin_capture(s.stream, global);
  stator_emulator_services()->enqueue(
      s.stream, "work", [](void* self) { ++static_cast<Watched*>(self)->runs; },
      [](void* self) { ++static_cast<Watched*>(self)->ends; }, &watched);
  s.api.device_synchronize();
  check(s.api.stream_end_capture(s.stream, &dropped) == error::capture_invalidated && watched.ends == 2, "no graph");
}

void a_fault_in_a_node_ends_the_context() {
  const Setting s;
  std::string log;
  void* const memory = s.memory(100);
  void* const executable = s.executable(s.captured([&] {
    note(s.stream, log, 'a');
    launch_fill(s.api, memory, 1, 32, s.stream);
    note(s.stream, log, 'b');
  }));
  check(s.graph.launch(executable, s.stream) == 0, "the launch itself succeeds");
  check(s.api.stream_synchronize(s.stream) == error::illegal_address && log == "a", "28 bytes beyond the end: " + log);
  check(s.graph.launch(executable, s.stream) == error::illegal_address, "every call says so");
  const std::string fault = s.api.fault(0);
  check(fault.find("fill") != std::string::npos && fault.find("100 bytes") != std::string::npos, fault);
  check(s.graph.executable_destroy(executable) == error::illegal_address &&
            s.graph.executable_destroy(executable) == error::invalid_value,
        "and it can be destroyed");
}

void memory_that_was_freed_since_the_capture_is_dead() {
  for (const bool copies : {false, true}) {
    const Setting s;
    void *const memory = s.memory(128), *const other = s.memory(128);
    void* const executable = s.executable(s.captured([&] {
      if (copies)
        s.api.copy(memory, other, 128, inside_device, s.stream);
      else
        launch_fill(s.api, memory, 1, 32, s.stream);
    }));
    launch_fill(s.api, other, 1, 32, s.stream);
    check(s.launch(executable) == 0, "while it lives");
    s.api.free_in_order(memory, s.stream);
    check(s.launch(executable) == error::illegal_address, "not after it");
    check(std::string(s.api.fault(0)).find("freed") != std::string::npos, s.api.fault(0));
  }
}

void every_replay_counts() {
  const Setting s;
  const auto launches = [] {
    uint64_t sum = 0;
    stator_emulator_launch_counts(
        [](void* self, const char* name, uint64_t count) {
          if (std::string_view(name) == "fill") *static_cast<uint64_t*>(self) += count;
        },
        &sum);
    return sum;
  };
  void* const memory = s.memory(128);
  const uint64_t before = launches();
  void* const executable = s.executable(s.captured([&] { launch_fill(s.api, memory, 1, 32, s.stream); }));
  check(launches() == before, "a capture launches nothing");
  stator_emulator_watch(1);
  s.launch(executable);
  s.launch(executable);
  size_t kept = 0;
  stator_emulator_launches([](void* self, const LaunchRecord*) { ++*static_cast<size_t*>(self); }, &kept);
  stator_emulator_watch(0);
  check(launches() == before + 2 && kept == 2, "one for each replay", kept);
}

void parameters_of_an_executable_graph_change_for_later_launches() {
  const Setting s;
  void *const memory = s.memory(256), *const other = s.memory(256), *const graph = new_graph(s);
  void *kernel = nullptr, *copy = nullptr, *fill = nullptr;
  const NodePosition position = at(graph);
  const Filling seven(memory, 7, 32), eight(memory, 8, 32);
  CopyCall copies{.to = other, .from = memory, .bytes = 4, .kind = inside_device};
  FillCall fills{.to = static_cast<char*>(other) + 128, .value = 1, .element_bytes = 4, .width = 1};
  s.graph.add_kernel(&kernel, &position, &seven.call);
  const std::vector after{kernel};
  const NodePosition second = at(graph, after);
  s.graph.add_copy(&copy, &second, &copies);
  s.graph.add_fill(&fill, &position, &fills);
  void* const executable = s.executable(graph);
  s.graph.launch(executable, s.stream);
  check(s.graph.executable_set_kernel(executable, kernel, &eight.call) == 0, "changed while a launch is pending");
  check(s.api.stream_synchronize(s.stream) == 0 && s.word(other) == 7, "which has the old ones", s.word(other));
  check(s.launch(executable) == 0 && s.word(other) == 8, "the next has the new ones");
  copies.to = static_cast<char*>(other) + 64;
  fills.value = 2;
  check(s.graph.executable_set_copy(executable, copy, &copies) == 0, "a copy");
  check(s.graph.executable_set_fill(executable, fill, &fills) == 0 && s.launch(executable) == 0, "a fill");
  check(s.word(static_cast<char*>(other) + 64) == 8 && s.word(static_cast<char*>(other) + 128) == 2, "both");
  KernelCall call;
  check(s.graph.get_kernel(kernel, &call) == 0 && *static_cast<uint32_t*>(call.arguments[1]) == 7, "not the graph's");
  std::vector<uint32_t> host(1);
  copies = {.to = host.data(), .from = memory, .bytes = 4, .kind = to_host};
  check(s.graph.executable_set_copy(executable, copy, &copies) == error::invalid_value, "to memory of another kind");
  check(s.graph.executable_set_fill(executable, copy, &fills) == error::invalid_value, "a node of another type");
}

void nodes_are_left_out_while_they_are_disabled() {
  const Setting s;
  void* const memory = s.memory(128);
  void* const graph = s.captured([&] {
    launch_fill(s.api, memory, 1, 1, s.stream);
    launch_fill(s.api, memory, 2, 1, s.stream);
  });
  void *const executable = s.executable(graph), *const second = s.nodes(graph)[1];
  unsigned enabled = 0;
  check(s.graph.get_enabled(executable, second, &enabled) == 0 && enabled, "at first");
  check(s.graph.set_enabled(executable, second, 0) == 0 && s.launch(executable) == 0 && s.word(memory) == 1, "not now");
  check(s.graph.set_enabled(executable, second, 1) == 0 && s.launch(executable) == 0 && s.word(memory) == 2, "again");
}

enum Result : int { success = 0, topology = 2, type = 3, parameters = 5, attributes = 8 };

struct Updated {
  int code = -1, result = -1;
  void *node = nullptr, *from = nullptr;
};

Updated update(const Setting& s, void* executable, void* graph) {
  Updated u;
  u.code = s.graph.update(executable, graph, &u.result, &u.node, &u.from);
  check((u.code == 0) == (u.result == success), "the code and the result agree", u.code);
  check(u.code == 0 || u.code == error::graph_update_failure, "so", u.code);
  return u;
}

void an_update_takes_the_parameters_of_an_equal_graph() {
  const Setting s;
  std::string log;
  void *const memory = s.memory(128), *const other = s.memory(128);
  const auto capture = [&](void* to, uint32_t value, char letter) {
    return s.captured([&] {
      launch_fill(s.api, to, value, 32, s.stream);
      note(s.stream, log, letter);
    });
  };
  void *const graph = capture(memory, 1, 'a'), *const again = capture(other, 2, 'b');
  void* const executable = s.executable(graph);
  s.graph.launch(executable, s.stream);
  check(update(s, executable, again).result == success && s.graph.destroy(again) == 0, "updated");
  check(s.launch(executable) == 0 && log == "ab", "a pending launch keeps its own: " + log);
  check(s.word(memory) == 1 && s.word(other) == 2, "kernels too");
  const Filling three(memory, 3);
  check(s.graph.executable_set_kernel(executable, s.nodes(graph)[0], &three.call) == 0, "by the old nodes");
  check(s.launch(executable) == 0 && s.word(memory) == 3, "still");
}

void an_update_says_why_it_cannot_be() {
  const Setting s;
  void *const memory = s.memory(128), *pinned = nullptr;
  check(s.api.host_allocate(&pinned, 128, 0) == 0, "pinned memory");
  const auto kernel = [&] { launch_fill(s.api, memory, 1, 1, s.stream); };
  const auto fill = [&] { s.api.fill(memory, 1, 128, s.stream); };
  const auto copy = [&](void* to) { s.api.copy(to, memory, 4, 4, s.stream); };
  const auto chain = [&](auto... works) { return s.captured([&] { (works(), ...); }); };
  void* const executable = s.executable(chain(kernel, fill, [&] { copy(memory); }));
  check(update(s, executable, chain(kernel, fill)).result == topology, "fewer nodes");
  void* other = chain(kernel, kernel, [&] { copy(memory); });
  Updated u = update(s, executable, other);
  check(u.result == type && u.node == s.nodes(other)[1], "a node of another type");
  other = chain(kernel, fill, [&] { copy(pinned); });
  u = update(s, executable, other);
  check(u.result == parameters && u.node == s.nodes(other)[2], "a copy to memory of another kind");
  other = chain(kernel, fill, [&] { copy(memory); });
  const std::vector<void*> nodes = s.nodes(other);
  s.graph.remove_edges(other, &nodes[1], &nodes[2], 1);
  u = update(s, executable, other);
  check(u.result == topology && u.node == nodes[2] && !u.from, "fewer edges");
  s.graph.add_edges(other, &nodes[0], &nodes[2], 1);
  u = update(s, executable, other);
  check(u.result == topology && u.node == nodes[2] && u.from == nodes[0], "another edge");
  const uint32_t one[] = {1, 1, 1};
  void* where = memory;
  uint32_t value = 5;
  void* arguments[] = {&where, &value};
  const auto together = [&] { s.api.launch_cooperative(&fill_kernel, one, one, arguments, 0, s.stream); };
  check(update(s, executable, chain(together, fill, [&] { copy(memory); })).result == attributes, "cooperative now");
  check(s.launch(executable) == 0 && s.word(memory) == 0x01010101, "nothing has changed");
}

void a_child_takes_the_parameters_of_an_equal_graph() {
  const Setting s;
  void *const memory = s.memory(128), *const graph = new_graph(s);
  void *node = nullptr, *inner = nullptr;
  void* const one = s.captured([&] { launch_fill(s.api, memory, 1, 1, s.stream); });
  void* const two = s.captured([&] { launch_fill(s.api, memory, 2, 1, s.stream); });
  const NodePosition position = at(graph);
  s.graph.add_child(&node, &position, one);
  void* const executable = s.executable(graph);
  check(s.graph.executable_set_child(executable, node, two) == 0 && s.launch(executable) == 0, "set");
  check(s.word(memory) == 2, "the other's", s.word(memory));
  s.graph.get_child(node, &inner);
  const Filling three(memory, 3);
  check(s.graph.executable_set_kernel(executable, s.nodes(inner)[0], &three.call) == 0, "a node inside");
  check(s.launch(executable) == 0 && s.word(memory) == 3, "changed", s.word(memory));
  void* const none = new_graph(s);
  check(s.graph.executable_set_child(executable, node, none) == error::graph_update_failure, "another topology");
}

void a_launch_in_a_capture_becomes_a_child() {
  const Setting s;
  std::string log;
  void* const inner = s.executable(s.captured([&] { note(s.stream, log, 'i'); }));
  void* const graph = s.captured([&] {
    note(s.stream, log, 'a');
    check(s.graph.launch(inner, s.stream) == 0, "captured");
    check(s.graph.upload(inner, new_stream(s.api)) == 0, "an upload is not");
  });
  check(s.types(graph) == std::vector<int>{kernel_node, child_node}, "a child graph");
  check(s.graph.executable_destroy(inner) == 0 && s.launch(s.executable(graph)) == 0 && log == "ai", log);
}

void nodes_run_on_their_own_device() {
  const Setting s("h200,a100");
  using stator::emulator::PointerType;
  s.api.set_device(1);
  void *const stream = new_stream(s.api), *graph = nullptr;
  struct Seen {
    void* memory;
    PointerType type;
  } seen{new_memory(s.api, 64, stream, 1), PointerType::host};
  s.api.stream_begin_capture(stream, global);
  launch_fill(s.api, seen.memory, 9, 1, stream);
  stator_emulator_services()->enqueue(
      stream, "work",
      [](void* self) {
        Seen& seen = *static_cast<Seen*>(self);
        seen.type = stator_emulator_services()->pointer_type(seen.memory);
      },
      nullptr, &seen);
  check(s.api.stream_end_capture(stream, &graph) == 0, "captured on the one");
  s.api.set_device(0);
  check(s.launch(s.executable(graph)) == 0 && seen.type == PointerType::device, "launched on the other");
  uint32_t value = 0;
  check(s.api.copy(&value, seen.memory, sizeof value, to_host, stream) == 0, "read by a stream of its device");
  check(s.api.stream_synchronize(stream) == 0 && value == 9, "the kernel too");
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv,
             {{"seeds_reorder_nodes_as_edges_permit", seeds_reorder_nodes_as_edges_permit},
              {"launches_of_one_graph_are_ordered_across_streams", launches_of_one_graph_are_ordered_across_streams},
              {"a_launch_takes_its_turn_in_the_stream", a_launch_takes_its_turn_in_the_stream},
              {"destroyed_graphs_finish_what_was_launched", destroyed_graphs_finish_what_was_launched},
              {"a_librarys_work_is_released_with_the_last_that_may_run_it",
               a_librarys_work_is_released_with_the_last_that_may_run_it},
              {"a_fault_in_a_node_ends_the_context", a_fault_in_a_node_ends_the_context},
              {"memory_that_was_freed_since_the_capture_is_dead", memory_that_was_freed_since_the_capture_is_dead},
              {"every_replay_counts", every_replay_counts},
              {"parameters_of_an_executable_graph_change_for_later_launches",
               parameters_of_an_executable_graph_change_for_later_launches},
              {"nodes_are_left_out_while_they_are_disabled", nodes_are_left_out_while_they_are_disabled},
              {"an_update_takes_the_parameters_of_an_equal_graph", an_update_takes_the_parameters_of_an_equal_graph},
              {"an_update_says_why_it_cannot_be", an_update_says_why_it_cannot_be},
              {"a_child_takes_the_parameters_of_an_equal_graph", a_child_takes_the_parameters_of_an_equal_graph},
              {"a_launch_in_a_capture_becomes_a_child", a_launch_in_a_capture_becomes_a_child},
              {"nodes_run_on_their_own_device", nodes_run_on_their_own_device}});
}
