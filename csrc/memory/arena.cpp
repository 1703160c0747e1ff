#include "memory/arena.hpp"

#include "core/context.hpp"

#include <algorithm>

namespace stator {

Arena::~Arena() {
  for (const Piece& piece : pieces_)
    context_.pool().take_over({piece.memory, piece.bytes, 0, int8_t(home_), {}}, users_);
}

Block Arena::take(size_t bytes, int stream, uint16_t op, int* number) {
  Block block;
  int own = 0;
  {
    const std::lock_guard lock(mutex_);
    own = count_++;
    if (number) *number = own;
    if (number && !fresh_.contains(own) && lists_[stream].pop(bytes, true, &block)) {
      const auto same = [&](const Piece& piece) { return piece.memory == block.memory; };
      std::find_if(pieces_.begin(), pieces_.end(), same)->allocations.push_back(own);
      return block;
    }
  }
  Charge charge = context_.pool().charge(thread_scope, bytes, op);
  block = context_.pool().take(bytes, stream, op);
  try {
    context_.pool().lend(block, block.bytes, op);  // pieces of it may serve several arrays
    const std::lock_guard lock(mutex_);
    pieces_.push_back({block.memory, block.bytes, {own}, std::move(charge)});
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
  const auto piece = std::find_if(pieces_.begin(), pieces_.end(), [=](const Piece& p) { return p.memory == memory; });
  if (piece == pieces_.end()) return;
  try {
    Block block{memory, piece->bytes, 0, int8_t(stream), {}};
    size_t part = parts_.size();
    while (part > 0 && piece->allocations.back() < parts_[part - 1]) --part;
    if (part < parts_.size())
      late_.push_back({std::move(block), part});
    else
      lists_[stream].push(std::move(block));
  } catch (const std::bad_alloc&) {}
}

void Arena::begin_part() {
  const std::lock_guard lock(mutex_);
  parts_.push_back(count_);
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
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [=](const Piece& p) { return p.allocations.size() == 1 && p.allocations[0] == number; });
}

Charge Arena::disown(void* memory) {
  const std::lock_guard lock(mutex_);
  const auto piece = std::find_if(pieces_.begin(), pieces_.end(), [=](const Piece& p) { return p.memory == memory; });
  if (piece == pieces_.end()) return {};
  Charge charge = std::move(piece->charge);
  pieces_.erase(piece);
  return charge;
}

size_t Arena::bytes() const {
  const std::lock_guard lock(mutex_);
  size_t sum = 0;
  for (const Piece& piece : pieces_) sum += piece.bytes;
  return sum;
}

int Arena::find(const void* address, size_t* distance) const {
  const std::lock_guard lock(mutex_);
  for (const Piece& piece : pieces_) {
    const auto from = size_t(static_cast<const char*>(address) - static_cast<const char*>(piece.memory));
    if (address < piece.memory || from >= piece.bytes) continue;
    *distance = from;
    return piece.allocations.back();
  }
  return -1;
}

}  // namespace stator
