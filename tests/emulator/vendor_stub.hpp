// A device for tests of only the doubles: memory with exact bounds, one queue of work that runs when a test says so,
// and a list of reports.
#pragma once

#include "check.hpp"
#include "emulator/services.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace stator::test {

struct Stub {
  uint64_t seed = 0;
  int device = 0;
  int capability = 90;
  bool capturing = false;
  int refusal = 0;                   // what `enqueue` returns instead of taking work
  std::vector<std::string> reports;  // of bad accesses and violations, the oldest first
  int ran = 0;                       // pieces of work
};
extern Stub stub;

void* stub_allocate(uint64_t bytes);
void stub_free(void* pointer);
uint64_t stub_live_bytes();
void stub_write(void* to, const void* from, uint64_t bytes);
bool stub_initialised(const void* from, uint64_t bytes);
// Runs the work that is queued.
void finish();
// The reports so far, which are forgotten; "" if there are none.
std::string reported();
// What every case leaves: no work, no reports, no memory, no handles.
void assert_clean();

inline void* const some_stream = reinterpret_cast<void*>(0x5000);

// Memory of the device.
template <class T>
class Device {
 public:
  explicit Device(size_t count) : count_(count), data_(static_cast<T*>(stub_allocate(count * sizeof(T)))) {}
  Device(const std::vector<T>& values) : Device(values.size()) { set(values); }
  ~Device() { stub_free(data_); }
  Device(const Device&) = delete;

  T* data() const { return data_; }
  operator T*() const { return data_; }
  size_t size() const { return count_; }
  void set(const std::vector<T>& values) const { stub_write(data_, values.data(), values.size() * sizeof(T)); }
  // After all queued work.
  std::vector<T> get() const {
    finish();
    std::vector<T> values(count_);
    std::memcpy(static_cast<void*>(values.data()), data_, count_ * sizeof(T));
    return values;
  }
  bool written(size_t from = 0, size_t count = size_t(-1)) const {
    finish();
    return stub_initialised(data_ + from, (count == size_t(-1) ? count_ - from : count) * sizeof(T));
  }

 private:
  size_t count_;
  T* data_;
};

}  // namespace stator::test
