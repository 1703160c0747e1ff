// Whether the cuda target's calls go to emulated devices, which the environment's STATOR_EMULATE describes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stator::runtime {

// The kernels that this library was linked with, with their mangled names.
struct RegisteredKernel {
  const void* function;
  std::string_view name;
};
const std::vector<RegisteredKernel>& registered_kernels();

bool emulates();
// Why there are none although they were asked for; else empty.
const std::string& why_not_emulated();
// The op whose work the calling thread enqueues next, for reports of emulated devices. The text is not copied.
void name_emulated_work(std::string_view op);
// Of memory that an emulated device gave, the first `bytes` are lent in the order of the stream.
void lend_emulated_memory(void* memory, size_t bytes, void* stream);
// The report of the fault that made a device unusable; empty if there is none.
std::string emulated_fault(int device);

}  // namespace stator::runtime
