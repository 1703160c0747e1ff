// Whether a launch's arguments are of the kind that the capture saw: nothing else of a captured call can be changed.
#include "core/text.hpp"
#include "graphs/graph.hpp"
#include "memory/overlap.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace stator {
namespace {

constexpr uint16_t launch_op = call::graph_launch;
constexpr uintptr_t alignment = 64;

int64_t distance_of(const Array& from, const Array& to) {
  return static_cast<const char*>(to.data_ptr()) - static_cast<const char*>(from.data_ptr());
}

bool same_strides(const GraphArgument& captured, const Array& array) {
  for (int d = 0; d < array.ndim(); ++d)
    if (captured.shape[d] > 1 && captured.strides[d] != array.strides()[d]) return false;
  return true;
}

// Calls f(first, second) for the pairs of arguments whose extents meet, first < second.
template <class F>
void for_each_meeting(std::span<const Array* const> arguments, F f) {
  struct Reach {
    const char *begin, *end;
    size_t index;
  };
  std::vector<Reach> reaches;
  reaches.reserve(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Extent extent = extent_of(*arguments[i]);
    const char* const memory = static_cast<const char*>(arguments[i]->data_ptr());
    if (arguments[i]->size() != 0) reaches.push_back({memory + extent.begin, memory + extent.end, i});
  }
  std::sort(reaches.begin(), reaches.end(), [](const Reach& a, const Reach& b) { return a.begin < b.begin; });
  for (auto a = reaches.begin(); a != reaches.end(); ++a)
    for (auto b = a + 1; b != reaches.end() && b->begin < a->end; ++b)
      f(std::min(a->index, b->index), std::max(a->index, b->index));
}

}  // namespace

void GraphBox::note_arguments(std::span<const Array* const> arguments) {
  arguments_.clear();
  overlaps_.clear();
  for (const Array* x : arguments) arguments_.push_back({x->dtype(), x->shape(), x->strides()});
  for_each_meeting(arguments, [&](size_t first, size_t second) {
    const Array &a = *arguments[first], &b = *arguments[second];
    if (may_overlap(a, b)) overlaps_.push_back({first, second, distance_of(a, b)});
  });
}

void GraphBox::check_argument(const Array& array, size_t index) const {
  const GraphArgument& captured = arguments_[index];
  const GraphSlot& slot = slots_[index];
  const Buffer& buffer = buffer_of(array, op_name(launch_op));
  const auto text = [&] { return "argument " + std::to_string(index); };
  if (&buffer.context() != &context_)
    throw BackendMismatchError(op_text(launch_op), text() + " is an array of another backend",
                               "Move it with to_device()");
  if (array.dtype() != captured.dtype)
    throw DTypeError(op_text(launch_op),
                     text() + " has dtype " + std::string(name(array.dtype())) + ", and had " +
                         std::string(name(captured.dtype)) + " in the capture",
                     "Convert it with astype(), or capture again");
  if (!(array.shape() == captured.shape))
    throw ShapeError(
        op_text(launch_op),
        text() + " has shape " + str(array.shape()) + ", and had " + str(captured.shape) + " in the capture",
        "Give an array of that shape, or capture again");
  if (array.size() != 0 && !same_strides(captured, array))
    throw ValueError(
        op_text(launch_op),
        text() + " has strides " + str(array.strides()) + ", and had " + str(captured.strides) + " in the capture",
        "Copy it to that layout, or capture again");
  if ((reinterpret_cast<uintptr_t>(array.data_ptr()) - reinterpret_cast<uintptr_t>(slot.captured)) % alignment)
    throw ValueError(op_text(launch_op),
                     text() + " begins at another distance from a multiple of " + std::to_string(alignment) +
                         " bytes than in the capture",
                     "Copy it, or capture again");
  if (slot.written && buffer.read_only())
    throw ValueError(op_text(launch_op), "the graph writes to " + text() + ", which is read-only", "Copy it first");
}

// Those that shared memory in the capture share it now, at the same distance; of others none that is written to does.
void GraphBox::check_overlaps(std::span<const Array* const> arguments) const {
  const auto refuse = [](size_t first, size_t second, const char* what) {
    throw ValueError(op_text(launch_op),
                     "arguments " + std::to_string(first) + " and " + std::to_string(second) + what + " in the capture",
                     "Give arrays that share memory as then, or capture again");
  };
  for (const GraphOverlap& pair : overlaps_)
    if (distance_of(*arguments[pair.first], *arguments[pair.second]) != pair.distance)
      refuse(pair.first, pair.second, " do not share memory as they did");
  const auto shared = [&](size_t first, size_t second) {
    return std::any_of(overlaps_.begin(), overlaps_.end(),
                       [=](const GraphOverlap& pair) { return pair.first == first && pair.second == second; });
  };
  const std::span<const GraphSlot> slots(slots_.data(), arguments.size());
  if (std::none_of(slots.begin(), slots.end(), [](const GraphSlot& slot) { return slot.written; })) return;
  for_each_meeting(arguments, [&](size_t first, size_t second) {
    if ((slots[first].written || slots[second].written) && !shared(first, second) &&
        may_overlap(*arguments[first], *arguments[second]))
      refuse(first, second, " share memory, and did not");
  });
}

void GraphBox::check_arguments(std::span<const Array* const> arguments) const {
  if (arguments.size() != arguments_.size())
    throw ValueError(
        op_text(launch_op),
        "got " + std::to_string(arguments.size()) + " arguments for a graph of " + std::to_string(arguments_.size()),
        "Give those of bind(), in that order");
  for (size_t i = 0; i < arguments.size(); ++i) check_argument(*arguments[i], i);
  check_overlaps(arguments);
}

}  // namespace stator
