// The part of OpenBLAS that stator calls: CBLAS with 32-bit integers.
#pragma once

#include <stator/complex.hpp>

#include <string_view>
#include <type_traits>

namespace stator::libs::openblas {

enum class Order : int { row_major = 101 };
enum class Transpose : int { none = 111, transpose = 112 };
enum class Uplo : int { upper = 121, lower = 122 };
constexpr Transpose transpose(bool yes) { return yes ? Transpose::transpose : Transpose::none; }

// Real scalars are passed by value, complex ones by address.
template <class T>
using Scalar = std::conditional_t<std::is_floating_point_v<T>, T, const void*>;
template <class T>
using Pointer = std::conditional_t<std::is_floating_point_v<T>, T*, void*>;
template <class T>
using ConstPointer = std::conditional_t<std::is_floating_point_v<T>, const T*, const void*>;

// The letter in the names of routines.
template <class T>
inline constexpr char letter = 's';
template <>
inline constexpr char letter<double> = 'd';
template <>
inline constexpr char letter<complex64> = 'c';
template <>
inline constexpr char letter<complex128> = 'z';

template <class T>
using Gemm = void(Order, Transpose, Transpose, int m, int n, int k, Scalar<T> alpha, ConstPointer<T> a, int lda,
                  ConstPointer<T> b, int ldb, Scalar<T> beta, Pointer<T> c, int ldc);
template <class T>
using Gemv = void(Order, Transpose, int m, int n, Scalar<T> alpha, ConstPointer<T> a, int lda, ConstPointer<T> x,
                  int increment_x, Scalar<T> beta, Pointer<T> y, int increment_y);
template <class T>
using Syrk = void(Order, Uplo, Transpose, int n, int k, Scalar<T> alpha, ConstPointer<T> a, int lda, Scalar<T> beta,
                  Pointer<T> c, int ldc);

template <class T>
struct Products {
  Gemm<T>* gemm;
  Gemv<T>* gemv;
  Syrk<T>* syrk;
  bool threaded;  // calls use threads of OpenBLAS: its copy is also used by something else in the process
};

// openblas_set_num_threads, which affects the whole process. LibraryNotFoundError.
void (*set_num_threads(std::string_view op))(int);

// Opened at first use. A copy of our own gets one thread; products are divided among our workers instead. The threads
// of OpenBLAS spin while they wait for each other; when other threads want their CPUs, each call takes several
// scheduler quanta (seen: sixteen products of 128^3 on a busy machine took 570 ms on two of its threads, 0.8 ms on
// one). LibraryNotFoundError.
template <class T>
const Products<T>& products(std::string_view op);

}  // namespace stator::libs::openblas
