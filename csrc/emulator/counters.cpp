#include "emulator/counters.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace stator::emulator {

const char* name_of(Kind kind) {
  constexpr const char* names[] = {"integer", "f32",       "f64",     "half",   "convert", "special", "matrix",
                                   "move",    "predicate", "control", "memory", "warp",    "barrier"};
  static_assert(std::size(names) == Counters::kinds);
  return names[std::size_t(kind)];
}

uint64_t Counters::instructions() const {
  return std::accumulate(warp_instructions.begin(), warp_instructions.end(), uint64_t(0));
}

uint64_t Counters::lanes() const {
  return std::accumulate(lane_instructions.begin(), lane_instructions.end(), uint64_t(0));
}

namespace {

struct Field {
  const char* name;
  uint64_t Counters::* value;
};
// All but the last are sums.
constexpr Field fields[] = {{"blocks", &Counters::blocks},
                            {"threads", &Counters::threads},
                            {"warps", &Counters::warps},
                            {"global_loads", &Counters::global_loads},
                            {"global_load_sectors", &Counters::global_load_sectors},
                            {"global_load_bytes", &Counters::global_load_bytes},
                            {"global_load_misses", &Counters::global_load_misses},
                            {"global_stores", &Counters::global_stores},
                            {"global_store_sectors", &Counters::global_store_sectors},
                            {"global_store_bytes", &Counters::global_store_bytes},
                            {"shared_loads", &Counters::shared_loads},
                            {"shared_load_wavefronts", &Counters::shared_load_wavefronts},
                            {"shared_stores", &Counters::shared_stores},
                            {"shared_store_wavefronts", &Counters::shared_store_wavefronts},
                            {"local_loads", &Counters::local_loads},
                            {"local_stores", &Counters::local_stores},
                            {"global_atomics", &Counters::global_atomics},
                            {"shared_atomics", &Counters::shared_atomics},
                            {"barriers", &Counters::barriers},
                            {"registers_bytes", &Counters::registers_bytes}};
static_assert(2 * Counters::kinds + std::size(fields) == Counters::count);

// "warp_instructions_f32" and so on, then the same of lanes.
const std::vector<std::string>& kind_names() {
  static const auto* const names = [] {
    auto* const made = new std::vector<std::string>;  // never destroyed: exits still ask
    for (const char* unit : {"warp_instructions_", "lane_instructions_"})
      for (std::size_t i = 0; i < Counters::kinds; ++i) made->push_back(std::string(unit) + name_of(Kind(i)));
    return made;
  }();
  return *names;
}

}  // namespace

std::array<Counters::Value, Counters::count> Counters::values() const {
  const std::vector<std::string>& names = kind_names();
  std::array<Value, count> found;
  for (std::size_t i = 0; i < kinds; ++i) {
    found[i] = {names[i].c_str(), warp_instructions[i]};
    found[kinds + i] = {names[kinds + i].c_str(), lane_instructions[i]};
  }
  for (std::size_t i = 0; i < std::size(fields); ++i) found[2 * kinds + i] = {fields[i].name, this->*fields[i].value};
  return found;
}

Counters& Counters::operator+=(const Counters& other) {
  for (std::size_t i = 0; i < kinds; ++i) {
    warp_instructions[i] += other.warp_instructions[i];
    lane_instructions[i] += other.lane_instructions[i];
  }
  const uint64_t most = std::max(registers_bytes, other.registers_bytes);
  for (const Field& field : fields) this->*field.value += other.*field.value;
  registers_bytes = most;
  return *this;
}

}  // namespace stator::emulator
