// Ref: the intrusive pointer by which public handles hold tracked objects. Dims: the small vector of shapes and
// strides.
#pragma once

#include <stator/export.hpp>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <utility>

namespace stator {

class Box;
STATOR_API void retain(const Box*) noexcept;
STATOR_API void release(const Box*) noexcept;  // the last reference deletes the object, see ownership/box.hpp

// T may be incomplete: Box is the first and only base of every tracked class, so the address is the same.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(T* p) noexcept : p_(p) {
    if (p_) retain(box());
  }
  Ref(const Ref& other) noexcept : Ref(other.p_) {}
  template <class U>
  Ref(const Ref<U>& other) noexcept : Ref(other.get()) {}
  Ref(Ref&& other) noexcept : p_(std::exchange(other.p_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(p_, other.p_);
    return *this;
  }
  ~Ref() {
    if (p_) release(box());
  }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  T* detach() { return std::exchange(p_, nullptr); }  // the caller owns the reference afterwards

 private:
  const Box* box() const { return reinterpret_cast<const Box*>(p_); }
  T* p_ = nullptr;
};

// A shape or strides: at most 32 values, up to six of them inline. Copies of more share memory until one is changed:
// copying a Dims, and so an Array, never throws; non-const members may throw std::bad_alloc.
class STATOR_API Dims {
 public:
  static constexpr int max_size = 32;
  Dims() = default;
  explicit Dims(int size, int64_t value = 0);
  Dims(std::initializer_list<int64_t> values);
  explicit Dims(std::span<const int64_t> values);
  Dims(const Dims& other) noexcept {
    set(other);
    if (many_) [[unlikely]]
      many_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  Dims(Dims&& other) noexcept {
    set(other);
    other.size_ = 0;
    other.many_ = nullptr;
  }
  Dims& operator=(const Dims& other) noexcept { return *this = Dims(other); }
  Dims& operator=(Dims&& other) noexcept {
    if (this == &other) return *this;
    if (many_) [[unlikely]]
      drop();
    set(other);
    other.size_ = 0;
    other.many_ = nullptr;
    return *this;
  }
  ~Dims() {
    if (many_) [[unlikely]]
      drop();
  }

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* data() {
    if (!many_) [[likely]]
      return inline_;
    if (many_->owners.load(std::memory_order_acquire) > 1) own();
    return many_->values;
  }
  const int64_t* data() const { return many_ ? many_->values : inline_; }
  int64_t& operator[](int i) { return data()[i]; }
  int64_t operator[](int i) const { return data()[i]; }
  int64_t* begin() { return data(); }
  int64_t* end() { return data() + size_; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + size_; }
  void push_back(int64_t value);
  friend bool operator==(const Dims& a, const Dims& b) {
    const int64_t *const x = a.data(), *const y = b.data();
    bool same = a.size_ == b.size_;
    for (int i = 0; same && i < a.size_; ++i) same = x[i] == y[i];
    return same;
  }

 private:
  struct Many {
    std::atomic<int32_t> owners{1};
    int64_t values[max_size];
  };
  void own();  // makes the values unshared
  void drop() noexcept;
  void set(const Dims& other) noexcept {
    size_ = other.size_;
    many_ = other.many_;
    if (many_) [[unlikely]]
      return;
    for (int i = 0; i < size_; ++i) inline_[i] = other.inline_[i];
  }
  int32_t size_ = 0;
  Many* many_ = nullptr;
  int64_t inline_[6];
};

}  // namespace stator
