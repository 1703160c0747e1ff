// LibraryBox: a vendor-library handle with its workspace, as a tracked object that is leased to one enqueue at a time.
#pragma once

#include "core/context.hpp"

#include <string_view>

namespace stator {

class LibraryBox final : public Box {
 public:
  LibraryBox(Context& context, std::string_view library, runtime::StreamHandle stream)
      : Box(BoxKind::library, &context, context.tracker(), 0xffff, Hold::part_of), library_(library), stream_(stream) {}
  ~LibraryBox() override { dispose(); }
  std::string_view library() const { return library_; }
  runtime::StreamHandle stream() const { return stream_; }
  void* object() const { return object_.get(); }
  void fill(std::shared_ptr<void> object) {
    object_ = std::move(object);
    set_native(object_.get());
  }
  bool in_use = false;  // guarded by the context's libraries_mutex_

 private:
  void release_native(void*) noexcept override { object_.reset(); }
  const std::string_view library_;  // of a string literal
  const runtime::StreamHandle stream_;
  std::shared_ptr<void> object_;
};

}  // namespace stator
