#include "emulator/vendor/sparse/matrix.hpp"

namespace stator::emulator::vendor::sparse {

namespace {

std::vector<int64_t> load_indices(const void* start, Index type, int64_t count, int base) {
  std::vector<int64_t> found(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    found[size_t(i)] =
        (type == Index::i64 ? static_cast<const int64_t*>(start)[i] : static_cast<const int32_t*>(start)[i]) - base;
  return found;
}

}  // namespace

bool read_structure(const char* what, const Matrix& m, std::vector<int64_t>& offsets, std::vector<int64_t>& indices) {
  if (!reads(what, bytes_at(m.offsets, uint64_t(m.rows + 1) * m.index_bytes()))) return false;
  if (!reads(what, bytes_at(m.indices, uint64_t(m.nnz) * m.index_bytes()))) return false;
  offsets = load_indices(m.offsets, m.index, m.rows + 1, m.base);
  indices = load_indices(m.indices, m.index, m.nnz, m.base);
  bool good = offsets.front() == 0 && offsets.back() == m.nnz;
  for (size_t i = 0; good && i + 1 < offsets.size(); ++i) good = offsets[i] <= offsets[i + 1];
  for (const int64_t column : indices) good = good && column >= 0 && column < m.columns;
  if (!good) complain(what, "Row offsets or column indices of a sparse matrix lead outside of it.");
  return good;
}

Range values_of(const Matrix& m) { return bytes_at(m.values, uint64_t(m.nnz) * size_of(m.type)); }

bool meet(Type matrix, Type operand, Type result, Type compute) {
  if (all_are(compute, {matrix, operand, result})) return true;
  const bool narrow = matrix == operand && (matrix == Type::r16f || matrix == Type::r16bf);
  if (narrow) return compute == Type::r32f && (result == matrix || result == Type::r32f);
  if (matrix == Type::r8i && operand == Type::r8i)
    return (compute == Type::r32i && result == Type::r32i) || (compute == Type::r32f && result == Type::r32f);
  // A real matrix and complex vectors.
  const bool mixed = operand == result && result == compute;
  return mixed && ((matrix == Type::r32f && compute == Type::c32f) || (matrix == Type::r64f && compute == Type::c64f));
}

Status read_scalars(const char* what, const void* alpha, const void* beta, Type compute, Scalars& scalars) {
  if (!alpha || !beta) return Status::invalid_value;
  for (const void* factor : {alpha, beta})
    if (!readable_by_host(what, factor, size_of(compute))) return Status::execution_failed;
  scalars = {load(compute, alpha, 0), load(compute, beta, 0)};
  return Status::success;
}

bool intact(const char* what, const Range& buffer, uint64_t mark) {
  if (!writes(what, buffer)) return false;
  if (has_mark(buffer, mark)) return true;
  complain(what, "The buffer of an earlier phase was changed before this one.");
  return false;
}

}  // namespace stator::emulator::vendor::sparse
