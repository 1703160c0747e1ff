#include "emulator/vendor/common/lapack.hpp"

#include "emulator/vendor/common/device.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace stator::emulator::vendor::lapack {

namespace {

std::string own_folder() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(&own_folder), &info) || !info.dli_fname) return ".";
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

void* open_library() {
  const char* const chosen = std::getenv("STATOR_OPENBLAS");
  std::vector<std::string> candidates;
  if (chosen && *chosen) candidates.push_back(chosen);
  candidates.push_back(own_folder() + "/../../scipy_openblas32/lib/libscipy_openblas.so");
  candidates.push_back("libscipy_openblas.so");
  for (const std::string& candidate : candidates)
    if (void* const library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  return nullptr;
}

void* library() {
  static void* const opened = [] {
    void* const found = open_library();
    if (found)
      if (auto* const set = reinterpret_cast<void (*)(int)>(dlsym(found, "scipy_openblas_set_num_threads"))) set(1);
    return found;
  }();
  return opened;
}

template <class T>
constexpr char letter = std::is_same_v<T, float>                 ? 's'
                        : std::is_same_v<T, double>              ? 'd'
                        : std::is_same_v<T, std::complex<float>> ? 'c'
                                                                 : 'z';

// The routine's address; each call site keeps it.
template <class T>
void* routine(const char* name) {
  return dlsym(library(), (std::string("scipy_") + letter<T> + name + "_").c_str());
}

// Everything is passed by reference, characters with their hidden lengths at the end.
template <class... Arguments>
void call(void* function, Arguments*... arguments) {
  reinterpret_cast<void (*)(Arguments*..., size_t, size_t)>(function)(arguments..., 1, 1);
}

template <class T>
int size_from(const T& answer) {
  if constexpr (complex_type<T>)
    return std::max(1, int(answer.real()));
  else
    return std::max(1, int(answer));
}

}  // namespace

bool available(const char* what) {
  if (library()) return true;
  complain(what, "OpenBLAS was not found. Install scipy-openblas32, or name its shared library in STATOR_OPENBLAS.");
  return false;
}

template <class T>
int getrf(int m, int n, T* a, int lda, int* pivots) {
  static void* const f = routine<T>("getrf");
  int info = 0;
  call(f, &m, &n, a, &lda, pivots, &info);
  return info;
}

template <class T>
int getrs(char trans, int n, int count, const T* a, int lda, const int* pivots, T* b, int ldb) {
  static void* const f = routine<T>("getrs");
  int info = 0;
  call(f, &trans, &n, &count, a, &lda, pivots, b, &ldb, &info);
  return info;
}

template <class T>
int geqrf(int m, int n, T* a, int lda, T* tau) {
  static void* const f = routine<T>("geqrf");
  int info = 0, size = -1;
  T answer{};
  call(f, &m, &n, a, &lda, tau, &answer, &size, &info);
  size = size_from(answer);
  std::vector<T> work(static_cast<size_t>(size));
  call(f, &m, &n, a, &lda, tau, work.data(), &size, &info);
  return info;
}

template <class T>
int orgqr(int m, int n, int k, T* a, int lda, const T* tau) {
  static void* const f = routine<T>(complex_type<T> ? "ungqr" : "orgqr");
  int info = 0, size = -1;
  T answer{};
  call(f, &m, &n, &k, a, &lda, tau, &answer, &size, &info);
  size = size_from(answer);
  std::vector<T> work(static_cast<size_t>(size));
  call(f, &m, &n, &k, a, &lda, tau, work.data(), &size, &info);
  return info;
}

template <class T>
int potrf(char uplo, int n, T* a, int lda) {
  static void* const f = routine<T>("potrf");
  int info = 0;
  call(f, &uplo, &n, a, &lda, &info);
  return info;
}

template <class T>
int gesvd(char jobu, char jobvt, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* vt, int ldvt) {
  static void* const f = routine<T>("gesvd");
  std::vector<Real<T>> real_work(size_t(5 * std::max(1, std::min(m, n))));
  int info = 0, size = -1;
  T answer{};
  const auto run = [&](T* work) {
    if constexpr (complex_type<T>)
      call(f, &jobu, &jobvt, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, &size, real_work.data(), &info);
    else
      call(f, &jobu, &jobvt, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, &size, &info);
  };
  run(&answer);
  size = size_from(answer);
  std::vector<T> work(static_cast<size_t>(size));
  run(work.data());
  return info;
}

template <class T>
int syevd(char jobz, char uplo, int n, T* a, int lda, Real<T>* w) {
  static void* const f = routine<T>(complex_type<T> ? "heevd" : "syevd");
  int info = 0, size = -1, real_size = -1, integers = -1, integer_answer = 0;
  T answer{};
  Real<T> real_answer{};
  const auto run = [&](T* work, Real<T>* real_work, int* integer_work) {
    if constexpr (complex_type<T>)
      call(f, &jobz, &uplo, &n, a, &lda, w, work, &size, real_work, &real_size, integer_work, &integers, &info);
    else
      call(f, &jobz, &uplo, &n, a, &lda, w, work, &size, integer_work, &integers, &info);
  };
  run(&answer, &real_answer, &integer_answer);
  size = size_from(answer);
  std::vector<T> work(static_cast<size_t>(size));
  real_size = size_from(real_answer);
  std::vector<Real<T>> real_work(static_cast<size_t>(real_size));
  integers = std::max(1, integer_answer);
  std::vector<int> integer_work(static_cast<size_t>(integers));
  run(work.data(), real_work.data(), integer_work.data());
  return info;
}

template <class T>
int geev(bool vectors, int n, T* a, int lda, std::complex<Real<T>>* w, T* vr, int ldvr) {
  static void* const f = routine<T>("geev");
  char left = 'N', right = vectors ? 'V' : 'N';
  int info = 0, size = -1, one = 1;
  T answer{}, unused{};
  std::vector<Real<T>> parts(size_t(2 * std::max(1, n)));
  Real<T>* const imaginary = parts.data() + std::max(1, n);
  const auto run = [&](T* work) {
    if constexpr (complex_type<T>)
      call(f, &left, &right, &n, a, &lda, w, &unused, &one, vr, &ldvr, work, &size, parts.data(), &info);
    else
      call(f, &left, &right, &n, a, &lda, parts.data(), imaginary, &unused, &one, vr, &ldvr, work, &size, &info);
  };
  run(&answer);
  size = size_from(answer);
  std::vector<T> work(static_cast<size_t>(size));
  run(work.data());
  if constexpr (!complex_type<T>)
    for (int i = 0; i < n; ++i) w[i] = {parts[size_t(i)], imaginary[i]};
  return info;
}

#define INSTANTIATE(T)                                                           \
  template int getrf(int, int, T*, int, int*);                                   \
  template int getrs(char, int, int, const T*, int, const int*, T*, int);        \
  template int geqrf(int, int, T*, int, T*);                                     \
  template int orgqr(int, int, int, T*, int, const T*);                          \
  template int potrf(char, int, T*, int);                                        \
  template int gesvd(char, char, int, int, T*, int, Real<T>*, T*, int, T*, int); \
  template int syevd(char, char, int, T*, int, Real<T>*);                        \
  template int geev(bool, int, T*, int, std::complex<Real<T>>*, T*, int);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)

}  // namespace stator::emulator::vendor::lapack
