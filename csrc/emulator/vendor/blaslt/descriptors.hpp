// The descriptors of cuBLASLt and their attributes.
#pragma once

#include "emulator/vendor/blas/handle.hpp"
#include "emulator/vendor/blas/product.hpp"

#include <cstdint>

namespace stator::emulator::vendor::blaslt {

using blas::Compute;
using blas::Status;

struct Layout {
  Type type = Type::r32f;
  int32_t order = 0;  // 0: by columns, 1: by rows
  uint64_t rows = 0, columns = 0;
  int64_t ld = 0;
  int32_t batches = 1;
  int64_t stride = 0;        // of batches, in elements
  int64_t plane_offset = 0;  // of the imaginary parts, where they lie apart
  uint32_t batch_mode = 0;

  bool by_rows() const { return order == 1; }
  int64_t lines() const { return int64_t(by_rows() ? rows : columns); }
  int64_t line() const { return int64_t(by_rows() ? columns : rows); }
};

struct Description {
  Compute compute = Compute::f32;
  Type scale = Type::r32f;
  int32_t pointer_mode = 0;
  int32_t op_a = 0, op_b = 0, op_c = 0;
  int32_t fill = 2;
  uint32_t epilogue = 1;
  const void* bias = nullptr;
  int64_t bias_stride = 0;
  void* aux = nullptr;
  int64_t aux_ld = 0, aux_stride = 0, alpha_stride = 0;
  int32_t multiprocessors = 0;
  const void *scale_a = nullptr, *scale_b = nullptr, *scale_c = nullptr, *scale_d = nullptr;
  void* largest_d = nullptr;
  int32_t aux_type = -1;
  const void *aux_scale = nullptr, *aux_largest = nullptr;
  int8_t fast_accumulation = 0;
  int32_t bias_type = -1;
  int32_t scale_modes[6] = {};  // of a, b, c, d, aux and of the scale that comes out
  void* scale_out = nullptr;
};

struct Preference {
  uint32_t search = 0;
  uint64_t workspace = 0;
  uint32_t reductions = 7;
  uint32_t alignment[4] = {256, 256, 256, 256};  // of a, b, c, d, in bytes
  float waves = 0;
  uint64_t implementations = ~uint64_t(0);
};

extern Registry<Layout> layouts;
extern Registry<Description> descriptions;
extern Registry<Preference> preferences;

// Bits of an epilogue.
constexpr uint32_t plain = 1, relu = 2, with_bias = 4, gelu = 32;

}  // namespace stator::emulator::vendor::blaslt
