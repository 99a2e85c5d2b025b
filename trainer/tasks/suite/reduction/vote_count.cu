// Positive and large votes counted with one atomic for each that is found, on one counter that all share.
#include <cstdio>

// warpwright: total: inout int[1], fill total = 0, votes: in int[voters] integers 0..11
__global__ void count_votes(const int *votes, int *total, int voters) {
  int voter = blockIdx.x * blockDim.x + threadIdx.x;
  if (voter < voters) {
    int points = votes[voter] >= 5 ? votes[voter] - 4 : 0;
    atomicAdd(total, points);
  }
}

int main() {
  const int voters = 2000000;
  int *votes, *total;
  cudaMalloc(&votes, voters * sizeof(int));
  cudaMalloc(&total, sizeof(int));
  cudaMemset(total, 0, sizeof(int));
  count_votes<<<(voters + 63) / 64, 64>>>(votes, total, voters);
  int host = 0;
  cudaMemcpy(&host, total, sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d\n", host);
}
