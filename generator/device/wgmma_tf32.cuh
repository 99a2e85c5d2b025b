// Products of sm_90's tensor cores in TF32 (wgmma): the first operand in registers, the second in
// shared memory.
#ifndef WARPWRIGHT_WGMMA_TF32
#define WARPWRIGHT_WGMMA_TF32

namespace warpwright_convolution {

// Copies 16 bytes without waiting; copied() waits for all of a thread's and makes them visible to
// wgmma.
__device__ __forceinline__ void copy_16(float *to, const float *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
               "l"(from)
               : "memory");
}
// Copies a number, or writes 0 where it is not `there`.
__device__ __forceinline__ void copy_4(float *to, const float *from, bool there) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
               "l"(from), "r"(there ? 4 : 0)
               : "memory");
}
__device__ __forceinline__ void copied() {
  asm volatile("cp.async.wait_all;\nfence.proxy.async.shared::cta;" ::: "memory");
}

// Descriptor of eight rows of k (PTX ISA, "matrix descriptor"): 8 columns by 4 rows are 128 bytes
// without swizzle, two of those along k make a step of 8, and the next 8 columns follow at 256
// bytes.
__device__ __forceinline__ unsigned long long describe(const float *tile) {
  const unsigned long long address = (unsigned)__cvta_generic_to_shared(tile);
  return (address & 0x3ffff) >> 4 | (128ull >> 4) << 16 | (256ull >> 4) << 32;
}

// Values stay where they are until here: the compiler does not see that wgmma goes on reading and
// writing registers.
__device__ __forceinline__ void pin(float &value) { asm volatile("" : "+f"(value)::"memory"); }
__device__ __forceinline__ void pin(float4 &value) {
  asm volatile("" : "+f"(value.x), "+f"(value.y), "+f"(value.z), "+f"(value.w)::"memory");
}
template <typename T, int kCount> __device__ __forceinline__ void pin(T (&values)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    pin(values[i]);
}

__device__ __forceinline__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void finish_products() {
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// The registers of 64 rows by N columns, as text of PTX and as operands.
#define WARPWRIGHT_PTX_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define WARPWRIGHT_PTX_16 WARPWRIGHT_PTX_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define WARPWRIGHT_PTX_24 WARPWRIGHT_PTX_16 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define WARPWRIGHT_PTX_32 WARPWRIGHT_PTX_24 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define WARPWRIGHT_PTX_48 WARPWRIGHT_PTX_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define WARPWRIGHT_PTX_64 WARPWRIGHT_PTX_48 ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define WARPWRIGHT_8(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define WARPWRIGHT_SUMS_8 WARPWRIGHT_8(0)
#define WARPWRIGHT_SUMS_16 WARPWRIGHT_SUMS_8, WARPWRIGHT_8(8)
#define WARPWRIGHT_SUMS_24 WARPWRIGHT_SUMS_16, WARPWRIGHT_8(16)
#define WARPWRIGHT_SUMS_32 WARPWRIGHT_SUMS_24, WARPWRIGHT_8(24)
#define WARPWRIGHT_SUMS_48 WARPWRIGHT_SUMS_32, WARPWRIGHT_8(32), WARPWRIGHT_8(40)
#define WARPWRIGHT_SUMS_64 WARPWRIGHT_SUMS_48, WARPWRIGHT_8(48), WARPWRIGHT_8(56)

// Adds a * b to d: a of 64 rows by 8 in registers, b described. kColumns is one of the sizes below.
template <int kColumns>
__device__ __forceinline__ void multiply_add(float (&d)[kColumns / 2], const float (&a)[4], unsigned long long b) {
#define WARPWRIGHT_MULTIPLY(columns, half, a0, a1, a2, a3, from)                                                   \
  if constexpr (kColumns == columns)                                                                                 \
  asm volatile("wgmma.mma_async.sync.aligned.m64n" #columns "k8.f32.tf32.tf32 {" WARPWRIGHT_PTX_##half               \
               "}, {%" #a0 ", %" #a1 ", %" #a2 ", %" #a3 "}, %" #from ", 1, 1, 1;"                                   \
               : WARPWRIGHT_SUMS_##half                                                                              \
               : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),                 \
                 "r"(__float_as_uint(a[3])), "l"(b))
  WARPWRIGHT_MULTIPLY(16, 8, 8, 9, 10, 11, 12);
  WARPWRIGHT_MULTIPLY(32, 16, 16, 17, 18, 19, 20);
  WARPWRIGHT_MULTIPLY(48, 24, 24, 25, 26, 27, 28);
  WARPWRIGHT_MULTIPLY(64, 32, 32, 33, 34, 35, 36);
  WARPWRIGHT_MULTIPLY(96, 48, 48, 49, 50, 51, 52);
  WARPWRIGHT_MULTIPLY(128, 64, 64, 65, 66, 67, 68);
#undef WARPWRIGHT_MULTIPLY
}

} // namespace warpwright_convolution
#endif
