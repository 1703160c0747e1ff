// The part of cuFFT that stator calls, declared here so that building needs no CUDA header.
// tests/cpp/vendor_prototypes.cpp compares these types and values with the real header.
#pragma once

#include <cstddef>
#include <cstdint>

struct CUstream_st;

namespace stator::libs::cufft {

using Handle = int;  // cufftHandle
using Status = int;  // cufftResult
inline constexpr Status success = 0;

enum class DataType : int { r_32f = 0, r_64f = 1, c_32f = 4, c_64f = 5 };  // cudaDataType
enum class Direction : int { forward = -1, inverse = 1 };

struct Api {
  Status (*create)(Handle*);
  Status (*destroy)(Handle);
  Status (*set_auto_allocation)(Handle, int);
  Status (*make_plan_many)(Handle, int rank, long long* n, long long* in_embed, long long in_step,
                           long long in_distance, DataType in, long long* out_embed, long long out_step,
                           long long out_distance, DataType out, long long batch, size_t* work_bytes,
                           DataType execution);
  Status (*set_stream)(Handle, ::CUstream_st*);
  Status (*set_work_area)(Handle, void*);
  Status (*execute)(Handle, void* in, void* out, int direction);
};

}  // namespace stator::libs::cufft
