// The states of random generators in a graph's memory, which its launches draw from and advance.
#include "core/text.hpp"
#include "graphs/graph.hpp"
#include "params/random.hpp"
#include "programs/stream_kernel.hpp"

#include <string>

namespace stator {
namespace {

void set_state(StreamBox& stream, const params::Draws& from, uint64_t* to, uint16_t op) {
  const StreamKernel kernel(stream, op);
  kernels::random::set_state(kernel.queue(), {.from = from, .to = to});
}

}  // namespace

void advance_states(const GraphCapture& capture, StreamBox& stream, std::span<const uint64_t> drawn) {
  const std::vector<GraphCapture::State> states = capture.states();
  if (drawn.size() != states.size())
    throw ValueError(
        op_text(call::capture),
        std::to_string(drawn.size()) + " numbers of draws for " + std::to_string(states.size()) + " states",
        "Give one for each state that was added");
  for (size_t i = 0; i < states.size(); ++i)
    if (drawn[i]) set_state(stream, {0, drawn[i], states[i].memory}, states[i].memory, call::capture);
}

void GraphBox::require_states(std::span<const random::State> states) const {
  if (states.size() == states_.size()) return;
  throw ValueError(
      op_text(call::graph_launch),
      std::to_string(states.size()) + " states for a graph that draws from " + std::to_string(states_.size()),
      "Give one for each that was added to the capture");
}

// Nothing is written where the launch before has left the state in the memory.
void GraphBox::write_states(StreamBox& on, std::span<const random::State> states) {
  const std::shared_ptr<GraphCapture> outer = on.capture();
  for (size_t i = 0; i < states_.size(); ++i) {
    DrawState& own = states_[i];
    const random::State given = states[i];
    const bool there = own.known && own.now.seed == given.seed && own.now.counter == given.counter;
    own.known = false;
    own.is_part = own.is_part || outer;
    const params::Draws from =
        outer ? outer->draws(given.seed, given.counter) : params::Draws{given.seed, given.counter, nullptr};
    if (outer || !there) set_state(on, from, own.memory, call::graph_launch);
    own.now = {given.seed, given.counter + own.drawn};
  }
}

// The graphs that this one is a part of write to its memory too.
void GraphBox::keep_states() {
  for (DrawState& own : states_) own.known = !own.is_part;
}

}  // namespace stator
