// What all uses of cuSOLVER share: its functions, the handles of a stream, and calls with the accesses of an op.
#pragma once

#include "libs/cuda/blas.hpp"
#include "libs/cuda/cusolver.hpp"
#include "libs/solver.hpp"
#include "params/linalg.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

namespace stator::libs::cusolver {

// Opened at first use. LibraryNotFoundError.
const Api& api(std::string_view op);

template <class T>
const Typed<T, real_t<T>>& typed(std::string_view op);

// The handle of one stream, and host memory that a library call may read until the next call on the stream.
struct LeasedSolver {
  explicit LeasedSolver(runtime::Runtime& device) : runtime(device) {}
  ~LeasedSolver();
  LeasedSolver(const LeasedSolver&) = delete;
  Status open(cublas::StreamHandle stream);

  runtime::Runtime& runtime;
  Handle handle = nullptr;
  Params params = nullptr;
  Jacobi jacobi = nullptr;
  std::vector<char> host;
};

// The use of the libraries by one op: their leases, taken at first use, and calls with the accesses of the op's call.
class Session {
 public:
  explicit Session(OpCall& call) : call_(call) {}
  LeasedSolver& leased() const;
  cublas::Handle blas() const;

  void run(const char* what, std::function<int()> f) const;
  void run_blas(const char* what, std::function<int()> f) const;  // the same for functions that return a cuBLAS status
  // Work memory; `size` is the library's query, which stores the bytes on the device and on the host. UnsupportedError
  // where the library refuses a problem of that size.
  struct Room {
    void* device = nullptr;
    size_t device_bytes = 0;
    void* host = nullptr;
    size_t host_bytes = 0;
  };
  Room room(const char* what, const Decomposition& d, const std::function<int(size_t*, size_t*)>& size) const;
  // Calls that enqueue nothing: queries of sizes.
  void ask(const char* what, const std::function<int()>& f) const;
  void run_each(const char* what, int64_t count, const std::function<int(int64_t)>& f) const;

  // Lists of the addresses of the matrices in device memory, for batched routines: one launch.
  struct Lists {
    void **first, **second;
  };
  Lists addresses(int64_t count, const Batch& a, const Batch& b, DType dtype) const;

 private:
  OpCall& call_;
  mutable std::shared_ptr<void> lease_;
  mutable std::shared_ptr<BlasLease> blas_;
};

// Runs `f`, whose arguments are right but for their size: UnsupportedError where the library calls them invalid, which
// it does when it would count beyond 32 bits.
void within_size(const OpCall& call, const Decomposition& d, const std::function<void()>& f);

char* at(const Batch& b, DType dtype, int64_t i);
char* at(const void* values, DType dtype, int64_t index);
// The extent as a 32-bit index. UnsupportedError.
int checked(const OpCall& call, int64_t extent);

inline Fill fill_of(bool upper) { return upper ? Fill::upper : Fill::lower; }

// Batches of matrices that are small enough for one routine for all of them to beat one call per matrix. The libraries
// have Cholesky, LU, triangular systems, Hermitian eigenvalues, and singular values up to 32 x 32.
inline constexpr int64_t batched_rows = 512, rotated_rows = 32;
inline bool batched(const Decomposition& d) { return d.count > 1 && std::max(d.m, d.n) <= batched_rows; }
// For what they lack we have kernels: QR (cuBLAS's geqrfBatched does not scale the columns that rounding leaves of
// dependent ones, and loses the orthogonality of Q), singular values of larger matrices (m >= n), general eigenvalues.
// Beyond these limits one blocked call per matrix is used; the limits are estimates, not measured on a GPU.
inline bool batched_by_us(const Decomposition& d) {
  return d.count > 1 && d.m <= params::formed_rows && std::min(d.m, d.n) <= params::rotated_columns;
}
inline bool eig_by_us(const Decomposition& d) { return d.count > 1 && d.n <= params::schur_columns; }

// How many matrices one call of cusolverDnXsyevBatched takes, which counts their bytes in 32 bits; and of
// gesvdjBatched, which counts the elements of its work area so.
constexpr int64_t matrices_of_bytes(int64_t n, int64_t leading, int64_t itemsize) {
  return std::max<int64_t>(std::numeric_limits<int32_t>::max() / (n * leading * itemsize), 1);
}
inline constexpr int64_t rotated_matrices = 1 << 16;
// Calls f(first, count) for the pieces of a batch, none of which has more than `most` matrices.
template <class F>
void for_each_piece(int64_t count, int64_t most, F f) {
  for (int64_t first = 0; first < count; first += most) f(first, std::min(most, count - first));
}

// As the members of Solver, for which `batched` holds; LU of square matrices.
void cholesky_batched(OpCall& call, const Decomposition& d, bool upper);
void lu_batched(OpCall& call, const Decomposition& d, int32_t* pivots);
void lu_solve_batched(OpCall& call, const Decomposition& d, const int32_t* pivots, Transposition how, const Batch& b,
                      int64_t columns);
void triangular_batched(OpCall& call, const Decomposition& d, const Solver::Triangle& triangle, const Batch& b,
                        int64_t columns);
void qr_batched(OpCall& call, const Decomposition& d, void* tau);
void eigh_batched(OpCall& call, const Decomposition& d, bool upper, bool vectors, void* values);
void form_q_batched(OpCall& call, const Decomposition& d, const void* tau, const Batch& q, int64_t columns);
void svd_batched(OpCall& call, const Decomposition& d, const Solver::Svd& svd);
void eig_batched(OpCall& call, const Decomposition& d, void* values, const Batch& vectors);
void svd_by_rotations(OpCall& call, const Decomposition& d, const Solver::Svd& svd);

}  // namespace stator::libs::cusolver
