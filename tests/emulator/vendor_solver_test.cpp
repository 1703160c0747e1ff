// The double of cuSOLVER against plain formulas, and what it refuses.
#include "emulator/vendor/solver/handle.hpp"
#include "vendor_numbers.hpp"
#include "vendor_stub.hpp"

using namespace stator::test;
using stator::emulator::vendor::Type;
using namespace stator::emulator::vendor::solver;

extern "C" {
Status cusolverDnCreate(void**);
Status cusolverDnDestroy(void*);
Status cusolverDnSetStream(void*, void*);
Status cusolverDnCreateParams(void**);
Status cusolverDnDestroyParams(void*);
Status cusolverDnCreateGesvdjInfo(void**);
Status cusolverDnDestroyGesvdjInfo(void*);
Status cusolverGetProperty(int, int*);
Status cusolverDnXpotrf_bufferSize(void*, void*, Fill, int64_t, Type, const void*, int64_t, Type, size_t*, size_t*);
Status cusolverDnXpotrf(void*, void*, Fill, int64_t, Type, void*, int64_t, Type, void*, size_t, void*, size_t, int*);
Status cusolverDnXgetrf_bufferSize(void*, void*, int64_t, int64_t, Type, const void*, int64_t, Type, size_t*, size_t*);
Status cusolverDnXgetrf(void*, void*, int64_t, int64_t, Type, void*, int64_t, int64_t*, Type, void*, size_t, void*,
                        size_t, int*);
Status cusolverDnXgetrs(void*, void*, int, int64_t, int64_t, Type, const void*, int64_t, const int64_t*, Type, void*,
                        int64_t, int*);
Status cusolverDnXgeqrf_bufferSize(void*, void*, int64_t, int64_t, Type, const void*, int64_t, Type, const void*, Type,
                                   size_t*, size_t*);
Status cusolverDnXgeqrf(void*, void*, int64_t, int64_t, Type, void*, int64_t, Type, void*, Type, void*, size_t, void*,
                        size_t, int*);
Status cusolverDnXgesvd_bufferSize(void*, void*, signed char, signed char, int64_t, int64_t, Type, const void*, int64_t,
                                   Type, const void*, Type, const void*, int64_t, Type, const void*, int64_t, Type,
                                   size_t*, size_t*);
Status cusolverDnXgesvd(void*, void*, signed char, signed char, int64_t, int64_t, Type, void*, int64_t, Type, void*,
                        Type, void*, int64_t, Type, void*, int64_t, Type, void*, size_t, void*, size_t, int*);
Status cusolverDnXsyevd_bufferSize(void*, void*, Mode, Fill, int64_t, Type, const void*, int64_t, Type, const void*,
                                   Type, size_t*, size_t*);
Status cusolverDnXsyevd(void*, void*, Mode, Fill, int64_t, Type, void*, int64_t, Type, void*, Type, void*, size_t,
                        void*, size_t, int*);
Status cusolverDnXsyevBatched_bufferSize(void*, void*, Mode, Fill, int64_t, Type, const void*, int64_t, Type,
                                         const void*, Type, size_t*, size_t*, int64_t);
Status cusolverDnXsyevBatched(void*, void*, Mode, Fill, int64_t, Type, void*, int64_t, Type, void*, Type, void*, size_t,
                              void*, size_t, int*, int64_t);
Status cusolverDnXgeev_bufferSize(void*, void*, Mode, Mode, int64_t, Type, const void*, int64_t, Type, const void*,
                                  Type, const void*, int64_t, Type, const void*, int64_t, Type, size_t*, size_t*);
Status cusolverDnXgeev(void*, void*, Mode, Mode, int64_t, Type, void*, int64_t, Type, void*, Type, void*, int64_t, Type,
                       void*, int64_t, Type, void*, size_t, void*, size_t, int*);
#define DECLARE(letter, q)                                                                                          \
  Status cusolverDn##letter##q##_bufferSize(void*, int, int, int, const void*, int, const void*, int*);             \
  Status cusolverDn##letter##q(void*, int, int, int, void*, int, const void*, void*, int, int*);                    \
  Status cusolverDn##letter##potrfBatched(void*, Fill, int, void*, int, int*, int);                                 \
  Status cusolverDn##letter##gesvdjBatched_bufferSize(void*, Mode, int, int, const void*, int, const void*,         \
                                                      const void*, int, const void*, int, int*, void*, int);        \
  Status cusolverDn##letter##gesvdjBatched(void*, Mode, int, int, void*, int, void*, void*, int, void*, int, void*, \
                                           int, int*, void*, int);
