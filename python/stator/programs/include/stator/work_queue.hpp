// For user kernels: items that the host puts into a ring while blocks take them out (Backend.programs.work_queue).
//
//   __global__ void scale(stator::WorkQueue<Item> queue, float* x) {
//     Item item;
//     while (queue.take(item)) x[item.row * 256 + threadIdx.x] *= item.factor;
//   }
#pragma once

namespace stator {

// The first parameter of the kernel, which the queue fills in. Item has the layout of the queue's NumPy dtype.
//
// The ring is page-locked memory of the host. There are words of 64 bits: how many items were put; the size of a
// kernel's items, where it is not the queue's; for each slot the number of the last item that is done, counted from 1;
// for each block how often it found no item. After them are the slots.
template <class Item>
class WorkQueue {
 public:
  // Ends the block's last item and gives the next one to all of its threads, which call it together. False when no item
  // came for a while: the block then returns, and the host launches the kernel again when there are more.
  __device__ bool take(Item& item) {
    static_assert(__is_trivially_copyable(Item) && alignof(Item) <= 16, "items are plain bytes, aligned to 16 at most");
    __shared__ unsigned long long next;
    alignas(16) __shared__ unsigned char bytes[sizeof(Item)];
    __syncthreads();
    if (rank() == 0) {
      end_last();
      next = claim();
    }
    __syncthreads();
    item_ = next;
    if (item_ == none) return false;
    const volatile unsigned char* const slot = slots_ + item_ % capacity_ * sizeof(Item);
    for (unsigned i = rank(); i < sizeof(Item); i += blockDim.x * blockDim.y * blockDim.z) bytes[i] = slot[i];
    __syncthreads();
    item = *reinterpret_cast<const Item*>(bytes);
    return true;
  }

 private:
  static constexpr unsigned long long none = ~0ull;

  __device__ static unsigned rank() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }

  // The host sees what the item's threads wrote before it sees that the slot is free.
  __device__ void end_last() const {
    if (item_ == none) return;
    __threadfence_system();
    words_[2 + item_ % capacity_] = item_ + 1;
  }

  __device__ unsigned long long claim() const {
    if (item_bytes_ != sizeof(Item)) {
      words_[1] = sizeof(Item);
      return none;
    }
    volatile unsigned long long& looked = words_[2 + capacity_ + blockIdx.x];
    unsigned long long found = none;
    unsigned vain = 0;
    while (found == none && vain <= polls_) {
      const unsigned long long put = words_[0];
      const unsigned long long at = atomicAdd(claimed_, 0ull);
      if (at >= put) {
        ++vain;
        __nanosleep(100);
      } else if (atomicCAS(claimed_, at, at + 1) == at) {
        __threadfence_system();  // the item is read after its number
        found = at;
      }
    }
    if (vain) looked = looked + vain;
    return found;
  }

  volatile unsigned long long* words_;
  const unsigned char* slots_;
  unsigned long long* claimed_;  // how many items blocks took, in memory of the device
  unsigned long long capacity_;
  unsigned item_bytes_;
  unsigned polls_;           // without an item, after which a block leaves
  unsigned long long item_;  // that the block works on
};

}  // namespace stator
