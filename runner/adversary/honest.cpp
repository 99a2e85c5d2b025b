// Right candidates of many kinds, without which a suite that refuses everything would pass.
//
// Three of them look like cheats and are harmless: a kernel that changes its input and restores it,
// one that writes many lines to stdout, and one that works at a single size, in a task that has
// only this size.
#include "runner/adversary/families.h"
#include "runner/adversary/tasks.h"

namespace warpwright::runner::adversary {
namespace {

constexpr const char *kHonest = "honest";

Case right(const std::string &name, const std::string &what, Task task, Plan candidate) {
  return {.name = name,
          .family = kHonest,
          .cheat = what,
          .task = std::move(task),
          .candidate = std::move(candidate),
          .cpu = {{kVerified}, ""},
          .gpu = {{kVerified}, ""}};
}

Plan vectorized_square() {
  Plan plan = square(R"(
  bool wide = (((unsigned long long)x | (unsigned long long)y) & 15) == 0;
  if (wide && 4 * i + 3 < n) {
    float4 v = reinterpret_cast<const float4 *>(x)[i];
    reinterpret_cast<float4 *>(y)[i] = make_float4(v.x * v.x, v.y * v.y, v.z * v.z, v.w * v.w);
  } else for (int k = 4 * i; k < n && k < 4 * i + 4; ++k) y[k] = x[k] * x[k];)");
  plan.steps = {launch("square", {"ceil_div(n, 1024)"}, {"256"}, {"x", "y", "=n"})};
  return plan;
}

Plan sum(const std::string &source, const std::string &grid) {
  Plan plan = sum_task().reference;
  plan.source = source;
  plan.steps = {launch("total", {grid}, {"256"}, {"x", "out", "=n"})};
  return plan;
}

Plan atomic_sum() {
  Plan plan = sum(R"(
extern "C" __global__ void total(const float *x, float *out, int n) {
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += x[i];
  for (int lane = 16; lane > 0; lane /= 2) s += __shfl_down_sync(0xffffffffu, s, lane);
  if (threadIdx.x % 32 == 0) atomicAdd(out, s);
})",
                  "min(ceil_div(n, 1024), 256)");
  plan.steps.insert(plan.steps.begin(), model::FillStep{"out", 0});
  return plan;
}

/// Writes partial sums to a temporary; the last block adds them and clears the counter again.
Plan last_block_sum() {
  Plan plan = sum(R"(
__device__ unsigned arrived;
extern "C" __global__ void total(const float *x, float *parts, float *out, int n) {
  __shared__ float s[256];
  __shared__ bool last;
  float own = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) own += x[i];
  s[threadIdx.x] = own;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = s[0];
    __threadfence();
    last = atomicAdd(&arrived, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x) return;
  float all = 0;
  for (int k = 0; k < gridDim.x; ++k) all += ((volatile float *)parts)[k];
  out[0] = all;
  arrived = 0;
})",
                  "64");
  plan.temporaries = {{"parts", Dtype::Float32, 64}};
  plan.steps = {launch("total", {"64"}, {"256"}, {"x", "parts", "out", "=n"})};
  return plan;
}

Plan private_histogram() {
  Plan plan;
  plan.source = R"(
extern "C" __global__ void count(const int *keys, int *parts, int n) {
  __shared__ int bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&bins[keys[i]], 1);
  __syncthreads();
  atomicAdd(&parts[(blockIdx.x % 4) * 256 + threadIdx.x], bins[threadIdx.x]);
}
template <int copies>
__global__ void merge(const int *parts, int *counts) {
  int all = 0;
  for (int k = 0; k < copies; ++k) all += parts[k * 256 + threadIdx.x];
  counts[threadIdx.x] = all;
})";
  plan.temporaries = {{"parts", Dtype::Int32, 1024}};
  plan.steps = {model::FillStep{"parts", 0},
                launch("count", {"min(ceil_div(n, 256), 512)"}, {"256"}, {"keys", "parts", "=n"}),
                launch("merge<4>", {"1"}, {"256"}, {"parts", "counts"})};
  return plan;
}

/// Multiplies with tiles in shared memory. `before` precedes the kernel; `multiply` adds p * q to
/// s.
Plan tiled_matmul(const std::string &before, const std::string &multiply) {
  Plan plan = matmul_task().reference;
  plan.source = before + R"(
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int m) {
  __shared__ float ta[16][17], tb[16][17];
  int tx = threadIdx.x, ty = threadIdx.y, column = blockIdx.x * 16 + tx, row = blockIdx.y * 16 + ty;
  float s = 0;
  for (int k0 = 0; k0 < m; k0 += 16) {
    ta[ty][tx] = row < m && k0 + tx < m ? a[row * m + k0 + tx] : 0.0f;
    tb[ty][tx] = column < m && k0 + ty < m ? b[(k0 + ty) * m + column] : 0.0f;
    __syncthreads();
    for (int k = 15; k >= 0; --k) { float p = ta[ty][k], q = tb[k][tx]; )" +
                multiply + R"( }
    __syncthreads();
  }
  if (row < m && column < m) c[row * m + column] = s;
})";
  return plan;
}

