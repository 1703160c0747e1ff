// Copies, fills, launches and library calls of the host target: run at once on the caller's thread when the stream is
// idle and the work small, else queued for the workers.
#include "runtime/float_environment.hpp"
#include "runtime/host/calls.hpp"
#include "runtime/host/graph.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace stator::runtime::host {
namespace {

// Measured on two cores: waking a worker costs the caller 11 us, and two workers are faster than one thread from 50 us
// of work on, which is 1 MiB of operands for an addition and 256 KiB for an exponential.
struct Tuning {
  static constexpr int64_t inline_bytes = 512 << 10;
  static constexpr size_t at_once_bytes = 256;      // copied on an idle stream without claiming it
  static constexpr int64_t chunk_bytes = 64 << 10;  // a smaller chunk is not worth taking the lock
  static constexpr int64_t chunks_per_worker = 4;   // so that a worker that starts late costs little
  static constexpr int64_t copy_block = 64 << 10;   // bytes of a copy or fill that count as one block
};

// Calls run_now when the stream is idle and the work small, else queues the item that make() returns. `synchronous`
// work is done on return.
template <class Now, class Make>
Status run(Context& context, Stream& stream, int64_t bytes, bool synchronous, Now&& run_now, Make&& make) noexcept {
  if (const Status state = usable(context)) return state;
  return guarded([&] {
    if (!context.checked && bytes <= Tuning::inline_bytes && has_stack() && stream.claim()) {
      const DefaultFloatEnvironment environment;
      try {
        if (const char* message = run_now()) context.fault(message);
      } catch (const std::bad_alloc&) {
        stream.unclaim();
        throw;  // an error of this call, after which the context works on
      } catch (const std::exception& error) {
        context.fault(error.what());
      } catch (...) {
        context.fault("a task threw something that is not a std::exception");
      }
      stream.unclaim();
      return status::success;
    }
    Scheduler& scheduler = Scheduler::instance();
    scheduler.enqueue(stream, make());
    if (synchronous) scheduler.synchronize(stream);
    return synchronous && context.faulted.load(std::memory_order_acquire) ? status::launch_failure : status::success;
  });
}

// An item that calls f(begin, count) for ranges of the bytes.
template <class F>
std::unique_ptr<Item> make_byte_item(size_t bytes, F f) {
  const int64_t blocks = (int64_t(bytes) + Tuning::copy_block - 1) / Tuning::copy_block;
  return make_item(blocks, chunk_of(blocks, int64_t(bytes)), [bytes, f](int64_t first, int64_t last) -> const char* {
    const size_t begin = size_t(first * Tuning::copy_block);
    f(begin, std::min(bytes, size_t(last * Tuning::copy_block)) - begin);
    return nullptr;
  });
}

// What a captured copy and a captured fill work on. The addresses come first, since launches may change them.
struct CopyArguments {
  char* to;
  const char* from;
  size_t bytes;
};
struct FillArguments {
  char* to;
  int64_t byte;
  size_t bytes;
};

Node byte_node(size_t bytes, Node::Run run) {
  Node node;
  node.run = run;
  node.blocks = (int64_t(bytes) + Tuning::copy_block - 1) / Tuning::copy_block;
  node.chunk = chunk_of(node.blocks, int64_t(bytes));
  node.bytes = int64_t(bytes);
  return node;
}

template <class Arguments, class F>
const char* run_bytes(const std::byte* arguments, int64_t first, int64_t last, F f) {
  const Arguments& a = *reinterpret_cast<const Arguments*>(arguments);
  const size_t begin = size_t(first * Tuning::copy_block);
  f(a, begin, std::min(a.bytes, size_t(last * Tuning::copy_block)) - begin);
  return nullptr;
}

std::shared_ptr<std::byte[]> copy_of(const void* arguments, size_t bytes) {
  std::shared_ptr<std::byte[]> out(new std::byte[bytes]);
  std::memcpy(out.get(), arguments, bytes);
  return out;
}

const char* run_pieces(const HostWork& work, const void* arguments, int64_t first, int64_t last) {
  for (int64_t piece = first; piece < last; ++piece)
    if (const int code = work.call(arguments, piece))
      throw std::runtime_error(std::string(work.what) + " failed with " + work.describe(code));
  return nullptr;
}

}  // namespace

