// Context::lease reuses a free LibraryBox of the same library, stream and order, else makes one; leases give their box
// back.
#include "core/library_box.hpp"

namespace stator {

std::shared_ptr<void> Context::lease(const char* library, StreamBox& stream,
                                     std::shared_ptr<void> (*make)(Context&, StreamBox&)) {
  // Called without the mutex: where the shared_ptr gets no memory it gives the box back at once.
  const auto lend = [this](LibraryBox* box) {
    return std::shared_ptr<void>(box->object(), [this, box](void*) { give_back(box); });
  };
  const runtime::StreamHandle native = stream.handle(no_op);
  const int order = stream.order();
  LibraryBox* free = nullptr;
  {
    const std::lock_guard lock(libraries_mutex_);
    for (const auto& box : libraries_) {
      if (box->in_use || !box->serves(library, native, order)) continue;
      box->in_use = true;
      free = box.get();
      break;
    }
  }
  if (free) return lend(free);
  auto made = std::make_unique<LibraryBox>(*this, library, native, order);
  made->fill(make(*this, stream));
  made->in_use = true;
  LibraryBox* box = made.get();
  {
    const std::lock_guard lock(libraries_mutex_);
    libraries_.push_back(std::move(made));
  }
  return lend(box);
}

void Context::give_back(LibraryBox* library) noexcept {
  const std::lock_guard lock(libraries_mutex_);
  library->in_use = false;
}

}  // namespace stator
