// Built-in stand-ins of mma.h (nvcuda::wmma).
#pragma once
namespace nvcuda {
namespace wmma {
struct matrix_a; struct matrix_b; struct accumulator; struct row_major; struct col_major;
namespace precision { struct tf32; struct u4; struct s4; }
enum layout_t { mem_row_major, mem_col_major };
template <class T> struct WwElement { typedef T type; };
template <> struct WwElement<precision::tf32> { typedef float type; };
template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment {
  static constexpr int num_elements = 8;
  typename WwElement<T>::type x[8];
};
template <class F, class T> WW_D void fill_fragment(F &, const T &);
template <class F, class T> WW_D void load_matrix_sync(F &, const T *, unsigned);
template <class F, class T> WW_D void load_matrix_sync(F &, const T *, unsigned, layout_t);
template <class F, class T> WW_D void store_matrix_sync(T *, const F &, unsigned, layout_t);
template <class D, class A, class B, class C> WW_D void mma_sync(D &, const A &, const B &, const C &, bool = false);
WW_D float __float_to_tf32(float);
}
}
