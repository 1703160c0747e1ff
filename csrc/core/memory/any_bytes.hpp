// Which buffers may hold bools whose bytes are others than 0 and 1: memory of others, memory that write_ranges has
// written, and what is read as bool and as another dtype. They are few, and a program without one pays for an atomic
// load.
#pragma once

namespace stator {

class Buffer;

void note_any_bytes(const Buffer&) noexcept;
bool has_any_bytes(const Buffer&) noexcept;
void forget_any_bytes(const Buffer&) noexcept;  // by the buffer's destructor

}  // namespace stator
