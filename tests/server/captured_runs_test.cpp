// Recorded runs complete the tasks of kernels whose sizes the text of a program does not give.
#include "analysis/task/infer_task.h"
#include "generator/text/states/generator.h"
#include "server/measured_text.h"
#include "server/optimize/captured_runs.h"
#include "server/optimize/project.h"

#include <doctest/doctest.h>

#include <cstring>

#include <unistd.h>

using namespace warpwright;
using namespace warpwright::server;

namespace fs = std::filesystem;

namespace {

const std::string kProgram = R"(#include <cstdio>
#include <cuda_runtime.h>

int read_count(const char *path);

namespace {
template <class T> __global__ void scaled(T *x, const T *y, int n, float factor, bool doubled) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = y[i] * factor * (doubled ? 2 : 1);
}
} // namespace

__global__ void other(float *x) { x[threadIdx.x] = 0; }

int main(int argc, char **argv) {
  const int count = read_count(argv[1]);
  float *x, *y;
  cudaMalloc(&x, count * sizeof(float));
  cudaMalloc(&y, count * sizeof(float));
  scaled<<<(count + 255) / 256, 256>>>(x, y, count, 0.5f + count % 2, count > 3);
  other<<<1, 32>>>(x);
}
)";

const std::string kCount =
    "read_count_argv_1"; ///< how analysis names the result of read_count(argv[1])

std::string bytes(auto value) { return {reinterpret_cast<const char *>(&value), sizeof value}; }

capture::Parameter pointer(std::uint64_t allocation, std::uint64_t offset,
                           std::uint64_t extent_bytes) {
  return {std::string(8, '\0'), {{0, allocation, offset, extent_bytes, "device"}}};
}

capture::Launch launch(int n, std::uint32_t grid, std::uint32_t block = 256) {
  return {.kernel = "_ZN12_GLOBAL__N_16scaledIfEEvPT_PKS1_ifb",
          .grid = {grid, 1, 1},
          .block = {block, 1, 1},
          .parameters = {{pointer(1, 0, 4096),
                          pointer(2, 0, 4096),
                          {bytes(n), {}},
                          {bytes(1.5F), {}},
                          {bytes(true), {}}}}};
}

/// A folder of captures, and a program's folder, which go at the end.
struct Captures {
  Captures() {
    std::string name = (fs::temp_directory_path() / "captured-runs-XXXXXX").string();
    path = ::mkdtemp(name.data());
    fs::create_directories(program() / "build");
  }
  ~Captures() { fs::remove_all(path); }
  fs::path program() const { return path / "program"; }

  void add(const std::string &name, const fs::path &folder, const std::string &started,
           const std::vector<std::pair<capture::Launch, double>> &launches) const {
    const fs::path process = path / "captures" / name / "17";
    fs::create_directories(process);
    std::string lines;
    capture::ProcessFacts facts{.pid = 17,
                                .command = {"./main", "input"},
                                .started = started,
                                .updated = started,
                                .ended = true};
    for (capture::Id id = 0; id < launches.size(); ++id) {
      capture::Statistics statistics{.count = 100, .timed = 100, .total_ns = launches[id].second};
      lines += capture::to_line(id, launches[id].first, statistics) + "\n";
      facts.totals.launches += statistics.count;
      facts.totals.gpu_ns += launches[id].second;
    }
    REQUIRE(capture::write_private(process / capture::kCaptureFile, capture::to_text(facts)));
    REQUIRE(capture::write_private(process / capture::kLaunchesFile, lines));
    REQUIRE(capture::write_private(
        process.parent_path() / capture::kRunFile,
        capture::to_text(capture::RunFacts{{"./main", "input"}, folder, started, 0})));
  }
  RunsOfFile run() { return CapturedRuns(path / "captures").of((program() / "main.cu").string()); }

  fs::path path;
};

analysis::FileFacts facts_with(const RunsOfFile &runs, const std::string &text = kProgram) {
  analysis::FileFacts facts = analysis::analyze({"/program/main.cu", text});
  complete_tasks(facts, text, {}, runs);
  return facts;
}

