// The part of LAPACK, in OpenBLAS, that stator calls, with the Fortran calling convention and 32-bit integers. The
// lengths of arguments of type char follow at the end of the argument list.
#pragma once

#include "libs/host/openblas.hpp"

#include <stator/complex.hpp>

#include <cstddef>

namespace stator::libs::lapack {

template <class T, class WhenReal, class WhenComplex>
using by_kind = std::conditional_t<is_complex<T>, WhenComplex, WhenReal>;

using Int = const int*;
using Char = const char*;
enum class Side : int { left = 141 };
using openblas::Uplo;
enum class Diag : int { non_unit = 131, unit = 132 };
enum class Op : int { none = 111, transpose = 112, adjoint = 113 };
enum class Order : int { col_major = 102 };

template <class T>
struct Api {
  using R = real_t<T>;
  void (*potrf)(Char uplo, Int n, T* a, Int lda, int* info, size_t);
  void (*getrf)(Int m, Int n, T* a, Int lda, int* pivots, int* info);
  void (*getrs)(Char trans, Int n, Int columns, const T* a, Int lda, Int pivots, T* b, Int ldb, int* info, size_t);
  void (*geqrf)(Int m, Int n, T* a, Int lda, T* tau, T* work, Int lwork, int* info);
  void (*orgqr)(Int m, Int n, Int k, T* a, Int lda, const T* tau, T* work, Int lwork, int* info);
  void (*trsm)(Order, Side, Uplo, Op, Diag, int m, int n, openblas::Scalar<T> alpha, openblas::ConstPointer<T> a,
               int lda, openblas::Pointer<T> b, int ldb);
  by_kind<T,
          void (*)(Char jobz, Int m, Int n, T* a, Int lda, R* s, T* u, Int ldu, T* vt, Int ldvt, T* work, Int lwork,
                   int* iwork, int* info, size_t),
          void (*)(Char jobz, Int m, Int n, T* a, Int lda, R* s, T* u, Int ldu, T* vt, Int ldvt, T* work, Int lwork,
                   R* rwork, int* iwork, int* info, size_t)>
      gesdd;
  by_kind<T,
          void (*)(Char jobz, Char uplo, Int n, T* a, Int lda, R* w, T* work, Int lwork, int* iwork, Int liwork,
                   int* info, size_t, size_t),
          void (*)(Char jobz, Char uplo, Int n, T* a, Int lda, R* w, T* work, Int lwork, R* rwork, Int lrwork,
                   int* iwork, Int liwork, int* info, size_t, size_t)>
      syevd;
  by_kind<T,
          void (*)(Char jobvl, Char jobvr, Int n, T* a, Int lda, R* wr, R* wi, T* vl, Int ldvl, T* vr, Int ldvr,
                   T* work, Int lwork, int* info, size_t, size_t),
          void (*)(Char jobvl, Char jobvr, Int n, T* a, Int lda, T* w, T* vl, Int ldvl, T* vr, Int ldvr, T* work,
                   Int lwork, R* rwork, int* info, size_t, size_t)>
      geev;
  bool threaded;  // calls use threads of OpenBLAS, see openblas::Products
};

// Opened at first use. LibraryNotFoundError.
template <class T>
const Api<T>& api(std::string_view op);

}  // namespace stator::libs::lapack
