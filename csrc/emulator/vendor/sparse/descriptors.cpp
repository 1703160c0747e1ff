#include "emulator/vendor/sparse/descriptors.hpp"

#include "emulator/vendor/common/call.hpp"

#include <climits>
#include <cstring>

namespace stator::emulator::vendor::sparse {

Registry<Handle> handles{"cusparseHandle_t"};
Registry<Matrix> matrices{"cusparseSpMatDescr_t"};
Registry<DenseVector> vectors{"cusparseDnVecDescr_t"};
Registry<DenseMatrix> dense_matrices{"cusparseDnMatDescr_t"};

const char* name_of(Status status) {
  switch (status) {
    case Status::success: return "CUSPARSE_STATUS_SUCCESS";
    case Status::not_initialized: return "CUSPARSE_STATUS_NOT_INITIALIZED";
    case Status::alloc_failed: return "CUSPARSE_STATUS_ALLOC_FAILED";
    case Status::invalid_value: return "CUSPARSE_STATUS_INVALID_VALUE";
    case Status::arch_mismatch: return "CUSPARSE_STATUS_ARCH_MISMATCH";
    case Status::mapping_error: return "CUSPARSE_STATUS_MAPPING_ERROR";
    case Status::execution_failed: return "CUSPARSE_STATUS_EXECUTION_FAILED";
    case Status::internal_error: return "CUSPARSE_STATUS_INTERNAL_ERROR";
    case Status::matrix_type_not_supported: return "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED";
    case Status::zero_pivot: return "CUSPARSE_STATUS_ZERO_PIVOT";
    case Status::not_supported: return "CUSPARSE_STATUS_NOT_SUPPORTED";
    case Status::insufficient_resources: return "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES";
  }
  return "unrecognized error code";
}

Handle* use(void* handle, const char* what, Status& status) {
  Handle* const found = handles.find(handle);
  if (!found) {
    status = Status::invalid_value;
  } else if (found->device != services().current_device()) {
    complain(what, "The handle was made on another device than the current one.");
    status = Status::execution_failed;
    return nullptr;
  }
  return found;
}

namespace {

bool known(Type type) {
  switch (type) {
    case Type::r8i:
    case Type::r8u:
    case Type::r16f:
    case Type::r16bf:
    case Type::r32i:
    case Type::r32f:
    case Type::r64f:
    case Type::c16f:
    case Type::c16bf:
    case Type::c32f:
    case Type::c64f: return true;
    default: return false;
  }
}

}  // namespace

}  // namespace stator::emulator::vendor::sparse

using namespace stator::emulator::vendor;
using namespace stator::emulator::vendor::sparse;

STATOR_VENDOR(Status, cusparseCreate, (void** handle), (handle)) {
  if (!handle) return Status::invalid_value;
  auto made = std::make_unique<Handle>();
  made->device = services().current_device();
  *handle = handles.add(std::move(made));
  return Status::success;
}
STATOR_VENDOR(Status, cusparseDestroy, (void* handle), (handle)) { return destroy(handles, handle); }
STATOR_VENDOR(Status, cusparseSetStream, (void* handle, void* stream), (handle, stream)) {
  Handle* const h = handles.find(handle);
  if (!h) return Status::invalid_value;
  if (!services().is_stream(stream)) {
    complain("cusparseSetStream", "The stream does not exist on the current device.");
    return Status::invalid_value;
  }
  h->stream = stream;
  return Status::success;
}
STATOR_VENDOR(const char*, cusparseGetErrorName, (Status status), (status)) { return name_of(status); }
STATOR_VENDOR(Status, cusparseGetProperty, (Property property, int* value), (property, value)) {
  if (!value) return Status::invalid_value;
  switch (property) {
    case Property::major: *value = 12; return Status::success;
    case Property::minor: *value = 6; return Status::success;
    case Property::patch: *value = 3; return Status::success;
  }
  return Status::invalid_value;
}

