// Decompositions by LAPACK in OpenBLAS; the matrices of a batch are divided among our workers.
#include "libs/solver.hpp"
#include "libs/host/lapack.hpp"

#include <stator/error.hpp>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <mutex>
#include <string>

namespace stator::libs {
namespace {

using lapack::Api;

struct LapackTuning {
  static constexpr int64_t least_work = 1 << 17;  // multiplications worth a task: LAPACK is slow at small steps
  static constexpr int64_t per_worker = 4;
  static constexpr double least_threaded = 1e8;  // multiplications of one matrix worth the threads of OpenBLAS
};

const char* describe_lapack(int) { return "LAPACK error"; }

int checked(const OpCall& call, std::initializer_list<int64_t> extents) {
  const int64_t largest = std::max(extents);
  if (largest <= std::numeric_limits<int>::max()) return int(largest);
  throw UnsupportedError(std::string(call.name()), "got a matrix with a dimension of " + std::to_string(largest),
                         "It must fit in 32 bits for LAPACK. Use smaller matrices");
}

template <class T>
T* at(const Batch& b, int64_t i) {
  return static_cast<T*>(b.data) + i * b.stride;
}

// Uses OpenBLAS's own threads for one large matrix, which we cannot divide. The setting holds for the whole process:
// products that run meanwhile may use threads too, with correct results.
class Threads {
 public:
  Threads(void (*set)(int), int count) : set_(set), lock_(mutex()) { set_(count); }
  ~Threads() { set_(1); }
  Threads(const Threads&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex* const instance = new std::mutex;  // never destroyed: workers may outlive main
    return *instance;
  }
  void (*set_)(int);
  std::unique_lock<std::mutex> lock_;
};

// Runs task(matrix, memory) for each matrix of the batch. The matrices are divided among the workers in groups, each
// with `bytes` of scratch of its own. work: multiplications per matrix.
template <class F>
void for_each_matrix(OpCall& call, const char* what, int64_t count, double work, size_t bytes, bool threaded, F task) {
  const int64_t workers = threaded ? 1 : call.context().runtime().properties().limits.multiprocessors;
  const int64_t most = workers > 1 ? workers * LapackTuning::per_worker : 1;
  const double worth = std::min(double(most), double(count) * work / double(LapackTuning::least_work));
  const int64_t wanted = std::clamp<int64_t>(int64_t(worth), 1, count);
  const int64_t per_task = (count + wanted - 1) / wanted, tasks = (count + per_task - 1) / per_task;
  const size_t each = (bytes + 63) / 64 * 64;
  char* memory = bytes == 0 ? nullptr : static_cast<char*>(call.scratch(each * size_t(tasks)));
  if (workers > 1 && count == 1 && work >= LapackTuning::least_threaded) {
    const auto set = openblas::set_num_threads(call.name());
    call.context().runtime().library_in_pieces(
        what,
        [=](int64_t) {
          const Threads threads(set, int(workers));
          task(0, memory);
          return 0;
        },
        1, describe_lapack, call.stream().handle(static_cast<uint16_t>(call.op())), call.record());
    return;
  }
  call.context().runtime().library_in_pieces(
      what,
      [=](int64_t task_index) {
        const int64_t last = std::min(count, (task_index + 1) * per_task);
        for (int64_t i = task_index * per_task; i < last; ++i) task(i, memory + size_t(task_index) * each);
        return 0;
      },
      tasks, describe_lapack, call.stream().handle(static_cast<uint16_t>(call.op())), call.record());
}

// Consecutive arrays in one scratch allocation; add() returns the offset of each.
class Layout {
 public:
  template <class T>
  size_t add(int64_t count) {
    const size_t offset = bytes_;
    bytes_ += (sizeof(T) * size_t(std::max<int64_t>(count, 1)) + 63) / 64 * 64;
    return offset;
  }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_ = 0;
};

// The length that a workspace query returned.
template <class T>
int length_of(T answer) {
  if constexpr (is_complex<T>)
    return int(answer.re) + 1;
  else
    return int(answer) + 1;
}

const char* letter(Transposition how) {
  return how == Transposition::none ? "N" : how == Transposition::transpose ? "T" : "C";
}

class HostSolver final : public Solver {
 public:
  void prepare(OpCall& call) const override {
    openblas::set_num_threads(call.name());
    for (const DType dtype : {DType::float32, DType::float64, DType::complex64, DType::complex128})
      visit<dtypes::blas>(dtype, [&]<class T>(type_tag<T>) { lapack::api<T>(call.name()); });
  }

