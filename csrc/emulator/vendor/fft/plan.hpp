// A plan of cuFFT.
#pragma once

#include "emulator/vendor/common/device.hpp"
#include "emulator/vendor/common/types.hpp"

#include <cstdint>

namespace stator::emulator::vendor::fft {

// cufftResult, as far as it occurs here.
enum class Status : int {
  success = 0,
  invalid_plan = 1,
  alloc_failed = 2,
  invalid_type = 3,
  invalid_value = 4,
  internal_error = 5,
  exec_failed = 6,
  setup_failed = 7,
  invalid_size = 8,
  unaligned_data = 9,
  invalid_device = 11,
  no_workspace = 13,
  not_supported = 16
};
enum class Kind { complex, to_complex, to_real };

// Where the elements of one side lie, in elements.
struct Side {
  Type type = Type::c32f;
  bool basic = true;              // without gaps; strides and distance follow from the lengths
  int64_t extent[3] = {1, 1, 1};  // of the side's own elements along each axis
  int64_t embed[3] = {1, 1, 1};
  int64_t stride = 1, distance = 0;

  int64_t offset(int64_t batch, int64_t x, int64_t y) const {
    return batch * distance + (x * embed[1] + y) * embed[2] * stride;
  }
  // Along the last axis.
  Range row(const void* start, int64_t batch, int64_t x, int64_t y) const;
};

struct Plan {
  int device = 0;
  void* stream = nullptr;
  bool automatic = true, made = false;
  Kind kind = Kind::complex;
  int64_t n[3] = {1, 1, 1};  // the last `rank` ones
  int64_t batch = 1;
  Side in, out;
  uint64_t work_bytes = 0;
  void* work = nullptr;
  void* own_work = nullptr;  // if it takes its memory itself
};

// A plan's sides once its lengths are known: of the basic layout in place, the real side has room for its complex one.
void lay_out(Plan& plan, bool in_place);

// Runs on the stream.
void execute(const Plan& plan, void* input, void* output, bool inverse);

}  // namespace stator::emulator::vendor::fft
