// An Allocator that calls functions of a binding to another language.
#include "memory/buffer.hpp"
#include "ownership/binding.hpp"
#include "ownership/process.hpp"

#include <stator/interop.hpp>
#include <stator/memory/allocator.hpp>

namespace stator::interop {
namespace {

class CallbackAllocator final : public Allocator {
 public:
  CallbackAllocator(void* owner, const AllocatorCalls& calls)
      : owner_(owner), calls_(calls), foreign_owner_(std::make_unique<ForeignOwner>([=] {
          if (!interpreter_ended()) calls.release(owner);
        })) {}
  // The owner goes with a lock that this thread may not take.
  ~CallbackAllocator() override { ForeignReleases::push(std::move(foreign_owner_)); }

  void* allocate(size_t bytes, void* stream) override {
    if (ended() || interpreter_ended()) return nullptr;
    StopsHere stops;
    void* const memory = calls_.allocate(owner_, bytes, stream);
    stops.returned = true;
    return memory;
  }

  void deallocate(void* memory, size_t bytes, void* stream) noexcept override {
    if (ended() || interpreter_ended()) return;
    StopsHere stops;
    calls_.deallocate(owner_, memory, bytes, stream);
    stops.returned = true;
  }

 private:
  void* const owner_;
  const AllocatorCalls calls_;
  std::unique_ptr<ForeignOwner> foreign_owner_;
};

}  // namespace

Backend open(std::string_view device, const BackendOptions& options, void* owner, const AllocatorCalls& calls) {
  return Backend::open(device, options, std::make_shared<CallbackAllocator>(owner, calls));
}

}  // namespace stator::interop
