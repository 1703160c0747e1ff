// Ref: the intrusive pointer by which public handles hold tracked objects. Dims: the small vector of shapes and
// strides.
#pragma once

#include <stator/export.hpp>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <utility>

namespace stator {

class Box;
STATOR_API void retain(const Box*) noexcept;
STATOR_API void release(const Box*) noexcept;  // the last reference deletes the object, see core/box.hpp

// T may be incomplete: Box is the first and only base of every tracked class, so the address is the same.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(T* p) : p_(p) {
    if (p_) retain(box());
  }
  Ref(const Ref& other) : Ref(other.p_) {}
  template <class U>
  Ref(const Ref<U>& other) : Ref(other.get()) {}
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
  T* detach() { return std::exchange(p_, nullptr); }  // the caller then owns the reference

 private:
  const Box* box() const { return reinterpret_cast<const Box*>(p_); }
  T* p_ = nullptr;
};

// A shape or strides: at most 32 values, six of them inline.
class STATOR_API Dims {
 public:
  static constexpr int max_size = 32;
  Dims() = default;
  explicit Dims(int size, int64_t value = 0);
  Dims(std::initializer_list<int64_t> values);
  explicit Dims(std::span<const int64_t> values);
  Dims(const Dims& other) : Dims(std::span<const int64_t>(other.data(), other.size())) {}
  Dims(Dims&& other) noexcept { swap(other); }
  Dims& operator=(Dims other) noexcept {
    swap(other);
    return *this;
  }
  ~Dims() {
    if (heap_) delete[] heap_;
  }

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* data() { return heap_ ? heap_ : inline_; }
  const int64_t* data() const { return heap_ ? heap_ : inline_; }
  int64_t& operator[](int i) { return data()[i]; }
  int64_t operator[](int i) const { return data()[i]; }
  int64_t* begin() { return data(); }
  int64_t* end() { return data() + size_; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + size_; }
  void push_back(int64_t value);
  friend bool operator==(const Dims& a, const Dims& b) {
    return a.size_ == b.size_ && std::memcmp(a.data(), b.data(), sizeof(int64_t) * a.size_) == 0;
  }

 private:
  void swap(Dims& other) noexcept {
    std::swap(size_, other.size_);
    std::swap(heap_, other.heap_);
    std::swap(inline_, other.inline_);
  }
  int32_t size_ = 0;
  int64_t* heap_ = nullptr;
  int64_t inline_[6] = {};
};

}  // namespace stator
