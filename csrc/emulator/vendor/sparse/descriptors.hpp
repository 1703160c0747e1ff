// cuSPARSE's handles and descriptors.
#pragma once

#include "emulator/vendor/common/device.hpp"
#include "emulator/vendor/common/product.hpp"
#include "emulator/vendor/common/registry.hpp"
#include "emulator/vendor/common/types.hpp"

#include <cstdint>

namespace stator::emulator::vendor::sparse {

// cusparseStatus_t.
enum class Status : int {
  success = 0,
  not_initialized = 1,
  alloc_failed = 2,
  invalid_value = 3,
  arch_mismatch = 4,
  mapping_error = 5,
  execution_failed = 6,
  internal_error = 7,
  matrix_type_not_supported = 8,
  zero_pivot = 9,
  not_supported = 10,
  insufficient_resources = 11
};
const char* name_of(Status status);
enum class Index : int { u16 = 1, i32 = 2, i64 = 3 };
enum class Order : int { columns = 1, rows = 2 };

struct Handle {
  int device = 0;
  void* stream = nullptr;
};
struct Matrix {
  int64_t rows = 0, columns = 0, nnz = 0;
  void *offsets = nullptr, *indices = nullptr, *values = nullptr;
  Index index = Index::i32;
  int base = 0;
  Type type = Type::r32f;
  int32_t upper = 0, unit = 0;  // the attributes: fill mode and type of diagonal

  uint64_t index_bytes() const { return index == Index::i64 ? 8 : 4; }
};
struct DenseVector {
  int64_t size = 0;
  void* values = nullptr;
  Type type = Type::r32f;
};
struct DenseMatrix {
  int64_t rows = 0, columns = 0, ld = 0;
  void* values = nullptr;
  Type type = Type::r32f;
  Order order = Order::columns;

  int64_t at(int64_t i, int64_t j) const { return order == Order::columns ? j * ld + i : i * ld + j; }
  Range range() const {
    const bool by_columns = order == Order::columns;
    return matrix_at(values, size_of(type), by_columns ? rows : columns, by_columns ? columns : rows, ld);
  }
};

extern Registry<Handle> handles;
extern Registry<Matrix> matrices;
extern Registry<DenseVector> vectors;
extern Registry<DenseMatrix> dense_matrices;

Handle* use(void* handle, const char* what, Status& status);
inline Status launched(int error) { return error ? Status::execution_failed : Status::success; }
inline bool valid(Op op) { return op == Op::none || op == Op::transpose || op == Op::adjoint; }
// A null is nothing to destroy.
template <class T>
Status destroy(Registry<T>& registry, const void* object) {
  if (!object || registry.remove(object)) return Status::success;
  complain(registry.kind, "What does not exist any more was destroyed again.");
  return Status::invalid_value;
}

}  // namespace stator::emulator::vendor::sparse
