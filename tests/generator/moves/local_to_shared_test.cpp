// local_to_shared: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("local_to_shared: an array indexed by data gets a column per thread") {
  check_move(R"cuda(__global__ void ^entropy(const char *value, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 8 >= n)
    return;
  char count[16];
  for (int k = 0; k < 16; k++)
    count[k] = 0;
  for (int k = 0; k < 8; k++)
    count[value[i + k]]++;
  out[i] = count[0] + count[15];
}
void run(int n, char *v, float *o) { entropy<<<(n + 127) / 128, 128>>>(v, o, n); }
)cuda",
             "local_to_shared(array=count)",
             R"cuda(__global__ void entropy(const char *value, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 8 >= n)
    return;
  __shared__ char count[16][128];
  for (int k = 0; k < 16; k++)
    count[k][threadIdx.x] = 0;
  for (int k = 0; k < 8; k++)
    count[value[i + k]][threadIdx.x]++;
  out[i] = count[0][threadIdx.x] + count[15][threadIdx.x];
}
void run(int n, char *v, float *o) { entropy<<<(n + 127) / 128, 128>>>(v, o, n); }
)cuda");
}

TEST_CASE("local_to_shared: zeros are written by a loop") {
  check_move(R"cuda(__global__ void ^count(const int *keys, int *out, int n) {
  for (int i = threadIdx.x; i < n; i += 32) {
    int seen[8] = {0};
    seen[keys[i] % 8] += 2;
    out[i] = seen[keys[i + n] % 8];
  }
}
void run(int n, int *k, int *o) { count<<<1, 32>>>(k, o, n); }
)cuda",
             "local_to_shared(array=seen)",
             R"cuda(__global__ void count(const int *keys, int *out, int n) {
  for (int i = threadIdx.x; i < n; i += 32) {
    __shared__ int seen[8][32];
    for (int element = 0; element < 8; ++element)
      seen[element][threadIdx.x] = 0;
    seen[keys[i] % 8][threadIdx.x] += 2;
    out[i] = seen[keys[i + n] % 8][threadIdx.x];
  }
}
void run(int n, int *k, int *o) { count<<<1, 32>>>(k, o, n); }
)cuda");
}

TEST_CASE("local_to_shared: a block of two dimensions adds two extents") {
  check_move(R"cuda(__global__ void ^pick(const int *rows, const float *x, float *out, int n) {
  int i = blockIdx.x * 8 + threadIdx.x, j = threadIdx.y;
  float part[2][3];
  for (int a = 0; a < 2; a++)
    for (int b = 0; b < 3; b++)
      part[a][b] = x[i * 6 + a * 3 + b];
  out[i * 4 + j] = part[rows[i]][j % 3];
}
void run(int n, int *r, float *x, float *o) { pick<<<n / 8, dim3(8, 4)>>>(r, x, o, n); }
)cuda",
             "local_to_shared(array=part)",
             R"cuda(__global__ void pick(const int *rows, const float *x, float *out, int n) {
  int i = blockIdx.x * 8 + threadIdx.x, j = threadIdx.y;
  __shared__ float part[2][3][4][8];
  for (int a = 0; a < 2; a++)
    for (int b = 0; b < 3; b++)
      part[a][b][threadIdx.y][threadIdx.x] = x[i * 6 + a * 3 + b];
  out[i * 4 + j] = part[rows[i]][j % 3][threadIdx.y][threadIdx.x];
}
void run(int n, int *r, float *x, float *o) { pick<<<n / 8, dim3(8, 4)>>>(r, x, o, n); }
)cuda");
}

TEST_CASE("local_to_shared: an array whose indices are known stays in registers") {
  check_refused(R"cuda(__global__ void ^sums(const float *x, float *out) {
  float part[4];
  for (int k = 0; k < 4; k++)
    part[k] = x[threadIdx.x * 4 + k];
  out[threadIdx.x] = part[0] + part[3];
}
void run(float *x, float *o) { sums<<<1, 64>>>(x, o); }
)cuda",
                "local_to_shared(array=part)", "all indices of part are known when it is compiled");
}

TEST_CASE("local_to_shared: an array that another function takes stays") {
  check_refused(R"cuda(__device__ void fill(int *table) { table[threadIdx.x % 4] = 1; }
__global__ void ^look(const int *x, int *out) {
  int table[4];
  fill(table);
  out[threadIdx.x] = table[x[threadIdx.x]];
}
void run(int *x, int *o) { look<<<1, 64>>>(x, o); }
)cuda",
                "local_to_shared(array=table)", "table is used as a whole");
}

TEST_CASE("local_to_shared: a large array stays") {
  check_refused(R"cuda(__global__ void ^stack(const int *x, int *out) {
  int held[256];
  int top = 0;
  for (int k = 0; k < 200; k++)
    if (x[k] > 0)
      held[top++] = k;
  out[threadIdx.x] = held[top - 1];
}
void run(int *x, int *o) { stack<<<1, 128>>>(x, o); }
)cuda",
                "local_to_shared(array=held)", "the block's shared memory cannot hold held");
}
