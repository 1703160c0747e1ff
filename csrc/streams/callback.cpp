// Callbacks of streams. A callback is in its stream's list until it has returned. What it owns is released without a
// lock, and its reference to the context in the queue, since the last one would wait for the stream that runs it.
#include "core/context.hpp"
#include "core/text.hpp"
#include "runtime/warning.hpp"
#include "streams/stream.hpp"

#include <exception>

namespace stator {

constinit thread_local bool in_callback = false;
std::atomic<int64_t> StreamBox::pending_callbacks_{0};

void refuse_in_callback(std::string_view call) {
  throw UnsupportedError(std::string(call),
                         "a callback of a stream calls stator, which could wait for that very callback",
                         "Let the callback wake another thread, and call there");
}

void StreamBox::add_callback(std::function<void()> function) {
  constexpr uint16_t op = call::add_callback;
  const runtime::StreamHandle stream = handle(op);
  std::list<Callback> added;
  added.push_back({Ref<StreamBox>(this), std::move(function), added.begin(), false});
  Callback& callback = added.front();
  callback.position = added.begin();
  {
    const std::lock_guard lock(callbacks_mutex_);
    callbacks_.splice(callbacks_.end(), added);
  }
  pending_callbacks_.fetch_add(1);
  try {
    context_.runtime().host_function(run_callback, &callback, stream, op);
  } catch (...) {
    take_callback(callback, &added);
    throw;
  }
}

void StreamBox::take_callback(Callback& callback, std::list<Callback>* out) noexcept {
  const std::lock_guard lock(callbacks_mutex_);
  out->splice(out->end(), callbacks_, callback.position);
  pending_callbacks_.fetch_sub(1);
}

void StreamBox::run_callback(void* data) {
  Callback& callback = *static_cast<Callback*>(data);
  StreamBox& stream = *callback.stream;
  {
    const std::lock_guard lock(stream.callbacks_mutex_);
    callback.runs = true;
  }
  in_callback = true;
  try {
    callback.function();
  } catch (const std::exception& error) {
    warn("stator: a callback of a stream failed: %s", error.what());
  } catch (...) {
    warn("stator: a callback of a stream threw something that is not a std::exception");
  }
  callback.function = nullptr;
  in_callback = false;
  std::list<Callback> done;
  stream.take_callback(callback, &done);
  ReleaseQueue::push(callback.stream.detach());
}

// Of a stream whose device has failed, which runs no more of them. One that is running takes itself out of the list.
void StreamBox::drop_callbacks() noexcept {
  std::list<Callback> dropped;
  {
    const std::lock_guard lock(callbacks_mutex_);
    for (auto next = callbacks_.begin(); next != callbacks_.end();) {
      const auto at = next++;
      if (at->runs) continue;
      dropped.splice(dropped.end(), callbacks_, at);
      pending_callbacks_.fetch_sub(1);
    }
  }
  for (Callback& callback : dropped) ReleaseQueue::push(callback.stream.detach());
}

}  // namespace stator
