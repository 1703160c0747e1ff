// LAPACK's routines in OpenBLAS, opened when first needed. Matrices are column-major; T is one of the four types.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

namespace stator::emulator::vendor::lapack {

template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};
template <class T>
using Real = typename RealOf<T>::type;
template <class T>
inline constexpr bool complex_type = !std::is_same_v<T, Real<T>>;

// False if OpenBLAS is not to be found; then nothing below may be called.
bool available(const char* what);

// Each returns LAPACK's info.
template <class T>
int getrf(int m, int n, T* a, int lda, int* pivots);
template <class T>
int getrs(char trans, int n, int count, const T* a, int lda, const int* pivots, T* b, int ldb);
template <class T>
int geqrf(int m, int n, T* a, int lda, T* tau);
template <class T>
int orgqr(int m, int n, int k, T* a, int lda, const T* tau);
template <class T>
int potrf(char uplo, int n, T* a, int lda);
template <class T>
int gesvd(char jobu, char jobvt, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* vt, int ldvt);
template <class T>
int syevd(char jobz, char uplo, int n, T* a, int lda, Real<T>* w);
// Eigenvectors on the right if `vectors`. Those of real matrices come in pairs of columns, as LAPACK packs them.
template <class T>
int geev(bool vectors, int n, T* a, int lda, std::complex<Real<T>>* w, T* vr, int ldvr);

}  // namespace stator::emulator::vendor::lapack
