#ifndef WARPWRIGHT_ROW_CLUSTERS
#define WARPWRIGHT_ROW_CLUSTERS
namespace warpwright_rows {
__device__ __forceinline__ unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
// Over all threads of a cluster of Blocks blocks; each gets the result. No block may end, or change scratch, until all have read: the
// caller arrives and waits once more. @param scratch Threads / 32 + 1 of them, the same in each block
template <int Threads, int Blocks, class A>
__device__ __forceinline__ A reduce_cluster(A mine, A *scratch) {
  mine = reduce_neighbours<Threads, Threads>(mine, scratch);
  if (threadIdx.x == 0)
    scratch[Threads / 32] = mine;
  cluster_arrive();
  cluster_wait();
  const int lane = threadIdx.x % 32;
  mine = A::identity();
  if (lane < Blocks) {
    static_assert(sizeof(A) % 4 == 0, "read by words");
    union Words {
      unsigned word[sizeof(A) / 4];
      A state;
      __device__ Words() {}
    } words;
    unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(&scratch[Threads / 32]));
    asm volatile("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(address) : "r"(lane));
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof(A) / 4); ++i)
      asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(words.word[i]) : "r"(address + 4 * i) : "memory");
    mine = words.state;
  }
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2)
    mine.merge(mine.shuffled(mask));
  return mine;
}
} // namespace warpwright_rows
#endif
