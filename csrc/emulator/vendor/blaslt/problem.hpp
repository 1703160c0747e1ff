// One product of cuBLASLt as its descriptors say it, and whether the library has it.
#pragma once

#include "emulator/vendor/blaslt/descriptors.hpp"

#include <cstdint>

namespace stator::emulator::vendor::blaslt {

struct Problem {
  Description description;
  Layout a, b, c, d;
  blas::Arithmetic arithmetic = blas::Arithmetic::none;
  Type bias_type = Type::r32f;
  int64_t m = 0, n = 0, k = 0;
  bool narrow() const { return size_of(a.type) == 1; }
  bool has(uint32_t epilogue) const { return description.epilogue & epilogue; }
};

// What an algorithm is good for: one for a problem serves another only if all of this fits too. Lies in the 64 bytes of
// cublasLtMatmulAlgo_t.
struct Algorithm {
  uint64_t magic = 0x53544154454d554c;
  uint64_t workspace = 0;
  uint16_t alignment[4] = {};  // of a, b, c, d, in bytes
  uint8_t types[4] = {}, scale = 0, bias = 0, orders = 0, operations = 0;
  uint32_t epilogue = 0;
  int32_t compute = 0;
  uint8_t unused[24] = {};
};
static_assert(sizeof(Algorithm) == 64);

// Fills the problem. invalid_value where descriptors contradict each other, not_supported where the tables have no such
// product.
Status describe(const Description& description, const Layout& a, const Layout& b, const Layout& c, const Layout& d,
                int capability, Problem& problem);
Algorithm algorithm_for(const Problem& problem, const Preference& preference);
bool serves(const Algorithm& algorithm, const Problem& problem);

}  // namespace stator::emulator::vendor::blaslt
