// remap_threads: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("remap_threads: x and y trade places in the kernel and in its launch") {
  check_move(R"cuda(__global__ void ^fill(float *m, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  int c = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols)
    m[r * cols + c] = r;
}
void run(float *m, int rows, int cols) {
  dim3 block(32, 8);
  dim3 grid((rows + block.x - 1) / block.x, (cols + block.y - 1) / block.y);
  fill<<<grid, block>>>(m, rows, cols);
}
)cuda",
             "remap_threads()", R"cuda(__global__ void fill(float *m, int rows, int cols) {
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows && c < cols)
    m[r * cols + c] = r;
}
void run(float *m, int rows, int cols) {
  dim3 block(8, 32);
  dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
  fill<<<grid, block>>>(m, rows, cols);
}
)cuda");
}

TEST_CASE("remap_threads: a kernel that is right already is refused") {
  check_refused(R"cuda(__global__ void ^transpose(const float *in, float *out, int rows, int cols) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < cols && y < rows)
    out[y * cols + x] = 2.0f * in[y * cols + x];
}
void run(float *a, float *b, int rows, int cols) {
  transpose<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(a, b, rows, cols);
}
)cuda",
                "remap_threads()", "threadIdx.x already drives the fastest index");
}

TEST_CASE("remap_threads: shared memory is refused") {
  check_refused(R"cuda(__global__ void ^t(const float *in, float *out) {
  __shared__ float tile[8][32];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.x * 8 + threadIdx.y] = tile[threadIdx.y][threadIdx.x];
}
void run(float *x, float *y) { t<<<1, dim3(32, 8)>>>(x, y); }
)cuda",
                "remap_threads()", "the kernel uses shared memory, a barrier or warp operations");
}

TEST_CASE("remap_threads: warp operations in what the kernel calls are refused") {
  for (const char *total :
       {"__device__ float total(float v) { for (int o = 16; o > 0; o /= 2) v += "
        "__shfl_xor_sync(0xffffffffu, v, o); return v; }\n",
        "__device__ float once(float v) { return v + __shfl_down_sync(~0u, v, 1); }\n__device__ "
        "float total(float v) { return once(once(v)); }\n",
        "__device__ float total(float v) { asm volatile(\"bar.sync 0;\"); return v; }\n",
        "#include <cooperative_groups.h>\n__device__ float total(float v) { auto b = "
        "cooperative_groups::this_thread_block(); b.sync(); return v; }\n"}) {
    CAPTURE(total);
    check_refused(std::string(total) + R"cuda(__global__ void ^fill(float *m, int rows, int cols) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < rows && y < cols) m[x * cols + y] = total(m[x * cols + y]);
}
void run(float *m, int rows, int cols) { fill<<<dim3((rows + 31) / 32, (cols + 7) / 8), dim3(32, 8)>>>(m, rows, cols); }
)cuda",
                  "remap_threads()", "the kernel uses shared memory, a barrier or warp operations");
  }
}
