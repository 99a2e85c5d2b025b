// dim3 and the vector types with their alignments (CUDA programming guide, "Built-in Vector Types").
#pragma once

#define __WW_VECTORS(name, type, align2, align4)                                                   \
  struct name##1 { type x; };                                                                      \
  struct alignas(align2) name##2 { type x, y; };                                                   \
  struct name##3 { type x, y, z; };                                                                \
  struct alignas(align4) name##4 { type x, y, z, w; };                                             \
  __WW_FUNCTION constexpr name##1 make_##name##1(type x) { return {x}; }                           \
  __WW_FUNCTION constexpr name##2 make_##name##2(type x, type y) { return {x, y}; }                \
  __WW_FUNCTION constexpr name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }     \
  __WW_FUNCTION constexpr name##4 make_##name##4(type x, type y, type z, type w) {                 \
    return {x, y, z, w};                                                                           \
  }

__WW_VECTORS(char, signed char, 2, 4)
__WW_VECTORS(uchar, unsigned char, 2, 4)
__WW_VECTORS(short, short, 4, 8)
__WW_VECTORS(ushort, unsigned short, 4, 8)
__WW_VECTORS(int, int, 8, 16)
__WW_VECTORS(uint, unsigned int, 8, 16)
__WW_VECTORS(long, long, 16, 16)
__WW_VECTORS(ulong, unsigned long, 16, 16)
__WW_VECTORS(longlong, long long, 16, 16)
__WW_VECTORS(ulonglong, unsigned long long, 16, 16)
__WW_VECTORS(float, float, 8, 16)
__WW_VECTORS(double, double, 16, 16)
#undef __WW_VECTORS

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
