// Accesses of the host to the device's memory.
#include "emulator/memory/memory.hpp"

namespace stator::emulator {

using memory::Allocation;

Report Memory::check(const void* pointer, uint64_t bytes, bool write, Allocation** found) const {
  *found = nullptr;
  if (bytes == 0) return {};
  const auto address = reinterpret_cast<uint64_t>(pointer);
  Allocation* const a = find(address);
  if (!a || !a->live || address > a->end() || bytes > a->end() - address) return describe(address, bytes, write);
  *found = a;
  return {};
}

Report Memory::check_write(const void* pointer, uint64_t bytes) const {
  Allocation* a;
  return check(pointer, bytes, true, &a);
}

Report Memory::check_read(const void* pointer, uint64_t bytes, bool initialised) const {
  Allocation* a;
  Report report = check(pointer, bytes, false, &a);
  if (report || !a || !initialised || is_initialised(pointer, bytes)) return report;
  const uint64_t offset = reinterpret_cast<uint64_t>(pointer) - a->base;
  uint64_t first = offset;
  while (memory::get_bits(a->initialised.words(), first, 1)) ++first;
  report.fault = Fault::uninitialised;
  report.address = a->base + first;
  report.allocation = a->base;
  report.allocation_bytes = a->bytes;
  report.allocation_label = a->label;
  report.sentence = "A read of " + std::to_string(bytes) + " bytes meets byte " + std::to_string(first) +
                    " of the allocation, which nothing wrote.";
  return report;
}

bool Memory::is_initialised(const void* pointer, uint64_t bytes) const {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const Allocation* a = bytes ? find(address) : nullptr;
  return !a || a->whole || memory::all_set(a->initialised.words(), address - a->base, bytes);
}

void Memory::mark_initialised(const void* pointer, uint64_t bytes) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  Allocation* a = bytes ? find(address) : nullptr;
  if (!a || a->whole) return;
  memory::set_bits(a->initialised.words(), address - a->base, bytes);
  if (bytes == a->bytes) a->whole = true;
}

Report Memory::write(void* to, const void* from_host, uint64_t bytes) {
  Report report = check_write(to, bytes);
  if (report || bytes == 0) return report;
  std::memmove(to, from_host, bytes);
  mark_initialised(to, bytes);
  return report;
}

Report Memory::read(void* to_host, const void* from, uint64_t bytes) const {
  Report report = check_read(from, bytes);
  if (!report && bytes) std::memmove(to_host, from, bytes);
  return report;
}

Report Memory::fill(void* to, int value, uint64_t bytes) {
  Report report = check_write(to, bytes);
  if (report || bytes == 0) return report;
  std::memset(to, value, bytes);
  mark_initialised(to, bytes);
  return report;
}

Report Memory::copy(void* to, const void* from, uint64_t bytes) {
  Allocation *source, *target;
  Report report = check(from, bytes, false, &source);
  if (!report) report = check(to, bytes, true, &target);
  if (report || bytes == 0) return report;
  std::memmove(to, from, bytes);
  if (is_initialised(from, bytes)) {
    mark_initialised(to, bytes);
    return report;
  }
  const uint64_t from_offset = reinterpret_cast<uint64_t>(from) - source->base;
  const uint64_t to_offset = reinterpret_cast<uint64_t>(to) - target->base;
  if (!target->initialised.words()) return report;  // memory of the host, which counts as initialised
  target->whole = false;
  memory::Bits copied(bytes);  // the ranges may overlap
  for (uint64_t i = 0; i < bytes; i += 64)
    copied.words()[i / 64] =
        memory::get_bits(source->initialised.words(), from_offset + i, std::min<uint64_t>(64, bytes - i));
  memory::clear_bits(target->initialised.words(), to_offset, bytes);
  for (uint64_t i = 0; i < bytes; ++i)
    if (memory::get_bits(copied.words(), i, 1)) memory::set_bits(target->initialised.words(), to_offset + i, 1);
  return report;
}

}  // namespace stator::emulator
