// Amounts added to the accounts that own them: one atomic on global memory for each, on few accounts.
// warpwright: entries = 4000000, accounts = 200, check entries = 777 accounts = 5, fill balance = 0
// warpwright: owner: in int[entries] integers 0..accounts, amount: in int[entries] integers 0..100
// warpwright: balance: inout int[accounts]
__global__ void post(const int *owner, const int *amount, int *balance, int entries) {
  int e = threadIdx.x + blockDim.x * blockIdx.x;
  if (e < entries) {
    const int account = owner[e];
    atomicAdd(&balance[account], amount[e]);
  }
}

void post_all(const int *owner, const int *amount, int *balance, int entries, int accounts) {
  cudaMemset(balance, 0, accounts * sizeof(int));
  post<<<(entries + 255) / 256, 256>>>(owner, amount, balance, entries);
}