DECLARE(S, orgqr) DECLARE(D, orgqr) DECLARE(C, ungqr) DECLARE(Z, ungqr)
}

namespace {

template <class T>
struct Calls;
#define CALLS(T, letter, q, t)                                                        \
  template <>                                                                         \
  struct Calls<T> {                                                                   \
    static constexpr auto q_size = cusolverDn##letter##q##_bufferSize;                \
    static constexpr auto form_q = cusolverDn##letter##q;                             \
    static constexpr auto potrf = cusolverDn##letter##potrfBatched;                   \
    static constexpr auto jacobi_size = cusolverDn##letter##gesvdjBatched_bufferSize; \
    static constexpr auto jacobi = cusolverDn##letter##gesvdjBatched;                 \
    static constexpr Type type = Type::t;                                             \
  };
CALLS(float, S, orgqr, r32f)
CALLS(double, D, orgqr, r64f)
CALLS(std::complex<float>, C, ungqr, c32f)
CALLS(std::complex<double>, Z, ungqr, c64f)

template <class T>
using Real = stator::emulator::vendor::lapack::Real<T>;

struct Session {
  void *handle = nullptr, *params = nullptr, *jacobi = nullptr;
  size_t device = 1, host = 1;
  Device<int> info{4};
  Session() {
    CHECK(cusolverDnCreate(&handle) == Status::success);
    CHECK(cusolverDnSetStream(handle, some_stream) == Status::success);
    CHECK(cusolverDnCreateParams(&params) == Status::success);
    CHECK(cusolverDnCreateGesvdjInfo(&jacobi) == Status::success);
  }
  ~Session() {
    CHECK(cusolverDnDestroyGesvdjInfo(jacobi) == Status::success);
    CHECK(cusolverDnDestroyParams(params) == Status::success);
    CHECK(cusolverDnDestroy(handle) == Status::success);
  }
};

// The workspaces of a size that was asked for.
struct Room {
  Device<char> device;
  std::vector<char> host;
  size_t device_bytes, host_bytes;
  explicit Room(const Session& s) : device(s.device), host(s.host + 1), device_bytes(s.device), host_bytes(s.host) {}
};

// Positive definite, with what lies in the other triangle being NaN.
template <class T>
std::vector<T> definite(int64_t n, bool upper) {
  const auto a = numbers<T>(size_t(n * n), 5);
  const Dense m(n, n, a.data(), n);
  Dense product = m * m.transposed(true);
  std::vector<T> values(size_t(n * n), T(NAN));
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < n; ++i)
      if (upper ? i <= j : i >= j)
        values[size_t(j * n + i)] = stator::emulator::vendor::narrow<T>(product.at(i, j) + (i == j ? 1.0 : 0.0));
  return values;
}
template <class T>
Dense hermitian(int64_t n, const T* a, bool upper) {
  Dense m(n, n);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < n; ++i)
      m.at(i, j) = (upper ? i <= j : i >= j) ? wide(a[j * n + i]) : std::conj(wide(a[i * n + j]));
  return m;
}