  void cholesky(OpCall& call, const Decomposition& d, bool upper) const override {
    checked(call, {d.n, d.a.leading});
    visit<dtypes::blas>(d.dtype, [&]<class T>(type_tag<T>) {
      const Api<T>& lapack = lapack::api<T>(call.name());
      const int n = int(d.n), lda = int(d.a.leading);
      for_each_matrix(call, "potrf", d.count, double(n) * n * n / 3, 0, lapack.threaded,
                      [=, &lapack](int64_t i, char*) {
                        T* a = at<T>(d.a, i);
                        lapack.potrf(upper ? "U" : "L", &n, a, &lda, d.info + i, 1);
                        for (int k = 0; k < n && d.info[i] == 0; ++k)  // OpenBLAS does not detect NaN
                          if (a[int64_t(k) * (lda + 1)] != a[int64_t(k) * (lda + 1)]) d.info[i] = k + 1;
                      });
    });
  }

  void lu(OpCall& call, const Decomposition& d, int32_t* pivots) const override {
    checked(call, {d.m, d.n, d.a.leading});
    visit<dtypes::blas>(d.dtype, [&]<class T>(type_tag<T>) {
      const Api<T>& lapack = lapack::api<T>(call.name());
      const int m = int(d.m), n = int(d.n), lda = int(d.a.leading);
      const int64_t least = std::min(m, n);
      for_each_matrix(call, "getrf", d.count, double(m) * n * double(least), 0, lapack.threaded,
                      [=, &lapack](int64_t i, char*) {
                        int32_t* own = pivots + i * least;
                        lapack.getrf(&m, &n, at<T>(d.a, i), &lda, own, d.info + i);
                        for (int64_t k = 0; k < least; ++k) --own[k];
                      });
    });
  }

  void lu_solve(OpCall& call, const Decomposition& d, const int32_t* pivots, Transposition how, const Batch& b,
                int64_t columns) const override {
    checked(call, {d.n, d.a.leading, b.leading, columns});
    visit<dtypes::blas>(d.dtype, [&]<class T>(type_tag<T>) {
      const Api<T>& lapack = lapack::api<T>(call.name());
      const int n = int(d.n), lda = int(d.a.leading), ldb = int(b.leading), k = int(columns);
      for_each_matrix(call, "getrs", d.count, double(n) * n * k, sizeof(int) * size_t(n), lapack.threaded,
                      [=, &lapack](int64_t i, char* memory) {
                        int* theirs = reinterpret_cast<int*>(memory);
                        for (int r = 0; r < n; ++r) {  // a pivot out of range would cause an access out of range
                          const int32_t pivot = pivots[i * n + r];
                          theirs[r] = (pivot >= 0 && pivot < n ? pivot : r) + 1;
                        }
                        int info = 0;
                        lapack.getrs(letter(how), &n, &k, at<T>(d.a, i), &lda, theirs, at<T>(b, i), &ldb, &info, 1);
                      });
    });
  }

