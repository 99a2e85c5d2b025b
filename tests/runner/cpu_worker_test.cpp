// The worker as the service starts it: a fresh process with an empty environment, over its pipes.
#include "support/model/json.h"
#include "support/process.h"
#include "support/rpc/connection.h"

#include <boost/asio/steady_timer.hpp>
#include <doctest/doctest.h>

using namespace warpwright;

namespace {

model::Task saxpy_task() {
  const std::string source = R"(
__global__ void saxpy(float a, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
})";
  model::Task task;
  task.name = "saxpy";
  task.sizes = {{"n", 4096}};
  task.check_sizes = {{{"n", 1}}, {{"n", 1001}}};
  const symbolic::Expression n = symbolic::Expression::parse("n").value();
  task.buffers = {{"x", model::Dtype::Float32, n, model::Direction::In, {}},
                  {"y", model::Dtype::Float32, n, model::Direction::InOut, {}}};
  task.scalars = {{"a", model::Dtype::Float32, 2.5}};
  model::LaunchStep step;
  step.kernel = "saxpy";
  step.grid[0] = symbolic::Expression::parse("ceil_div(n, 256)").value();
  step.block[0] = 256;
  step.arguments = {model::ScalarArgument{"a"}, model::BufferArgument{"x", {}},
                    model::BufferArgument{"y", {}}, model::SizeArgument{n, model::Dtype::Int32}};
  task.reference.source = source;
  task.reference.steps = {step};
  return task;
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  return text.replace(text.find(from), from.size(), to);
}

