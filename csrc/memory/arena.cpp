#include "memory/arena.hpp"

#include "core/context.hpp"

namespace stator {

Arena::~Arena() {
  for (const auto& [memory, piece] : pieces_)
    context_.pool().take_over({memory, piece.bytes, 0, int8_t(home_), {}}, users_);
}

Block Arena::take(size_t bytes, int stream, uint16_t op, int* number) {
  Block block;
  int own = 0;
  {
    const std::lock_guard lock(mutex_);
    own = int(memory_of_.size());
    memory_of_.push_back(nullptr);
    if (number) *number = own;
    if (number && !fresh_.contains(own) && lists_[stream].pop(bytes, true, &block)) {
      pieces_.at(block.memory).allocations.push_back(own);
      memory_of_[own] = block.memory;
      return block;
    }
  }
  Charge charge = context_.pool().charge(thread_scope, bytes, op);
  block = context_.pool().take(bytes, stream, op);
  try {
    context_.pool().lend(block, block.bytes, op);  // pieces of it may serve several arrays
    const std::lock_guard lock(mutex_);
    pieces_.insert_or_assign(block.memory, Piece{block.bytes, {own}, std::move(charge)});
    memory_of_[own] = block.memory;
  } catch (...) {
    context_.pool().take_over(std::move(block), 0);
    throw;
  }
  return block;
}

// Where there is no memory for the list, the block is not used again during the capture.
void Arena::give_back(void* memory, int stream, uint32_t users) noexcept {
  note_users(users);
  const std::lock_guard lock(mutex_);
  if (sealed_ || (users & ~(uint32_t(1) << stream))) return;
  const auto found = pieces_.find(memory);
  if (found == pieces_.end()) return;
  const Piece& piece = found->second;
  try {
    Block block{memory, piece.bytes, 0, int8_t(stream), {}};
    size_t part = parts_.size();
    while (part > 0 && piece.allocations.back() < parts_[part - 1]) --part;
    if (part < parts_.size())
      late_.push_back({std::move(block), part});
    else
      lists_[stream].push(std::move(block));
  } catch (const std::bad_alloc&) {}
}

void Arena::begin_part() {
  const std::lock_guard lock(mutex_);
  parts_.push_back(int(memory_of_.size()));
}

void Arena::end_part() {
  const std::lock_guard lock(mutex_);
  parts_.pop_back();
  std::vector<Late> still;
  for (Late& late : late_) {
    if (late.part < parts_.size())
      still.push_back(std::move(late));
    else
      lists_[late.block.home].push(std::move(late.block));
  }
  late_ = std::move(still);
}

void Arena::seal() {
  const std::lock_guard lock(mutex_);
  sealed_ = true;
  lists_ = {};
}

bool Arena::is_exclusive(int number) const {
  const std::lock_guard lock(mutex_);
  if (size_t(number) >= memory_of_.size()) return false;
  const auto piece = pieces_.find(memory_of_[number]);
  return piece != pieces_.end() && piece->second.allocations == std::vector{number};
}

Charge Arena::disown(void* memory) {
  const std::lock_guard lock(mutex_);
  auto piece = pieces_.extract(memory);
  return piece ? std::move(piece.mapped().charge) : Charge{};
}

size_t Arena::bytes() const {
  const std::lock_guard lock(mutex_);
  size_t sum = 0;
  for (const auto& [memory, piece] : pieces_) sum += piece.bytes;
  return sum;
}

int Arena::find(const void* address, size_t* distance) const {
  const std::lock_guard lock(mutex_);
  auto piece = pieces_.upper_bound(const_cast<void*>(address));
  if (piece == pieces_.begin()) return -1;
  --piece;
  *distance = size_t(static_cast<const char*>(address) - static_cast<const char*>(piece->first));
  return *distance < piece->second.bytes ? piece->second.allocations.back() : -1;
}

}  // namespace stator
