// Ranges are joined to runs, which follow each other on the device. A run to the device goes through page-locked
// chunks, so that its copies are asynchronous; so does a run to the host that is scattered there, a chunk at a time.
#include <stator/transfers/transfers.hpp>

#include "core/context.hpp"
#include "core/text.hpp"
#include "memory/overlap.hpp"
#include "memory/staging.hpp"
#include "runtime/float_environment.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace stator {
namespace {

constexpr int64_t chunk_bytes = int64_t(Staging::chunk_bytes);

struct Run {
  Buffer* buffer;
  int64_t start;  // in the buffer
  int64_t size;
  size_t first, last;  // of the ranges
};

int64_t start_of(const ByteRange& range) {
  return range.array->offset() * int64_t(itemsize(range.array->dtype())) + range.offset;
}

void check(const ByteRange& range, bool write, const Context& context, uint16_t op) {
  const Array& array = *range.array;
  Buffer& buffer = buffer_of(array, op_name(op));
  if (&buffer.context() != &context)
    throw BackendMismatchError(op_text(op), "got ranges of arrays of two backends", "Make a call per backend");
  if (!array.is_contiguous())
    throw ValueError(
        op_text(op),
        "an array that is not contiguous: shape " + str(array.shape()) + ", strides " + str(array.strides()),
        "Copy it first");
  if (range.offset < 0 || range.size < 0 || range.size > int64_t(array.nbytes()) - range.offset)
    throw ValueError(op_text(op),
                     "got the bytes from " + std::to_string(range.offset) + " to " +
                         std::to_string(range.offset + range.size) + " of an array of " +
                         std::to_string(array.nbytes()) + " bytes",
                     "Give a range inside the array");
  if (write) require_writable(op_text(op), array);
}

std::vector<Run> runs_of(std::span<const ByteRange> ranges, bool write, const Context& context, uint16_t op) {
  std::vector<Run> runs;
  for (size_t i = 0; i < ranges.size(); ++i) {
    check(ranges[i], write, context, op);
    Buffer* const buffer = ranges[i].array->buffer().get();
    if (write && ranges[i].array->dtype() == DType::bool_) buffer->note_any_bytes();
    const int64_t start = start_of(ranges[i]);
    if (ranges[i].size == 0) continue;
    if (!runs.empty() && runs.back().buffer == buffer && runs.back().start + runs.back().size == start) {
      runs.back().size += ranges[i].size;
      runs.back().last = i + 1;
    } else {
      runs.push_back({buffer, start, ranges[i].size, i, i + 1});
    }
  }
  return runs;
}

// One call's copies on a stream.
class Transfer {
 public:
  Transfer(Context& context, StreamBox& stream, uint16_t op) : context_(context), stream_(stream), op_(op) {}

  void enqueue(const Run& run, int64_t begin, int64_t size, void* host, runtime::CopyKind kind, bool synchronous) {
    char* const memory = static_cast<char*>(run.buffer->memory(op_));
    const bool write = kind == runtime::CopyKind::host_to_device;
    const params::Access access{memory, run.start + begin, size, write};
    char* const device = memory + run.start + begin;
    run.buffer->note_use(stream_.index());
    run.buffer->set_last_stream(stream_.index());
    context_.runtime().copy(write ? device : host, write ? host : device, size_t(size), kind, stream_.handle(op_),
                            {op_, &access, 1, synchronous || run.buffer->host_shared()});
  }

 private:
  Context& context_;
  StreamBox& stream_;
  const uint16_t op_;
};

// Calls f(host, offset in the run, bytes) for the pieces of [begin, begin + size) of a run, a range's part each.
template <class F>
void for_each_piece(std::span<const ByteRange> ranges, const Run& run, int64_t begin, int64_t size, F f) {
  int64_t at = 0;
  for (size_t i = run.first; i < run.last; at += ranges[i++].size) {
    const int64_t from = std::max(begin, at), to = std::min(begin + size, at + ranges[i].size);
    if (from < to) f(static_cast<char*>(ranges[i].host) + (from - at), from, to - from);
  }
}

// Copies a run straight from or to the host's memory.
void enqueue_pieces(Transfer& transfer, std::span<const ByteRange> ranges, const Run& run, runtime::CopyKind kind,
                    bool synchronous) {
  for_each_piece(ranges, run, 0, run.size, [&](void* host, int64_t at, int64_t size) {
    transfer.enqueue(run, at, size, host, kind, synchronous);
  });
}

void require_reads(const Context& context, const std::vector<Run>& runs, uint16_t op) {
  int64_t total = 0;
  for (const Run& run : runs) total += run.size;
  if (total > 0) context.require_host_copies(op, size_t(total));
}

Context& context_of(std::span<const ByteRange> ranges, uint16_t op) {
  for (const ByteRange& range : ranges)
    if (!range.array) throw ValueError(op_text(op), "got a range without an array", "Give each range an array");
  return buffer_of(*ranges.front().array, op_name(op)).context();
}

}  // namespace

