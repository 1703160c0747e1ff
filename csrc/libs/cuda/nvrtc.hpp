// The part of NVRTC that stator calls, declared here so that building needs no CUDA header.
// tests/cpp/vendor_prototypes.cpp compares these types and values with the real header.
#pragma once

#include <cstddef>

struct _nvrtcProgram;

namespace stator::libs::nvrtc {

using Program = ::_nvrtcProgram*;  // nvrtcProgram
using Status = int;                // nvrtcResult
inline constexpr Status success = 0, compilation = 6;

struct Api {
  Status (*create)(Program*, const char* source, const char* name, int headers, const char* const* sources,
                   const char* const* names);
  Status (*destroy)(Program*);
  Status (*add_name_expression)(Program, const char*);
  Status (*compile)(Program, int count, const char* const* options);
  Status (*lowered_name)(Program, const char* expression, const char** name);
  Status (*log_size)(Program, size_t*);
  Status (*log)(Program, char*);
  Status (*ptx_size)(Program, size_t*);
  Status (*ptx)(Program, char*);
  Status (*code_size)(Program, size_t*);
  Status (*code)(Program, char*);
  const char* (*error_text)(Status);
  Status (*version)(int* major, int* minor);
};

}  // namespace stator::libs::nvrtc
