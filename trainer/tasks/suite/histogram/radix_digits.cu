// Counts of one digit of the keys, the first step of a radix sort.
// warpwright: keys = 8000000, check keys = 1 | keys = 1000, fill digits = 0
// warpwright: key: in unsigned int[keys] integers 0..1000000, digits: inout unsigned int[1024]
__global__ void count_digits(const unsigned int *__restrict__ key,
                             unsigned int *__restrict__ digits, int keys) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id < keys)
    atomicAdd(digits + ((key[id] >> 8) & 1023), 1u);
}

void first_pass(const unsigned int *key, unsigned int *digits, int keys) {
  cudaMemset(digits, 0, 1024 * sizeof(unsigned int));
  count_digits<<<(keys + 63) / 64, 64>>>(key, digits, keys);
}
