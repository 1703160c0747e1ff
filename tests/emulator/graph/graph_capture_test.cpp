// Captures: what becomes a node, after what, and which calls end a capture.
#include "graph_support.hpp"

#include <thread>

using namespace stator::test;

namespace {

void captured_work_runs_once_for_each_launch() {
  const Setting s;
  std::string log;
  void* const graph = s.captured([&] {
    note(s.stream, log, 'a');
    note(s.stream, log, 'b');
  });
  check(s.types(graph) == std::vector<int>{kernel_node, kernel_node}, "a library's work counts as kernels");
  void* const executable = s.executable(graph);
  check(log.empty() && s.graph.launch(executable, s.stream) == 0 && log.empty(), "late");
  check(s.api.stream_synchronize(s.stream) == 0 && log == "ab", "once: " + log);
  check(s.launch(executable) == 0 && s.launch(executable) == 0 && log == "ababab", "and again: " + log);
}

void kernels_copies_and_fills_are_captured_with_their_parameters() {
  const Setting s;
  void *const first = s.memory(256), *const second = s.memory(256);
  void* const graph = s.captured([&] {
    uint32_t value = 7;
    launch_fill(s.api, first, value, 64, s.stream);
    value = 8;
    s.api.copy(second, first, 128, inside_device, s.stream);
    s.api.fill(static_cast<char*>(second) + 128, 0x11, 128, s.stream);
  });
  check(s.types(graph) == std::vector<int>{kernel_node, copy_node, fill_node}, "three nodes");
  const std::vector<void*> nodes = s.nodes(graph);
  check(s.before(nodes[0]).empty() && s.before(nodes[1]) == std::vector{nodes[0]} &&
            s.before(nodes[2]) == std::vector{nodes[1]},
        "one after the other");
  check(s.launch(s.executable(graph)) == 0, "launched");
  check(s.word(static_cast<char*>(second) + 124) == 7 && s.word(static_cast<char*>(second) + 128) == 0x11111111,
        "done");
}

void streams_fork_and_join() {
  const Setting s;
  std::string log;
  void *const side = new_stream(s.api), *const fork = new_event(s.api), *const join = new_event(s.api);
  void* const graph = s.captured([&] {
    note(s.stream, log, 'a');
    s.api.event_record(fork, s.stream);
    s.api.stream_wait(side, fork, 0);
    note(side, log, 'b');
    note(s.stream, log, 'c');
    s.api.event_record(join, side);
    s.api.stream_wait(s.stream, join, 0);
    note(s.stream, log, 'd');
  });
  const std::vector<void*> nodes = s.nodes(graph);
  check(nodes.size() == 4, "no nodes of events", nodes.size());
  check(s.before(nodes[1]) == std::vector{nodes[0]} && s.before(nodes[2]) == std::vector{nodes[0]}, "two branches");
  check(s.before(nodes[3]) == std::vector{nodes[2], nodes[1]}, "joined");
  int state = -1;
  check(s.api.stream_is_capturing(side, &state) == 0 && state == 0, "the side stream is free");
  check(s.launch(s.executable(graph)) == 0 && log == "abcd", log);
}

void a_fork_that_never_joins_has_no_graph() {
  const Setting s;
  std::string log;
  void *const side = new_stream(s.api), *const fork = new_event(s.api);
  void* graph = &log;
  check(s.api.stream_begin_capture(s.stream, global) == 0 && s.api.event_record(fork, s.stream) == 0, "begun");
  check(s.api.stream_wait(side, fork, 0) == 0 && note(side, log, 'a') == 0, "forked");
  check(s.api.stream_end_capture(s.stream, &graph) == error::capture_unjoined && !graph, "refused");
  check(note(side, log, 'b') == 0 && s.api.stream_synchronize(side) == 0 && log == "b", "both streams go on: " + log);
  check(s.api.stream_begin_capture(s.stream, global) == 0 && s.api.event_record(fork, s.stream) == 0, "begun");
  check(s.api.stream_wait(side, fork, 0) == 0 && s.api.stream_end_capture(s.stream, &graph) == 0,
        "a fork without work has nothing to join");
}

void two_captures_do_not_merge() {
  const Setting s;
  void *const other = new_stream(s.api), *const event = new_event(s.api);
  void* graph = nullptr;
  s.api.stream_begin_capture(s.stream, global);
  s.api.stream_begin_capture(other, global);
  s.api.event_record(event, other);
  check(s.api.stream_wait(s.stream, event, 0) == error::capture_merge, "refused");
  check(s.api.stream_end_capture(s.stream, &graph) == error::capture_invalidated, "the one");
  check(s.api.stream_end_capture(other, &graph) == error::capture_invalidated, "and the other");
}

struct Info {
  int state = -1;
  uint64_t id = 0;
  void* graph = nullptr;
  std::vector<void*> nodes;
};

Info info_of(const Setting& s, void* stream) {
  Info info;
  void* const* nodes = nullptr;
  size_t count = 0;
  check(s.api.stream_capture_info(stream, &info.state, &info.id, &info.graph, &nodes, &count) == 0, "capture info");
  if (info.state == 1) info.nodes.assign(nodes, nodes + count);
  return info;
}

void a_capture_tells_its_graph_and_what_comes_before_the_next_node() {
  const Setting s;
  std::string log;
  check(info_of(s, s.stream).state == 0, "none");
  Info first;
  void* const graph = s.captured([&] {
    first = info_of(s, s.stream);
    check(first.state == 1 && first.nodes.empty(), "nothing yet");
    note(s.stream, log, 'a');
    const Info now = info_of(s, s.stream);
    check(now.graph == first.graph && now.id == first.id && now.nodes == s.nodes(now.graph), "the node");
  });
  check(graph == first.graph, "the graph of the end");
  s.captured([&] { check(info_of(s, s.stream).id != first.id, "another number"); });
}

// As a library does that adds nodes of its own to the graph of a capture.
void nodes_that_are_added_by_hand_take_their_place_in_a_capture() {
  const Setting s;
  std::string log;
  Letter x{&log, 'x'}, y{&log, 'y'};
  void* added = nullptr;
  void* const graph = s.captured([&] {
    note(s.stream, log, 'a');
    const Info info = info_of(s, s.stream);
    added = add_letter(s, info.graph, x, info.nodes);
    check(s.api.stream_update_capture_dependencies(s.stream, &added, 1, 1) == 0, "set");
    check(info_of(s, s.stream).nodes == std::vector{added}, "in place of what was there");
    note(s.stream, log, 'b');
    added = add_letter(s, info.graph, y, {});
    check(s.api.stream_update_capture_dependencies(s.stream, &added, 1, 0) == 0, "added");
    check(info_of(s, s.stream).nodes.size() == 2, "to what was there");
    check(s.api.stream_update_capture_dependencies(s.stream, &added, 1, 2) == error::invalid_value, "flags");
    note(s.stream, log, 'c');
  });
  check(s.before(s.nodes(graph).back()).size() == 2, "after both");
  check(s.launch(s.executable(graph)) == 0 && log == "axbyc", log);
  check(s.api.stream_update_capture_dependencies(s.stream, &added, 1, 1) == error::illegal_state, "not captured");
}

void a_capture_goes_into_a_graph_that_is_there() {
  const Setting s;
  std::string log;
  Letter x{&log, 'x'};
  void *const graph = new_graph(s), *const first = add_letter(s, graph, x);
  void* ended = nullptr;
  check(s.api.stream_begin_capture_to_graph(s.stream, graph, &first, 1, global) == 0, "begun");
  check(s.graph.destroy(graph) == error::invalid_value, "kept during the capture");
  note(s.stream, log, 'a');
  check(s.api.stream_end_capture(s.stream, &ended) == 0 && ended == graph, "the same");
  check(s.before(s.nodes(graph)[1]) == std::vector{first}, "after the node that was given");
  check(s.launch(s.executable(graph)) == 0 && log == "xa", log);
  void* const foreign = add_letter(s, new_graph(s), x);
  check(s.api.stream_begin_capture_to_graph(s.stream, graph, &foreign, 1, global) == error::invalid_value,
        "a stranger");
}

// Calls that may wait are refused by captures of the thread, and by global ones of others; a thread may allow them.
void modes_say_which_captures_forbid_calls_that_may_wait() {
  const Setting s;
  const auto allocates = [&](int mode, bool elsewhere, int own) {
    void *graph = nullptr, *memory = nullptr;
    check(s.api.stream_begin_capture(s.stream, mode) == 0, "begun");
    int code = -1;
    const auto allocate = [&] {
      int before = own;
      s.api.exchange_capture_mode(&before);
      code = s.api.allocate(&memory, 16);
      s.api.exchange_capture_mode(&before);
      check(before == own, "the mode is the thread's", before);
    };
    if (elsewhere)
      std::thread(allocate).join();
    else
      allocate();
    const int ended = s.api.stream_end_capture(s.stream, &graph);
    check((code == 0) == (ended == 0), "what is refused ends the capture", ended);
    check(code == 0 || (code == error::capture_unsupported && ended == error::capture_invalidated), "so", code);
    return code == 0;
  };
  check(!allocates(global, false, global) && !allocates(global, true, global), "a global capture");
  check(!allocates(local, false, global) && allocates(local, true, global), "a thread's capture");
  check(allocates(relaxed, false, global) && allocates(relaxed, true, global), "a relaxed capture");
  check(!allocates(global, false, local) && allocates(global, true, local), "a thread that heeds its own");
  check(allocates(global, false, relaxed) && allocates(global, true, relaxed), "a thread that heeds none");
}

void the_thread_that_began_ends_unless_it_is_relaxed() {
  const Setting s;
  for (const int mode : {global, local, relaxed}) {
    void* graph = nullptr;
    int code = -1;
    s.api.stream_begin_capture(s.stream, mode);
    std::thread([&] { code = s.api.stream_end_capture(s.stream, &graph); }).join();
    check(code == (mode == relaxed ? 0 : error::capture_wrong_thread), "the other thread", code);
    if (code) check(s.api.stream_end_capture(s.stream, &graph) == 0, "still valid");
  }
}

void memory_is_not_allocated_or_freed_in_a_capture() {
  const Setting s;
  void *pool = nullptr, *taken = nullptr;
  s.api.pool_create(&pool, 0);
  void* const memory = s.memory(64);
  s.captured([&] {
    check(s.api.allocate_from_pool(&taken, 64, pool, s.stream) == error::not_supported, "no node for it");
    check(s.api.free_in_order(memory, s.stream) == error::not_supported, "nor for its free");
    check(s.api.allocate_from_pool(&taken, 64, pool, new_stream(s.api)) == 0, "another stream allocates");
  });
}

void calls_on_the_legacy_stream_end_captures_of_blocking_streams() {
  const Setting s;
  void *pool = nullptr, *managed = nullptr, *taken = nullptr, *graph = nullptr;
  s.api.pool_create(&pool, 0);
  s.api.managed_allocate(&managed, 64, 1);
  void *const memory = s.memory(64), *const captured = new_stream(s.api, 0), *const legacy = nullptr;
  const auto ended = [&](const char* what, auto f) {
    check(s.api.stream_begin_capture(captured, relaxed) == 0, "begun");
    const int code = f();
    check(code == error::capture_implicit, what, code);
    check(s.api.stream_end_capture(captured, &graph) == error::capture_invalidated, what);
  };
  ended("a kernel", [&] { return launch_fill(s.api, memory, 1, 1, legacy); });
  ended("a copy", [&] { return s.api.copy(memory, managed, 4, 4, legacy); });
  ended("a fill", [&] { return s.api.fill(memory, 1, 4, legacy); });
  ended("a wait", [&] { return s.api.stream_synchronize(legacy); });
  ended("a query", [&] { return s.api.stream_query(legacy); });
  ended("an allocation", [&] { return s.api.allocate_from_pool(&taken, 64, pool, legacy); });
  ended("a free", [&] { return s.api.free_in_order(memory, legacy); });
  ended("a prefetch", [&] { return s.api.prefetch(managed, 64, -1, legacy); });
}

void a_wait_for_the_device_ends_all_captures_of_it() {
  const Setting s;
  void *const other = new_stream(s.api), *graph = nullptr;
  s.api.stream_begin_capture(s.stream, relaxed);
  s.api.stream_begin_capture(other, relaxed);
  check(s.api.device_synchronize() == error::capture_unsupported, "refused");
  for (void* const stream : {s.stream, other})
    check(s.api.stream_end_capture(stream, &graph) == error::capture_invalidated && !graph, "no graph");
}

// What a stream holds that no capture has can be waited for, but for events, whose state a capture must not use.
void streams_and_events_outside_a_capture() {
  const Setting s;
  std::string log;
  void *const other = new_stream(s.api), *const event = new_event(s.api);
  void* graph = nullptr;
  note(other, log, 'a');
  note(other, log, 'b');
  s.api.event_record(event, other);
  s.captured([&] {
    check(s.api.stream_query(other) == error::not_ready && s.api.stream_synchronize(other) == 0 && log == "ab", log);
  });
  s.api.stream_begin_capture(s.stream, global);
  check(s.api.event_query(event) == error::capture_unsupported, "an event");
  check(s.api.stream_end_capture(s.stream, &graph) == error::capture_invalidated, "which ends it");
  s.captured([&] { check(s.api.event_query(event) == 0 && s.api.event_synchronize(event) == 0, "relaxed"); }, relaxed);
}

void a_stream_that_is_destroyed_ends_its_capture() {
  const Setting s;
  void *const side = new_stream(s.api), *const event = new_event(s.api);
  void* graph = nullptr;
  int state = -1;
  s.api.stream_begin_capture(s.stream, global);
  s.api.event_record(event, s.stream);
  s.api.stream_wait(side, event, 0);
  check(s.api.stream_destroy(s.stream) == 0, "the one that began it");
  check(s.api.stream_is_capturing(side, &state) == 0 && state == 0, "the other is free");
  check(s.api.stream_end_capture(side, &graph) == error::illegal_state, "nothing to end");
}

}  // namespace

