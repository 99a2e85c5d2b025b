// Small tasks and plans that the runner's tests share.
#pragma once

#include "support/model/json.h"

#include <doctest/doctest.h>

namespace warpwright::runner::testing {

using model::Buffer;
using model::Direction;
using model::Dtype;
using model::Plan;
using model::Task;

inline symbolic::Expression expression(const std::string &text) {
  auto parsed = symbolic::Expression::parse(text);
  REQUIRE_MESSAGE(parsed.has_value(), text);
  return *parsed;
}

/// One launch of `kernel` with 256 threads a block over n elements; arguments are buffers of these
/// names, then n.
inline Plan plan_of(const std::string &source, const std::string &kernel,
                    const std::vector<std::string> &buffers,
                    const std::string &grid = "ceil_div(n, 256)") {
  Plan plan;
  plan.source = source;
  model::LaunchStep step;
  step.kernel = kernel;
  step.grid = {expression(grid), 1, 1};
  step.block = {256, 1, 1};
  for (const std::string &buffer : buffers)
    step.arguments.push_back(model::BufferArgument{buffer, 0});
  step.arguments.push_back(model::SizeArgument{expression("n"), Dtype::Int32});
  plan.steps.push_back(step);
  return plan;
}

inline constexpr const char *kSaxpy = R"(
extern "C" __global__ void saxpy(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.5f * x[i] + y[i];
})";
inline constexpr const char *kSaxpyDouble = R"(
extern "C" __global__ void saxpy(const double *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.5 * x[i] + y[i];
})";
/// y = 2.5 x + y
inline Task saxpy_task(std::int64_t n) {
  Task task;
  task.name = "saxpy";
  task.sizes = {{"n", n}};
  task.check_sizes = {{{"n", 1}}, {{"n", 1000}}, {{"n", 4099}}};
  task.buffers = {{"x", Dtype::Float32, expression("n"), Direction::In, {}},
                  {"y", Dtype::Float32, expression("n"), Direction::InOut, {}}};
  task.reference = plan_of(kSaxpy, "saxpy", {"x", "y"});
  task.reference_fp64 = plan_of(kSaxpyDouble, "saxpy", {"x", "y"});
  task.work.bytes = expression("12 * n");
  return task;
}

inline constexpr const char *kSquare = R"(
extern "C" __global__ void square(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * x[i];
})";
/// y = x * x, y only written
inline Task square_task(std::int64_t n) {
  Task task;
  task.name = "square";
  task.sizes = {{"n", n}};
  task.check_sizes = {{{"n", 7}}, {{"n", 1025}}};
  task.buffers = {{"x", Dtype::Float32, expression("n"), Direction::In, {}},
                  {"y", Dtype::Float32, expression("n"), Direction::Out, {}}};
  task.reference = plan_of(kSquare, "square", {"x", "y"});
  task.work.bytes = expression("8 * n");
  return task;
}
/// A candidate for square_task with this body, in which i, x, y and n are known.
inline Plan square_candidate(const std::string &body, const std::string &before = "") {
  return plan_of(before +
                     "\nextern \"C\" __global__ void square(const float *x, float *y, int n) {\n"
                     "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
                     body + "\n}",
                 "square", {"x", "y"});
}

/// `y = square(x)` of 4096 elements, for the fake device, whose kernels have names and no source.
inline Task fake_task(const std::string &reference = "square") {
  Task task = square_task(4096);
  task.reference = plan_of("reference", reference, {"x", "y"});
  return task;
}

inline Plan fake_plan(const std::string &kernel, const std::string &source = "candidate") {
  return plan_of(source, kernel, {"x", "y"});
}

} // namespace warpwright::runner::testing
