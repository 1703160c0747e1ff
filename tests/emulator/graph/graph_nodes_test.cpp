// Graphs that are built by hand: nodes, edges, parameters, copies.
#include "graph_support.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

using namespace stator::test;

namespace {

void nodes_of_each_type_do_their_work() {
  const Setting s;
  std::string log;
  Letter letter{&log, 'x'};
  void *const first = s.memory(256), *const second = s.memory(256), *const graph = new_graph(s);
  void *kernel = nullptr, *copy = nullptr, *fill = nullptr, *empty = nullptr;
  NodePosition position = at(graph);
  const Filling filling(first, 7, 64);
  check(s.graph.add_kernel(&kernel, &position, &filling.call) == 0, "a kernel");
  const CopyCall copies{.to = second, .from = first, .bytes = 256, .kind = inside_device};
  const std::vector after_kernel{kernel};
  position = at(graph, after_kernel);
  check(s.graph.add_copy(&copy, &position, &copies) == 0, "a copy");
  // Two rows of three words, 16 bytes apart.
  const FillCall fills{.to = second, .pitch = 16, .value = 9, .element_bytes = 4, .width = 3, .height = 2};
  const std::vector after_copy{copy};
  position = at(graph, after_copy);
  check(s.graph.add_fill(&fill, &position, &fills) == 0, "a fill");
  const std::vector after_fill{fill};
  position = at(graph, after_fill);
  check(s.graph.add_empty(&empty, &position) == 0, "an empty one");
  add_letter(s, graph, letter, {empty});
  check(s.types(graph) == std::vector<int>{kernel_node, copy_node, fill_node, empty_node, host_node}, "types");
  check(s.launch(s.executable(graph)) == 0 && log == "x", "launched");
  std::vector<uint32_t> words(8);
  s.api.copy(words.data(), second, 32, to_host, s.stream);
  s.api.stream_synchronize(s.stream);
  check(words == std::vector<uint32_t>{9, 9, 9, 7, 9, 9, 9, 7}, "rows");
}

void bad_parameters_are_refused_when_a_node_is_made() {
  const Setting s;
  void *const memory = s.memory(64), *const graph = new_graph(s), *const other = new_graph(s);
  void* node = nullptr;
  const NodePosition position = at(graph);
  const Filling large(memory, 1, 1025);
  check(s.graph.add_kernel(&node, &position, &large.call) == error::invalid_configuration, "too many threads");
  CopyCall copy{.to = memory, .from = memory, .bytes = 65, .kind = inside_device};
  check(s.graph.add_copy(&node, &position, &copy) == error::invalid_value, "beyond the allocation");
  copy.bytes = 0;
  check(s.graph.add_copy(&node, &position, &copy) == error::invalid_value, "nothing");
  FillCall fill{.to = memory, .value = 1, .element_bytes = 3, .width = 4, .height = 1};
  check(s.graph.add_fill(&node, &position, &fill) == error::invalid_value, "elements of three bytes");
  fill = {.to = memory, .pitch = 8, .value = 1, .element_bytes = 4, .width = 4, .height = 2};
  check(s.graph.add_fill(&node, &position, &fill) == error::invalid_value, "rows that overlap");
  const HostCall host{};
  check(s.graph.add_host(&node, &position, &host) == error::invalid_value, "no function");
  void* stranger = nullptr;
  const NodePosition there = at(other);
  check(s.graph.add_empty(&stranger, &there) == 0, "a node elsewhere");
  const std::vector foreign{stranger}, twice{stranger, stranger};
  NodePosition bad = at(graph, foreign);
  check(s.graph.add_empty(&node, &bad) == error::invalid_value, "after a node of another graph");
  bad = at(other, twice);
  check(s.graph.add_empty(&node, &bad) == error::invalid_value, "after a node twice");
  check(s.nodes(graph).empty(), "nothing was added");
}

struct Diamond {
  explicit Diamond(const Setting& s) : graph(new_graph(s)) {
    nodes.push_back(add_letter(s, graph, letters[0]));
    nodes.push_back(add_letter(s, graph, letters[1], {nodes[0]}));
    nodes.push_back(add_letter(s, graph, letters[2], {nodes[0]}));
    nodes.push_back(add_letter(s, graph, letters[3], {nodes[1], nodes[2]}));
  }
  Diamond(const Diamond&) = delete;

