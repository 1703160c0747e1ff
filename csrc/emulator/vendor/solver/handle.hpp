// cuSOLVER's handles and what its functions share.
#pragma once

#include "emulator/vendor/blas/handle.hpp"
#include "emulator/vendor/common/dense.hpp"
#include "emulator/vendor/common/device.hpp"
#include "emulator/vendor/common/registry.hpp"
#include "emulator/vendor/common/types.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>

namespace stator::emulator::vendor::solver {

// cusolverStatus_t, as far as it occurs here.
enum class Status : int {
  success = 0,
  not_initialized = 1,
  alloc_failed = 2,
  invalid_value = 3,
  arch_mismatch = 4,
  execution_failed = 6,
  internal_error = 7,
  not_supported = 9
};
enum class Mode : int { no_vectors = 0, vectors = 1 };
using blas::Fill;

struct Handle {
  int device = 0;
  void* stream = nullptr;
};
struct Parameters {};
struct JacobiInfo {};

extern Registry<Handle> handles;
extern Registry<Parameters> parameters;
extern Registry<JacobiInfo> jacobi_infos;

Handle* use(void* handle, const char* what, Status& status);
inline Status launched(int error) { return error ? Status::execution_failed : Status::success; }

// Bytes of the two workspaces of one call. They follow from every argument, so that a size asked for another problem
// does not fit.
struct Sizes {
  uint64_t device = 0, host = 0;
};
struct Workspaces {
  void* device;
  size_t device_bytes;
  void* host;
  size_t host_bytes;
};
// Whether they suffice; scribbles over that of the host, which a call may use before it returns.
Status take(const Workspaces& given, const Sizes& needed);
constexpr const char* workspace_name = "the workspace of cuSOLVER";
inline Range device_part(const Workspaces& given) {
  return bytes_at(given.device, given.device ? given.device_bytes : 0);
}

template <class T>
struct Tag {
  using type = T;
};
// Calls `body` with the tag of a matrix type, or returns false for a type without factorisations.
template <class Body>
bool with_type(Type type, Body body) {
  switch (type) {
    case Type::r32f: return body(Tag<float>()), true;
    case Type::r64f: return body(Tag<double>()), true;
    case Type::c32f: return body(Tag<std::complex<float>>()), true;
    case Type::c64f: return body(Tag<std::complex<double>>()), true;
    default: return false;
  }
}
constexpr bool is_matrix_type(Type type) {
  return type == Type::r32f || type == Type::r64f || type == Type::c32f || type == Type::c64f;
}
constexpr Type real_of(Type type) { return type == Type::c32f ? Type::r32f : type == Type::c64f ? Type::r64f : type; }
constexpr Type complex_of(Type type) {
  return type == Type::r32f ? Type::c32f : type == Type::r64f ? Type::c64f : type;
}
inline bool room(int64_t ld, int64_t rows) { return ld >= std::max<int64_t>(1, rows); }
inline bool known(Fill fill) { return fill == Fill::lower || fill == Fill::upper; }
inline bool known(Mode mode) { return mode == Mode::no_vectors || mode == Mode::vectors; }
// What LAPACK takes as an int.
inline bool small(int64_t n) { return n >= 0 && n <= 0x7fffffff; }

}  // namespace stator::emulator::vendor::solver
