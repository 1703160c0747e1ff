// CUDA C++ of users, compiled by NVRTC, which is opened at the first use and needs no GPU.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stator::libs {

struct Compiled {
  std::string ptx;
  std::string code;                // for the architecture, a cubin
  std::vector<std::string> names;  // of the kernels in the code, one per expression
  std::string log;                 // warnings
};

// `file` names the source in messages. An expression names a kernel, or an instance of a template: "axpy<float>".
// `architecture` is 10 * major + minor. CompileError has the compiler's log; LibraryNotFoundError.
Compiled compile(std::string_view op, const std::string& source, const std::string& file,
                 const std::vector<std::string>& expressions, const std::vector<std::string>& options,
                 int architecture);

// The version of NVRTC: "13.0". CudaError, LibraryNotFoundError.
std::string compiler_version(std::string_view op);

}  // namespace stator::libs
