// Sparse matrices in the device's memory, as work reads them.
#pragma once

#include "emulator/vendor/sparse/descriptors.hpp"

#include <complex>
#include <cstdint>
#include <vector>

namespace stator::emulator::vendor::sparse {

// By rows, counted from 0. Columns of a row may be in any order, and may repeat.
template <class T>
struct Csr {
  int64_t rows = 0, columns = 0;
  std::vector<int64_t> offsets, indices;
  std::vector<T> values;
};

// False if memory is not accessible, or if the structure is none: then `complain` says so.
bool read_structure(const char* what, const Matrix& matrix, std::vector<int64_t>& offsets,
                    std::vector<int64_t>& indices);
Range values_of(const Matrix& matrix);

template <class T>
bool read(const char* what, const Matrix& matrix, Csr<T>& csr) {
  csr.rows = matrix.rows;
  csr.columns = matrix.columns;
  if (!read_structure(what, matrix, csr.offsets, csr.indices) || !reads(what, values_of(matrix))) return false;
  csr.values.resize(size_t(matrix.nnz));
  for (int64_t i = 0; i < matrix.nnz; ++i) csr.values[size_t(i)] = load_as<T>(matrix.type, matrix.values, i);
  return true;
}

template <class T>
Csr<T> turned(const Csr<T>& a, Op op) {
  if (op == Op::none) return a;
  Csr<T> t{a.columns, a.rows, std::vector<int64_t>(size_t(a.columns) + 1), {}, {}};
  t.indices.resize(a.indices.size());
  t.values.resize(a.values.size());
  for (const int64_t column : a.indices) ++t.offsets[size_t(column) + 1];
  for (size_t i = 0; i < size_t(t.rows); ++i) t.offsets[i + 1] += t.offsets[i];
  std::vector<int64_t> next(t.offsets.begin(), t.offsets.end() - 1);
  for (int64_t row = 0; row < a.rows; ++row)
    for (int64_t e = a.offsets[size_t(row)]; e < a.offsets[size_t(row) + 1]; ++e) {
      const auto to = size_t(next[size_t(a.indices[size_t(e)])]++);
      t.indices[to] = row;
      t.values[to] = op == Op::adjoint ? conjugate(a.values[size_t(e)]) : a.values[size_t(e)];
    }
  return t;
}

// Whether a matrix, a dense operand and a dense result may meet in the arithmetic of `compute`.
bool meet(Type matrix, Type operand, Type result, Type compute);
inline bool all_are(Type type, std::initializer_list<Type> others) {
  for (const Type other : others)
    if (other != type) return false;
  return type == Type::r32f || type == Type::r64f || type == Type::c32f || type == Type::c64f;
}

template <class T>
struct Tag {
  using type = T;
};
// Calls `body` with the tag of the arithmetic.
template <class Body>
void with_compute(Type compute, Body body) {
  switch (compute) {
    case Type::r64f: return body(Tag<double>());
    case Type::c32f: return body(Tag<std::complex<float>>());
    case Type::c64f: return body(Tag<std::complex<double>>());
    case Type::r32i: return body(Tag<int32_t>());
    default: return body(Tag<float>());
  }
}

// Scalars of the host, read during the call.
struct Scalars {
  std::complex<double> alpha, beta;
};
Status read_scalars(const char* what, const void* alpha, const void* beta, Type compute, Scalars& scalars);

// Whether a buffer has what an earlier phase left there.
bool intact(const char* what, const Range& buffer, uint64_t mark);

}  // namespace stator::emulator::vendor::sparse
