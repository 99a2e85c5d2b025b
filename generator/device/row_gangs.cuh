#ifndef WARPWRIGHT_ROW_GANGS
#define WARPWRIGHT_ROW_GANGS
namespace warpwright_rows {
// Over all threads of a gang of Blocks blocks, which are all on the GPU: the launch is cooperative. Each gets the result.
// @param partials Blocks of them, in global memory
// @param arrived zero at first @param scratch Threads / 32 of them
template <int Threads, int Blocks, class A>
__device__ __forceinline__ A reduce_gang(A mine, A *scratch, A *partials, int rank, unsigned *arrived) {
  static_assert(sizeof(A) % 4 == 0, "read by words");
  mine = reduce_neighbours<Threads, Threads>(mine, scratch);
  if (threadIdx.x == 0) {
    partials[rank] = mine;
    __threadfence();
    atomicAdd(arrived, 1u);
    unsigned seen;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
    } while (seen < Blocks);
  }
  __syncthreads();
  mine = A::identity();
  for (int other = threadIdx.x; other < Blocks; other += Threads) {
    union Words {
      unsigned word[sizeof(A) / 4];
      A state;
      __device__ Words() {}
    } words;
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof(A) / 4); ++i)
      words.word[i] = __ldcg(reinterpret_cast<const unsigned *>(partials + other) + i);
    mine.merge(words.state);
  }
  return reduce_neighbours<Threads, Threads>(mine, scratch);
}
} // namespace warpwright_rows
#endif
