// Captures of streams, beyond what the calls of the runtime's double show.
#pragma once

#include "emulator/runtime/system.hpp"

namespace stator::emulator::runtime {

// A call about an existing stream, on whatever device it is.
template <class F>
int stream_call(void* handle, F f) {
  return device_call([&](System& s, Device&, Scheduler::Lock& lock) {
    const std::shared_ptr<Stream> stream = find_stream(s, handle);
    if (!stream) return error::invalid_resource_handle;
    if (stream->device->failed()) return stream->device->error();
    const int code = f(s, lock, stream);
    return code == error::success ? stream->device->error() : code;
  });
}

// Whether the capture has not ended.
bool captures(System& s, const std::shared_ptr<Capture>& capture);
// Ends the capture for all of its streams.
void leave_capture(System& s, const std::shared_ptr<Capture>& capture);
// The same, and returns the graph, if it was made for the capture, whose handles are gone then.
std::shared_ptr<Graph> drop_capture(System& s, std::shared_ptr<Capture> capture);

}  // namespace stator::emulator::runtime
