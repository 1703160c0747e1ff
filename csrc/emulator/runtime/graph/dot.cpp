// Pictures of graphs.
#include "emulator/runtime/graph/graph.hpp"

#include <cstdio>

namespace stator::emulator::runtime {
namespace {

constexpr uint32_t verbose = 1, with_kernels = 1 << 2, with_copies = 1 << 3, with_fills = 1 << 4,
                   with_handles = 1 << 10;

std::string address(const void* pointer) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", pointer);
  return text;
}

std::string triple(const Dim3& d) {
  return std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z);
}

const char* name_of(NodeType type) {
  switch (type) {
    case NodeType::kernel: return "KERNEL";
    case NodeType::copy: return "MEMCPY";
    case NodeType::fill: return "MEMSET";
    case NodeType::host: return "HOST";
    case NodeType::graph: return "GRAPH";
    case NodeType::empty: return "EMPTY";
    case NodeType::event_wait: return "EVENT_WAIT";
    case NodeType::event_record: return "EVENT_RECORD";
    case NodeType::conditional: return "CONDITIONAL";
  }
  return "";
}

// Of a field of a label; a name may hold what ends one.
std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string label_of(const Node& node, uint32_t flags) {
  const auto shows = [&](uint32_t flag) { return flags & (flag | verbose); };
  std::string text = name_of(node.type());
  const Operation& operation = *node.operation;
  if (const auto* kernel = dynamic_cast<const KernelOperation*>(&operation)) {
    text += "\\n" + quoted(kernel->kernel->name);
    if (shows(with_kernels))
      text += "\\n<<<" + triple(kernel->config.grid) + "; " + triple(kernel->config.block) + "; " +
              std::to_string(kernel->config.dynamic_shared) + ">>>";
  } else if (const auto* copy = dynamic_cast<const CopyOperation*>(&operation)) {
    const char* const kinds[] = {"HtoH", "HtoD", "DtoH", "DtoD", "default"};
    text += std::string("\\n") + kinds[copy->direction];
    if (shows(with_copies))
      text += "\\n" + address(copy->from) + " to " + address(copy->to) + ", " + std::to_string(copy->bytes) + " bytes";
  } else if (const auto* fill = dynamic_cast<const FillOperation*>(&operation)) {
    const FillCall& c = fill->call;
    if (shows(with_fills))
      text += "\\n" + address(c.to) + ", value " + std::to_string(c.value) + ", " + std::to_string(c.height) + " x " +
              std::to_string(c.width) + " of " + std::to_string(c.element_bytes) + " bytes";
  } else if (!operation.what.empty()) {
    text += "\\n" + quoted(operation.what);
  }
  if (!node.what.empty() && node.what != operation.what) text += "\\n" + quoted(node.what);
  if (shows(with_handles)) text += "\\n" + address(node.handle);
  return text;
}

std::string body(const Graph& graph, const std::string& name, uint32_t flags) {
  const auto indices = graph.indices();
  const auto node_name = [&](const Node* node) {
    return "\"" + name + "_node_" + std::to_string(indices.at(node)) + "\"";
  };
  std::string text = "subgraph cluster_" + name + " {\nlabel=\"" + name + "\";\n";
  for (const auto& node : graph.nodes) {
    const std::string mine = node_name(node.get());
    text += mine + " [shape=box label=\"" + std::to_string(indices.at(node.get())) + "\\n" + label_of(*node, flags) +
            "\"];\n";
    for (const Node* before : node->dependencies) text += node_name(before) + " -> " + mine + ";\n";
    for (size_t i = 0; i < node->bodies.size(); ++i)
      text +=
          body(*node->bodies[i], name + "_" + std::to_string(indices.at(node.get())) + "_" + std::to_string(i), flags);
  }
  return text + "}\n";
}

}  // namespace

bool write_dot(const Graph& graph, const char* path, uint32_t flags) {
  const std::string text = "digraph dot {\n" + body(graph, "graph_1", flags) + "}\n";
  std::FILE* const file = std::fopen(path, "w");
  if (!file) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return (std::fclose(file) == 0) && written;
}

}  // namespace stator::emulator::runtime
