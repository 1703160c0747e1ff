// Buffer's release goes one of three ways: exported memory is detached and freed by the last unexport, memory of the
// pool goes back to it, and foreign memory is handed to its deleter after the work that uses it.
#include "memory/buffer.hpp"

#include "core/context.hpp"
#include "core/text.hpp"
#include "memory/arena.hpp"

namespace stator {

Buffer::Buffer(Context& context, Source source, size_t bytes, uint16_t op)
    : Box(source == Source::pinned || source == Source::registered ? BoxKind::pinned
          : source == Source::managed                              ? BoxKind::managed
          : source == Source::workspace                            ? BoxKind::library
                                                                   : BoxKind::buffer,
          &context.pool(), context.tracker(), op, source == Source::workspace ? Hold::part_of : Hold::counted),
      context_(context),
      source_(source),
      managed_(source == Source::managed ? new Managed : nullptr) {
  set_bytes(bytes);
}

Buffer::~Buffer() { dispose(); }

Ref<Buffer> Buffer::foreign(Context& context, void* memory, size_t bytes, bool host_shared, bool read_only,
                            std::function<void()> deleter, uint16_t op) {
  const OpGuard guard(context, op);
  // An empty foreign array may have no address, and a null handle would mean that the buffer is closed.
  static char nothing;
  Ref<Buffer> buffer(new Buffer(context, Source::foreign, bytes, op));
  buffer->read_only_ = read_only;
  buffer->host_shared_.store(host_shared, std::memory_order_relaxed);
  if (deleter) buffer->owner_ = std::make_unique<ForeignOwner>(std::move(deleter));
  buffer->set_native(memory ? memory : &nothing);
  return buffer;
}

Ref<Buffer> Buffer::registered(Context& context, void* memory, size_t bytes, std::function<void()> deleter,
                               uint16_t op) {
  const OpGuard guard(context, op);
  Ref<Buffer> buffer(new Buffer(context, Source::registered, bytes, op));
  auto owner = std::make_unique<ForeignOwner>(std::move(deleter));
  const runtime::Status code = context.runtime().register_host(memory, bytes, op);
  if (code == runtime::status::already_registered)
    throw ValueError(op_text(op), "memory of which a part is registered already",
                     "Register each array once, and close the earlier registration first");
  if (code != runtime::status::success) throw context.pool().out_of_memory(bytes, op);
  buffer->owner_ = std::move(owner);
  buffer->set_native(memory);
  return buffer;
}

void* Buffer::export_memory(uint16_t op) {
  const OpGuard guard(context_, op);
  void* memory = get(op);
  if (context_.device().type == DeviceType::cpu) host_shared_.store(true, std::memory_order_relaxed);
  if (exports_.fetch_add(1, std::memory_order_acq_rel) == 0) context_.pool().note_exported(bytes(), 1);
  return memory;
}

void Buffer::unexport(runtime::StreamHandle consumer) noexcept {
  if (is_leaked()) return;
  const OpenGuard guard(context_);  // close() waits until the consumer's work is marked
  // A graph may use the memory whenever it is launched, and nothing tells when the last time was: the export stays.
  bool captured = false;
  if (consumer && guard) context_.runtime().stream_capturing_noexcept(consumer, &captured);  // false of destroyed ones
  if (captured) return;
  if (consumer && guard)
    context_.pool().mark_consumer(*this, consumer);
  else if (consumer)
    context_.report("device_synchronize", context_.runtime().device_synchronize_noexcept());
  const int32_t before = exports_.fetch_sub(1, std::memory_order_acq_rel);
  if ((before & ~detached_bit) != 1) return;
  context_.pool().note_exported(bytes(), -1);
  if (before & detached_bit) free_detached();
}

void Buffer::leave_arena() {
  charge_ = arena_->disown(get(no_op));
  arena_.reset();
}

// A box that is open while a call is in flight stays so, and has its charge.
void Buffer::change_scope(uint32_t from, uint32_t to) {
  const OpenGuard guard(context_);
  if (Box::change_scope(from, to) && guard && !closed()) context_.pool().budgets().move(charge_, to);
}

void Buffer::release_native(void* handle) noexcept {
  if (recorded_) [[unlikely]]
    context_.memory_record().gave_back(recorded_, bytes(), origin());
  charge_.end();
  detached_ = handle;
  if (exports_.load(std::memory_order_acquire) > 0) {  // no new exports can start: they need a guard or a reference
    // Counted before the bit is set, since another thread may free the memory from then on.
    detached_blocks.fetch_add(source_ != Source::foreign);
    if ((exports_.fetch_or(detached_bit, std::memory_order_acq_rel) & ~detached_bit) > 0) {
      context_.pool().detach(*this);  // the last unexport frees it
      return;
    }
    detached_blocks.fetch_sub(source_ != Source::foreign);
  }
  region_.reset();
  switch (source_) {
    case Source::pool:
    case Source::workspace:
    case Source::pinned:
    case Source::managed: context_.pool().give_back(*this, handle); break;
    case Source::foreign: context_.pool().release_foreign(*this); break;
    case Source::registered:
      if (!context_.quiet()) context_.synchronize_noexcept();
      context_.report("unregister_host", context_.runtime().unregister_host_noexcept(handle));
      ForeignReleases::push(std::move(owner_));
      break;
  }
}

void Buffer::free_detached() noexcept {
  detached_blocks.fetch_sub(source_ != Source::foreign);
  if (source_ == Source::foreign) {
    ForeignReleases::push(std::move(owner_));
    return;
  }
  if (arena_) {
    arena_.reset();
    return;
  }
  if (region_) {
    context_.pool().take_back(detached_, block_bytes_);
    region_.reset();
    return;
  }
  runtime::Runtime& runtime = context_.runtime();
  if (source_ == Source::pinned)
    context_.report("free_pinned", runtime.free_pinned_noexcept(detached_));
  else if (managed_)
    context_.report("free_managed", runtime.free_managed_noexcept(detached_, block_bytes_));
  else
    context_.report("free", context_.memory().free_noexcept(detached_, block_bytes_, nullptr));
}

}  // namespace stator