STATOR_VENDOR(Status, cusparseCreateCsr,
              (void** made, int64_t rows, int64_t columns, int64_t nnz, void* offsets, void* indices, void* values,
               Index offsets_type, Index indices_type, int base, Type type),
              (made, rows, columns, nnz, offsets, indices, values, offsets_type, indices_type, base, type)) {
  if (!made || rows < 0 || columns < 0 || nnz < 0 || (base != 0 && base != 1) || !known(type))
    return Status::invalid_value;
  const auto exists = [](Index index) { return index == Index::u16 || index == Index::i32 || index == Index::i64; };
  if (!exists(offsets_type) || !exists(indices_type)) return Status::invalid_value;
  if (offsets_type != indices_type) return Status::not_supported;
  if (__int128(nnz) > __int128(rows) * columns) return Status::invalid_value;
  if (offsets_type == Index::i32 && (rows + base > INT_MAX || columns + base > INT_MAX || nnz + base > INT_MAX))
    return Status::invalid_value;
  const uint64_t index_bytes = offsets_type == Index::i64 ? 8 : offsets_type == Index::i32 ? 4 : 2;
  if (!aligned(offsets, index_bytes) || !aligned(indices, index_bytes) || !aligned(values, size_of(type)))
    return Status::invalid_value;
  *made = matrices.add(
      std::make_unique<Matrix>(Matrix{rows, columns, nnz, offsets, indices, values, offsets_type, base, type}));
  return Status::success;
}
STATOR_VENDOR(Status, cusparseDestroySpMat, (const void* object), (object)) { return destroy(matrices, object); }

STATOR_VENDOR(Status, cusparseSpMatSetAttribute, (void* object, int attribute, const void* data, size_t bytes),
              (object, attribute, data, bytes)) {
  Matrix* const matrix = matrices.find(object);
  if (!matrix || attribute < 0 || attribute > 1 || !data || bytes != sizeof(int32_t)) return Status::invalid_value;
  std::memcpy(attribute == 0 ? &matrix->upper : &matrix->unit, data, bytes);
  return Status::success;
}

STATOR_VENDOR(Status, cusparseSpMatGetSize, (const void* object, int64_t* rows, int64_t* columns, int64_t* nnz),
              (object, rows, columns, nnz)) {
  const Matrix* const matrix = matrices.find(object);
  if (!matrix || !rows || !columns || !nnz) return Status::invalid_value;
  *rows = matrix->rows;
  *columns = matrix->columns;
  *nnz = matrix->nnz;
  return Status::success;
}

STATOR_VENDOR(Status, cusparseCsrSetPointers, (void* object, void* offsets, void* indices, void* values),
              (object, offsets, indices, values)) {
  Matrix* const matrix = matrices.find(object);
  if (!matrix) return Status::invalid_value;
  if (!aligned(offsets, matrix->index_bytes()) || !aligned(indices, matrix->index_bytes()))
    return Status::invalid_value;
  matrix->offsets = offsets;
  matrix->indices = indices;
  matrix->values = values;
  return Status::success;
}

STATOR_VENDOR(Status, cusparseCreateDnVec, (void** made, int64_t size, void* values, Type type),
              (made, size, values, type)) {
  if (!made || size < 0 || !known(type) || !aligned(values, size_of(type))) return Status::invalid_value;
  *made = vectors.add(std::make_unique<DenseVector>(DenseVector{size, values, type}));
  return Status::success;
}
STATOR_VENDOR(Status, cusparseDestroyDnVec, (const void* object), (object)) { return destroy(vectors, object); }

STATOR_VENDOR(Status, cusparseCreateDnMat,
              (void** made, int64_t rows, int64_t columns, int64_t ld, void* values, Type type, Order order),
              (made, rows, columns, ld, values, type, order)) {
  if (!made || rows < 0 || columns < 0 || !known(type)) return Status::invalid_value;
  if (order != Order::columns && order != Order::rows) return Status::invalid_value;
  if (ld < (order == Order::columns ? rows : columns) || !aligned(values, size_of(type))) return Status::invalid_value;
  *made = dense_matrices.add(std::make_unique<DenseMatrix>(DenseMatrix{rows, columns, ld, values, type, order}));
  return Status::success;
}
STATOR_VENDOR(Status, cusparseDestroyDnMat, (const void* object), (object)) { return destroy(dense_matrices, object); }
