// Handles and descriptors that exist. A caller's pointer is looked up before it is followed.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace stator::emulator::vendor {

class Objects {
 public:
  explicit Objects(const char* kind);
  const char* const kind;
  Objects* next = nullptr;
  static Objects* first;
  virtual uint64_t alive() const = 0;

 protected:
  ~Objects() = default;
};

template <class T>
class Registry final : public Objects {
 public:
  using Objects::Objects;

  T* add(std::unique_ptr<T> object) {
    const std::lock_guard hold(mutex_);
    T* const pointer = object.get();
    objects_.emplace(pointer, std::move(object));
    return pointer;
  }
  // Null for what is not alive, such as a handle that was destroyed.
  T* find(const void* pointer) const {
    const std::lock_guard hold(mutex_);
    const auto found = objects_.find(pointer);
    return found == objects_.end() ? nullptr : found->second.get();
  }
  bool remove(const void* pointer) {
    std::unique_ptr<T> last;
    const std::lock_guard hold(mutex_);
    const auto found = objects_.find(pointer);
    if (found == objects_.end()) return false;
    last = std::move(found->second);
    objects_.erase(found);
    return true;
  }
  uint64_t alive() const override {
    const std::lock_guard hold(mutex_);
    return objects_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const void*, std::unique_ptr<T>> objects_;
};

}  // namespace stator::emulator::vendor
