// The part of cuSPARSELt that stator calls, declared here so that building needs no CUDA header.
// tests/cpp/vendor_prototypes.cpp compares these types and values with the real header where that is installed.
#pragma once

#include "libs/cuda/cusparse.hpp"

namespace stator::libs::cusparse_lt {

using cusparse::DataType;
using cusparse::Operation;
using cusparse::Order;
using cusparse::Status;
using cusparse::StreamHandle;
inline constexpr Status success = 0;

// The library writes its objects into memory of the caller: 512 bytes since 0.7, 11024 before.
template <int Tag>
struct alignas(16) Opaque {
  uint8_t data[11024];
};
using Handle = Opaque<0>;
using Matrix = Opaque<1>;
using Product = Opaque<2>;
using Selection = Opaque<3>;
using Plan = Opaque<4>;

enum class Sparsity : int { half = 0 };       // cusparseLtSparsity_t
enum class ComputeType : int { f32 = 2 };     // cusparseComputeType
enum class Algorithm : int { standard = 0 };  // cusparseLtMatmulAlg_t

struct Api {
  Status (*create)(Handle*);
  Status (*destroy)(const Handle*);
  const char* (*status_name)(Status);
  Status (*dense)(const Handle*, Matrix*, int64_t rows, int64_t cols, int64_t leading, uint32_t alignment, DataType,
                  Order);
  Status (*structured)(const Handle*, Matrix*, int64_t rows, int64_t cols, int64_t leading, uint32_t alignment,
                       DataType, Order, Sparsity);
  Status (*destroy_matrix)(const Matrix*);
  Status (*product)(const Handle*, Product*, Operation, Operation, const Matrix* a, const Matrix* b, const Matrix* c,
                    const Matrix* d, ComputeType);
  Status (*select)(const Handle*, Selection*, const Product*, Algorithm);
  Status (*destroy_selection)(const Selection*);
  Status (*plan)(const Handle*, Plan*, const Product*, const Selection*);
  Status (*destroy_plan)(const Plan*);
  Status (*workspace)(const Handle*, const Plan*, size_t*);
  Status (*compressed_size)(const Handle*, const Plan*, size_t* bytes, size_t* buffer_bytes);
  Status (*compress)(const Handle*, const Plan*, const void* dense, void* compressed, void* buffer, StreamHandle);
  Status (*matmul)(const Handle*, const Plan*, const void* alpha, const void* a, const void* b, const void* beta,
                   const void* c, void* d, void* workspace, StreamHandle*, int32_t streams);
};

}  // namespace stator::libs::cusparse_lt
