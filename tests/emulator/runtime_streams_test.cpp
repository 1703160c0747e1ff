// Streams and events of the runtime's double: what is ordered, what is late, and which handles are refused.
#include "runtime_support.hpp"

#include <algorithm>
#include <thread>
#include <tuple>

using namespace stator::test;

namespace {

void nothing_runs_before_somebody_waits() {
  const Api& api = open_devices("h200");
  std::string log;
  void* const stream = new_stream(api);
  check(note(stream, log, 'a') == 0 && note(stream, log, 'b') == 0, "enqueued");
  check(log.empty(), "work ran at once");
  check(api.stream_synchronize(stream) == 0 && log == "ab", "in order when waited for");
}

void work_of_other_streams_stays_late() {
  const Api& api = open_devices("h200");
  std::string log;
  void *const first = new_stream(api), *const second = new_stream(api);
  note(first, log, 'a');
  note(second, log, 'b');
  check(api.stream_synchronize(second) == 0 && log == "b", "only the second stream");
  check(api.stream_synchronize(first) == 0 && log == "ba", "then the first");
}

void an_event_orders_streams_as_of_its_record() {
  const Api& api = open_devices("h200");
  std::string log;
  void *const first = new_stream(api), *const second = new_stream(api), *const event = new_event(api);
  note(first, log, 'a');
  check(api.event_record(event, first) == 0, "recorded");
  note(first, log, 'b');
  check(api.stream_wait(second, event, 0) == 0, "waits");
  note(second, log, 'c');
  check(api.stream_synchronize(second) == 0 && log == "ac", "what the record did not cover stays late");
}

void an_unrecorded_event_is_done() {
  const Api& api = open_devices("h200");
  void* const event = new_event(api);
  check(api.event_query(event) == 0 && api.event_synchronize(event) == 0, "done");
  check(api.stream_wait(new_stream(api), event, 0) == 0, "orders nothing");
}

void polls_end() {
  const Api& api = open_devices("h200");
  std::string log;
  void *const stream = new_stream(api), *const event = new_event(api);
  note(stream, log, 'a');
  note(stream, log, 'b');
  api.event_record(event, stream);
  check(api.event_query(event) == error::not_ready, "not yet");
  int polls = 1;
  while (api.event_query(event) == error::not_ready && polls < 10) ++polls;
  check(log == "ab" && polls < 10, "done after some polls", polls);
}

void the_legacy_stream_orders_blocking_streams() {
  const Api& api = open_devices("h200");
  std::string log;
  void *const blocking = new_stream(api, 0), *const free = new_stream(api, 1);
  void *const legacy = nullptr, *const per_thread = reinterpret_cast<void*>(2);
  note(blocking, log, 'a');
  note(per_thread, log, 'b');
  note(free, log, 'x');
  note(legacy, log, 'c');
  note(blocking, log, 'd');
  check(api.stream_synchronize(blocking) == 0 && log == "abcd", "both ways; not the stream that does not block");
  check(api.stream_synchronize(reinterpret_cast<void*>(1)) == 0, "1 names the legacy stream");
}

void each_thread_has_its_default_stream() {
  const Api& api = open_devices("h200");
  std::string log;
  void* const per_thread = reinterpret_cast<void*>(2);
  note(per_thread, log, 'a');
  std::thread([&] {
    note(per_thread, log, 'b');
    api.stream_synchronize(per_thread);
  }).join();
  check(log == "b", "only the other thread's stream");
}

void destroyed_handles_are_refused() {
  const Api& api = open_devices("h200");
  std::string log;
  void *const stream = new_stream(api), *const event = new_event(api), *const other = new_stream(api);
  note(stream, log, 'a');
  api.event_record(event, stream);
  check(api.stream_wait(other, event, 0) == 0 && api.event_destroy(event) == 0, "destroyed while pending");
  check(api.stream_destroy(stream) == 0, "destroyed with work");
  check(api.stream_synchronize(other) == 0 && log == "a", "the work still runs");
  check(api.stream_query(stream) == error::invalid_resource_handle, "stream");
  check(api.event_query(event) == error::invalid_resource_handle, "event");
  check(api.last_error() == error::invalid_resource_handle && api.last_error() == 0, "last error, once");
  check(api.stream_destroy(stream) == error::invalid_resource_handle, "twice");
  check(note(stream, log, 'b') == error::invalid_resource_handle, "work");
}

void streams_have_priorities_and_a_device() {
  const Api& api = open_devices("h200,a100");
  int least = -1, greatest = 1, priority = 1, device = -1;
  check(api.stream_priority_range(&least, &greatest) == 0 && least == 0 && greatest == -5, "the range");
  for (const auto& [given, kept] : {std::pair{-3, -3}, {-9, -5}, {4, 0}}) {
    void* stream = nullptr;
    check(api.stream_create_with_priority(&stream, 1, given) == 0, "created");
    check(api.stream_priority(stream, &priority) == 0 && priority == kept, "clamped to the range", given);
  }
  check(api.stream_priority(new_stream(api), &priority) == 0 && priority == 0, "by default");
  check(api.set_device(1) == 0, "the second device");
  void* const second = new_stream(api);
  check(api.stream_device(second, &device) == 0 && device == 1, "where it was made");
  check(api.stream_device(nullptr, &device) == 0 && device == 1, "of the default stream the current one");
  check(api.set_device(0) == 0 && api.stream_device(second, &device) == 0 && device == 1, "from another device");
  check(api.stream_destroy(second) == 0, "destroyed");
  check(api.stream_device(second, &device) == error::invalid_resource_handle, "device of none");
  check(api.stream_priority(second, &priority) == error::invalid_resource_handle, "priority of none");
}

void host_functions_run_in_the_order_of_their_stream() {
  const Api& api = open_devices("h200");
  std::string log;
  void* const stream = new_stream(api);
  const auto append = [](void* data) { static_cast<std::string*>(data)->push_back('f'); };
  note(stream, log, 'a');
  check(api.launch_host_function(stream, append, &log) == 0, "enqueued");
  note(stream, log, 'b');
  check(log.empty(), "nothing runs at once");
  check(api.stream_synchronize(stream) == 0 && log == "afb", "in order");
  check(api.launch_host_function(stream, nullptr, nullptr) == error::invalid_value, "no function");
  const auto waits = [](void* data) {
    auto& [api, stream, code] = *static_cast<std::tuple<const Api*, void*, int>*>(data);
    code = api->stream_synchronize(stream);
  };
  std::tuple<const Api*, void*, int> call{&api, stream, 0};
  check(api.launch_host_function(stream, waits, &call) == 0 && api.stream_synchronize(stream) == 0, "that waits");
  check(std::get<int>(call) == error::not_permitted, "is refused the wait");
  check(api.stream_destroy(stream) == 0, "destroyed");
  check(api.launch_host_function(stream, append, &log) == error::invalid_resource_handle, "of none");
}

void elapsed_time_wants_timing_and_completion() {
  const Api& api = open_devices("h200");
  void *const stream = new_stream(api), *const start = new_event(api), *const end = new_event(api);
  void* const silent = new_event(api, 2);
  float milliseconds = -1;
  check(api.event_elapsed(&milliseconds, start, end) == error::invalid_resource_handle, "not recorded");
  for (void* const event : {start, end, silent}) api.event_record(event, stream);
  check(api.event_elapsed(&milliseconds, start, end) == error::not_ready, "not complete");
  api.stream_synchronize(stream);
  check(api.event_elapsed(&milliseconds, start, end) == 0 && milliseconds >= 0, "measured");
  check(api.event_elapsed(&milliseconds, start, silent) == error::invalid_resource_handle, "without timing");
}

void devices_have_their_own_streams() {
  const Api& api = open_devices("h200,a100");
  int count = 0, major = 0;
  check(api.device_count(&count) == 0 && count == 2, "two devices", count);
  check(api.device_attribute(&major, 75, 1) == 0 && major == 8, "an A100", major);
  void *const stream = new_stream(api), *const event = new_event(api);
  check(api.set_device(1) == 0 && api.set_device(2) == error::invalid_device, "devices");
  check(api.event_record(event, new_stream(api)) == error::invalid_resource_handle, "event and stream of two devices");
  check(api.event_record(event, stream) == 0 && api.stream_wait(new_stream(api), event, 0) == 0,
        "waits across devices");
  int current = -1;
  std::thread([&] { api.get_device(&current); }).join();
  check(current == 0 && api.get_device(&current) == 0 && current == 1, "current per thread", current);
}

// With a seed the order is one of those that streams and events permit, the same in each run.
std::string order_with(const char* text) {
  const Api& api = open_devices(text);
  std::string log;
  void* streams[] = {new_stream(api), new_stream(api), new_stream(api)};
  for (char letter = 'a'; letter < 'g'; ++letter)
    for (int i = 0; i < 3; ++i) note(streams[i], log, char(letter + 8 * i));
  for (void* const stream : streams) api.stream_synchronize(stream);
  return log;
}

void a_capture_takes_work_and_runs_none() {
  const Api& api = open_devices("h200");
  void* graph = nullptr;
  std::string log;
  void* const stream = new_stream(api);
  int state = -1;
  check(api.stream_is_capturing(stream, &state) == 0 && state == 0, "not yet");
  check(api.stream_begin_capture(stream, 0) == 0 && api.stream_begin_capture(stream, 0) == error::illegal_state,
        "once");
  check(api.stream_is_capturing(stream, &state) == 0 && state == 1, "captured");
  check(stator_emulator_services()->is_capturing(stream), "libraries see it");
  note(stream, log, 'a');
  check(api.stream_end_capture(stream, &graph) == 0 && api.stream_end_capture(stream, &graph) == error::illegal_state,
        "ends once");
  note(stream, log, 'b');
  check(api.stream_synchronize(stream) == 0 && log == "b", "what came in between is the graph's: " + log);
}

// What ends a capture: the call is refused, and so is the end.
void nothing_crosses_the_border_of_a_capture() {
  const Api& api = open_devices("h200");
  void* graph = nullptr;
  void *const captured = new_stream(api), *const other = new_stream(api), *const event = new_event(api);
  int state = -1;
  const auto ended = [&](int code, int expected, const char* what) {
    check(code == expected, what, code);
    check(api.stream_is_capturing(captured, &state) == 0 && state == 2, "it is not valid any more");
    check(api.stream_end_capture(captured, &graph) == error::capture_invalidated, "and has no graph");
  };
  check(api.event_record(event, other) == 0 && api.stream_begin_capture(captured, 0) == 0, "begun");
  ended(api.stream_wait(captured, event, 0), error::capture_isolation, "a wait for work outside");
  check(api.stream_begin_capture(captured, 0) == 0, "begun");
  ended(api.stream_synchronize(captured), error::capture_unsupported, "a wait of the host");
  check(api.stream_begin_capture(captured, 0) == 0, "begun");
  ended(api.device_synchronize(), error::capture_unsupported, "a wait for the device");
  check(api.stream_begin_capture(captured, 0) == 0 && api.event_record(event, captured) == 0, "begun");
  ended(api.event_query(event), error::captured_event, "a query of an event in it");
  check(api.stream_wait(other, event, 0) == error::captured_event, "which is of a capture that has ended");
}

void a_stream_that_waits_for_a_captured_event_joins_the_capture() {
  const Api& api = open_devices("h200");
  void* graph = nullptr;
  void *const captured = new_stream(api), *const other = new_stream(api), *const event = new_event(api);
  check(api.stream_begin_capture(captured, 0) == 0 && api.event_record(event, captured) == 0, "begun");
  check(api.stream_wait(other, event, 0) == 0, "joins");
  int state = 0;
  check(api.stream_is_capturing(other, &state) == 0 && state == 1, "and is captured");
  std::string log;
  note(other, log, 'a');
  check(api.stream_end_capture(other, &graph) == error::capture_unmatched, "which the first stream ends");
  check(api.stream_end_capture(captured, &graph) == error::capture_unjoined, "and it has not come back");
  check(api.stream_synchronize(other) == 0, "free again");
}

void the_legacy_stream_and_a_capture_that_waits_for_it() {
  const Api& api = open_devices("h200");
  void* graph = nullptr;
  void *const captured = new_stream(api, 0), *const event = new_event(api);
  int state = 0;
  check(api.stream_begin_capture(nullptr, 0) == error::capture_unsupported, "the legacy stream is never captured");
  check(api.stream_begin_capture(captured, 0) == 0, "begun");
  check(api.stream_is_capturing(nullptr, &state) == error::capture_implicit, "refused, and nothing ends");
  check(api.stream_is_capturing(captured, &state) == 0 && state == 1, "still valid");
  check(api.event_record(event, nullptr) == error::capture_implicit, "refused");
  check(api.stream_end_capture(captured, &graph) == error::capture_invalidated, "which ended it");
}

void seeds_reorder_streams() {
  const std::string late = order_with("h200"), drawn = order_with("h200:seed=1");
  check(late == "abcdefijklmnqrstuv", "stream by stream: " + late);
  check(drawn != late && drawn == order_with("h200:seed=1"), "another order, repeatable: " + drawn);
  for (int i = 0; i < 3; ++i) {
    std::string own;
    for (const char letter : drawn)
      if (letter >= 'a' + 8 * i && letter < 'g' + 8 * i) own.push_back(letter);
    check(own.size() == 6 && std::is_sorted(own.begin(), own.end()), "each stream's order stays: " + own);
  }
}

void unknown_devices_are_named() {
  char reason[1024] = "";
  check(stator_emulator_open("h300", reason, sizeof reason) == nullptr, "no such profile");
  check(std::strstr(reason, "'h300'") && std::strstr(reason, "h200"), reason);
  check(stator_emulator_open("h200:fast", reason, sizeof reason) == nullptr && std::strstr(reason, "'fast'"), reason);
  check(stator_emulator_open("h200:seed=x", reason, sizeof reason) == nullptr && std::strstr(reason, "seed=x"), reason);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv,
             {{"nothing_runs_before_somebody_waits", nothing_runs_before_somebody_waits},
              {"work_of_other_streams_stays_late", work_of_other_streams_stays_late},
              {"an_event_orders_streams_as_of_its_record", an_event_orders_streams_as_of_its_record},
              {"an_unrecorded_event_is_done", an_unrecorded_event_is_done},
              {"polls_end", polls_end},
              {"the_legacy_stream_orders_blocking_streams", the_legacy_stream_orders_blocking_streams},
              {"each_thread_has_its_default_stream", each_thread_has_its_default_stream},
              {"destroyed_handles_are_refused", destroyed_handles_are_refused},
              {"streams_have_priorities_and_a_device", streams_have_priorities_and_a_device},
              {"host_functions_run_in_the_order_of_their_stream", host_functions_run_in_the_order_of_their_stream},
              {"elapsed_time_wants_timing_and_completion", elapsed_time_wants_timing_and_completion},
              {"devices_have_their_own_streams", devices_have_their_own_streams},
              {"a_capture_takes_work_and_runs_none", a_capture_takes_work_and_runs_none},
              {"nothing_crosses_the_border_of_a_capture", nothing_crosses_the_border_of_a_capture},
              {"a_stream_that_waits_for_a_captured_event_joins_the_capture",
               a_stream_that_waits_for_a_captured_event_joins_the_capture},
              {"the_legacy_stream_and_a_capture_that_waits_for_it", the_legacy_stream_and_a_capture_that_waits_for_it},
              {"seeds_reorder_streams", seeds_reorder_streams},
              {"unknown_devices_are_named", unknown_devices_are_named}});
}