  void triangular(OpCall& call, const Decomposition& d, const Triangle& triangle, const Batch& b,
                  int64_t columns) const override {
    checked(call, {d.n, d.a.leading, b.leading, columns});
    visit<dtypes::blas>(d.dtype, [&]<class T>(type_tag<T>) {
      const Api<T>& lapack = lapack::api<T>(call.name());
      const int n = int(d.n), lda = int(d.a.leading), ldb = int(b.leading), k = int(columns);
      for_each_matrix(call, "trsm", d.count, double(n) * n * k / 2, 0, lapack.threaded, [=, &lapack](int64_t i, char*) {
        const T one(1);
        openblas::Scalar<T> alpha;
        if constexpr (is_complex<T>)
          alpha = &one;
        else
          alpha = one;
        const auto op = triangle.how == Transposition::none        ? lapack::Op::none
                        : triangle.how == Transposition::transpose ? lapack::Op::transpose
                                                                   : lapack::Op::adjoint;
        lapack.trsm(lapack::Order::col_major, lapack::Side::left,
                    triangle.upper ? lapack::Uplo::upper : lapack::Uplo::lower, op,
                    triangle.unit ? lapack::Diag::unit : lapack::Diag::non_unit, n, k, alpha, at<T>(d.a, i), lda,
                    at<T>(b, i), ldb);
        if (d.info == nullptr) return;
        d.info[i] = 0;
        for (int r = n - 1; r >= 0 && !triangle.unit; --r)
          if (at<T>(d.a, i)[int64_t(r) * (lda + 1)] == T(0)) d.info[i] = r + 1;
      });
    });
  }

  void qr(OpCall& call, const Decomposition& d, void* tau) const override {
    checked(call, {d.m, d.n, d.a.leading});
    visit<dtypes::blas>(d.dtype, [&]<class T>(type_tag<T>) {
      const Api<T>& lapack = lapack::api<T>(call.name());
      const int m = int(d.m), n = int(d.n), lda = int(d.a.leading), query = -1;
      const int64_t least = std::min(m, n);
      T answer{};
      int info = 0;
      lapack.geqrf(&m, &n, nullptr, &lda, nullptr, &answer, &query, &info);
      const int length = length_of(answer);
      for_each_matrix(call, "geqrf", d.count, double(m) * n * double(least), sizeof(T) * size_t(length),
                      lapack.threaded, [=, &lapack](int64_t i, char* memory) {
                        int status = 0;
                        lapack.geqrf(&m, &n, at<T>(d.a, i), &lda, static_cast<T*>(tau) + i * least,
                                     reinterpret_cast<T*>(memory), &length, &status);
                      });
    });
  }

  void form_q(OpCall& call, const Decomposition& d, const void* tau, const Batch& q, int64_t columns) const override {
    checked(call, {d.m, columns, q.leading});
    visit<dtypes::blas>(d.dtype, [&]<class T>(type_tag<T>) {
      const Api<T>& lapack = lapack::api<T>(call.name());
      const int m = int(d.m), n = int(columns), k = int(std::min(d.m, d.n)), ldq = int(q.leading), query = -1;
      T answer{};
      int info = 0;
      lapack.orgqr(&m, &n, &k, nullptr, &ldq, nullptr, &answer, &query, &info);
      const int length = length_of(answer);
      for_each_matrix(call, "orgqr", d.count, double(m) * n * k, sizeof(T) * size_t(length), lapack.threaded,
                      [=, &lapack](int64_t i, char* memory) {
                        int status = 0;
                        lapack.orgqr(&m, &n, &k, at<T>(q, i), &ldq, static_cast<const T*>(tau) + i * k,
                                     reinterpret_cast<T*>(memory), &length, &status);
                      });
    });
  }

  void svd(OpCall& call, const Decomposition& d, const Svd& svd) const override {
    checked(call, {d.m, d.n, d.a.leading});
    visit<dtypes::blas>(d.dtype, [&]<class T>(type_tag<T>) { svd_of<T>(call, d, svd); });
  }

  void eigh(OpCall& call, const Decomposition& d, bool upper, bool vectors, void* values) const override {
    checked(call, {d.n, d.a.leading});
    visit<dtypes::blas>(d.dtype, [&]<class T>(type_tag<T>) { eigh_of<T>(call, d, upper, vectors, values); });
  }

  void eig(OpCall& call, const Decomposition& d, void* values, const Batch& vectors) const override {
    checked(call, {d.n, d.a.leading});
    visit<dtypes::blas>(d.dtype, [&]<class T>(type_tag<T>) { eig_of<T>(call, d, values, vectors); });
  }

