// How often each letter occurs in a text, small and capital as one, everything else as the 27th.
#include <cstdio>

// warpwright: tally: inout unsigned int[27], text: in unsigned char[chars] integers 0..256
__global__ void letters(const unsigned char *text, unsigned int *tally, int chars) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < chars) {
    int c = text[at] | 32;
    int slot = c >= 'a' && c <= 'z' ? c - 'a' : 26;
    atomicAdd(&tally[slot], 1u);
  }
}

int main() {
  const int chars = 8000000;
  unsigned char *text;
  unsigned int *tally;
  cudaMalloc(&text, chars);
  cudaMalloc(&tally, 27 * sizeof(unsigned int));
  cudaMemset(tally, 0, 27 * sizeof(unsigned int));
  letters<<<(chars + 127) / 128, 128>>>(text, tally, chars);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
