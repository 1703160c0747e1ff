// What the tests of graphs share.
#pragma once

#include "runtime_support.hpp"

namespace stator::test {

using emulator::runtime::ConditionalCall;
using emulator::runtime::CopyCall;
using emulator::runtime::FillCall;
using emulator::runtime::GraphApi;
using emulator::runtime::HostCall;
using emulator::runtime::KernelCall;
using emulator::runtime::NodePosition;

enum Mode : int { global = 0, local = 1, relaxed = 2 };
enum Type : int { kernel_node = 0, copy_node = 1, fill_node = 2, host_node = 3, child_node = 4, empty_node = 5 };
enum Kind : int { to_device = 1, to_host = 2, inside_device = 3 };

// Devices with the kernels of runtime_support.hpp, and a stream.
struct Setting {
  explicit Setting(const char* text = "h200") : api(open_devices(text)), graph(api.graph), stream(new_stream(api)) {
    register_kernels(api);
  }

  // The graph of what `f` gives the stream.
  template <class F>
  void* captured(F f, int mode = global) const {
    void* made = nullptr;
    check(api.stream_begin_capture(stream, mode) == 0, "begun");
    f();
    check(api.stream_end_capture(stream, &made) == 0 && made, "captured");
    return made;
  }
  void* executable(void* of) const {
    void* made = nullptr;
    check(graph.instantiate(&made, of, 0) == 0 && made, "instantiated");
    return made;
  }
  int launch(void* executable) const {
    const int code = graph.launch(executable, stream);
    return code ? code : api.stream_synchronize(stream);
  }
  void* memory(size_t bytes) const { return new_memory(api, bytes, stream); }
  // A word of the device.
  uint32_t word(void* pointer) const {
    uint32_t value = 0;
    api.copy(&value, pointer, sizeof value, to_host, stream);
    check(api.stream_synchronize(stream) == 0, "read");
    return value;
  }
  std::vector<void*> nodes(void* of) const {
    size_t count = 0;
    check(graph.nodes(of, nullptr, &count) == 0, "counted");
    std::vector<void*> found(count);
    check(graph.nodes(of, found.data(), &count) == 0 && count == found.size(), "listed");
    return found;
  }
  std::vector<int> types(void* of) const {
    std::vector<int> found;
    for (void* const node : nodes(of)) check(graph.node_type(node, &found.emplace_back(-1)) == 0, "a type");
    return found;
  }
  std::vector<void*> before(void* node) const {
    size_t count = 16;
    std::vector<void*> found(count);
    check(graph.node_dependencies(node, found.data(), &count) == 0, "dependencies");
    found.resize(count);
    return found;
  }

  const Api& api;
  const GraphApi& graph;
  void* const stream;
};

// A call that fills words, whose parameters live as long as it.
struct Filling {
  Filling(void* to, uint32_t with, uint32_t threads = 1)
      : memory(to),
        value(with),
        arguments{&memory, &value},
        call{.function = &fill_kernel, .block = {threads, 1, 1}, .arguments = arguments} {}
  Filling(const Filling&) = delete;

  void* memory;
  uint32_t value;
  void* arguments[2];
  KernelCall call;
};

inline void* new_graph(const Setting& s) {
  void* made = nullptr;
  check(s.graph.create(&made, 0) == 0 && made, "a graph");
  return made;
}

inline NodePosition at(void* graph, const std::vector<void*>& after = {}) {
  return {.graph = graph, .after = after.data(), .count = after.size()};
}

// A node that writes its letter when it runs.
struct Letter {
  std::string* log;
  char letter;
  HostCall call() {
    return {
        .function = [](void* self) { static_cast<Letter*>(self)->log->push_back(static_cast<Letter*>(self)->letter); },
        .argument = this};
  }
};

inline void* add_letter(const Setting& s, void* graph, Letter& letter, const std::vector<void*>& after = {}) {
  void* node = nullptr;
  const NodePosition position = at(graph, after);
  const HostCall call = letter.call();
  check(s.graph.add_host(&node, &position, &call) == 0 && node, "a node");
  return node;
}

}  // namespace stator::test