const analysis::Kernel &kernel_of(const analysis::FileFacts &facts, const std::string &name) {
  const auto found = std::ranges::find(facts.kernels, name, &analysis::Kernel::name);
  REQUIRE(found != facts.kernels.end());
  return *found;
}

} // namespace

TEST_CASE("what the text does not give comes from the run: sizes, numbers, extents") {
  Captures captures;
  CHECK(captures.run().empty());
  captures.add("one", captures.program() / "build", "2026-11-26T10:00:00Z",
               {{launch(1000, 4), 300e3},
                {{.kernel = "_Z5otherPf", .grid = {1, 1, 1}, .block = {32, 1, 1}}, 100e3}});
  const auto runs = captures.run();
  REQUIRE(runs.size() == 1);
  CHECK_FALSE(kernel_of(facts_with({}), "scaled").task.inferred);
  const analysis::FileFacts facts = facts_with(runs);
  const analysis::Kernel &kernel = kernel_of(facts, "scaled");
  REQUIRE(kernel.task.inferred);
  CHECK(kernel.task.task.sizes == symbolic::Sizes{{kCount, 1000}});
  CHECK(std::ranges::find(kernel.task.assumptions,
                          kCount + " is 1000, from the run of ./main input on 2026-11-26") !=
        kernel.task.assumptions.end());
  const auto factor = std::ranges::find(kernel.task.task.scalars, "factor", &model::Scalar::name);
  REQUIRE(factor != kernel.task.task.scalars.end());
  CHECK(std::get<double>(factor->value) == 1.5);
  const auto &step = std::get<model::LaunchStep>(kernel.task.task.reference.steps.back());
  CHECK(step.grid[0].evaluate({{kCount, 5000}}) ==
        20); // still an expression: other sizes are checked too
  REQUIRE(kernel.captured);
  CHECK(captured_text(*kernel.captured) == "75% of GPU time in the run of ./main input on "
                                           "2026-11-26: 100 launches of 3.00 us on average");
  CHECK(kernel_of(facts, "other").captured->share == doctest::Approx(0.25));
}