int main(int argc, char** argv) {
  return run(
      argc, argv,
      {{"captured_work_runs_once_for_each_launch", captured_work_runs_once_for_each_launch},
       {"kernels_copies_and_fills_are_captured_with_their_parameters",
        kernels_copies_and_fills_are_captured_with_their_parameters},
       {"streams_fork_and_join", streams_fork_and_join},
       {"a_fork_that_never_joins_has_no_graph", a_fork_that_never_joins_has_no_graph},
       {"two_captures_do_not_merge", two_captures_do_not_merge},
       {"a_capture_tells_its_graph_and_what_comes_before_the_next_node",
        a_capture_tells_its_graph_and_what_comes_before_the_next_node},
       {"nodes_that_are_added_by_hand_take_their_place_in_a_capture",
        nodes_that_are_added_by_hand_take_their_place_in_a_capture},
       {"a_capture_goes_into_a_graph_that_is_there", a_capture_goes_into_a_graph_that_is_there},
       {"modes_say_which_captures_forbid_calls_that_may_wait", modes_say_which_captures_forbid_calls_that_may_wait},
       {"the_thread_that_began_ends_unless_it_is_relaxed", the_thread_that_began_ends_unless_it_is_relaxed},
       {"memory_is_not_allocated_or_freed_in_a_capture", memory_is_not_allocated_or_freed_in_a_capture},
       {"calls_on_the_legacy_stream_end_captures_of_blocking_streams",
        calls_on_the_legacy_stream_end_captures_of_blocking_streams},
       {"a_wait_for_the_device_ends_all_captures_of_it", a_wait_for_the_device_ends_all_captures_of_it},
       {"streams_and_events_outside_a_capture", streams_and_events_outside_a_capture},
       {"a_stream_that_is_destroyed_ends_its_capture", a_stream_that_is_destroyed_ends_its_capture}});
}