 private:
  template <class T>
  static void svd_of(OpCall& call, const Decomposition& d, const Svd& svd) {
    using R = real_t<T>;
    const Api<T>& lapack = lapack::api<T>(call.name());
    const int m = int(d.m), n = int(d.n), least = std::min(m, n), most = std::max(m, n), lda = int(d.a.leading);
    const char* job = svd.vectors == SvdVectors::none ? "N" : svd.vectors == SvdVectors::reduced ? "S" : "A";
    const int ldu = std::max<int>(1, int(svd.u.leading)), ldvt = std::max<int>(1, int(svd.vt.leading)), query = -1;
    T answer{};
    int info = 0;
    R real_answer = 0;
    int integer_answer = 0;
    if constexpr (is_complex<T>)
      lapack.gesdd(job, &m, &n, nullptr, &lda, nullptr, nullptr, &ldu, nullptr, &ldvt, &answer, &query, &real_answer,
                   &integer_answer, &info, 1);
    else
      lapack.gesdd(job, &m, &n, nullptr, &lda, nullptr, nullptr, &ldu, nullptr, &ldvt, &answer, &query, &integer_answer,
                   &info, 1);
    const int length = length_of(answer);
    // The lengths that the documentation of LAPACK's cgesdd gives.
    const int64_t real_length = int64_t(least) * std::max(5 * int64_t(least) + 7, 2 * int64_t(most) + 2 * least + 1);
    Layout layout;
    const size_t work = layout.add<T>(length), integers = layout.add<int>(8 * int64_t(least)),
                 reals = is_complex<T> ? layout.add<R>(real_length) : 0;
    const Svd out = svd;
    for_each_matrix(call, "gesdd", d.count, 4.0 * m * n * least, layout.bytes(), lapack.threaded,
                    [=, &lapack](int64_t i, char* memory) {
                      T *u = out.u.data ? at<T>(out.u, i) : nullptr, *vt = out.vt.data ? at<T>(out.vt, i) : nullptr;
                      R* s = static_cast<R*>(out.s) + i * least;
                      T* space = reinterpret_cast<T*>(memory + work);
                      int* iwork = reinterpret_cast<int*>(memory + integers);
                      if constexpr (is_complex<T>)
                        lapack.gesdd(job, &m, &n, at<T>(d.a, i), &lda, s, u, &ldu, vt, &ldvt, space, &length,
                                     reinterpret_cast<R*>(memory + reals), iwork, d.info + i, 1);
                      else
                        lapack.gesdd(job, &m, &n, at<T>(d.a, i), &lda, s, u, &ldu, vt, &ldvt, space, &length, iwork,
                                     d.info + i, 1);
                    });
  }

  template <class T>
  static void eigh_of(OpCall& call, const Decomposition& d, bool upper, bool vectors, void* values) {
    using R = real_t<T>;
    const Api<T>& lapack = lapack::api<T>(call.name());
    const int n = int(d.n), lda = int(d.a.leading), query = -1;
    const char *job = vectors ? "V" : "N", *uplo = upper ? "U" : "L";
    T answer{};
    R real_answer = 0;
    int integer_answer = 0, info = 0;
    if constexpr (is_complex<T>)
      lapack.syevd(job, uplo, &n, nullptr, &lda, nullptr, &answer, &query, &real_answer, &query, &integer_answer,
                   &query, &info, 1, 1);
    else
      lapack.syevd(job, uplo, &n, nullptr, &lda, nullptr, &answer, &query, &integer_answer, &query, &info, 1, 1);
    const int length = length_of(answer), real_length = length_of(real_answer), integer_length = integer_answer;
    Layout layout;
    const size_t work = layout.add<T>(length), integers = layout.add<int>(integer_length),
                 reals = is_complex<T> ? layout.add<R>(real_length) : 0;
    for_each_matrix(call, "syevd", d.count, 4.0 * n * n * n, layout.bytes(), lapack.threaded,
                    [=, &lapack](int64_t i, char* memory) {
                      R* w = static_cast<R*>(values) + i * n;
                      T* space = reinterpret_cast<T*>(memory + work);
                      int* iwork = reinterpret_cast<int*>(memory + integers);
                      if constexpr (is_complex<T>)
                        lapack.syevd(job, uplo, &n, at<T>(d.a, i), &lda, w, space, &length,
                                     reinterpret_cast<R*>(memory + reals), &real_length, iwork, &integer_length,
                                     d.info + i, 1, 1);
                      else
                        lapack.syevd(job, uplo, &n, at<T>(d.a, i), &lda, w, space, &length, iwork, &integer_length,
                                     d.info + i, 1, 1);
                    });
  }

