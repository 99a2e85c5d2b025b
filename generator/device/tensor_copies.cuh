// Copies of boxes of arrays to shared memory by the bulk copy engine (tensor maps). Barriers tell
// when they are there, and descriptors tell wgmma where.
#ifndef WARPWRIGHT_TENSOR_COPIES
#define WARPWRIGHT_TENSOR_COPIES

namespace warpwright_tensor {

struct alignas(64) Map { // a CUtensorMap
  unsigned char bytes[128];
};

__device__ __forceinline__ unsigned shared_address(const void *pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void wait(unsigned barrier, int parity) {
  asm volatile("{\n.reg .pred done;\n"
               "again:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@done bra finished;\nbra again;\nfinished:\n}\n" ::"r"(barrier),
               "r"(parity)
               : "memory");
}

// Copies a box of four dimensions.
__device__ __forceinline__ void copy(unsigned target, const Map &map, int fast, int slow, int inner, int outer,
                                     unsigned barrier) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(target),
               "l"(reinterpret_cast<unsigned long long>(&map)), "r"(fast), "r"(slow), "r"(inner), "r"(outer),
               "r"(barrier)
               : "memory");
}

// Says that `bytes` will be copied before the barrier's phase ends.
__device__ __forceinline__ void expect(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
// One thread of a warp arrives.
__device__ __forceinline__ void release(unsigned barrier) {
  if (threadIdx.x % 32 == 0)
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// The descriptor by which wgmma reads a tile whose rows are 128 bytes, with the 128-byte swizzle (PTX ISA, "matrix
// descriptor"). Where a row is a step of k, `chunk` is
// the number of bytes from 64 elements of a step to the next 64.
__device__ __forceinline__ unsigned long long descriptor(unsigned address, unsigned chunk = 16) {
  constexpr unsigned long long kLayout = 64ull << 32 | 1ull << 62; // 1024 bytes from eight rows to the next eight
  return (static_cast<unsigned long long>(address & 0x3ffff) >> 4) | static_cast<unsigned long long>(chunk >> 4) << 16 | kLayout;
}

} // namespace warpwright_tensor
#endif
