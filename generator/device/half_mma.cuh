// Products of 16-bit fragments that a warp holds (mma.sync), with sums in FP32, and the copies to
// shared memory and to fragments for them. On the CPU backend shuffles take the place of a GPU's
// instructions.
#ifndef WARPWRIGHT_HALF_MMA
#define WARPWRIGHT_HALF_MMA

namespace warpwright_mma {

constexpr unsigned kWarp = 0xffffffffu;

#ifndef WARPWRIGHT_CPU

__device__ __forceinline__ unsigned shared_address(const void *pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// Copies 16 bytes to shared memory without waiting, or zeros where they are not `there`.
__device__ __forceinline__ void copy_16(void *to, const void *from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(there ? 16 : 0)
               : "memory");
}
// Reads 16 bytes that nothing writes meanwhile and nobody reads again, or zeros where they are not `there`. Several of these
// are under way together: the compiler does not put them off until they are needed.
__device__ __forceinline__ uint4 read_16(const void *from, bool there) {
  uint4 words = make_uint4(0, 0, 0, 0);
  asm volatile("{\n.reg .pred there;\nsetp.ne.b32 there, %5, 0;\n"
               "@there ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];\n}\n"
               : "+r"(words.x), "+r"(words.y), "+r"(words.z), "+r"(words.w)
               : "l"(from), "r"(static_cast<int>(there)));
  return words;
}
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most kLeft of the groups that this thread committed are under way.
template <int kLeft> __device__ __forceinline__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

// Four matrices of 8 x 8. Lane l names row l % 8 of matrix l / 8, and gets two neighbors of row lane / 4 of each.
__device__ __forceinline__ void load_matrices(unsigned (&words)[4], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(shared_address(row))
               : "memory");
}
// The same of the transposed matrices.
__device__ __forceinline__ void load_transposed(unsigned (&words)[4], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(shared_address(row))
               : "memory");
}

// sum += a * b for 16 x 8 sums over 16 products (PTX ISA, "mma.m16n8k16").
template <bool kBFloat16>
__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b_first, unsigned b_second) {
  if constexpr (kBFloat16)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b_first), "r"(b_second));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b_first), "r"(b_second));
}

// Two rounded values, the first in the low half.
template <bool kBFloat16> __device__ __forceinline__ unsigned pair_of(float first, float second) {
  unsigned pair;
  if constexpr (kBFloat16)
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
}

// 2^x within 2 units in the last place.
__device__ __forceinline__ float power_of_two(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

#else

__device__ inline void copy_16(void *to, const void *from, bool there) {
  for (int i = 0; i < 16; ++i)
    static_cast<unsigned char *>(to)[i] = there ? static_cast<const unsigned char *>(from)[i] : 0;
}
__device__ inline uint4 read_16(const void *from, bool there) {
  return there ? *static_cast<const uint4 *>(from) : make_uint4(0, 0, 0, 0);
}
__device__ inline void commit_copies() {}
template <int kLeft> __device__ inline void wait_copies() {}

__device__ inline const unsigned short *row_of_lane(const void *row, int lane) {
  return reinterpret_cast<const unsigned short *>(__shfl_sync(kWarp, reinterpret_cast<unsigned long long>(row), lane));
}
__device__ inline unsigned joined(unsigned short first, unsigned short second) {
  return first | static_cast<unsigned>(second) << 16;
}
__device__ inline void load_matrices(unsigned (&words)[4], const void *row) {
  const int lane = threadIdx.x % 32;
  for (int i = 0; i < 4; ++i) {
    const unsigned short *from = row_of_lane(row, i * 8 + lane / 4) + lane % 4 * 2;
    words[i] = joined(from[0], from[1]);
  }
}
__device__ inline void load_transposed(unsigned (&words)[4], const void *row) {
  const int lane = threadIdx.x % 32;
  for (int i = 0; i < 4; ++i) {
    const unsigned short *first = row_of_lane(row, i * 8 + lane % 4 * 2), *second = row_of_lane(row, i * 8 + lane % 4 * 2 + 1);
    words[i] = joined(first[lane / 4], second[lane / 4]);
  }
}

template <bool kBFloat16> __device__ inline float number_of(unsigned pair, int which) {
  const auto bits = static_cast<unsigned short>(pair >> (which * 16));
  if constexpr (kBFloat16)
    return __uint_as_float(static_cast<unsigned>(bits) << 16);
  _Float16 half;
  __builtin_memcpy(&half, &bits, 2);
  return static_cast<float>(half);
}
template <bool kBFloat16> __device__ inline unsigned short bits_of(float number) {
  if constexpr (kBFloat16) {
    const unsigned bits = __float_as_uint(number);
    return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
  }
  const auto half = static_cast<_Float16>(number);
  unsigned short bits;
  __builtin_memcpy(&bits, &half, 2);
  return bits;
}
template <bool kBFloat16>
__device__ inline void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b_first, unsigned b_second) {
  const int lane = threadIdx.x % 32;
  for (int quarter = 0; quarter < 4; ++quarter) {
    unsigned rows[4], columns[2][2];
    for (int i = 0; i < 4; ++i)
      rows[i] = __shfl_sync(kWarp, a[i], lane / 4 * 4 + quarter);
    for (int column = 0; column < 2; ++column) {
      columns[column][0] = __shfl_sync(kWarp, b_first, (lane % 4 * 2 + column) * 4 + quarter);
      columns[column][1] = __shfl_sync(kWarp, b_second, (lane % 4 * 2 + column) * 4 + quarter);
    }
    for (int i = 0; i < 4; ++i)
      for (int half = 0; half < 2; ++half)
        for (int which = 0; which < 2; ++which)
          sum[i] += number_of<kBFloat16>(rows[i / 2 + half * 2], which) * number_of<kBFloat16>(columns[i % 2][half], which);
  }
}
template <bool kBFloat16> __device__ inline unsigned pair_of(float first, float second) {
  return joined(bits_of<kBFloat16>(first), bits_of<kBFloat16>(second));
}
__device__ inline float power_of_two(float x) { return exp2f(x); }

#endif

} // namespace warpwright_mma
#endif