TEST_CASE("the task is of the template's instance that had the most time, which is told by launch") {
  const std::string text = R"(#include <cuda_runtime.h>
template <class T> __global__ void fill(T *x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = 1;
}
int read_count(const char *path);
int main(int argc, char **argv) {
  const int n = read_count(argv[1]);
  float *x;
  double *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(double));
  fill<<<(n + 255) / 256, 256>>>(x, n);
  fill<<<(n + 255) / 256, 256>>>(y, n);
}
)";
  const auto of = [](const char *symbol, int n) {
    return capture::Launch{.kernel = symbol, .grid = {(n + 255U) / 256U, 1, 1}, .block = {256, 1, 1},
                           .parameters = {{pointer(1, 0, 80'000), {bytes(n), {}}}}};
  };
  Captures captures;
  captures.add("one", captures.program(), "2026-11-26T10:00:00Z",
               {{of("_Z4fillIfEvPT_i", 2000), 100e3}, {of("_Z4fillIdEvPT_i", 2000), 300e3}, {of("_Z4fillIdEvPT_i", 10), 200e3}});
  const auto check = [&](const std::string &program) {
    const analysis::FileFacts facts = facts_with(captures.run(), program);
    const analysis::Kernel &kernel = kernel_of(facts, "fill");
    REQUIRE(kernel.task.inferred);
    CHECK(kernel.task.task.buffers.at(0).dtype == model::Dtype::Float64);
    CHECK(std::get<model::LaunchStep>(kernel.task.task.reference.steps.back()).kernel == "fill<double>");
    CHECK(std::get<model::LaunchStep>(kernel.task.task.reference.steps.back()).grid[0].evaluate(kernel.task.task.sizes) == 8);
    CHECK(kernel.captured->runs == 300);
    CHECK(kernel.captured->launch_ns == 3000);
  };
  check(text);
  check(R"(#include <cuda_runtime.h>
template <class T> __global__ void fill(T *x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = 1;
}
template <class T> void measure(int n) {
  T *x;
  cudaMalloc(&x, n * sizeof(T));
  fill<<<(n + 255) / 256, 256>>>(x, n);
}
int main(int argc, char **argv) {
  const int n = atoi(argv[1]);
  measure<float>(n);
  measure<double>(n);
}
)");
  // Here the text does not tell the grids.
  std::string hidden = text;
  for (std::size_t at; (at = hidden.find("(n + 255) / 256, 256")) != std::string::npos;)
    hidden.replace(at, std::strlen("(n + 255) / 256, 256"), "read_count(argv[2]), 256");
  check(hidden);
}

TEST_CASE("buffers are drawn as the run had them") {
  const std::string text = R"(#include <cuda_runtime.h>
__global__ void sums(const int *rows, const int *columns, const float *x, float *y, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n)
    return;
  float sum = 0;
  for (int i = rows[row]; i < rows[row + 1]; ++i)
    sum += x[columns[i]];
  y[row] = sum;
}

int main(int argc, char **argv) {
  const int n = 1024, entries = 8192;
  int *rows, *columns;
  float *x, *y;
  cudaMalloc(&rows, (n + 1) * sizeof(int));
  cudaMalloc(&columns, entries * sizeof(int));
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  sums<<<(n + 255) / 256, 256>>>(rows, columns, x, y, n);
}
)";
  const capture::Launch launch{.kernel = "_Z4sumsPKiS0_PKfPfi",
                               .grid = {4, 1, 1},
                               .block = {256, 1, 1},
                               .parameters = {{pointer(1, 0, 4100),
                                               pointer(2, 0, 32768),
                                               pointer(3, 0, 4096),
                                               pointer(4, 0, 4096),
                                               {bytes(1024), {}}}}};
  Captures captures;
  captures.add("one", captures.program(), "2026-11-26T10:00:00Z", {{launch, 300e3}});
  CHECK_FALSE(kernel_of(facts_with(captures.run(), text), "sums").task.inferred); // how many in a row?

  std::string lines;
  const auto add = [&](std::size_t parameter, const std::string &type, const std::string &order, double least,
                       double greatest) {
    capture::SeenBuffer buffer{.launch = {launch.kernel, launch.grid, launch.block, 7}, .parameter = parameter};
    capture::ElementStatistics &statistics = buffer.types[type];
    statistics.order = order;
    for (std::size_t i = 0; i < model::Distribution::kQuantiles; ++i)
      statistics.quantiles.push_back(least + (greatest - least) * static_cast<double>(i) / 32);
    lines += capture::to_line(buffer) + "\n";
  };
  add(0, "int32", "sorted", 0, 8192);
  add(1, "int32", "", 0, 1020);
  add(2, "float32", "", -3, 5);
  const fs::path process = captures.path / "captures/one" / capture::kContentsFolder / "18";
  fs::create_directories(process);
  REQUIRE(capture::write_private(process / capture::kCaptureFile, "{}"));
  REQUIRE(capture::write_private(process / capture::kContentsFile, lines));

  const analysis::FileFacts facts = facts_with(captures.run(), text);
  const analysis::InferredTask &task = kernel_of(facts, "sums").task;
  REQUIRE_MESSAGE(task.inferred, (task.missing.empty() ? "" : task.missing.front().question));
  const auto distribution = [&](const std::string &name) {
    return std::ranges::find(task.task.buffers, name, &model::Buffer::name)->distribution;
  };
  using Kind = model::Distribution::Kind;
  CHECK(distribution("rows").kind == Kind::Sorted);
  CHECK(distribution("rows").upper.evaluate(task.task.sizes) == 8193);
  CHECK(distribution("rows").quantiles.back() == 1);
  CHECK(distribution("columns").kind == Kind::Quantiles);
  CHECK(distribution("columns").upper.evaluate(task.task.sizes) == 1024); // as it indexes x
  CHECK(distribution("columns").quantiles.back() == doctest::Approx(1020. / 1023));
  CHECK(distribution("x").kind == Kind::Quantiles);
  CHECK(distribution("x").quantiles.front() == -3);
  CHECK(std::ranges::count(task.assumptions, "the values of rows are spread as in the run of ./main input on "
                                             "2026-11-26") == 1);
}

TEST_CASE("a launch that the text does not tell is taken from the run, and no move changes it") {
  const std::string text = R"(#include <cuda_runtime.h>
#include "shapes.h"
__global__ void shifted(float *x, const float *y, int n, int offset) {
  extern __shared__ float tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? y[i] : 0;
  __syncthreads();
  if (i < n)
    x[i + offset] = tile[threadIdx.x] * 2;
}

void run(Shape shape, float *x, const float *y) {
  shifted<<<shape.blocks(), shape.threads(), shape.bytes()>>>(x, y, shape.count(), shape.offset());
}
)";
  capture::Launch launch{.kernel = "_Z7shiftedPfPKfii",
                         .grid = {4, 1, 1},
                         .block = {256, 1, 1},
                         .shared_bytes = 1024,
                         .parameters = {{pointer(1, 0, 4096), pointer(2, 0, 4096), {bytes(1000), {}}, {bytes(0), {}}}}};
  Captures captures;
  captures.add("one", captures.program(), "2026-11-26T10:00:00Z", {{launch, 300e3}});
  CHECK_FALSE(kernel_of(facts_with({}, text), "shifted").task.inferred);
  const analysis::FileFacts facts = facts_with(captures.run(), text);
  const analysis::InferredTask &task = kernel_of(facts, "shifted").task;
  REQUIRE_MESSAGE(task.inferred, (task.missing.empty() ? "" : task.missing.front().question));
  CHECK(task.task.sizes.empty());
  const auto &step = std::get<model::LaunchStep>(task.task.reference.steps.back());
  CHECK(step.grid[0].evaluate({}) == 4);
  CHECK(step.block[0].evaluate({}) == 256);
  CHECK(step.shared_bytes.evaluate({}) == 1024);
  CHECK(task.assumptions.back().contains("other sizes are not checked"));

  const source::State state = states::state_of_file({"/program/main.cu", text}, {}, "shifted", task.task,
                                                    arch::gpu_or_cpu(std::nullopt));
  CHECK(state.keeps_launch);
  bool has_any = false;
  for (const source::Move &move : states::legal_moves(state)) {
    const auto next = states::apply_move(state, move);
    REQUIRE(next);
    const auto plan = states::render_plan(*next, task.task);
    REQUIRE_MESSAGE(plan, describe(plan.error()));
    const auto &launched = std::get<model::LaunchStep>(plan->steps.back());
    if (next->launch_changes.empty()) {
      CHECK(plan->steps == task.task.reference.steps);
    } else {
      const source::LaunchChange &change = next->launch_changes.front();
      const int block = change.block[0] ? change.block[0] : 256;
      const int threads = 4 * 256 * change.grid_factor / change.grid_divisors[0];
      CHECK(launched.grid[0].evaluate({}) == (threads + block - 1) / block);
      CHECK(launched.block[0].evaluate({}) == block);
    }
    has_any = true;
  }
  CHECK(has_any);
}