template <class T>
void cholesky() {
  constexpr Type type = Calls<T>::type;
  Session s;
  const int64_t n = 5;
  for (const Fill fill : {Fill::lower, Fill::upper}) {
    const bool upper = fill == Fill::upper;
    const auto a = definite<T>(n, upper);
    const Device<T> da(a);
    CHECK(cusolverDnXpotrf_bufferSize(s.handle, s.params, fill, n, type, da, n, type, &s.device, &s.host) ==
          Status::success);
    const Room room(s);
    const auto call = [&](size_t bytes) {
      return cusolverDnXpotrf(s.handle, s.params, fill, n, type, da, n, type, room.device, bytes,
                              const_cast<char*>(room.host.data()), s.host, s.info);
    };
    CHECK(call(s.device - 1) == Status::invalid_value);
    CHECK(call(s.device) == Status::success);
    CHECK(s.info.get()[0] == 0);
    const auto l = da.get();
    const Dense factor = Dense(n, n, l.data(), n).triangle(upper);
    const Dense product = upper ? factor.transposed(true) * factor : factor * factor.transposed(true);
    CHECK(distance(product, hermitian(n, a.data(), upper)) < loose<T> * 10);
    CHECK(std::isnan(std::abs(l[upper ? 1 : size_t(n)])));  // the other triangle is as it was
    CHECK(!room.device.written(0, 1));
    std::vector<T> bad = a;
    bad[size_t(2 * n + 2)] = T(-1);
    const Device<T> db(bad);
    CHECK(cusolverDnXpotrf(s.handle, s.params, fill, n, type, db, n, type, room.device, s.device,
                           const_cast<char*>(room.host.data()), s.host, s.info) == Status::success);
    CHECK(s.info.get()[0] == 3);
  }
  CHECK(cusolverDnXpotrf_bufferSize(s.handle, s.params, Fill::lower, n, type, nullptr, n - 1, type, &s.device,
                                    &s.host) == Status::invalid_value);
  CHECK(cusolverDnXpotrf_bufferSize(s.handle, s.params, Fill::lower, n, Type::r16f, nullptr, n, Type::r16f, &s.device,
                                    &s.host) == Status::not_supported);
  CHECK(cusolverDnXpotrf_bufferSize(s.handle, nullptr, Fill::lower, n, type, nullptr, n, type, &s.device, &s.host) ==
        Status::invalid_value);
}

template <class T>
void lu() {
  constexpr Type type = Calls<T>::type;
  Session s;
  const int64_t n = 5, right = 2;
  const auto a = numbers<T>(25, 6), b = numbers<T>(10, 7);
  CHECK(cusolverDnXgetrf_bufferSize(s.handle, s.params, n, n, type, nullptr, n, type, &s.device, &s.host) ==
        Status::success);
  const Room room(s);
  for (int trans = 0; trans < 3; ++trans) {
    const Device<T> da(a), db(b);
    const Device<int64_t> pivots(5);
    CHECK(cusolverDnXgetrf(s.handle, s.params, n, n, type, da, n, pivots, type, room.device, s.device, nullptr, 0,
                           s.info) == Status::success);
    CHECK(s.info.get()[0] == 0);
    for (const int64_t pivot : pivots.get()) CHECK(pivot >= 1 && pivot <= n);
    CHECK(cusolverDnXgetrs(s.handle, s.params, trans, n, right, type, da, n, pivots, type, db, n, s.info) ==
          Status::success);
    const auto x = db.get();
    CHECK(distance(Dense(n, n, a.data(), n).op(trans) * Dense(n, right, x.data(), n), Dense(n, right, b.data(), n)) <
          loose<T> * 10);
    CHECK(cusolverDnXgetrs(s.handle, s.params, trans, n, right, type, da, n, pivots, type, db, n - 1, s.info) ==
          Status::invalid_value);
    pivots.set({0, 0, 0, 0, 0});
    CHECK(cusolverDnXgetrs(s.handle, s.params, trans, n, right, type, da, n, pivots, type, db, n, s.info) ==
          Status::success);
    CHECK(reported().find("pivot") != std::string::npos);
  }
}

