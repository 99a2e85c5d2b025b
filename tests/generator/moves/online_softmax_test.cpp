// online_softmax: the exact text it makes, and what it refuses.
#include "tests/generator/check_move.h"

using namespace warpwright::test;

TEST_CASE("online_softmax: three loops become the online form") {
  check_move(R"cuda(__global__ void ^softmax(const float *x, float *y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float m = x[r * cols];
  for (int j = 1; j < cols; j++)
    if (x[r * cols + j] > m)
      m = x[r * cols + j];
  float s = 0.0f;
  for (int j = 0; j < cols; j++)
    s += expf(x[r * cols + j] - m);
  for (int j = 0; j < cols; j++)
    y[r * cols + j] = expf(x[r * cols + j] - m) / s;
}
void run(float *x, float *y, int rows, int cols) { softmax<<<(rows + 127) / 128, 128>>>(x, y, rows, cols); }
)cuda",
             "online_softmax(row=block,threads=256)",
             R"cuda(__global__ void softmax(const float *x, float *y, int rows, int cols) {
  const int r = blockIdx.x;
  if (r >= rows)
    return;
  const int lane = threadIdx.x;
  const float *source = x + static_cast<size_t>(r) * cols;
  float *target = y + static_cast<size_t>(r) * cols;
  const bool aligned = reinterpret_cast<size_t>(source) % 16 == 0 && reinterpret_cast<size_t>(target) % 16 == 0;
  const int vectors = aligned ? cols / 4 : 0;

  float largest = -3.402823466e+38f, total = 0.0f;
  auto merge = [&](float maximum, float sum) {
    const float both = fmaxf(largest, maximum);
    total = total * expf(largest - both) + sum * expf(maximum - both);
    largest = both;
  };
  for (int v = lane; v < vectors; v += 256) {
    const float4 four = reinterpret_cast<const float4 *>(source)[v];
    const float maximum = fmaxf(fmaxf(four.x, four.y), fmaxf(four.z, four.w));
    merge(maximum, expf(four.x - maximum) + expf(four.y - maximum) + expf(four.z - maximum) + expf(four.w - maximum));
  }
  for (int j = vectors * 4 + lane; j < cols; j += 256)
    merge(source[j], 1.0f);
  #pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) {
    const float maximum = __shfl_xor_sync(0xffffffffu, largest, offset);
    const float sum = __shfl_xor_sync(0xffffffffu, total, offset);
    merge(maximum, sum);
  }
  __shared__ float maxima[8], sums[8];
  if (threadIdx.x % 32 == 0) {
    maxima[threadIdx.x / 32] = largest;
    sums[threadIdx.x / 32] = total;
  }
  __syncthreads();
  largest = maxima[0];
  total = sums[0];
  for (int warp = 1; warp < 8; ++warp)
    merge(maxima[warp], sums[warp]);
  for (int v = lane; v < vectors; v += 256) {
    float4 four = reinterpret_cast<const float4 *>(source)[v];
    four.x = expf(four.x - largest) / total;
    four.y = expf(four.y - largest) / total;
    four.z = expf(four.z - largest) / total;
    four.w = expf(four.w - largest) / total;
    reinterpret_cast<float4 *>(target)[v] = four;
  }
  for (int j = vectors * 4 + lane; j < cols; j += 256)
    target[j] = expf(source[j] - largest) / total;
}
void run(float *x, float *y, int rows, int cols) { softmax<<<rows, 256>>>(x, y, rows, cols); }
)cuda");
}

TEST_CASE("online_softmax: a row reduction is no softmax") {
  check_refused(R"cuda(__global__ void ^norms(const float *x, float *out, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0.0f;
    for (int j = 0; j < cols; j++)
      sum += x[row * cols + j] * x[row * cols + j];
    out[row] = sqrtf(sum);
  }
}
void run(float *x, float *out, int rows, int cols) { norms<<<(rows + 255) / 256, 256>>>(x, out, rows, cols); }
)cuda",
                "online_softmax(row=warp,threads=128)", "there is more than three loops");
}

namespace {

/// @param before after the sum @param stored each element
std::string three_loops(const std::string &before, const std::string &stored) {
  return R"cuda(__global__ void ^soft(const float *x, float *y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float largest = -INFINITY;
  for (int j = 0; j < cols; j++)
    largest = fmaxf(largest, x[row * cols + j]);
  float sum = 0.0f;
  for (int j = 0; j < cols; j++)
    sum += expf(x[row * cols + j] - largest);
  )cuda" +
         before + "\n  for (int j = 0; j < cols; j++)\n    y[row * cols + j] = " + stored + R"cuda(;
}
void run(float *x, float *y, int rows, int cols) { soft<<<(rows + 255) / 256, 256>>>(x, y, rows, cols); }
)cuda";
}

} // namespace

TEST_CASE(
    "online_softmax: a factor that was made as a share of the sum divides, an index does not") {
  check_parses(
      three_loops("float share = 1.0f / sum;", "expf(x[row * cols + j] - largest) * share"),
      "online_softmax(row=warp,threads=128)");
  check_refused(three_loops("float shift = largest + logf(sum);", "x[row * cols + j] - shift"),
                "online_softmax(row=warp,threads=128)", "the third loop does not store quotients");
}