TEST_CASE("threads share loops in a launch that only a run tells: the grid grows, or a small block") {
  const std::string text = R"(#include <cuda_runtime.h>
#include "shapes.h"
__global__ void sums(float *out, const float *y, int n, int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int k = 0; k < columns; ++k)
    sum += y[i * columns + k];
  out[i] = sum;
}
void run(Shape shape, float *out, const float *y) { sums<<<shape.blocks(), 16>>>(out, y, shape.rows(), shape.columns()); }
)";
  capture::Launch launch{.kernel = "_Z4sumsPfPKfii",
                         .grid = {4, 1, 1},
                         .block = {16, 1, 1},
                         .parameters = {{pointer(1, 0, 256), pointer(2, 0, 64 * 100 * 4), {bytes(60), {}}, {bytes(100), {}}}}};
  Captures captures;
  captures.add("one", captures.program(), "2026-11-26T10:00:00Z", {{launch, 300e3}});
  const analysis::FileFacts facts = facts_with(captures.run(), text);
  const analysis::InferredTask &task = kernel_of(facts, "sums").task;
  REQUIRE_MESSAGE(task.inferred, (task.missing.empty() ? "" : task.missing.front().question));
  const source::State state = states::state_of_file({"/program/main.cu", text}, {}, "sums", task.task,
                                                    arch::gpu_or_cpu(std::nullopt));
  REQUIRE(state.keeps_launch);
  const auto launched = [&](int threads) {
    const auto next = states::apply_move(state, {"split_loop", {{"threads", std::to_string(threads)}}});
    REQUIRE_MESSAGE(next, describe(next.error()));
    CHECK(next->file.text.contains(threads == 8 ? "<<<shape.blocks() * 8, 16>>>" : "<<<shape.blocks(), 512>>>"));
    const auto plan = states::render_plan(*next, task.task);
    REQUIRE_MESSAGE(plan, describe(plan.error()));
    const auto &step = std::get<model::LaunchStep>(plan->steps.back());
    return std::pair(*step.grid[0].evaluate({}), *step.block[0].evaluate({}));
  };
  CHECK(launched(8) == std::pair<std::int64_t, std::int64_t>(32, 16));
  CHECK(launched(32) == std::pair<std::int64_t, std::int64_t>(4, 512));
}

