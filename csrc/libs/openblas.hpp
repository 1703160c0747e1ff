// The part of OpenBLAS that stator calls: CBLAS with 32-bit integers.
#pragma once

#include <string_view>
#include <type_traits>

namespace stator::libs::openblas {

enum class Order : int { row_major = 101 };
enum class Transpose : int { none = 111, transpose = 112 };
constexpr Transpose transpose(bool yes) { return yes ? Transpose::transpose : Transpose::none; }

// Real scalars are passed by value, complex ones by address.
template <class T>
using Scalar = std::conditional_t<std::is_floating_point_v<T>, T, const void*>;
template <class T>
using Pointer = std::conditional_t<std::is_floating_point_v<T>, T*, void*>;
template <class T>
using ConstPointer = std::conditional_t<std::is_floating_point_v<T>, const T*, const void*>;

template <class T>
using Gemm = void(Order, Transpose, Transpose, int m, int n, int k, Scalar<T> alpha, ConstPointer<T> a, int lda,
                  ConstPointer<T> b, int ldb, Scalar<T> beta, Pointer<T> c, int ldc);
template <class T>
using Gemv = void(Order, Transpose, int m, int n, Scalar<T> alpha, ConstPointer<T> a, int lda, ConstPointer<T> x,
                  int increment_x, Scalar<T> beta, Pointer<T> y, int increment_y);

template <class T>
struct Products {
  Gemm<T>* gemm;
  Gemv<T>* gemv;
};

// Opened at first use, with at most `threads` threads of its own. LibraryNotFoundError.
template <class T>
const Products<T>& products(int threads, std::string_view op);

}  // namespace stator::libs::openblas