  std::string log;
  Letter letters[4] = {{&log, 'a'}, {&log, 'b'}, {&log, 'c'}, {&log, 'd'}};
  void* graph;
  std::vector<void*> nodes;
};

void a_graph_tells_its_nodes_and_edges() {
  const Setting s;
  const Diamond d(s);
  check(s.nodes(d.graph) == d.nodes, "in the order in which they came");
  size_t count = 1;
  std::vector<void*> found(8), ends(8);
  check(s.graph.roots(d.graph, found.data(), &count) == 0 && count == 1 && found[0] == d.nodes[0], "the root");
  check(s.graph.edges(d.graph, nullptr, nullptr, &count) == 0 && count == 4, "four edges", count);
  count = 8;
  check(s.graph.edges(d.graph, found.data(), ends.data(), &count) == 0 && count == 4, "listed", count);
  check(found[3] == d.nodes[2] && ends[3] == d.nodes[3] && !found[4], "and no more");
  count = 8;
  check(s.graph.node_dependents(d.nodes[0], found.data(), &count) == 0 && count == 2, "dependents", count);
  check(found[0] == d.nodes[1] && found[1] == d.nodes[2], "of the root");
  check(s.before(d.nodes[3]) == std::vector{d.nodes[1], d.nodes[2]}, "dependencies");
}

void edges_are_added_and_removed_and_cycles_do_not_run() {
  const Setting s;
  const Diamond d(s);
  void* executable = nullptr;
  check(s.graph.add_edges(d.graph, &d.nodes[2], &d.nodes[1], 1) == 0, "c before b");
  check(s.graph.add_edges(d.graph, &d.nodes[2], &d.nodes[1], 1) == error::invalid_value, "twice");
  check(s.launch(s.executable(d.graph)) == 0 && d.log == "acbd", d.log);
  check(s.graph.add_edges(d.graph, &d.nodes[3], &d.nodes[0], 1) == 0, "a cycle");
  check(s.graph.instantiate(&executable, d.graph, 0) == error::invalid_value, "is found");
  check(s.graph.remove_edges(d.graph, &d.nodes[3], &d.nodes[0], 1) == 0, "removed");
  check(s.graph.remove_edges(d.graph, &d.nodes[3], &d.nodes[0], 1) == error::invalid_value, "which is gone");
  check(s.graph.instantiate(&executable, d.graph, 0) == 0, "fine again");
}

void a_node_that_is_destroyed_takes_its_edges_along() {
  const Setting s;
  const Diamond d(s);
  check(s.graph.node_destroy(d.nodes[1]) == 0 && s.graph.node_destroy(d.nodes[1]) == error::invalid_value, "once");
  check(s.before(d.nodes[3]) == std::vector{d.nodes[2]}, "the edge is gone");
  check(s.launch(s.executable(d.graph)) == 0 && d.log == "acd", d.log);
}

void parameters_are_given_back_and_changed() {
  const Setting s;
  void *const memory = s.memory(256), *const other = s.memory(256), *const graph = new_graph(s);
  void *kernel = nullptr, *copy = nullptr, *fill = nullptr;
  const NodePosition position = at(graph);
  const Filling filling(memory, 7, 32), changed(other, 8, 64);
  CopyCall copies{.to = memory, .from = other, .bytes = 16, .kind = inside_device};
  FillCall fills{.to = memory, .value = 3, .element_bytes = 2, .width = 8};
  s.graph.add_kernel(&kernel, &position, &filling.call);
  s.graph.add_copy(&copy, &position, &copies);
  s.graph.add_fill(&fill, &position, &fills);
  KernelCall call;
  check(s.graph.get_kernel(kernel, &call) == 0 && call.function == &fill_kernel && call.block[0] == 32, "the kernel");
  check(*static_cast<void**>(call.arguments[0]) == memory && *static_cast<uint32_t*>(call.arguments[1]) == 7,
        "its own");
  check(s.graph.set_kernel(kernel, &changed.call) == 0 && s.graph.get_kernel(kernel, &call) == 0, "changed");
  check(*static_cast<void**>(call.arguments[0]) == other && call.block[0] == 64, "all of it");
  copies.bytes = 32;
  check(s.graph.set_copy(copy, &copies) == 0 && s.graph.get_copy(copy, &copies) == 0 && copies.bytes == 32, "a copy");
  fills.value = 4;
  check(s.graph.set_fill(fill, &fills) == 0 && s.graph.get_fill(fill, &fills) == 0 && fills.value == 4, "a fill");
  check(s.graph.get_copy(fill, &copies) == error::invalid_value, "of another type");
  check(s.graph.get_copy(kernel, &copies) == error::invalid_value, "as every type");
  check(s.graph.set_fill(copy, &fills) == error::invalid_value, "set on another type");
  std::string log;
  void* const taken = s.captured([&] { note(s.stream, log, 'a'); });
  check(s.graph.get_kernel(s.nodes(taken)[0], &call) == error::invalid_device_function, "a library's kernel");
}

void packed_parameters_are_those_of_the_kernel() {
  const Setting s;
  struct {
    void* memory;
    uint32_t value;
  } packed{s.memory(64), 5};
  void *const graph = new_graph(s), *node = nullptr;
  const NodePosition position = at(graph);
  KernelCall call{.function = &fill_kernel, .packed = &packed, .packed_bytes = 8};
  check(s.graph.add_kernel(&node, &position, &call) == error::invalid_value, "too few bytes");
  call.packed_bytes = 12;
  check(s.graph.add_kernel(&node, &position, &call) == 0 && s.launch(s.executable(graph)) == 0, "launched");
  check(s.word(packed.memory) == 5, "written");
}

void clones_and_children_are_copies() {
  const Setting s;
  const Diamond d(s);
  std::string log;
  Letter x{&log, 'x'}, y{&log, 'y'};
  void *clone = nullptr, *same = nullptr, *child = nullptr, *inner = nullptr;
  check(s.graph.clone(&clone, d.graph) == 0 && s.nodes(clone).size() == 4 && s.nodes(clone) != d.nodes, "a clone");
  check(s.graph.node_in_clone(&same, d.nodes[2], clone) == 0 && same == s.nodes(clone)[2], "its node");
  check(s.graph.node_in_clone(&same, d.nodes[2], d.graph) == error::invalid_value, "not of the graph itself");
  void* const parent = new_graph(s);
  void* const first = add_letter(s, parent, x);
  const std::vector after{first};
  const NodePosition position = at(parent, after);
  check(s.graph.add_child(&child, &position, d.graph) == 0 && s.types(parent)[1] == child_node, "a child");
  check(s.graph.destroy(d.graph) == 0, "the original is not needed");
  check(s.graph.get_child(child, &inner) == 0 && s.nodes(inner).size() == 4, "its graph");
  check(s.graph.destroy(inner) == error::invalid_value, "which its node owns");
  add_letter(s, inner, y, {s.nodes(inner)[3]});
  check(s.launch(s.executable(parent)) == 0 && log == "xy" && d.log == "abcd", "all of it: " + log + d.log);
  check(s.launch(s.executable(clone)) == 0 && d.log == "abcdabcd", "the clone has no part in that");
}

void handles_of_what_is_gone_are_refused() {
  const Setting s;
  const Diamond d(s);
  void *made = nullptr, *const executable = s.executable(d.graph);
  size_t count = 0;
  check(s.graph.destroy(d.graph) == 0 && s.graph.destroy(d.graph) == error::invalid_value, "once");
  check(s.graph.nodes(d.graph, nullptr, &count) == error::invalid_value, "its nodes");
  check(s.graph.node_destroy(d.nodes[0]) == error::invalid_value, "a node");
  check(s.graph.instantiate(&made, d.graph, 0) == error::invalid_value, "the graph");
  check(s.launch(executable) == 0 && d.log == "abcd", "what was instantiated lives");
  check(s.graph.executable_destroy(executable) == 0 && s.launch(executable) == error::invalid_value,
        "until it is gone");
}

void a_picture_names_kernels_and_edges() {
  const Setting s;
  void *const memory = s.memory(64), *const graph = new_graph(s);
  void *kernel = nullptr, *fill = nullptr;
  NodePosition position = at(graph);
  const Filling filling(memory, 7, 16);
  const FillCall fills{.to = memory, .value = 3, .width = 8};
  s.graph.add_kernel(&kernel, &position, &filling.call);
  const std::vector after{kernel};
  position = at(graph, after);
  s.graph.add_fill(&fill, &position, &fills);
  const auto path = std::filesystem::temp_directory_path() / ("stator-graph-" + std::to_string(getpid()) + ".dot");
  const auto text = [&](unsigned flags) {
    check(s.graph.write_dot(graph, path.c_str(), flags) == 0, "written");
    std::stringstream all;
    all << std::ifstream(path).rdbuf();
    return all.str();
  };
  const std::string plain = text(0), verbose = text(1);
  std::filesystem::remove(path);
  check(plain.find("digraph") == 0 && plain.find("KERNEL\\nfill") != std::string::npos, plain);
  check(plain.find("graph_1_node_0\" -> \"graph_1_node_1") != std::string::npos, plain);
  check(plain.find("16,1,1") == std::string::npos && verbose.find("16,1,1") != std::string::npos, verbose);
  check(s.graph.write_dot(graph, "/nowhere/at/all.dot", 0) == error::operating_system, "no such folder");
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv,
             {{"nodes_of_each_type_do_their_work", nodes_of_each_type_do_their_work},
              {"bad_parameters_are_refused_when_a_node_is_made", bad_parameters_are_refused_when_a_node_is_made},
              {"a_graph_tells_its_nodes_and_edges", a_graph_tells_its_nodes_and_edges},
              {"edges_are_added_and_removed_and_cycles_do_not_run", edges_are_added_and_removed_and_cycles_do_not_run},
              {"a_node_that_is_destroyed_takes_its_edges_along", a_node_that_is_destroyed_takes_its_edges_along},
              {"parameters_are_given_back_and_changed", parameters_are_given_back_and_changed},
              {"packed_parameters_are_those_of_the_kernel", packed_parameters_are_those_of_the_kernel},
              {"clones_and_children_are_copies", clones_and_children_are_copies},
              {"handles_of_what_is_gone_are_refused", handles_of_what_is_gone_are_refused},
              {"a_picture_names_kernels_and_edges", a_picture_names_kernels_and_edges}});
}
