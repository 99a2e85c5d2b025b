// CUDA's integer intrinsics (CUDA Math API: "Integer Intrinsics", and part of "SIMD Intrinsics").
#pragma once

__WW_FUNCTION int __popc(unsigned x) { return __builtin_popcount(x); }
__WW_FUNCTION int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
__WW_FUNCTION int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
__WW_FUNCTION int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
__WW_FUNCTION int __ffs(int x) { return __builtin_ffs(x); }
__WW_FUNCTION int __ffsll(long long x) { return __builtin_ffsll(x); }
__WW_FUNCTION unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
__WW_FUNCTION unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
__WW_FUNCTION int __mul24(int a, int b) {
  return (int)((unsigned)((int)((unsigned)a << 8) >> 8) * (unsigned)((int)((unsigned)b << 8) >> 8));
}
__WW_FUNCTION unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
__WW_FUNCTION int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
__WW_FUNCTION unsigned __umulhi(unsigned a, unsigned b) {
  return (unsigned)(((unsigned long long)a * b) >> 32);
}
__WW_FUNCTION long long __mul64hi(long long a, long long b) {
  return (long long)(((__int128)a * b) >> 64);
}
__WW_FUNCTION unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
__WW_FUNCTION unsigned __sad(int a, int b, unsigned c) {
  return c + (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a);
}
__WW_FUNCTION unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a > b ? a - b : b - a); }
__WW_FUNCTION int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
__WW_FUNCTION int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
__WW_FUNCTION unsigned __uhadd(unsigned a, unsigned b) {
  return (unsigned)(((unsigned long long)a + b) >> 1);
}
__WW_FUNCTION unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return __builtin_elementwise_fshl(high, low, shift & 31u);
}
__WW_FUNCTION unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return __builtin_elementwise_fshr(high, low, shift & 31u);
}
__WW_FUNCTION unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
__WW_FUNCTION unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
__WW_FUNCTION unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  unsigned long long bytes = ((unsigned long long)y << 32) | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i)
    result |= (unsigned)((bytes >> (8 * ((selector >> (4 * i)) & 7u))) & 0xffu) << (8 * i);
  return result;
}
__WW_FUNCTION int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i)
    c += (int)(signed char)(a >> (8 * i)) * (int)(signed char)(b >> (8 * i));
  return c;
}
__WW_FUNCTION unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 4; ++i)
    c += ((a >> (8 * i)) & 0xffu) * ((b >> (8 * i)) & 0xffu);
  return c;
}
