// NVTX by NVIDIA's headers, which have no library: they open the tool.
#include "runtime/nvtx.hpp"

#if defined(STATOR_WITH_NVTX)
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <cstring>

namespace stator::runtime {
namespace {

// Null without a tool.
nvtxDomainHandle_t domain() noexcept {
  static const nvtxDomainHandle_t instance = nvtxDomainCreateA("stator");
  return instance;
}

}  // namespace

NvtxState nvtx_state() noexcept {
  if (domain()) return {};
  return {"no profiler takes NVTX ranges in this process",
          "Start the program under one, such as `nsys profile python program.py`, or set NVTX_INJECTION64_PATH to the "
          "tool's library before the first range"};
}

void nvtx_push(std::string_view name) noexcept {
  char text[64];
  const size_t length = std::min(name.size(), sizeof text - 1);
  std::memcpy(text, name.data(), length);
  text[length] = 0;
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = text;
  nvtxDomainRangePushEx(domain(), &attributes);
}

void nvtx_pop() noexcept { nvtxDomainRangePop(domain()); }

}  // namespace stator::runtime

#else

namespace stator::runtime {

NvtxState nvtx_state() noexcept {
  return {"stator was built without NVTX's headers", "Build it with a CUDA toolkit that has nvtx3/nvToolsExt.h"};
}
void nvtx_push(std::string_view) noexcept {}
void nvtx_pop() noexcept {}

}  // namespace stator::runtime

#endif