template <class T>
void qr() {
  constexpr Type type = Calls<T>::type;
  Session s;
  const int m = 6, n = 4, lda = 7;
  const auto a = numbers<T>(size_t(lda * m), 8);
  const Device<T> da(a), tau(n);
  CHECK(cusolverDnXgeqrf_bufferSize(s.handle, s.params, m, n, type, da, lda, type, tau, type, &s.device, &s.host) ==
        Status::success);
  const Room room(s);
  CHECK(cusolverDnXgeqrf(s.handle, s.params, m, n, type, da, lda, type, tau, type, room.device, s.device, nullptr, 0,
                         s.info) == Status::success);
  CHECK(s.info.get()[0] == 0);
  const auto qr = da.get();
  const Dense r = Dense(n, n, qr.data(), lda).triangle(true);
  int size = 0;
  CHECK(Calls<T>::q_size(s.handle, m, n, n, da, lda, tau, &size) == Status::success);
  const Device<T> work(static_cast<size_t>(size));
  CHECK(Calls<T>::form_q(s.handle, m, n, n, da, lda, tau, work, size - 1, s.info) == Status::invalid_value);
  CHECK(Calls<T>::form_q(s.handle, m, n, n, da, lda, tau, work, size, s.info) == Status::success);
  const Dense q(m, n, da.get().data(), lda);
  CHECK(distance(q * r, Dense(m, n, a.data(), lda)) < loose<T>);
  CHECK(Calls<T>::q_size(s.handle, m, m + 1, n, da, lda, tau, &size) == Status::invalid_value);
  CHECK(Calls<T>::q_size(s.handle, m, n, n + 1, da, lda, tau, &size) == Status::invalid_value);
}

// u diag(s) v^H.
template <class R>
Dense composed(const Dense& u, const std::vector<R>& s, const Dense& v, size_t from, int64_t count) {
  Dense scaled(u.rows, v.rows);
  for (int64_t l = 0; l < count; ++l)
    for (int64_t j = 0; j < v.rows; ++j)
      for (int64_t i = 0; i < u.rows; ++i)
        scaled.at(i, j) += u.at(i, l) * double(s[from + size_t(l)]) * std::conj(v.at(j, l));
  return scaled;
}
inline double from_identity(const Dense& q) {
  const Dense product = q.transposed(true) * q;
  Dense one(product.rows, product.columns);
  for (int64_t i = 0; i < one.rows; ++i) one.at(i, i) = 1;
  return distance(product, one);
}

template <class T>
void svd() {
  constexpr Type type = Calls<T>::type, real = real_of(type);
  Session s;
  const int64_t m = 6, n = 4;
  const auto a = numbers<T>(24, 9);
  for (const uint64_t seed : {0, 7}) {
    stub.seed = seed;
    for (const char job : {'A', 'S', 'N'}) {
      const Device<T> da(a), u(36), vt(16);
      const Device<Real<T>> values(4);
      const auto size = [&](int64_t rows, int64_t columns) {
        return cusolverDnXgesvd_bufferSize(s.handle, s.params, job, job, rows, columns, type, da, rows, real, values,
                                           type, u, rows, type, vt, columns, type, &s.device, &s.host);
      };
      CHECK(size(n, m) == Status::invalid_value);  // wide
      CHECK(size(m, n) == Status::success);
      const Room room(s);
      CHECK(cusolverDnXgesvd(s.handle, s.params, job, job, m, n, type, da, m, real, values, type, u, m, type, vt, n,
                             type, room.device, s.device, nullptr, 0, s.info) == Status::success);
      CHECK(s.info.get()[0] == 0);
      const auto sigma = values.get();
      for (size_t i = 1; i < 4; ++i) CHECK(sigma[i - 1] >= sigma[i] && sigma[i] > 0);
      CHECK(!da.written(0, 1));  // destroyed
      const int64_t columns = job == 'A' ? m : n;
      CHECK(u.written(0, size_t(m * n)) == (job != 'N') && vt.written() == (job != 'N'));
      if (job == 'N') continue;
      const Dense left(m, columns, u.get().data(), m), right = Dense(n, n, vt.get().data(), n).transposed(true);
      CHECK(distance(composed(left, sigma, right, 0, n), Dense(m, n, a.data(), m)) < loose<T>);
      CHECK(from_identity(left) < loose<T> && from_identity(right) < loose<T>);
    }
  }
}