TEST_CASE("the fields of a struct come from the run, and memory behind its pointers") {
  const std::string text = R"(#include <cuda_runtime.h>
#include "problem.h"
struct Vectors { int n; float scale; float *x; const float *y, *weights; };
__global__ void scaled(Vectors v) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < v.n)
    v.x[i] = v.scale * v.y[i] * (v.weights ? v.weights[i] : 1);
}
void run(const Problem &problem) { scaled<<<problem.blocks(), 256>>>(problem.vectors()); }
)";
  capture::Parameter vectors{bytes(1000) + bytes(0.5F) + std::string(24, '\0'),
                             {{8, 1, 0, 4096, "device"}, {16, 2, 0, 4000, "device"}}};
  capture::Launch launch{.kernel = "_Z6scaled7Vectors",
                         .grid = {4, 1, 1},
                         .block = {256, 1, 1},
                         .parameters = {{vectors}}};
  Captures captures;
  captures.add("one", captures.program(), "2026-11-26T10:00:00Z", {{launch, 300e3}});
  CHECK_FALSE(kernel_of(facts_with({}, text), "scaled").task.inferred);
  const analysis::FileFacts facts = facts_with(captures.run(), text);
  const analysis::InferredTask &task = kernel_of(facts, "scaled").task;
  REQUIRE_MESSAGE(task.inferred, (task.missing.empty() ? "" : task.missing.front().question));
  CHECK(task.task.sizes.empty());
  REQUIRE(task.task.buffers.size() == 2);
  CHECK(task.task.buffers[0].name == "v_x");
  CHECK(task.task.buffers[0].extent.evaluate({}) == 1024);
  CHECK(task.task.buffers[0].direction == model::Direction::InOut); // only 1000 of 1024 are written
  CHECK(task.task.buffers[1].extent.evaluate({}) == 1000);
  REQUIRE(task.task.scalars.size() == 1);
  CHECK(std::get<double>(task.task.scalars[0].value) == 0.5);
  const auto &step = std::get<model::LaunchStep>(task.task.reference.steps.back());
  const auto &whole = std::get<model::StructArgument>(step.arguments.at(0));
  REQUIRE(whole.fields.size() == 5);
  CHECK(std::get<model::SizeArgument>(whole.fields[0].value).value.evaluate({}) == 1000);
  CHECK(std::get<model::SizeArgument>(whole.fields[4].value).value.evaluate({}) == 0); // no weights
}

