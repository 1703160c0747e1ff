#include "graphs/graph.hpp"

#include "core/text.hpp"
#include "memory/overlap.hpp"

#include <stator/creation.hpp>
#include <stator/indexing.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_set>
#include <utility>

namespace stator {
namespace {

constexpr uint16_t graph_op = call::graph_launch;

uint32_t bit_of(int stream) { return uint32_t(1) << stream; }

uint64_t word_at(const runtime::GraphArguments& arguments, size_t offset) {
  uint64_t word = 0;
  std::memcpy(&word, arguments.data + offset, sizeof word);
  return word;
}

}  // namespace

GraphBox::GraphBox(Context& context, GraphCapture& capture, runtime::Runtime::Captured captured,
                   std::span<const uint64_t> drawn)
    : Box(BoxKind::graph, &context, context.tracker(), call::capture),
      context_(context),
      stream_(capture.stream()),
      orders_(capture.orders()),
      calls_(std::move(captured.calls)),
      arena_(capture.arena),
      buffers_(capture.take_buffers()),
      kept_(capture.take_kept()) {
  const std::vector<GraphCapture::State> states = capture.states();
  for (size_t i = 0; i < states.size(); ++i) states_.push_back({states[i].memory, drawn[i], {}});
  set_native(captured.graph);
  set_bytes(arena_->bytes());
}

// The work that uses the graph's memory ends before that is given to others.
void GraphBox::release_native(void* handle) noexcept {
  runtime::Runtime& runtime = context_.runtime();
  // On the host the work that is under way has the graph itself, and memory is given to others in its order.
  if (!runtime.is_host()) context_.synchronize_noexcept(used_);
  for (const runtime::EventHandle event : {before_, after_})
    if (event) context_.report("event_destroy", runtime.event_destroy_noexcept(event));
  context_.report("graph_destroy", runtime.graph_destroy_noexcept(handle));
  buffers_.clear();
  kept_ = {};
  arena_.reset();
}

GraphBox::Users GraphBox::users() const {
  Users users;
  for (size_t call = 0; call < calls_.size(); ++call) {
    for (const auto& use : calls_[call].uses) {
      auto& [calls, written] = users[use.buffer];
      if (calls.empty() || calls.back() != call) calls.push_back(call);
      written = written || use.write;
    }
  }
  return users;
}

// False where a call whose arguments are not known may use the memory.
bool GraphBox::find_patches(GraphSlot& slot, std::span<const size_t> calls) const {
  const runtime::Runtime& runtime = context_.runtime();
  const auto lowest = reinterpret_cast<uintptr_t>(slot.captured) + uintptr_t(slot.begin);
  const auto bytes = uint64_t(slot.end - slot.begin);
  if (bytes == 0) return true;
  for (const size_t call : calls) {
    const runtime::GraphArguments arguments = runtime.graph_arguments(native(), call);
    if (arguments.bytes == 0) return false;
    for (size_t offset = 0; offset + sizeof(uint64_t) <= arguments.bytes; offset += sizeof(uint64_t)) {
      const uint64_t word = word_at(arguments, offset);
      if (word - lowest < bytes)
        slot.patches.push_back({call, offset, int64_t(word - reinterpret_cast<uintptr_t>(slot.captured))});
    }
  }
  return true;
}

bool GraphBox::add_slot(const Users& users, const char* captured, int64_t begin, int64_t end, const void* buffer) {
  GraphSlot& slot = slots_.emplace_back(GraphSlot{captured, begin, end, captured, false, {}});
  const auto found = users.find(buffer);
  if (found == users.end()) return true;
  slot.written = found->second.written;
  return find_patches(slot, found->second.calls);
}

bool GraphBox::bind(std::span<const Array* const> arguments, std::span<const Array* const> results) {
  const std::lock_guard lock(mutex_);
  slots_.clear();
  results_.clear();
  result_bytes_.clear();
  bool known = true;
  const Users users = this->users();
  std::unordered_set<const void*> given;  // what each launch passes
  for (const Array* array : arguments) {
    const Extent extent = extent_of(*array);
    const void* const memory = array->buffer()->memory(graph_op);
    given.insert(memory);
    known = add_slot(users, static_cast<const char*>(array->data_ptr()), extent.begin, extent.end, memory) && known;
  }
  note_arguments(arguments);
  std::vector<Buffer*> blocks;
  std::unordered_map<Buffer*, size_t> block_of;
  for (const Array* array : results) {
    Buffer* const buffer = array->buffer().get();
    const auto [block, is_new] = block_of.try_emplace(buffer, blocks.size());
    if (is_new) {
      if (buffer->arena() != arena_.get())
        throw ValueError(op_text(graph_op), "a result that the captured work did not make",
                         "Give only those that it made");
      if (!arena_->is_exclusive(buffer->allocation()))
        throw ValueError(op_text(graph_op), "a result in memory that the work had used for something else before",
                         "Capture again, with shared_outputs() as fresh");
      blocks.push_back(buffer);
      result_bytes_.push_back(buffer->bytes());
      const char* const memory = static_cast<const char*>(buffer->memory(graph_op));
      given.insert(memory);
      known = add_slot(users, memory, 0, int64_t(buffer->bytes()), memory) && known;
    }
    results_.push_back({block->second, array->dtype(), array->shape(), array->strides(), array->offset()});
  }
  if (!known) return false;
  std::erase_if(buffers_, [&](const GraphCapture::CapturedBuffer& captured) {  // their callers keep these alive
    return given.contains(captured.buffer->memory(graph_op));
  });
  for (Buffer* const block : blocks) block->leave_arena();
  set_bytes(arena_->bytes());
  return true;
}

// Whether the word is an address in memory that the captured work uses.
bool GraphBox::is_address(uint64_t word) const {
  const auto inside = [word](const void* memory, int64_t begin, int64_t end) {
    return word - (reinterpret_cast<uintptr_t>(memory) + uint64_t(begin)) < uint64_t(end - begin);
  };
  size_t distance = 0;
  if (arena_->find(reinterpret_cast<const void*>(word), &distance) >= 0) return true;
  for (const GraphSlot& slot : slots_)
    if (inside(slot.captured, slot.begin, slot.end)) return true;
  return std::any_of(buffers_.begin(), buffers_.end(), [&](const GraphCapture::CapturedBuffer& captured) {
    return inside(captured.buffer->memory(graph_op), 0, int64_t(captured.buffer->bytes()));
  });
}

bool GraphBox::settle(const GraphBox& earlier) {
  const std::lock_guard lock(mutex_);
  if (calls_.size() != earlier.calls_.size() || slots_.size() != earlier.slots_.size()) return false;
  const runtime::Runtime& runtime = context_.runtime();
  for (size_t call = 0; call < calls_.size(); ++call) {
    const bool same_bytes =
        runtime.graph_arguments(native(), call).bytes == runtime.graph_arguments(earlier.native(), call).bytes;
    if (calls_[call].kind != earlier.calls_[call].kind || calls_[call].name != earlier.calls_[call].name || !same_bytes)
      return false;
  }
  // A word that is the address of an argument in one capture and no address at all in the other one is what happened to
  // lie between the members of a structure.
  const auto confirms = [&](const GraphBox& other, const GraphSlot& slot, const GraphPatch& patch, bool* is_argument) {
    const uint64_t word = word_at(runtime.graph_arguments(other.native(), patch.call), patch.offset);
    *is_argument = word == reinterpret_cast<uintptr_t>(slot.captured) + uint64_t(patch.distance);
    return *is_argument || !other.is_address(word);
  };
  for (size_t i = 0; i < slots_.size(); ++i) {
    bool is_argument = false;
    for (const GraphPatch& patch : earlier.slots_[i].patches)
      if (!confirms(*this, slots_[i], patch, &is_argument)) return false;
    bool agreed = true;
    std::erase_if(slots_[i].patches, [&](const GraphPatch& patch) {
      agreed = confirms(earlier, earlier.slots_[i], patch, &is_argument) && agreed;
      return !is_argument;
    });
    if (!agreed) return false;
  }
  return true;
}

void GraphBox::replace(GraphBox& previous) {
  const std::scoped_lock lock(mutex_, previous.mutex_);
  context_.runtime().graph_instantiate(get(graph_op), previous.get(graph_op), graph_op);
  instantiated_ = true;
  previous.replaced_ = true;
}

void GraphBox::set_address(GraphSlot& slot, const void* address) {
  if (address == slot.now) return;
  for (const GraphPatch& patch : slot.patches)
    context_.runtime().graph_write(get(graph_op), patch.call, patch.offset,
                                   reinterpret_cast<uintptr_t>(address) + uint64_t(patch.distance), graph_op);
  slot.now = static_cast<const char*>(address);
}

// What `then` enqueues from now on starts after what `first` has enqueued.
void GraphBox::follow(StreamBox& first, StreamBox& then, runtime::EventHandle& event) {
  runtime::Runtime& runtime = context_.runtime();
  if (!event) event = runtime.event_create(graph_op);
  runtime.event_record(event, first.handle(graph_op), graph_op);
  runtime.stream_wait(then.handle(graph_op), event, graph_op);
}

void GraphBox::launch(StreamBox& on, std::span<const random::State> states) {
  const std::lock_guard lock(mutex_);
  run(on, {}, states);
}

void GraphBox::check_out(size_t result, const Array& out) const {
  const Result& r = results_[result];
  const Buffer& buffer = buffer_of(out, op_name(graph_op));
  const std::string name_of_it = "out, array " + std::to_string(result) + ",";
  if (&buffer.context() != &context_)
    throw BackendMismatchError(op_text(graph_op), name_of_it + " is of another backend", "Make it with the graph's");
  if (!(out.shape() == r.shape))
    throw ShapeError(op_text(graph_op),
                     name_of_it + " has shape " + str(out.shape()) + ", the result has " + str(r.shape),
                     "Give an array of the result's shape");
  if (out.dtype() != r.dtype)
    throw DTypeError(
        op_text(graph_op),
        name_of_it + " has dtype " + std::string(name(out.dtype())) + ", the result has " + std::string(name(r.dtype)),
        "Give an array of the result's dtype");
  require_writable(op_text(graph_op), out, name_of_it);
}

// Whether the work can write the result there, as it would to memory of its own.
bool GraphBox::takes(size_t result, const Array& out, std::span<const Array* const> arguments) const {
  const Result& r = results_[result];
  const auto same_block = [&](const Result& other) { return other.memory == r.memory; };
  if (std::count_if(results_.begin(), results_.end(), same_block) > 1 || r.offset != 0) return false;
  if (out.nbytes() != result_bytes_[r.memory] || !out.is_contiguous() || !(r.strides == contiguous_strides(r.shape)))
    return false;
  if (reinterpret_cast<uintptr_t>(out.data_ptr()) % 64) return false;
  return std::none_of(arguments.begin(), arguments.end(), [&](const Array* x) { return may_overlap(*x, out); }) &&
         std::none_of(buffers_.begin(), buffers_.end(), [&](const GraphCapture::CapturedBuffer& captured) {
           return captured.buffer.get() == out.buffer().get();
         });
}

std::vector<Array> GraphBox::launch(StreamBox& on, std::span<const Array* const> arguments,
                                    std::span<const Array* const> outs, std::span<const random::State> states) {
  for (int round = 0;; ++round) {
    try {
      return launch_once(on, arguments, outs, states);
    } catch (const OutOfMemoryError& error) {
      if (!context_.pool().hooks().ask(context_, error.figures().requested, round)) throw;
    }
  }
}

// The mutex is held, so that a memory hook, which might launch the graph, is asked outside.
std::vector<Array> GraphBox::launch_once(StreamBox& on, std::span<const Array* const> arguments,
                                         std::span<const Array* const> outs, std::span<const random::State> states) {
  const std::lock_guard lock(mutex_);
  const MemoryHooks::SuspendHooks suspended_hooks;
  check_arguments(arguments);
  if (!outs.empty() && outs.size() != results_.size())
    throw ValueError(
        op_text(graph_op),
        "out has " + std::to_string(outs.size()) + " arrays for " + std::to_string(results_.size()) + " results",
        "Give one for each");
  for (size_t i = 0; i < outs.size(); ++i) check_out(i, *outs[i]);
  std::vector<Array> made(results_.size());
  std::vector<Ref<Buffer>> blocks(result_bytes_.size());
  std::vector<const void*> addresses(result_bytes_.size());
  for (size_t i = 0; i < results_.size(); ++i) {
    const Result& r = results_[i];
    const auto earlier = [&](const Array* out) { return may_overlap(*out, *outs[i]); };
    if (!outs.empty() && takes(i, *outs[i], arguments) &&
        std::none_of(outs.begin(), outs.begin() + ptrdiff_t(i), earlier)) {
      blocks[r.memory] = outs[i]->buffer();
      addresses[r.memory] = outs[i]->data_ptr();
      made[i] = *outs[i];
      continue;
    }
    if (!blocks[r.memory]) {
      blocks[r.memory] = context_.pool().allocate(result_bytes_[r.memory], on, graph_op);
      addresses[r.memory] = blocks[r.memory]->memory(graph_op);
    }
    made[i] = Array(blocks[r.memory], r.dtype, r.shape, r.strides, r.offset);
  }
  std::vector<Buffer*> changed;
  changed.reserve(arguments.size() + blocks.size());
  for (const Array* array : arguments) changed.push_back(array->buffer().get());
  for (const Ref<Buffer>& block : blocks) changed.push_back(block.get());
  for (size_t i = 0; i < arguments.size(); ++i) set_address(slots_[i], arguments[i]->data_ptr());
  for (size_t i = 0; i < blocks.size(); ++i) set_address(slots_[arguments.size() + i], addresses[i]);
  run(on, changed, states);
  for (size_t i = 0; i < outs.size(); ++i) {
    if (made[i].data_ptr() != outs[i]->data_ptr()) assign(*outs[i], made[i], Stream(Ref<StreamBox>(&on)));
    made[i] = *outs[i];
  }
  return made;
}

// Calls f for the streams but `on` whose work uses what the graph's does, and so is not beside it: the one that it was
// captured from, which all launches follow; and in another capture from there, those of its streams that are captured
// too.
template <class F>
void GraphBox::for_each_order(const StreamBox& on, const GraphCapture* outer, F f) const {
  const uint32_t streams = outer ? orders_ & outer->streams() : bit_of(stream_);
  for (uint32_t rest = streams & ~bit_of(on.index()); rest; rest &= rest - 1)
    f(context_.opened_stream(std::countr_zero(rest)));
}

// Enqueues the graph. `changed`: what its slots name now.
void GraphBox::run(StreamBox& on, std::span<Buffer* const> changed, std::span<const random::State> states) {
  if (replaced_) throw ValueError(op_text(graph_op), "the graph was replaced by a later capture", "Launch that one");
  require_states(states);
  void* const handle = get(graph_op);
  StreamBox& from = context_.opened_stream(stream_);
  const std::shared_ptr<GraphCapture> outer = on.capture();
  if (outer) outer->require_thread(graph_op, on.index());
  if (outer && !states_.empty()) outer->admit_draws(graph_op);
  const int captured_from = outer ? outer->stream() : from.is_captured() ? -1 : stream_;
  if (captured_from != stream_)
    throw CaptureError(op_text(graph_op),
                       "a graph that was captured from stream " + std::to_string(stream_) +
                           " cannot run there while that stream or another one is captured",
                       "Capture both from one stream, or launch it after the capture");
  on.raise_pending(graph_op);
  if (!outer && !instantiated_) {
    context_.runtime().graph_instantiate(handle, nullptr, graph_op);
    instantiated_ = true;
  }
  std::vector<params::Access> accesses;
  accesses.reserve(buffers_.size() + changed.size());
  bool synchronous = false;
  const auto use = [&](Buffer& buffer, bool written) {
    accesses.push_back({buffer.memory(graph_op), 0, int64_t(buffer.bytes()), written});
    synchronous = synchronous || buffer.host_shared();
    if (outer) outer->hold(buffer, written);
    buffer.note_use(on.index());
    buffer.set_last_stream(on.index());
  };
  for (const GraphCapture::CapturedBuffer& captured : buffers_) use(*captured.buffer, captured.written);
  for (size_t i = 0; i < changed.size(); ++i) use(*changed[i], slots_[i].written);
  if (outer) {
    outer->keep(*this);
    outer->add_orders(orders_);
  }
  for_each_order(on, outer.get(), [&](StreamBox& stream) { follow(stream, on, before_); });
  used_ |= bit_of(on.index()) | bit_of(stream_);
  arena_->note_users(used_);
  arena_->note_launch(on.index());
  write_states(on, states);
  context_.runtime().graph_launch(handle, "graph", on.handle(graph_op),
                                  {graph_op, accesses.data(), int(accesses.size()), synchronous});
  keep_states();
  for_each_order(on, outer.get(), [&](StreamBox& stream) { follow(on, stream, after_); });
}

}  // namespace stator