template <class T>
void jacobi() {
  Session s;
  stub.seed = 5;
  for (const auto& [m, n] : {std::pair{5, 3}, std::pair{3, 5}}) {
    const int count = 2, values = 3;
    const size_t each = 15;
    const auto a = numbers<T>(30, 10);
    const Device<T> da(a), u(size_t(m * m * count)), v(size_t(n * n * count));
    const Device<Real<T>> sigma(size_t(values * count));
    int size = 0;
    CHECK(Calls<T>::jacobi_size(s.handle, Mode::vectors, m, n, da, m, sigma, u, m, v, n, &size, s.jacobi, count) ==
          Status::success);
    const Device<T> work(static_cast<size_t>(size));
    const auto call = [&](int work_size) {
      return Calls<T>::jacobi(s.handle, Mode::vectors, m, n, da, m, sigma, u, m, v, n, work, work_size, s.info,
                              s.jacobi, count);
    };
    CHECK(call(size - 1) == Status::invalid_value);
    CHECK(call(size) == Status::success);
    const auto got_u = u.get(), got_v = v.get();
    const auto got_s = sigma.get();
    CHECK(s.info.get()[0] == 0 && s.info.get()[1] == 0);
    for (int64_t i = 0; i < count; ++i) {
      const Dense left(m, m, got_u.data() + i * m * m, m), right(n, n, got_v.data() + i * n * n, n);
      CHECK(distance(composed(left, got_s, right, size_t(i) * 3, 3), Dense(m, n, a.data() + size_t(i) * each, m)) <
            loose<T>);
      CHECK(from_identity(left) < loose<T> && from_identity(right) < loose<T>);
    }
    CHECK(!da.written(0, 1));
    CHECK(Calls<T>::jacobi_size(s.handle, Mode::vectors, 33, n, da, 33, sigma, u, 33, v, n, &size, s.jacobi, count) ==
          Status::invalid_value);
    CHECK(Calls<T>::jacobi_size(s.handle, Mode::vectors, m, n, da, m, sigma, u, m, v, n, &size, nullptr, count) ==
          Status::invalid_value);
  }
}