TEST_CASE("a size is also known where the program passes what it computes from it") {
  Captures captures;
  captures.add("one", captures.program(), "2026-11-26T10:00:00Z", {{launch(2001, 4), 300e3}});
  std::string text = kProgram;
  const std::string arguments = "(x, y, count, 0.5f";
  text.replace(text.find(arguments), arguments.size(), "(x, y, 2 * count + 1, 0.5f");
  CHECK(kernel_of(facts_with(captures.run(), text), "scaled").task.task.sizes ==
        symbolic::Sizes{{kCount, 1000}});
}

TEST_CASE("a launch of another shape than the text's is a task by itself, one with other parameters is none") {
  const auto check = [](const capture::Launch &other, bool is_inferred) {
    Captures captures;
    captures.add("one", captures.program(), "2026-11-26T10:00:00Z", {{other, 300e3}});
    const analysis::FileFacts facts = facts_with(captures.run());
    const analysis::Kernel &kernel = kernel_of(facts, "scaled");
    CHECK(kernel.captured);
    REQUIRE(kernel.task.inferred == is_inferred);
    if (!is_inferred)
      return;
    const auto &step = std::get<model::LaunchStep>(kernel.task.task.reference.steps.back());
    CHECK(step.grid[0].text() == std::to_string(other.grid[0]));
    CHECK(step.block[0].text() == std::to_string(other.block[0]));
  };
  check(launch(1000, 5), true);
  check(launch(1000, 4, 128), true);
  capture::Launch fewer = launch(1000, 4);
  fewer.parameters->pop_back();
  check(fewer, false);
}

TEST_CASE("the newest run that was started near the file and launched the kernel counts, and its "
          "longest launch") {
  Captures captures;
  captures.add("old", captures.program(), "2026-11-25T10:00:00Z", {{launch(500, 2), 300e3}});
  captures.add("new", captures.program(), "2026-11-26T10:00:00Z",
               {{launch(1000, 4), 300e3}, {launch(2000, 8), 900e3}});
  captures.add("elsewhere", captures.path / "another", "2026-11-27T10:00:00Z",
               {{launch(700, 3), 300e3}});
  captures.add("unknown", "", "2026-11-28T10:00:00Z", {{launch(700, 3), 300e3}});
  captures.add("at the root", "/", "2026-11-28T10:00:00Z", {{launch(700, 3), 300e3}});
  CHECK(kernel_of(facts_with(captures.run()), "scaled").task.task.sizes ==
        symbolic::Sizes{{kCount, 2000}});
  captures.add("of another program", captures.path, "2026-11-30T10:00:00Z",
               {{{.kernel = "_Z6othersv"}, 300e3}});
  captures.add("newest", captures.path, "2026-11-29T10:00:00Z", {{launch(300, 2), 300e3}});
  CHECK(kernel_of(facts_with(captures.run()), "scaled").task.task.sizes ==
        symbolic::Sizes{{kCount, 300}});
}

TEST_CASE("a comment wins over the run, and an extent that nobody allocates in sight ends where "
          "the next buffer begins") {
  Captures captures;
  captures.add("one", captures.program(), "2026-11-26T10:00:00Z",
               {{[] {
                   capture::Launch shared = launch(1000, 4);
                   shared.parameters->at(1) = pointer(1, 4096, 60000);
                   return shared;
                 }(),
                 300e3}});
  std::string text = kProgram;
  const auto replace = [&](const std::string &what, const std::string &by) {
    text.replace(text.find(what), what.size(), by);
  };
  replace("cudaMalloc(&x, count * sizeof(float));", "take(&x, &y);");
  replace("  cudaMalloc(&y, count * sizeof(float));\n", "");
  replace("int read_count", "void take(float **x, float **y);\nint read_count");
  replace("x[i] = y[i]", "x[i] += y[(int)x[i]]");
  const auto runs = captures.run();
  const auto extent = [&](const std::string &name) {
    const analysis::FileFacts facts = facts_with(runs, text);
    const auto &buffers = kernel_of(facts, "scaled").task.task.buffers;
    const auto found = std::ranges::find(buffers, name, &model::Buffer::name);
    return found == buffers.end() ? "none" : found->extent.text();
  };
  CHECK(extent("x") == "1024");
  CHECK(extent("y") == "15000");
  replace("namespace {\n", "namespace {\n// warpwright: " + kCount + " = 400\n");
  CHECK(kernel_of(facts_with(runs, text), "scaled").task.task.sizes ==
        symbolic::Sizes{{kCount, 400}});
}

