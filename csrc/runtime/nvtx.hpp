// Ranges of NVTX, NVIDIA's interface to profilers. Nothing is loaded before the first of these calls; then it is the
// tool that the environment variable NVTX_INJECTION64_PATH names, which profilers set.
#pragma once

#include <string_view>

namespace stator::runtime {

struct NvtxState {
  const char* missing;  // why ranges would go nowhere, null where a tool takes them
  const char* remedy;
};
NvtxState nvtx_state() noexcept;
void nvtx_push(std::string_view name) noexcept;
void nvtx_pop() noexcept;

}  // namespace stator::runtime