const char* take_injected_fault(Context& context) {
  if (!context.fault_next.load(std::memory_order_relaxed) || !context.fault_next.exchange(false)) return nullptr;
  return "injected fault";
}

bool is_brief(int64_t bytes) { return bytes <= Tuning::inline_bytes; }

int64_t chunk_of(int64_t blocks, int64_t bytes) {
  const int64_t most = Scheduler::worker_limit() * Tuning::chunks_per_worker;
  const int64_t chunks = std::clamp<int64_t>(bytes / Tuning::chunk_bytes, 1, most);
  return std::max<int64_t>(1, (blocks + chunks - 1) / chunks);
}

std::unique_ptr<Item> make_item(int64_t blocks, int64_t chunk, Item::Body body) {
  auto item = std::make_unique<Item>();
  item->body = std::move(body);
  item->blocks = blocks;
  item->chunk = chunk;
  return item;
}

Status copy(ContextHandle handle, void* to, const void* from, size_t bytes, CopyKind kind, StreamHandle stream) {
  if (bytes == 0) return usable(context_of(handle));
  const Context& context = context_of(handle);
  if (const std::shared_ptr<Recording> recording = recording_of(stream_of(stream))) {
    if (kind != CopyKind::device_to_device) return status::capture_unsupported;
    return guarded([&] {
      const CopyArguments a{static_cast<char*>(to), static_cast<const char*>(from), bytes};
      const auto work = [](const Node&, host::Context&, const std::byte* arguments, int64_t first, int64_t last) {
        return run_bytes<CopyArguments>(arguments, first, last, [](const CopyArguments& c, size_t begin, size_t count) {
          std::memmove(c.to + begin, c.from + begin, count);
        });
      };
      recording->add(stream_of(stream), byte_node(bytes, work), &a, sizeof a, false);
      return status::success;
    });
  }
  if (bytes <= Tuning::at_once_bytes && kind != CopyKind::device_to_device && !context.checked &&
      stream_of(stream).idle()) {
    if (const Status state = usable(context)) return state;
    std::memmove(to, from, bytes);
    return status::success;
  }
  // As on a device, pageable host memory is read or written before the call returns.
  const bool synchronous =
      kind != CopyKind::device_to_device && !host::is_pinned(kind == CopyKind::host_to_device ? from : to);
  const auto now = [=]() -> const char* {
    std::memmove(to, from, bytes);
    return nullptr;
  };
  return run(context_of(handle), stream_of(stream), int64_t(bytes), synchronous, now, [=] {
    return make_byte_item(bytes, [to, from](size_t begin, size_t count) {
      std::memmove(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, count);
    });
  });
}

Status fill(ContextHandle handle, void* pointer, int byte, size_t bytes, StreamHandle stream) {
  if (bytes == 0) return usable(context_of(handle));
  if (const std::shared_ptr<Recording> recording = recording_of(stream_of(stream))) {
    return guarded([&] {
      const FillArguments a{static_cast<char*>(pointer), byte, bytes};
      const auto work = [](const Node&, Context&, const std::byte* arguments, int64_t first, int64_t last) {
        return run_bytes<FillArguments>(arguments, first, last, [](const FillArguments& f, size_t begin, size_t count) {
          std::memset(f.to + begin, int(f.byte), count);
        });
      };
      recording->add(stream_of(stream), byte_node(bytes, work), &a, sizeof a, false);
      return status::success;
    });
  }
  const auto now = [=]() -> const char* {
    std::memset(pointer, byte, bytes);
    return nullptr;
  };
  return run(context_of(handle), stream_of(stream), int64_t(bytes), false, now, [=] {
    return make_byte_item(bytes, [pointer, byte](size_t begin, size_t count) {
      std::memset(static_cast<char*>(pointer) + begin, byte, count);
    });
  });
}