void write_ranges(std::span<const ByteRange> ranges, const Stream& stream, HostMemory memory) {
  constexpr uint16_t op = call::write_ranges;
  if (ranges.empty()) return;
  Context& context = context_of(ranges, op);
  const OpGuard guard(context, op);
  const std::vector<Run> runs = runs_of(ranges, true, context, op);
  StreamBox& on = context.chosen_stream(stream, 0, op);
  on.raise_pending(op);
  Transfer transfer(context, on, op);
  Staging staging(context, on, op);
  const bool lent = memory == HostMemory::lent;
  for (const Run& run : runs) {
    if (lent || (memory == HostMemory::copied && context.runtime().is_host())) {
      enqueue_pieces(transfer, ranges, run, runtime::CopyKind::host_to_device, !lent);
      continue;
    }
    for (int64_t begin = 0; begin < run.size; begin += chunk_bytes) {
      const int64_t size = std::min(chunk_bytes, run.size - begin);
      const Ref<Buffer> taken = staging.take(size_t(size));
      char* const chunk = static_cast<char*>(taken->memory(op));
      for_each_piece(ranges, run, begin, size,
                     [&](void* host, int64_t at, int64_t bytes) { std::memcpy(chunk + (at - begin), host, bytes); });
      transfer.enqueue(run, begin, size, chunk, runtime::CopyKind::host_to_device, false);
    }
  }
}

void read_ranges(std::span<const ByteRange> ranges, const Stream& stream) {
  constexpr uint16_t op = call::read_ranges;
  if (ranges.empty()) return;
  Context& context = context_of(ranges, op);
  const OpGuard guard(context, op);
  const std::vector<Run> runs = runs_of(ranges, false, context, op);
  require_reads(context, runs, op);
  StreamBox& on = context.chosen_stream(stream, ranges.front().array->buffer()->last_stream(), op);
  on.raise_pending(op);
  Transfer transfer(context, on, op);
  Ref<Buffer> pinned;  // every chunk has been read when the next one is copied
  const bool host = context.runtime().is_host();
  for (const Run& run : runs) {
    if (host || run.last - run.first == 1) {
      enqueue_pieces(transfer, ranges, run, runtime::CopyKind::device_to_host, false);
      continue;
    }
    for (int64_t begin = 0; begin < run.size; begin += chunk_bytes) {
      const int64_t size = std::min(chunk_bytes, run.size - begin);
      if (!pinned) pinned = context.pool().allocate_pinned(Staging::chunk_bytes, op);
      char* const chunk = static_cast<char*>(pinned->memory(op));
      pinned->note_use(on.index());
      transfer.enqueue(run, begin, size, chunk, runtime::CopyKind::device_to_host, false);
      context.runtime().stream_synchronize(on.handle(op), op);
      for_each_piece(ranges, run, begin, size,
                     [&](void* to, int64_t at, int64_t bytes) { std::memcpy(to, chunk + (at - begin), bytes); });
    }
  }
  on.synchronize(op);
}

void check_ranges(std::span<const ByteRange> ranges, bool write) {
  const uint16_t op = write ? call::write_ranges : call::read_ranges;
  if (ranges.empty()) return;
  Context& context = context_of(ranges, op);
  const OpGuard guard(context, op);
  const std::vector<Run> runs = runs_of(ranges, write, context, op);
  if (!write) require_reads(context, runs, op);
}

struct PendingReads::State {
  // A piece of page-locked memory, and where its bytes belong.
  struct Piece {
    Ref<Buffer> from;
    int64_t offset, size;
    void* host;
  };
  Stream stream;
  Event event;
  std::vector<Piece> pieces;
};

PendingReads PendingReads::begin(std::span<const ByteRange> ranges, const Stream& stream, HostMemory memory) {
  constexpr uint16_t op = call::read_ranges;
  if (!stream) throw ValueError(op_text(op), "got a default-constructed stream", "Take one from Backend.stream(index)");
  Context& context = stream.box()->context();
  if (!ranges.empty()) context_of(ranges, op);
  const OpGuard guard(context, op);
  const std::vector<Run> runs = runs_of(ranges, false, context, op);
  require_reads(context, runs, op);
  StreamBox& on = context.chosen_stream(stream, 0, op);
  on.raise_pending(op);
  Transfer transfer(context, on, op);
  auto state = std::make_shared<State>();
  state->stream = stream;
  size_t staged = 0;
  for (const Run& run : runs) {
    if (memory == HostMemory::lent || staged + size_t(run.size) > Staging::most_bytes) {
      enqueue_pieces(transfer, ranges, run, runtime::CopyKind::device_to_host, false);
      continue;
    }
    const Ref<Buffer> pinned = context.pool().allocate_pinned(size_t(run.size), op);
    staged += size_t(run.size);
    pinned->note_use(on.index());
    transfer.enqueue(run, 0, run.size, pinned->memory(op), runtime::CopyKind::device_to_host, false);
    for_each_piece(ranges, run, 0, run.size,
                   [&](void* host, int64_t at, int64_t size) { state->pieces.push_back({pinned, at, size, host}); });
  }
  state->event = stream.record();
  PendingReads out;
  out.state_ = std::move(state);
  return out;
}

const Event& PendingReads::event() const {
  if (!state_) throw ValueError(op_text(call::read_ranges), "reads that were not begun", "Call PendingReads::begin()");
  return state_->event;
}

void PendingReads::finish() const {
  constexpr uint16_t op = call::read_ranges;
  event().synchronize();
  const OpGuard guard(state_->stream.box()->context(), op);
  state_->stream.box()->raise_pending(op);
  for (const State::Piece& piece : state_->pieces)
    std::memcpy(piece.host, static_cast<char*>(piece.from->memory(op)) + piece.offset, size_t(piece.size));
  state_->pieces.clear();
}

}  // namespace stator