template <class T>
void eigenvalues() {
  constexpr Type type = Calls<T>::type, real = real_of(type);
  Session s;
  const int64_t n = 5;
  for (const bool batched : {false, true})
    for (const Fill fill : {Fill::lower, Fill::upper})
      for (const Mode mode : {Mode::vectors, Mode::no_vectors}) {
        const int64_t count = batched ? 2 : 1;
        std::vector<T> a;
        for (int64_t i = 0; i < count; ++i) {
          const auto one = definite<T>(n, fill == Fill::upper);
          for (const T value : one) a.push_back(value * T(Real<T>(i + 1)));
        }
        const Device<T> da(a);
        const Device<Real<T>> w(size_t(n * count));
        CHECK((batched ? cusolverDnXsyevBatched_bufferSize(s.handle, s.params, mode, fill, n, type, da, n, real, w,
                                                           type, &s.device, &s.host, count)
                       : cusolverDnXsyevd_bufferSize(s.handle, s.params, mode, fill, n, type, da, n, real, w, type,
                                                     &s.device, &s.host)) == Status::success);
        Room room(s);
        const auto call = [&](size_t host) {
          return batched ? cusolverDnXsyevBatched(s.handle, s.params, mode, fill, n, type, da, n, real, w, type,
                                                  room.device, s.device, room.host.data(), host, s.info, count)
                         : cusolverDnXsyevd(s.handle, s.params, mode, fill, n, type, da, n, real, w, type, room.device,
                                            s.device, room.host.data(), host, s.info);
        };
        CHECK(call(s.host - 1) == Status::invalid_value);
        CHECK(call(s.host) == Status::success);
        const auto values = w.get();
        const auto vectors = da.get();
        for (int64_t i = 0; i < count; ++i) {
          CHECK(s.info.get()[size_t(i)] == 0);
          for (int64_t j = 1; j < n; ++j) CHECK(values[size_t(i * n + j - 1)] <= values[size_t(i * n + j)]);
          if (mode == Mode::no_vectors) {
            CHECK(!da.written(size_t(i * n * n), 1));
            continue;
          }
          const Dense q(n, n, vectors.data() + i * n * n, n);
          CHECK(from_identity(q) < loose<T>);
          CHECK(distance(composed(q, values, q, size_t(i * n), n),
                         hermitian(n, a.data() + i * n * n, fill == Fill::upper)) < loose<T> * 20);
        }
      }
  CHECK(cusolverDnXsyevBatched_bufferSize(s.handle, s.params, Mode::vectors, Fill::lower, 512, Type::c64f, nullptr, 512,
                                          Type::r64f, nullptr, Type::c64f, &s.device, &s.host,
                                          512) == Status::invalid_value);
  CHECK(cusolverDnXsyevBatched_bufferSize(s.handle, s.params, Mode::vectors, Fill::lower, 512, Type::c64f, nullptr, 512,
                                          Type::r64f, nullptr, Type::c64f, &s.device, &s.host, 511) == Status::success);
  CHECK(cusolverDnXsyevd_bufferSize(s.handle, s.params, Mode::vectors, Fill::lower, n, type, nullptr, n,
                                    complex_of(real), nullptr, type, &s.device, &s.host) == Status::invalid_value);
}

template <class T>
void general_eigenvalues() {
  constexpr Type type = Calls<T>::type;
  using C = std::complex<Real<T>>;
  Session s;
  const int64_t n = 5;
  const auto a = numbers<T>(25, 12);
  for (const Mode mode : {Mode::vectors, Mode::no_vectors}) {
    const Device<T> da(a), vr(25);
    const Device<C> w(5);
    const auto size = [&](Mode left) {
      return cusolverDnXgeev_bufferSize(s.handle, s.params, left, mode, n, type, da, n, complex_of(type), w, type,
                                        nullptr, 1, type, vr, n, type, &s.device, &s.host);
    };
    CHECK(size(Mode::vectors) == Status::invalid_value);
    CHECK(size(Mode::no_vectors) == Status::success);
    Room room(s);
    const auto call = [&] {
      return cusolverDnXgeev(s.handle, s.params, Mode::no_vectors, mode, n, type, da, n, complex_of(type), w, type,
                             nullptr, 1, type, vr, n, type, room.device, s.device, room.host.data(), s.host, s.info);
    };
    stub.capturing = true;
    CHECK(call() == Status::execution_failed);
    stub.capturing = false;
    const int before = stub.ran;
    CHECK(call() == Status::success);
    CHECK(stub.ran == before + 2);  // it waits, for the kernel that writes the workspace and the one that uses it
    CHECK(s.info.get()[0] == 0);
    CHECK(!da.written(0, 1) && vr.written() == (mode == Mode::vectors));
    std::complex<double> sum = 0, trace = 0;
    for (const C value : w.get()) sum += wide(value);
    for (int64_t i = 0; i < n; ++i) trace += wide(a[size_t(i * n + i)]);
    CHECK(std::abs(sum - trace) < loose<T>);
    if (mode == Mode::no_vectors || !is_complex<T>) continue;
    const Dense v(n, n, vr.get().data(), n);
    Dense scaled = v;
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < n; ++i) scaled.at(i, j) *= wide(w.get()[size_t(j)]);
    CHECK(distance(Dense(n, n, a.data(), n) * v, scaled) < loose<T>);
  }
}