Status prepare(ContextHandle handle, const std::string_view*, size_t) {
  if (const Status state = usable(context_of(handle))) return state;
  return guarded([] {
    Scheduler::instance().prepare();
    return status::success;
  });
}

Status launch(ContextHandle handle, const params::Launch& launch, int64_t bytes, bool synchronous,
              StreamHandle stream) {
  Context& context = context_of(handle);
  if (launch.blocks <= 0 || !launch.entry) return status::invalid_value;
  if (const std::shared_ptr<Recording> recording = recording_of(stream_of(stream))) {
    return guarded([&] {
      Node node;
      node.run = [](const Node& of, Context& on, const std::byte* arguments, int64_t first, int64_t last) {
        if (const char* fault = take_injected_fault(on)) return fault;
        params::Launch now = of.launch;
        now.arguments = arguments;
        return now.entry(now, first, last);
      };
      node.launch = launch;
      node.blocks = launch.blocks;
      node.chunk = launch.whole ? launch.blocks : chunk_of(launch.blocks, bytes);
      node.bytes = bytes;
      recording->add(stream_of(stream), std::move(node), launch.arguments, launch.argument_bytes, synchronous);
      return status::success;
    });
  }
  const auto now = [&]() -> const char* {
    if (const char* fault = take_injected_fault(context)) return fault;
    return launch.entry(launch, 0, launch.blocks);
  };
  return run(context, stream_of(stream), bytes, synchronous, now, [&] {
    const std::shared_ptr<std::byte[]> arguments = copy_of(launch.arguments, launch.argument_bytes);
    const int64_t chunk = launch.whole ? launch.blocks : chunk_of(launch.blocks, bytes);
    params::Launch queued = launch;
    queued.arguments = arguments.get();
    auto item =
        make_item(launch.blocks, chunk, [&context, arguments, queued](int64_t first, int64_t last) -> const char* {
          if (const char* fault = take_injected_fault(context)) return fault;
          return queued.entry(queued, first, last);
        });
    item->bytes = launch.argument_bytes;
    return item;
  });
}

Status host_work(ContextHandle handle, const HostWork& work, int64_t pieces, int64_t bytes, bool synchronous,
                 StreamHandle stream) {
  if (const std::shared_ptr<Recording> recording = recording_of(stream_of(stream))) {
    return guarded([&] {
      Node node;
      node.work = work;
      node.run = [](const Node& of, Context&, const std::byte* arguments, int64_t first, int64_t last) {
        return run_pieces(of.work, arguments, first, last);
      };
      node.blocks = pieces;
      node.bytes = bytes;
      const auto* const arguments = static_cast<const std::byte*>(work.arguments);
      recording->add(stream_of(stream), std::move(node), arguments, work.argument_bytes, synchronous);
      return status::success;
    });
  }
  const auto now = [&] { return run_pieces(work, work.arguments, 0, pieces); };
  return run(context_of(handle), stream_of(stream), bytes, synchronous, now, [&] {
    const std::shared_ptr<std::byte[]> arguments = copy_of(work.arguments, work.argument_bytes);
    return make_item(pieces, 1, [work, arguments](int64_t first, int64_t last) {
      return run_pieces(work, arguments.get(), first, last);
    });
  });
}

// Apart from threads that wait: in the main thread, a function of Python would be ended by what a signal's handler
// raises.
Status host_function(ContextHandle handle, HostFunction function, void* data, StreamHandle stream) {
  if (const Status state = usable(context_of(handle))) return state;
  return guarded([&] {
    auto item = make_item(1, 1, [=](int64_t, int64_t) -> const char* {
      function(data);
      return nullptr;
    });
    item->apart = true;
    Scheduler::instance().enqueue(stream_of(stream), std::move(item));
    return status::success;
  });
}

}  // namespace stator::runtime::host
