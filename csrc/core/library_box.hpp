// LibraryBox: a vendor-library handle with its workspace, as a tracked object that is leased to one enqueue at a time.
// It serves one stream and one order of work (StreamBox::order), since work of two orders would use the workspace at
// once.
#pragma once

#include "core/context.hpp"

#include <string_view>

namespace stator {

class LibraryBox final : public Box {
 public:
  LibraryBox(Context& context, std::string_view library, runtime::StreamHandle stream, int order)
      : Box(BoxKind::library, &context, context.tracker(), 0xffff, Hold::part_of),
        library_(library),
        stream_(stream),
        order_(order) {}
  ~LibraryBox() override { dispose(); }
  std::string_view library() const { return library_; }
  bool serves(std::string_view library, runtime::StreamHandle stream, int order) const {
    return library_ == library && stream_ == stream && order_ == order;
  }
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
  const int order_;
  std::shared_ptr<void> object_;
};

}  // namespace stator