template <class T>
void batches_of_cholesky() {
  Session s;
  const int n = 4;
  for (const Fill fill : {Fill::lower, Fill::upper}) {
    const bool upper = fill == Fill::upper;
    auto a = definite<T>(n, upper), b = a, c = a;
    b[5] = T(-1);
    c[5] = T(NAN);
    const Device<T> da(a), db(b), dc(c);
    const Device<T*> all(std::vector<T*>{da, db, dc});
    CHECK(Calls<T>::potrf(s.handle, fill, n, all, n, s.info, 3) == Status::success);
    const auto info = s.info.get();
    CHECK(info[0] == 0 && info[1] == 2 && info[2] == 2);
    const auto l = da.get();
    const Dense factor = Dense(n, n, l.data(), n).triangle(upper);
    const Dense product = upper ? factor.transposed(true) * factor : factor * factor.transposed(true);
    CHECK(distance(product, hermitian(n, a.data(), upper)) < loose<T> * 10);
    CHECK(!da.written(upper ? 1 : n, 1));  // the other triangle is garbage
    CHECK(da.written(0, 1) && da.written(upper ? n : 1, 1));
    CHECK(Calls<T>::potrf(s.handle, fill, n, all, n - 1, s.info, 3) == Status::invalid_value);
  }
  // With a seed a pivot that is NaN may pass.
  stub.seed = 1;
  int passed_by = 0;
  for (int i = 0; i < 32; ++i) {
    const Device<T> da(std::vector<T>(16, T(NAN)));
    const Device<T*> all(std::vector<T*>{da});
    CHECK(Calls<T>::potrf(s.handle, Fill::lower, n, all, n, s.info, 1) == Status::success);
    passed_by += s.info.get()[0] == 0;
    CHECK(std::isnan(std::abs(da.get()[0])));
  }
  CHECK(passed_by > 0 && passed_by < 32);
}

void handles_are_known() {
  void* handle = nullptr;
  CHECK(cusolverDnCreate(nullptr) == Status::invalid_value);
  CHECK(cusolverDnCreate(&handle) == Status::success);
  stub.device = 1;
  size_t bytes = 0;
  CHECK(cusolverDnXpotrf_bufferSize(handle, nullptr, Fill::lower, 1, Type::r32f, nullptr, 1, Type::r32f, &bytes,
                                    &bytes) == Status::execution_failed);
  CHECK(reported().find("another device") != std::string::npos);
  CHECK(cusolverDnDestroy(handle) == Status::success);
  CHECK(cusolverDnDestroy(handle) == Status::not_initialized);
  CHECK(cusolverDnSetStream(handle, nullptr) == Status::not_initialized);
  int major = 0;
  CHECK(cusolverGetProperty(0, &major) == Status::success && major == 12);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Case> cases{{"handles", handles_are_known}};
  const auto add = [&]<class T>(T, const std::string& type) {
    cases.push_back({"cholesky " + type, cholesky<T>});
    cases.push_back({"lu " + type, lu<T>});
    cases.push_back({"qr " + type, qr<T>});
    cases.push_back({"svd " + type, svd<T>});
    cases.push_back({"jacobi " + type, jacobi<T>});
    cases.push_back({"eigenvalues " + type, eigenvalues<T>});
    cases.push_back({"general eigenvalues " + type, general_eigenvalues<T>});
    cases.push_back({"batches of cholesky " + type, batches_of_cholesky<T>});
  };
  add(float(), "float32");
  add(double(), "float64");
  add(std::complex<float>(), "complex64");
  add(std::complex<double>(), "complex128");
  return run(argc, argv, cases, assert_clean);
}