Plan online_softmax() {
  Plan plan = softmax_task().reference;
  plan.source = R"(
extern "C" __global__ void softmax(const float *x, float *y, int cols) {
  const float *row = x + (long long)blockIdx.x * cols;
  __shared__ float ms[128], ss[128];
  float m = -3.4e38f, s = 0;
  for (int c = threadIdx.x; c < cols; c += 128) {
    float next = fmaxf(m, row[c]);
    s = s * expf(m - next) + expf(row[c] - next);
    m = next;
  }
  ms[threadIdx.x] = m, ss[threadIdx.x] = s;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half && ss[threadIdx.x + half] > 0) {
      float a = ms[threadIdx.x], b = ms[threadIdx.x + half], top = fmaxf(a, b);
      ss[threadIdx.x] = ss[threadIdx.x] * expf(a - top) + ss[threadIdx.x + half] * expf(b - top);
      ms[threadIdx.x] = top;
    }
    __syncthreads();
  }
  for (int c = threadIdx.x; c < cols; c += 128)
    y[(long long)blockIdx.x * cols + c] = expf(row[c] - ms[0]) / ss[0];
})";
  return plan;
}

} // namespace

std::vector<Case> honest_cases() {
  std::vector<Case> cases;
  cases.push_back(right("the-reference-itself", "is the reference's own text", square_task(),
                        square_task().reference));
  cases.push_back(right("vectorized", "uses float4 where the addresses allow it", square_task(),
                        vectorized_square()));
  cases.push_back(right("grid-stride", "covers any size with a fixed grid", square_task(), [] {
    Plan plan = square("  for (; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] * x[i];");
    plan.steps = {launch("square", {"132"}, {"512"}, {"x", "y", "=n"})};
    return plan;
  }()));
  cases.push_back(
      right("shared-tile", "waits for its neighbors' shared memory", stencil_task(), stencil(R"(
  __shared__ float s[258];
  int t = threadIdx.x;
  if (i < n) s[t + 1] = x[i];
  if (t == 0 && i > 0) s[0] = x[i - 1];
  if (t == 255 && i + 1 < n) s[257] = x[i + 1];
  __syncthreads();
  if (i > 0 && i < n - 1) y[i] = s[t] + s[t + 1] + s[t + 2];)")));
  cases.push_back(right("float-atomics",
                        "sums with atomics, in an order that changes from run to run", sum_task(),
                        atomic_sum()));
  cases.push_back(right("last-block", "keeps a counter in a global and puts it back to zero",
                        sum_task(), last_block_sum()));
  cases.push_back(right("several-kernels", "fills, counts privately and merges through a temporary",
                        histogram_task(), private_histogram()));
  cases.push_back(right("tiled-matmul", "multiplies in tiles and adds in another order",
                        matmul_task(), tiled_matmul("", "s += p * q;")));
  cases.push_back(right("split-matmul",
                        "multiplies TF32 halves three times, which is as accurate as FP32",
                        matmul_task(),
                        tiled_matmul(R"(
__device__ float cut(float v) { return __uint_as_float(__float_as_uint(v) & 0xffffe000u); })",
                                     "float ph = cut(p), qh = cut(q), pl = cut(p - ph), "
                                     "ql = cut(q - qh);\n      s += ph * qh; s += ph * "
                                     "ql; s += pl * qh;")));
  cases.push_back(right("online-softmax", "finds maximum and sum in one pass", softmax_task(),
                        online_softmax()));
  cases.push_back(right("in-place-with-a-temporary",
                        "does what its reference does, in blocks of 64", smooth_task(), [] {
                          Plan plan = smooth_task().reference;
                          for (model::Step &step : plan.steps) {
                            auto &one = std::get<model::LaunchStep>(step);
                            one.grid[0] = expression("ceil_div(n, 64)"), one.block[0] = 64;
                          }
                          return plan;
                        }()));
  cases.push_back(
      right("double-by-fma", "fuses multiplications and additions in double", double_task(), [] {
        Plan plan = double_task().reference;
        plan.source = R"(
extern "C" __global__ void map(const double *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { double q = x[i] * x[i]; y[i] = q + 1 / fma(x[i], x[i], 1.0); }
})";
        return plan;
      }()));
  Task one_size = square_task();
  one_size.sizes = {{"n", 65'536}};
  one_size.check_sizes.clear();
  cases.push_back(right("specialized-for-the-only-size",
                        "works for the one size that its task has, and for no other", one_size,
                        square("  if (n == 65536) y[i] = x[i] * x[i];")));
  cases.push_back(
      right("puts-its-input-back",
            "changes its input and restores it before it ends, which cannot be observed",
            square_task(), square(R"(
  if (i >= n) return;
  float *mine = const_cast<float *>(x), before = x[i];
  mine[i] = before * before;
  __threadfence();
  y[i] = ((volatile float *)mine)[i];
  mine[i] = before;)")));
  cases.push_back(right(
      "floods-standard-output",
      "prints line after line in the protocol's framing and does its work right", square_task(),
      square_after("if (i % 65536 == 0) printf(\"Content-Length: 3\\r\\n\\r\\n%d\\n\", i);")));
  return cases;
}

} // namespace warpwright::runner::adversary