/// A worker process and one request at a time to it.
class WorkerProcess {
public:
  WorkerProcess()
      : process_(std::move(
            Process::spawn({"/usr/bin/env", "-i", WARPWRIGHT_BINARY_DIR "/warpwright-worker-cpu"},
                           {})
                .value())) {
    auto stream = rpc::make_descriptor_stream(loop_.get_executor(), process_.release_stdout(),
                                              process_.release_stdin());
    connection_ = rpc::Connection::make(std::move(stream), {});
    connection_->start();
  }
  ~WorkerProcess() {
    connection_->close();
    loop_.poll();
  }
  rpc::Outcome request(const std::string &method, rpc::Json params) {
    std::optional<rpc::Outcome> result;
    connection_->request(method, std::move(params),
                         [&](rpc::Outcome outcome) { result = std::move(outcome); });
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!result && std::chrono::steady_clock::now() < end)
      loop_.run_one_for(std::chrono::seconds(1));
    return result.value_or(std::unexpected(rpc::RpcError{0, "no answer within 60 s", {}}));
  }
  model::Verdict verify(const model::Task &task, const model::Plan &plan) {
    auto outcome = request("verify", {{"task", model::to_json(task)},
                                      {"plan", model::to_json(plan)},
                                      {"options", {{"timeout_ms", 30'000}}}});
    INFO((outcome ? outcome->dump() : outcome.error().message));
    REQUIRE(outcome.has_value());
    auto verdict = model::verdict_from_json(outcome->at("verdict"));
    REQUIRE(verdict.has_value());
    return *verdict;
  }

private:
  boost::asio::io_context loop_;
  Process process_;
  std::shared_ptr<rpc::Connection> connection_;
};

} // namespace

TEST_CASE("a fresh worker needs nothing from its environment and verifies a plan") {
  WorkerProcess worker;
  auto info = worker.request("info", rpc::Json::object());
  REQUIRE(info.has_value());
  CHECK((*info)["kind"] == "cpu");
  const model::Task task = saxpy_task();
  model::Plan plan = task.reference;
  plan.source = replaced(plan.source, "a * x[i] + y[i]", "fmaf(a, x[i], y[i])");
  model::Verdict verdict = worker.verify(task, plan);
  INFO(verdict.message);
  CHECK(verdict.outcome == model::Outcome::Verified);
  CHECK_FALSE(verdict.speedup.has_value());
  CHECK_FALSE(verdict.candidate_time.has_value());
}

TEST_CASE("a struct is passed by value, with its addresses, its numbers and zeros elsewhere") {
  WorkerProcess worker;
  model::Task task = saxpy_task();
  task.reference.source = R"(
struct Vectors { const float *x; float *y; char unused; int n; };
struct Scale { float a; bool negative; __device__ float operator()(float v) const { return negative ? -a * v : a * v; } };
__global__ void saxpy(Vectors v, Scale scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < v.n && v.unused == 0) v.y[i] = scale(v.x[i]) + v.y[i];
})";
  const symbolic::Expression n = symbolic::Expression::parse("n").value();
  auto &launch = std::get<model::LaunchStep>(task.reference.steps.front());
  launch.arguments = {
      model::StructArgument{24,
                            {{0, model::BufferArgument{"x", {}}},
                             {8, model::BufferArgument{"y", {}}},
                             {20, model::SizeArgument{n, model::Dtype::Int32}}}},
      model::StructArgument{8,
                            {{0, model::ScalarArgument{"a"}},
                             {4, model::ConstantArgument{1, model::Dtype::Bool}}}}};
  model::Plan plan = task.reference;
  plan.source = replaced(plan.source, "scale(v.x[i]) + v.y[i]", "fmaf(-2.5f, v.x[i], v.y[i])");
  model::Verdict verdict = worker.verify(task, plan);
  INFO(verdict.message);
  CHECK(verdict.outcome == model::Outcome::Verified);
  plan.source = replaced(plan.source, "-2.5f", "2.5f");
  CHECK(worker.verify(task, plan).outcome == model::Outcome::WrongResult);
}

TEST_CASE("arrays of structs are drawn and compared element by element, each by its dtype") {
  WorkerProcess worker;
  model::Task task = saxpy_task();
  task.reference.source = R"(
struct Item { int kind; float value; unsigned seen; };
__global__ void step(const Item *x, Item *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Item item = x[i];
  // values are drawn as numbers, kinds as small integers
  y[i].kind = item.kind < 0 || item.kind > 127 || !isfinite(item.value) ? -1 : item.kind;
  y[i].value = item.value * 2;
  y[i].seen = y[i].seen + 1;
})";
  const symbolic::Expression extent = symbolic::Expression::parse("3 * n").value();
  for (model::Buffer &buffer : task.buffers) {
    buffer.extent = extent;
    buffer.lanes = {model::Dtype::Int32, model::Dtype::Float32, model::Dtype::UInt32};
  }
  task.scalars.clear();
  auto &launch = std::get<model::LaunchStep>(task.reference.steps.front());
  launch.kernel = "step";
  launch.arguments.erase(launch.arguments.begin());
  model::Plan plan = task.reference;
  plan.source = replaced(plan.source, "item.value * 2", "item.value + item.value * 1.0000001f");
  const model::Verdict right = worker.verify(task, plan);
  INFO(right.message);
  CHECK(right.outcome == model::Outcome::Verified); // floats within the tolerance
  plan.source = replaced(task.reference.source, "seen + 1", "seen + (i == 7 ? 2 : 1)");
  const model::Verdict wrong = worker.verify(task, plan);
  CHECK(wrong.outcome == model::Outcome::WrongResult); // integers to the bit
  CHECK_MESSAGE(wrong.message.contains("y[23]"), wrong.message);
  plan.source = replaced(task.reference.source, "item.value * 2", "item.value * 2.01f");
  CHECK(worker.verify(task, plan).outcome == model::Outcome::WrongResult);
  plan.source = replaced(task.reference.source, "? -1", "? -2");
  CHECK(worker.verify(task, plan).outcome == model::Outcome::Verified); // no element is drawn so
}

TEST_CASE("a worker tells wrong from unsupported from crashed") {
  WorkerProcess worker;
  const model::Task task = saxpy_task();
  model::Plan plan = task.reference;
  plan.source = replaced(task.reference.source, "i < n", "i < n - 1");
  CHECK(worker.verify(task, plan).outcome == model::Outcome::WrongResult);
  plan.source = replaced(task.reference.source, "if (i < n)", "asm(\"membar.gl;\"); if (i < n)");
  CHECK(worker.verify(task, plan).outcome == model::Outcome::Unsupported);
  plan.source = replaced(task.reference.source, "i < n", "i < m");
  CHECK(worker.verify(task, plan).outcome == model::Outcome::CompileFailed);
  plan.source = replaced(task.reference.source, "a * x[i]", "a * x[i + 100000]");
  model::Verdict verdict = worker.verify(task, plan);
  INFO(verdict.message);
  CHECK(verdict.outcome == model::Outcome::Crash);
  CHECK(verdict.message.find("past the end of 'x'") != std::string::npos);
}