  // The real geev stores the vectors of a conjugate pair as the real and the imaginary part of the first one.
  template <class R>
  static void unpack(int n, const R* real, const R* imaginary, const R* packed, complex<R>* values, complex<R>* vectors,
                     int64_t leading) {
    for (int j = 0; j < n; ++j) values[j] = {real[j], imaginary[j]};
    if (vectors == nullptr) return;
    for (int j = 0; j < n; ++j) {
      const R* x = packed + int64_t(j) * n;
      complex<R>* v = vectors + j * leading;
      if (imaginary[j] == R(0) || j + 1 == n) {
        for (int i = 0; i < n; ++i) v[i] = {x[i], R(0)};
        continue;
      }
      for (int i = 0; i < n; ++i) {
        v[i] = {x[i], x[n + i]};
        v[leading + i] = {x[i], -x[n + i]};
      }
      ++j;
    }
  }

  template <class T>
  static void eig_of(OpCall& call, const Decomposition& d, void* values, const Batch& vectors) {
    using R = real_t<T>;
    const Api<T>& lapack = lapack::api<T>(call.name());
    const int n = int(d.n), lda = int(d.a.leading), query = -1, one = 1;
    const bool wanted = vectors.data != nullptr;
    const char* job = wanted ? "V" : "N";
    const int ldv = wanted ? (is_complex<T> ? int(vectors.leading) : n) : 1;
    T answer{}, unused{};
    R real_unused[2] = {};  // a query writes here, contrary to the documentation
    int info = 0;
    if constexpr (is_complex<T>)
      lapack.geev("N", job, &n, &unused, &lda, &unused, &unused, &one, &unused, &ldv, &answer, &query, real_unused,
                  &info, 1, 1);
    else
      lapack.geev("N", job, &n, &unused, &lda, real_unused, real_unused + 1, &unused, &one, &unused, &ldv, &answer,
                  &query, &info, 1, 1);
    const int length = length_of(answer);
    Layout layout;
    const size_t work = layout.add<T>(length), reals = layout.add<R>(2 * n),
                 packed = is_complex<T> || !wanted ? 0 : layout.add<T>(int64_t(n) * n);
    for_each_matrix(call, "geev", d.count, 10.0 * n * n * n, layout.bytes(), lapack.threaded,
                    [=, &lapack](int64_t i, char* memory) {
                      T* space = reinterpret_cast<T*>(memory + work);
                      R* extra = reinterpret_cast<R*>(memory + reals);
                      complex<R>* w = static_cast<complex<R>*>(values) + i * n;
                      complex<R>* v = wanted ? at<complex<R>>(vectors, i) : nullptr;
                      if constexpr (is_complex<T>) {
                        lapack.geev("N", job, &n, at<T>(d.a, i), &lda, w, nullptr, &one, v, &ldv, space, &length, extra,
                                    d.info + i, 1, 1);
                      } else {
                        T* vr = wanted ? reinterpret_cast<T*>(memory + packed) : nullptr;
                        lapack.geev("N", job, &n, at<T>(d.a, i), &lda, extra, extra + n, nullptr, &one, vr, &ldv, space,
                                    &length, d.info + i, 1, 1);
                        unpack(n, extra, extra + n, vr, w, v, vectors.leading);
                      }
                    });
  }
};

}  // namespace

const Solver& host_solver() {
  static const HostSolver instance;
  return instance;
}

}  // namespace stator::libs
