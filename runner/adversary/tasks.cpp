// Tasks of the adversary suite, with references in plain CUDA.
#include "runner/adversary/tasks.h"

#include <regex>

namespace warpwright::runner::adversary {
namespace {

using model::Distribution;

constexpr const char *kIndex = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n";

/// Sets the size that is timed on a GPU, and other check sizes, the last of which is the largest
/// for the CPU backend.
void set_sizes(Task &task, const std::string &name, std::int64_t measured,
               const std::vector<std::int64_t> &others) {
  task.sizes = {{name, measured}};
  for (const std::int64_t value : others)
    task.check_sizes.push_back({{name, value}});
}

/// A task with one input and one output of n elements.
Task elementwise(const std::string &name, Dtype dtype = Dtype::Float32) {
  Task task;
  task.name = name;
  set_sizes(task, "n", 1 << 22, {1, 1000, 4099, 20'000});
  task.buffers = {{"x", dtype, expression("n"), Direction::In, {}},
                  {"y", dtype, expression("n"), Direction::Out, {}}};
  const auto width = static_cast<std::int64_t>(model::size_bytes(dtype));
  task.work.bytes = expression(std::to_string(2 * width) + " * n");
  return task;
}

Plan signed_kernel(const std::string &before, const std::string &signature,
                   const std::string &kernel, const std::string &body) {
  return plan_of(before + "\nextern \"C\" __global__ void " + kernel + signature + " {\n" + kIndex +
                     body + "\n}\n",
                 kernel, {"x", "y", "=n"});
}

} // namespace

symbolic::Expression expression(const std::string &text) {
  return symbolic::Expression::parse(text).value();
}

model::LaunchStep launch(const std::string &kernel, const std::vector<std::string> &grid,
                         const std::vector<std::string> &block,
                         const std::vector<std::string> &arguments,
                         const std::string &shared_bytes) {
  model::LaunchStep step;
  step.kernel = kernel;
  for (std::size_t axis = 0; axis < grid.size(); ++axis)
    step.grid[axis] = expression(grid[axis]);
  for (std::size_t axis = 0; axis < block.size(); ++axis)
    step.block[axis] = expression(block[axis]);
  step.shared_bytes = expression(shared_bytes);
  for (const std::string &argument : arguments) {
    const auto plus = argument.find('+');
    if (argument.starts_with("="))
      step.arguments.push_back(model::SizeArgument{expression(argument.substr(1)), Dtype::Int32});
    else if (plus != std::string::npos)
      step.arguments.push_back(
          model::BufferArgument{argument.substr(0, plus), expression(argument.substr(plus + 1))});
    else
      step.arguments.push_back(model::BufferArgument{argument, 0});
  }
  return step;
}

Plan plan_of(const std::string &source, const std::string &kernel,
             const std::vector<std::string> &arguments, const std::string &grid) {
  Plan plan;
  plan.source = source;
  plan.steps.push_back(launch(kernel, {grid}, {"256"}, arguments));
  return plan;
}

Plan in_double(Plan plan) {
  plan.source = std::regex_replace(plan.source, std::regex(R"(\bfloat\b)"), "double");
  plan.source = std::regex_replace(plan.source, std::regex(R"((\d\.\d*)f\b)"), "$1");
  plan.source = std::regex_replace(
      plan.source, std::regex(R"(\b(exp|sqrt|rsqrt|sin|fmax|fmin|fabs)f\()"), "$1(");
  for (model::Temporary &temporary : plan.temporaries)
    if (temporary.dtype == Dtype::Float32)
      temporary.dtype = Dtype::Float64;
  return plan;
}

Task square_task() {
  Task task = elementwise("square");
  task.reference = square("  if (i < n) y[i] = x[i] * x[i];");
  return task;
}

Plan square(const std::string &body, const std::string &before) {
  return signed_kernel(before, "(const float *x, float *y, int n)", "square", body);
}

Plan square_after(const std::string &statement, const std::string &before) {
  return square("  " + statement + "\n  if (i < n) y[i] = x[i] * x[i];", before);
}

Task iterate_task(int rounds, int operations) {
  Task task = elementwise("iterate", Dtype::UInt32);
  task.check_sizes = {{{"n", 1}}, {{"n", 1000}}, {{"n", 2003}}};
  for (model::Buffer &buffer : task.buffers)
    buffer.distribution = {Distribution::Kind::Integers, 0, expression("1 << 31")};
  task.reference = iterate("  if (i < n) y[i] = work(x[i]);", "", rounds);
  task.work.flops = expression("n * " + std::to_string(operations));
  return task;
}

Plan iterate(const std::string &body, const std::string &before, int rounds) {
  const std::string work = R"(
__device__ unsigned work(unsigned v) {
#pragma unroll 1 // unrolled, the compiler would fold rounds into one
  for (int k = 0; k < ROUNDS; ++k) v = v * 1664525u + 1013904223u;
  return v;
})";
  Plan plan = signed_kernel(work + "\n" + before, "(const unsigned *x, unsigned *y, int n)",
                            "iterate", body);
  plan.options = {"-DROUNDS=" + std::to_string(rounds)};
  return plan;
}

Task stencil_task() {
  Task task = elementwise("stencil");
  task.reference = stencil("  if (i > 0 && i < n - 1) y[i] = x[i - 1] + x[i] + x[i + 1];");
  return task;
}

Plan stencil(const std::string &body) {
  return signed_kernel("", "(const float *x, float *y, int n)", "stencil", body);
}

Task smooth_task() {
  Task task;
  task.name = "smooth";
  set_sizes(task, "n", 1 << 22, {1000, 4099, 20'000});
  task.buffers = {{"v", Dtype::Float32, expression("n"), Direction::InOut, {}}};
  task.reference.source = R"(
extern "C" __global__ void keep(const float *v, float *t, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) t[i] = v[i];
}
extern "C" __global__ void add(const float *t, float *v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n) v[i] = t[i] + t[i - 1];
})";
  task.reference.temporaries = {{"t", Dtype::Float32, expression("n")}};
  task.reference.steps = {launch("keep", {"ceil_div(n, 256)"}, {"256"}, {"v", "t", "=n"}),
                          launch("add", {"ceil_div(n, 256)"}, {"256"}, {"t", "v", "=n"})};
  return task;
}

namespace {

/// A task with one block: strided sums of each thread, then a tree. `term` is an expression of the
/// element v.
Task block_sum(const std::string &name, const std::string &term, const std::string &result) {
  Task task;
  task.name = name;
  set_sizes(task, "n", 1 << 22, {1, 1000, 4099, 20'000});
  task.buffers = {{"x", Dtype::Float32, expression("n"), Direction::In, {}},
                  {"out", Dtype::Float32, 1, Direction::Out, {}}};
  task.reference = plan_of(R"(
extern "C" __global__ void total(const float *x, float *out, int n) {
  __shared__ float parts[256];
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 256) { float v = x[i]; s += )" +
                               term + R"(; }
  parts[threadIdx.x] = s;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[0] = )" +
                               result + ";\n}\n",
                           "total", {"x", "out", "=n"}, "1");
  task.reference_fp64 = in_double(task.reference);
  task.work.bytes = expression("4 * n");
  return task;
}

} // namespace

Task sum_task() { return block_sum("sum", "v", "parts[0]"); }
Task mean_square_task() { return block_sum("mean_square", "v * v", "parts[0] / n"); }

Task histogram_task() {
  Task task;
  task.name = "histogram";
  set_sizes(task, "n", 1 << 22, {1, 1000, 4099, 20'000});
  task.buffers = {{"keys",
                   Dtype::Int32,
                   expression("n"),
                   Direction::In,
                   {Distribution::Kind::Integers, 0, 256}},
                  {"counts", Dtype::Int32, 256, Direction::Out, {}}};
  task.reference = plan_of(R"(
extern "C" __global__ void histogram(const int *keys, int *counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[keys[i]], 1);
})",
                           "histogram", {"keys", "counts", "=n"});
  task.reference.steps.insert(task.reference.steps.begin(), model::FillStep{"counts", 0});
  task.work.bytes = expression("4 * n");
  return task;
}

Task integer_sum_task() {
  Task task;
  task.name = "integer_sum";
  set_sizes(task, "n", 1 << 20, {1, 1000, 4099, 20'000});
  task.buffers = {{"x",
                   Dtype::Int32,
                   expression("n"),
                   Direction::In,
                   {Distribution::Kind::Integers, 0, expression("1 << 30")}},
                  {"total", Dtype::Int64, 1, Direction::Out, {}}};
  task.reference = plan_of(R"(
extern "C" __global__ void sum(const int *x, unsigned long long *total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, (unsigned long long)x[i]);
})",
                           "sum", {"x", "total", "=n"});
  task.reference.steps.insert(task.reference.steps.begin(), model::FillStep{"total", 0});
  return task;
}

Task softmax_task() {
  Task task;
  task.name = "softmax";
  task.sizes = {{"rows", 4096}, {"cols", 1024}};
  task.check_sizes = {
      {{"rows", 3}, {"cols", 1}}, {{"rows", 5}, {"cols", 37}}, {{"rows", 40}, {"cols", 300}}};
  task.buffers = {{"x", Dtype::Float32, expression("rows * cols"), Direction::In, {}},
                  {"y", Dtype::Float32, expression("rows * cols"), Direction::Out, {}}};
  task.reference.source = R"(
extern "C" __global__ void softmax(const float *x, float *y, int cols) {
  const float *row = x + (long long)blockIdx.x * cols;
  __shared__ float largest, total;
  if (threadIdx.x == 0) {
    float m = row[0], s = 0;
    for (int c = 1; c < cols; ++c) m = fmaxf(m, row[c]);
    for (int c = 0; c < cols; ++c) s += expf(row[c] - m);
    largest = m, total = s;
  }
  __syncthreads();
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    y[(long long)blockIdx.x * cols + c] = expf(row[c] - largest) / total;
})";
  task.reference.steps = {launch("softmax", {"rows"}, {"128"}, {"x", "y", "=cols"})};
  task.reference_fp64 = in_double(task.reference);
  return task;
}

Task matmul_task() {
  Task task;
  task.name = "matmul";
  set_sizes(task, "m", 1024, {1, 33, 100});
  for (const char *name : {"a", "b", "c"})
    task.buffers.push_back({name,
                            Dtype::Float32,
                            expression("m * m"),
                            *name == 'c' ? Direction::Out : Direction::In,
                            {}});
  task.reference.source = R"(
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int m) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= m || column >= m) return;
  float s = 0;
  for (int k = 0; k < m; ++k) s += a[row * m + k] * b[k * m + column];
  c[row * m + column] = s;
})";
  task.reference.steps = {launch("matmul", {"ceil_div(m, 16)", "ceil_div(m, 16)"}, {"16", "16"},
                                 {"a", "b", "c", "=m"})};
  task.reference_fp64 = in_double(task.reference);
  task.work.bytes = expression("12 * m * m");
  task.work.flops = expression("2 * m * m * m");
  return task;
}

Task map_task(const std::string &text, Distribution::Kind kind) {
  Task task = elementwise("map " + text);
  task.buffers[0].distribution.kind = kind;
  task.reference = map(text);
  task.reference_fp64 = in_double(task.reference);
  return task;
}

Plan map(const std::string &text, const std::string &before) {
  return signed_kernel(before, "(const float *in, float *y, int n)", "map",
                       "  if (i < n) { float x = in[i]; y[i] = " + text + "; }");
}

Task double_task() {
  Task task = elementwise("double", Dtype::Float64);
  task.reference = signed_kernel("", "(const double *x, double *y, int n)", "map",
                                 "  if (i < n) y[i] = x[i] * x[i] + 1 / (1 + x[i] * x[i]);");
  task.reference_fp64 = task.reference;
  // The value that inference gives a double task; the default is meant for float.
  task.tolerance.absolute = task.tolerance.relative = 1e-12;
  return task;
}

} // namespace warpwright::runner::adversary
