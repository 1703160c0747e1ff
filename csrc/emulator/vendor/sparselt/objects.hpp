// cuSPARSELt's objects, which callers hold as 512 bytes each. The bytes name an object of the double.
#pragma once

#include "emulator/vendor/common/device.hpp"
#include "emulator/vendor/common/registry.hpp"
#include "emulator/vendor/common/types.hpp"
#include "emulator/vendor/sparse/descriptors.hpp"

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace stator::emulator::vendor::sparselt {

using sparse::Order;
using sparse::Status;
// cusparseComputeType.
enum class Compute : int { i32 = 0, f16 = 1, f32 = 2 };

constexpr uint64_t opaque_bytes = 512;

// The object of a caller's bytes.
template <class T>
T* behind(const Registry<T>& registry, const void* opaque) {
  const void* pointer = nullptr;
  if (opaque) std::memcpy(&pointer, opaque, sizeof(pointer));
  return registry.find(pointer);
}
// Fills the caller's bytes, all of them.
template <class T>
Status put_object(Registry<T>& registry, void* opaque, T object) {
  std::memset(opaque, 0xa5, opaque_bytes);
  const void* const pointer = registry.add(std::make_unique<T>(std::move(object)));
  std::memcpy(opaque, &pointer, sizeof(pointer));
  return Status::success;
}
template <class T>
Status remove_object(Registry<T>& registry, const void* opaque) {
  const T* const found = behind(registry, opaque);
  return found && registry.remove(found) ? Status::success : Status::invalid_value;
}

struct Handle {
  int device = 0;
};
struct Descriptor {
  int64_t rows = 0, columns = 0, ld = 0;
  Type type = Type::r16f;
  Order order = Order::rows;
  bool structured = false;

  bool by_rows() const { return order == Order::rows; }
  Range range(const void* start) const {
    return matrix_at(start, size_of(type), by_rows() ? columns : rows, by_rows() ? rows : columns, ld);
  }
  int64_t at(int64_t i, int64_t j) const { return by_rows() ? i * ld + j : j * ld + i; }
};
struct Matmul {
  const void* descriptors[4] = {};  // those of the caller, which the plan still needs
  Descriptor a, b, c, d;
  Op op_a = Op::none, op_b = Op::none;
  Compute compute = Compute::f32;
  int64_t m = 0, n = 0, k = 0;
  const Descriptor& structured() const { return a.structured ? a : b; }
};
// No function destroys the description of a product: it lies in the caller's bytes.
struct Stored {
  static constexpr uint64_t sign = 0x6c756d74616d744c;
  uint64_t magic = sign;
  Matmul matmul;
};
static_assert(sizeof(Stored) <= opaque_bytes && std::is_trivially_copyable_v<Stored>);
inline bool stored_in(const void* opaque, Matmul& matmul) {
  Stored stored;
  if (!opaque) return false;
  std::memcpy(static_cast<void*>(&stored), opaque, sizeof(stored));
  matmul = stored.matmul;
  return stored.magic == Stored::sign;
}

struct Algorithm {};
struct Plan {
  Matmul matmul;
  uint64_t number = 0;  // of the problem, by which compressed data is known
  uint64_t workspace = 0, compressed = 0, buffer = 0;
};

extern Registry<Handle> handles;
extern Registry<Descriptor> descriptors;
extern Registry<Algorithm> algorithms;
extern Registry<Plan> plans;

Handle* use(const void* handle, const char* what, Status& status);

}  // namespace stator::emulator::vendor::sparselt
