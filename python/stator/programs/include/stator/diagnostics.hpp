// For user kernels: records that any thread appends, of which the host reads all at once
// (Backend.programs.diagnostics).
#pragma once

namespace stator {

// A parameter of the kernel, which takes the `array` of a stator.programs.Diagnostics. Record has the layout of the
// NumPy dtype that Backend.programs.diagnostics was given.
template <class Record>
class Diagnostics {
 public:
  // Appends a record. False where there is no room for it, which is counted.
  __device__ bool push(const Record& record) const {
    static_assert(__is_trivially_copyable(Record) && alignof(Record) <= sizeof(Header),
                  "records are plain bytes, aligned to 32 at most");
    if (header_->record_bytes != sizeof(Record)) {
      atomicExch(&header_->other_bytes, unsigned(sizeof(Record)));
      return false;
    }
    const unsigned long long at = atomicAdd(&header_->pushed, 1ull);
    if (at >= header_->capacity) return false;
    reinterpret_cast<Record*>(header_ + 1)[at] = record;
    return true;
  }

 private:
  struct Header {
    unsigned long long pushed, capacity;
    unsigned record_bytes;  // on the host
    unsigned other_bytes;   // of a kernel whose records have another size, else 0
    unsigned long long unused;
  };

  Header* header_;
};

}  // namespace stator