TEST_CASE("a comment that is to be completed has what the run says") {
  Captures captures;
  captures.add("one", captures.program(), "2026-11-26T10:00:00Z", {{launch(1000, 4), 300e3}});
  const std::string text = kProgram.substr(0, kProgram.find("int main"));
  const analysis::FileFacts facts = facts_with(captures.run(), text);
  const analysis::Kernel &kernel = kernel_of(facts, "scaled");
  CHECK_FALSE(kernel.task.inferred);
  CHECK(analysis::suggested_spec(kernel, kernel.task) ==
        "// warpwright: n = 1000, doubled = 1\n"
        "// warpwright: x: inout float[1024] normal, y: in float[1024] normal\n"
        "// warpwright: launch grid(4) block(256)\n");
}

TEST_CASE("the launch that took most of the time counts, also where the text gives another one") {
  const std::string text = R"(#include <cuda_runtime.h>
__global__ void doubled(float *x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= 2;
}

void warm_up_and_run(int n) {
  float *x;
  cudaMalloc(&x, n * sizeof(float));
  doubled<<<(n + 255) / 256, 256>>>(x, n);
}

int main() {
  warm_up_and_run(1000);
  warm_up_and_run(1000000);
}
)";
  const auto launch = [](int n) {
    return capture::Launch{.kernel = "_Z7doubledPfi",
                           .grid = {std::uint32_t(n + 255) / 256, 1, 1},
                           .block = {256, 1, 1},
                           .parameters = {{pointer(1, 0, std::uint64_t(n) * 4), {bytes(n), {}}}}};
  };
  Captures captures;
  captures.add("one", captures.program(), "2026-11-26T10:00:00Z", {{launch(1000), 3e3}, {launch(1000000), 300e3}});
  const auto size_of = [](const analysis::FileFacts &facts) {
    const model::Task &task = kernel_of(facts, "doubled").task.task;
    return task.buffers.front().extent.evaluate(task.sizes);
  };
  CHECK(size_of(facts_with({}, text)) == 1000);
  CHECK(size_of(facts_with(captures.run(), text)) == 1000000);
}

TEST_CASE("sizes are told one after the other by the parameters that are computed from them") {
  const std::string text = R"(#include <cstdlib>
#include <cuda_runtime.h>
__global__ void windows(const float *x, float *y, int count, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  float sum = 0;
  for (int k = 0; k < width; ++k)
    sum += x[i + k];
  y[i] = sum;
}

int main(int argc, char **argv) {
  const int n = 64, width = 9;
  const int count = n - width + 1;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, count * sizeof(float));
  windows<<<(count + 255) / 256, 256>>>(x, y, count, width);
}
)";
  const capture::Launch launch{.kernel = "_Z7windowsPKfPfii",
                               .grid = {4, 1, 1},
                               .block = {256, 1, 1},
                               .parameters = {{pointer(1, 0, 4000), pointer(2, 0, 3984), {bytes(996), {}}, {bytes(5), {}}}}};
  Captures captures;
  captures.add("one", captures.program(), "2026-11-26T10:00:00Z", {{launch, 300e3}});
  const analysis::FileFacts facts = facts_with(captures.run(), text);
  CHECK(kernel_of(facts, "windows").task.task.sizes == symbolic::Sizes{{"n", 1000}, {"width", 5}});
}
