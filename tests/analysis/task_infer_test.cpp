// Tasks of realistic programs are complete without any comment; what is missing elsewhere is asked
// for.
#include "analysis/analyze.h"
#include "analysis/task/infer_task.h"
#include "nvrtc_probe.h"
#include "support/model/json.h"
#include "task_corpus.h"
#include "task_support.h"

#include <doctest/doctest.h>

#include <llvm/Support/VirtualFileSystem.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace warpwright::analysis {
namespace {

using model::Direction;
using Kind = model::Distribution::Kind;

/// Complete, accepted by the schema and the plan checks, legal at every check size, and both
/// sources compile.
model::Task complete(const std::string &source, const std::string &name) {
  const Inferred inferred = infer(source, name);
  REQUIRE_MESSAGE(inferred.task.inferred, questions(inferred.task));
  const model::Task &task = inferred.task.task;
  const auto checked = model::check_plan(task.reference, task);
  CHECK_MESSAGE(checked, (checked ? "" : describe(checked.error())));
  const auto decoded = model::task_from_json(model::to_json(task));
  CHECK_MESSAGE(decoded, (decoded ? "" : describe(decoded.error())));
  for (const symbolic::Sizes &sizes : task.check_sizes)
    for (const model::Buffer &buffer : task.buffers)
      CHECK(buffer.extent.evaluate(sizes).value_or(0) > 0);
  const auto &launch = std::get<model::LaunchStep>(task.reference.steps.back());
  if (const auto errors = tests::nvrtc_errors(task.reference.source, {launch.kernel}))
    CHECK_MESSAGE(errors->empty(), *errors);
  if (task.reference_fp64)
    if (const auto errors = tests::nvrtc_errors(
            task.reference_fp64->source,
            {std::get<model::LaunchStep>(task.reference_fp64->steps.back()).kernel}))
      CHECK_MESSAGE(errors->empty(), *errors);
  return task;
}

const model::Buffer &buffer(const model::Task &task, const std::string &name) {
  const auto found = std::ranges::find(task.buffers, name, &model::Buffer::name);
  REQUIRE_MESSAGE(found != task.buffers.end(), "no buffer " << name);
  return *found;
}

const model::LaunchStep &launch_of(const model::Task &task) {
  return std::get<model::LaunchStep>(task.reference.steps.back());
}

std::int64_t value(const symbolic::Expression &expression, const symbolic::Sizes &sizes) {
  return expression.evaluate(sizes).value_or(-1);
}

TEST_CASE("a tiled matmul without guards keeps multiples of its tile, rectangular ones") {
  const model::Task task = complete(corpus::kTiledMatmul, "matmul_tiled");
  CHECK(task.sizes == symbolic::Sizes{{"M", 1024}, {"N", 512}, {"K", 2048}});
  CHECK(value(buffer(task, "A").extent, {{"M", 3}, {"K", 5}, {"N", 7}}) == 15);
  CHECK(buffer(task, "C").direction == Direction::Out);
  CHECK(value(launch_of(task).grid[0], {{"M", 32}, {"N", 64}, {"K", 16}}) == 4);
  CHECK(task.check_sizes.size() >= 3);
  bool is_rectangular = false;
  for (const symbolic::Sizes &sizes : task.check_sizes) {
    for (const auto &[name, size] : sizes)
      CHECK_MESSAGE(size % 16 == 0, name << " = " << size);
    is_rectangular = is_rectangular || sizes.at("M") != sizes.at("N");
  }
  CHECK(is_rectangular);
}

TEST_CASE("an index that a macro makes bounds its buffer as one that is written out") {
  const model::Task task = complete(R"cuda(
#define GID (blockIdx.x * blockDim.x + threadIdx.x)
#define AT(r, c) ((r) * cols + (c))
// warpwright: rows = 4, cols = 1000
__global__ void add_rows(const float *x, const float *row, float *out, int rows, int cols) {
  if (GID < cols)
    for (int r = 0; r < rows; ++r)
      out[AT(r, GID)] = x[AT(r, GID)] + row[GID];
}
void launch(const float *x, const float *row, float *out, int rows, int cols) {
  add_rows<<<(cols + 255) / 256, 256>>>(x, row, out, rows, cols);
}
)cuda",
                                    "add_rows");
  const symbolic::Sizes sizes{{"rows", 3}, {"cols", 700}};
  CHECK(value(buffer(task, "row").extent, sizes) == 700);
  CHECK(value(buffer(task, "x").extent, sizes) == 2100);
  CHECK(value(buffer(task, "out").extent, sizes) == 2100);
}

TEST_CASE("a template launched two levels down gets its arguments, sizes and shared memory") {
  const model::Task task = complete(corpus::kLauncher, "row_softmax");
  CHECK(launch_of(task).kernel == "row_softmax<float, 256>");
  CHECK(task.sizes == symbolic::Sizes{{"rows", 2048}, {"cols", 1024}});
  CHECK(value(launch_of(task).shared_bytes, task.sizes) == 1024);
  CHECK(buffer(task, "in").direction == Direction::In);
  CHECK(buffer(task, "out").direction == Direction::Out);
  CHECK(value(buffer(task, "out").extent, {{"rows", 3}, {"cols", 7}}) == 21);
  REQUIRE(task.reference_fp64);
  CHECK(std::get<model::LaunchStep>(task.reference_fp64->steps.back()).kernel ==
        "row_softmax<double, 256>");
}

TEST_CASE("particles are updated in place, divisors are positive, constants are scalars") {
  const model::Task task = complete(corpus::kParticles, "update");
  CHECK(task.sizes == symbolic::Sizes{{"count", 1000000}});
  CHECK(buffer(task, "x").direction == Direction::InOut);
  CHECK(buffer(task, "mass").direction == Direction::In);
  CHECK(buffer(task, "mass").distribution.kind == Kind::Positive);
  REQUIRE(task.scalars.size() == 1);
  CHECK(std::get<double>(task.scalars[0].value) == doctest::Approx(0.01));
  CHECK(std::ranges::any_of(
      task.check_sizes, [](const symbolic::Sizes &sizes) { return sizes.at("count") % 256 != 0; }));
}

TEST_CASE("subscripts that were loaded stay inside what they index") {
  const model::Task task = complete(corpus::kGather, "embed");
  const model::Buffer &ids = buffer(task, "ids");
  CHECK(ids.dtype == model::Dtype::Int32);
  CHECK(ids.distribution.kind == Kind::Integers);
  CHECK(value(ids.distribution.lower, task.sizes) == 0);
  for (const symbolic::Sizes &sizes :
       {task.sizes, symbolic::Sizes{{"tokens", 5}, {"dim", 6}, {"vocabulary", 7}}})
    CHECK(value(ids.distribution.upper, sizes) == sizes.at("vocabulary"));
  CHECK(task.sizes.contains("tokens"));
}

TEST_CASE("a stencil that leaves its border alone works in place on initialised memory") {
  const model::Task task = complete(corpus::kStencil, "blur");
  CHECK(buffer(task, "out").direction == Direction::InOut);
  CHECK(value(launch_of(task).grid[0], task.sizes) == 120);
  CHECK(value(launch_of(task).grid[1], task.sizes) == 270);
  CHECK(task.check_sizes.size() >= 3);
}

TEST_CASE("half buffers, grid-stride loops and capped grids") {
  const model::Task task = complete(corpus::kHalf, "scale");
  CHECK(buffer(task, "y").dtype == model::Dtype::Float16);
  CHECK(buffer(task, "y").direction == Direction::Out);
  CHECK(value(launch_of(task).grid[0], {{"n", 1000}}) == 4);
  CHECK(value(launch_of(task).grid[0], {{"n", 1 << 22}}) == 1024);
  CHECK(task.tolerance.relative > 1e-3);
}

TEST_CASE("buffers behind float4 count floats") {
  const model::Task task = complete(corpus::kVectors, "add4");
  CHECK(buffer(task, "a").dtype == model::Dtype::Float32);
  CHECK(value(buffer(task, "c").extent, {{"n", 4096}}) == 4096);
  CHECK(buffer(task, "c").direction == Direction::Out);
  CHECK(value(task.work.bytes.value_or(symbolic::Expression()), {{"n", 4096}}) == 3 * 4 * 4096);
}

TEST_CASE("buffers of structs have the dtypes of their elements in turn, if these have one width") {
  const std::string source = R"(
struct Option { int type; float strike, spot; unsigned steps; };
struct Padded { double value; int count; };
__global__ void price(const Option *options, float *values, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    values[i] = options[i].type ? options[i].strike : options[i].spot;
}
__global__ void count(Padded *all, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    all[i].count += 1;
}
int main() {
  const int n = 1 << 16;
  Option *options;
  float *values;
  Padded *all;
  cudaMalloc(&options, n * sizeof(Option));
  cudaMalloc(&values, n * sizeof(float));
  cudaMalloc(&all, n * sizeof(Padded));
  price<<<n / 256, 256>>>(options, values, n);
  count<<<n / 256, 256>>>(all, n);
}
)";
  const model::Task task = complete(source, "price");
  const model::Buffer &options = buffer(task, "options");
  using enum model::Dtype;
  CHECK(options.lanes == std::vector{Int32, Float32, Float32, UInt32});
  CHECK(options.dtype == Float32);
  CHECK(options.direction == Direction::In);
  CHECK(value(options.extent, task.sizes) == 4 << 16);
  CHECK_FALSE(task.reference_fp64); // the floats of its structs would have other places
  const Inferred padded = infer(source, "count");
  CHECK_FALSE(padded.task.inferred);
  CHECK(questions(padded.task).contains("is not one number, or a struct of numbers of one width"));
}

TEST_CASE("every example gives a complete task") {
  for (const char *name : {"saxpy", "matmul", "transpose", "reduce", "softmax", "stencil",
                           "histogram", "layernorm", "bias_gelu", "column_sum"}) {
    std::ifstream in(std::string(WARPWRIGHT_SOURCE_DIR) + "/examples/" + name + ".cu");
    REQUIRE_MESSAGE(in, name);
    std::stringstream text;
    text << in.rdbuf();
    auto unit = parse_stub({"/test/example.cu", text.str()});
    REQUIRE(unit);
    for (const clang::FunctionDecl *kernel : (*unit)->kernels()) {
      CAPTURE(name);
      const model::Task task = complete(text.str(), kernel->getNameAsString());
      CHECK(task.check_sizes.size() >= 3);
      CHECK(task.work.bytes.has_value());
    }
  }
}

TEST_CASE("accumulators that the program clears are cleared by the plan") {
  const model::Task task = complete(R"(
#define BINS 64
__global__ void count(const unsigned char *data, int *bins, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(&bins[data[i] % BINS], 1); }
int main() { int n = 1 << 20; unsigned char *d; int *b; cudaMalloc(&d, n); cudaMalloc(&b, BINS * sizeof(int)); cudaMemset(b, 0, BINS * sizeof(int));
  count<<<(n + 255) / 256, 256>>>(d, b, n); cudaMemset(b, 1, 4); }
)",
                                    "count");
  REQUIRE(task.reference.steps.size() == 2);
  CHECK(std::get<model::FillStep>(task.reference.steps[0]) == model::FillStep{"bins", 0});
  CHECK(buffer(task, "bins").direction == Direction::Out);
  CHECK(value(buffer(task, "bins").extent, {}) == 64);
  CHECK(task.tolerance.absolute == 0);
}

TEST_CASE("without allocations the guards tell how much the buffers hold") {
  const Inferred inferred = infer(R"(
__global__ void add(const float *a, const float *row, float *c, int rows, int cols) {
  int y = blockIdx.y * blockDim.y + threadIdx.y, x = blockIdx.x * blockDim.x + threadIdx.x;
  if (y < rows && x < cols) c[y * cols + x] = a[y * cols + x] + row[x];
}
void launch(const float *a, const float *row, float *c) { int rows = 300, cols = 500; dim3 b(16, 16); add<<<dim3((cols + 15) / 16, (rows + 15) / 16), b>>>(a, row, c, rows, cols); }
)",
                                  "add");
  REQUIRE_MESSAGE(inferred.task.inferred, questions(inferred.task));
  CHECK(value(buffer(inferred.task.task, "c").extent, {{"rows", 3}, {"cols", 11}}) == 33);
  CHECK(value(buffer(inferred.task.task, "row").extent, {{"rows", 3}, {"cols", 11}}) == 11);
  CHECK(!inferred.task.assumptions.empty());
}

TEST_CASE("an unknown size is asked for by name, and the suggested comment has its blank") {
  const Inferred inferred = infer(R"(
__global__ void twice(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2.0f; }
void launch(float *x, int n) { twice<<<(n + 255) / 256, 256>>>(x, n); }
)",
                                  "twice");
  CHECK(!inferred.task.inferred);
  REQUIRE(inferred.task.missing.size() == 1);
  CHECK(inferred.task.missing[0].name == "n");
  CHECK(inferred.task.missing[0].question.contains("n = "));
  const std::string comment = suggested_spec(inferred.kernel, inferred.task);
  CHECK(comment.contains("// warpwright: n = ?"));
  CHECK(comment.contains("x: inout float[?]"));
}

constexpr const char *kTwice = R"(
__global__ void twice(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2.0f; }
)";

/// The block of a launch in `host`, after kTwice; the task is complete.
std::int64_t block_in(const std::string &host) {
  const model::Task task = complete(kTwice + host, "twice");
  CHECK(task.sizes == symbolic::Sizes{{"n", 1 << 20}});
  return value(launch_of(task).block[0], task.sizes);
}

TEST_CASE("a value that the program picks from a table is a typical one of it") {
  const std::string launcher = "void run(float *x, int n, const int block_size) { twice<<<(n + "
                               "block_size - 1) / block_size, block_size>>>(x, n); }\n";
  const std::string memory =
      "int main() { int n = 1 << 20; float *x; cudaMalloc(&x, n * sizeof(float));\n";
  CHECK(block_in(launcher + memory +
                 "int block_sizes[] = {32, 64, 128, 256, 512, 1024};\n"
                 "for (int j = 0; j < 6; j++) { int block_size = block_sizes[j]; run(x, n, "
                 "block_size); } }") == 256);
  CHECK(block_in(launcher + memory +
                 "int block_sizes[] = {32, 64, 128};\nrun(x, n, block_sizes[2]); }") == 128);
  CHECK(block_in(launcher + memory + "for (int threads : {64, 192, 256}) run(x, n, threads); }") ==
        192);
  const Inferred inferred =
      infer(kTwice + launcher + memory +
                "int blocks[] = {64, 128}; for (int j = 0; j < 2; j++) run(x, n, blocks[j]); }",
            "twice");
  CHECK(inferred.task.assumptions ==
        std::vector<std::string>{"of the values in blocks 128 is taken"});
}

TEST_CASE("what only the command line gives does not take the place of what the program does") {
  const std::string launch =
      "float *x; cudaMalloc(&x, n * sizeof(float)); dim3 grid(1, 1, 1), block(128);\n"
      "if (argc > 2) block.x = atoi(argv[2]);\ngrid.x = (n + block.x - 1) / block.x;\n"
      "twice<<<grid, block>>>(x, n); }\n";
  CHECK(block_in("int main(int argc, char **argv) { int n; if (argc > 1) n = atoi(argv[1]); else n "
                 "= 1 << 20;\n" +
                 launch) == 128);
  CHECK(
      block_in(
          "int main(int argc, char **argv) { int n = 1 << 20; if (argc > 1) n = atoi(argv[1]);\n" +
          launch) == 128);
}

TEST_CASE("a kernel whose accesses are not seen is checked at sizes like the program's") {
  const model::Task task = complete(R"(
template <class T> struct alignas(16) Packed {
  Packed() = default;
  __device__ explicit Packed(int4 bits) { memcpy(&values, &bits, sizeof(bits)); }
  __device__ int4 bits() const { int4 all; memcpy(&all, &values, sizeof(all)); return all; }
  T values[16 / sizeof(T)];
};
template <class T> __device__ Packed<T> load(const T *from) { return Packed<T>{*reinterpret_cast<const int4 *>(from)}; }
template <class T> __device__ void store(T *to, Packed<T> value) { *reinterpret_cast<int4 *>(to) = value.bits(); }
__global__ void twice(float *out, const float *in, int rows, int cols) {
  const float *row = in + blockIdx.x * cols;
  for (int c = threadIdx.x * 4; c < cols; c += blockDim.x * 4) {
    Packed<float> p = load(row + c);
    for (int k = 0; k < 4; ++k) p.values[k] *= 2.0f;
    store(out + blockIdx.x * cols + c, p);
  }
}
int main() {
  int rows = 1000, cols = 768; float *in, *out;
  cudaMalloc(&in, rows * cols * sizeof(float)); cudaMalloc(&out, rows * cols * sizeof(float));
  twice<<<rows, 64>>>(out, in, rows, cols);
})",
                                    "twice");
  CHECK(task.check_sizes.size() >= 2);
  for (const symbolic::Sizes &sizes : task.check_sizes)
    CHECK(sizes.at("cols") % 32 == 0);
}

TEST_CASE("halves that are converted are read, and the types of an instantiation are included") {
  const model::Task task = complete(R"(
#include <cuda_bf16.h>
template <class T> __global__ void accumulate(T *sum, const float *more, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = (T)((float)sum[i] + more[i]);
}
int main() {
  int n = 1 << 20; __nv_bfloat16 *sum; float *more;
  cudaMalloc(&sum, n * sizeof(__nv_bfloat16)); cudaMalloc(&more, n * sizeof(float));
  accumulate<<<n / 256, 256>>>(sum, more, n);
})",
                                    "accumulate");
  CHECK(buffer(task, "sum").direction == Direction::InOut);
  CHECK(launch_of(task).kernel == "accumulate<__nv_bfloat16>");
}

TEST_CASE("a variable has the value that it was last given before the launch") {
  const std::string begin =
      "int main(int argc, char **argv) { int n = 1 << 20; float *x; cudaMalloc(&x, n * "
      "sizeof(float));\n"
      "int threads = 64, total = 100; int blocks = (total + threads - 1) / threads;\n";
  const std::string launch = "twice<<<blocks, threads>>>(x, n);\n";
  const auto grid = [&](const std::string &between, const std::string &after = "") {
    const model::Task task = complete(kTwice + begin + between + launch + after + "}\n", "twice");
    return value(launch_of(task).grid[0], task.sizes) * 1000 +
           value(launch_of(task).block[0], task.sizes);
  };
  CHECK(grid("total = n; threads = 128; blocks = (total + threads - 1) / threads;\n") ==
        8192 * 1000 + 128);
  CHECK(grid("total = n; blocks = (total + threads - 1) / threads; threads = 32;\n",
             "threads = 16;\n") == 16384 * 1000 + 32);
  CHECK(grid("total = n; blocks = total / threads; blocks = blocks * 2;\n") == 32768 * 1000 + 64);
  // A branch that leads to the launch counts, another does not.
  CHECK(grid("if (argc > 1) { threads = 256; }\nblocks = n / threads;\n") == 16384 * 1000 + 64);
  CHECK(grid("if (argc > 1) { threads = 256; blocks = n / threads;\n", "}\n") == 4096 * 1000 + 256);
}

TEST_CASE("a launch shape that is set from an unknown size asks for that size") {
  const Inferred inferred = infer(std::string(kTwice) + R"(
void run(float *x, int n) { dim3 grid(1); grid.x = (n + 255) / 256; twice<<<grid, 256>>>(x, n); })",
                                  "twice");
  CHECK(!inferred.task.inferred);
  CHECK(questions(inferred.task).starts_with("n: "));
}

TEST_CASE("a function that is passed to another gets its arguments where that one calls it") {
  CHECK(block_in(R"(
void run(float *x, int n, int block) { twice<<<(n + block - 1) / block, block>>>(x, n); }
template <class Launcher> void repeat(int times, Launcher launcher, float *data, int count, int threads) {
  for (int i = 0; i < times; ++i) launcher(data, count, threads);
}
int main() { int n = 1 << 20; float *x; cudaMalloc(&x, n * sizeof(float)); repeat(3, run, x, n, 96); })") ==
        96);
}

TEST_CASE("what a function sets its parameter to counts, whatever was passed") {
  CHECK(block_in(R"(
void run(float *x, int n, int block) { block = 32; twice<<<(n + block - 1) / block, block>>>(x, n); }
int main() { int n = 1 << 20; float *x; cudaMalloc(&x, n * sizeof(float)); run(x, n, 512); })") ==
        32);
}

TEST_CASE("facts that the device is asked for are those of an H100, and said") {
  const Inferred inferred = infer(std::string(kTwice) + R"(
int main() {
  int n = 1 << 20, processors; float *x; cudaMalloc(&x, n * sizeof(float));
  cudaDeviceProp prop; cudaGetDeviceProperties(&prop, 0);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
  twice<<<processors * prop.maxThreadsPerMultiProcessor / 256, 256>>>(x, n);
})",
                                  "twice");
  REQUIRE_MESSAGE(inferred.task.inferred, questions(inferred.task));
  CHECK(value(launch_of(inferred.task.task).grid[0], inferred.task.task.sizes) == 132 * 8);
  CHECK(std::ranges::count(inferred.task.assumptions, "the device has 132 multiprocessors") == 1);
  CHECK(std::ranges::count(inferred.task.assumptions,
                           "maxThreadsPerMultiProcessor is 2048, as of an H100") == 1);
}

Inferred infer_with_header(const std::string &header, const std::string &source,
                           const std::string &name) {
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  files->addFile("/test/common.h", 0, llvm::MemoryBuffer::getMemBufferCopy(header));
  auto unit = parse_stub({"/test/task.cu", source}, {}, files);
  REQUIRE(unit);
  const clang::FunctionDecl *declaration = (*unit)->find_kernel(name);
  REQUIRE(declaration);
  Inferred result{kernel_facts(**unit, *declaration), {}};
  result.task = infer_task(**unit, *declaration, result.kernel, "__global__ void twice();");
  return result;
}

TEST_CASE("the user's header says what a type is, and what a global is set to") {
  const std::string source = R"(
#include "common.h"
__global__ void twice(number *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = (number)((float)x[i] * 2.0f); }
int main() { int n = 1 << 20; number *x; cudaMalloc(&x, n * sizeof(number)); setup(); twice<<<processors * 8, 128>>>(x, n); }
)";
  const std::string rest = R"(
int processors = 0;
void setup() { cudaDeviceProp prop; cudaGetDeviceProperties(&prop, 0); processors = prop.multiProcessorCount; }
)";
  const Inferred known =
      infer_with_header("#pragma once\ntypedef __nv_bfloat16 number;\n" + rest, source, "twice");
  REQUIRE_MESSAGE(known.task.inferred, questions(known.task));
  CHECK(buffer(known.task.task, "x").dtype == model::Dtype::BFloat16);
  CHECK(value(launch_of(known.task.task).grid[0], known.task.task.sizes) == 132 * 8);
  // A type that nobody knows is no int.
  const Inferred unknown =
      infer_with_header("#pragma once\ntypedef strange_t number;\n" + rest, source, "twice");
  CHECK(!unknown.task.inferred);
  CHECK(questions(unknown.task).contains("x.type: What does x hold?"));
}

TEST_CASE("a kernel without a launch asks for one, and a comment gives it") {
  const std::string kernel = "__global__ void twice(float *x, int n) { int i = blockIdx.x * "
                             "blockDim.x + threadIdx.x; if (i < n) x[i] *= 2.0f; }\n";
  const Inferred without = infer(kernel, "twice");
  CHECK(!without.task.inferred);
  CHECK(std::ranges::any_of(without.task.missing,
                            [](const MissingFact &fact) { return fact.name == "launch"; }));
  CHECK(suggested_spec(without.kernel, without.task).contains("launch grid(?) block(?)"));
  const Inferred with = infer("// warpwright: n = 1 << 20, check n = 1 | 1000\n// warpwright: "
                              "launch grid((n + 127) / 128) block(128)\n" +
                                  kernel,
                              "twice");
  REQUIRE_MESSAGE(with.task.inferred, questions(with.task));
  CHECK(with.task.task.sizes == symbolic::Sizes{{"n", 1 << 20}});
  CHECK(with.task.task.check_sizes == std::vector<symbolic::Sizes>{{{"n", 1}}, {{"n", 1000}}});
  CHECK(value(launch_of(with.task.task).grid[0], {{"n", 129}}) == 2);
  CHECK(value(buffer(with.task.task, "x").extent, {{"n", 129}}) == 129);
}

TEST_CASE("the launch of an edited file is read over the sizes of the task") {
  const model::Task task = complete(corpus::kParticles, "update");
  std::string edited = corpus::kParticles;
  edited.replace(edited.find("threads = 256"), 13, "threads = 512");
  auto unit = parse_stub({"/test/task.cu", edited});
  REQUIRE(unit);
  const auto step = launch_step(**unit, *(*unit)->find_kernel("update"), task);
  REQUIRE_MESSAGE(step, (step ? "" : describe(step.error())));
  CHECK(value(step->block[0], {}) == 512);
  CHECK(value(step->grid[0], {{"count", 513}}) == 2);
  CHECK(step->arguments == launch_of(task).arguments);
  auto without = parse_stub({"/test/task.cu", "__global__ void update(float *x, int n) {}\n"});
  const auto missing = launch_step(**without, *(*without)->find_kernel("update"), task);
  REQUIRE(!missing);
  CHECK(missing.error().message.contains("no launch"));
}

TEST_CASE("the launch of an edited file is of the instance that the task has") {
  const std::string text = R"(template <class T> __global__ void fill(T *x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = 1;
}
template <class T> void measure(int n) {
  T *x;
  cudaMalloc(&x, n * sizeof(T));
  fill<<<(n + 255) / 256, 256>>>(x, n);
}
int main() {
  const int n = 1 << 20;
  measure<float>(n);
  measure<double>(n);
}
)";
  auto unit = parse_stub({"/test/task.cu", text});
  REQUIRE(unit);
  model::Task task = complete(text, "fill");
  CHECK(launch_of(task).kernel == "fill<float>");
  std::get<model::LaunchStep>(task.reference.steps.back()).kernel = "fill<double>";
  const auto step = launch_step(**unit, *(*unit)->find_kernel("fill"), task);
  REQUIRE_MESSAGE(step, (step ? "" : describe(step.error())));
  CHECK(step->kernel == "fill<double>");
}

TEST_CASE("broken programs lose facts, not the process") {
  for (const std::string source : {corpus::kTiledMatmul, corpus::kLauncher, corpus::kStencil})
    for (std::size_t length = 40; length < source.size(); length += 97) {
      const FileFacts facts = analyze({"/test/cut.cu", source.substr(0, length)});
      for (const Kernel &kernel : facts.kernels)
        CHECK((kernel.task.inferred || !kernel.task.missing.empty()));
    }
}

TEST_CASE("a launch in a template's pattern, whose dim3 has no type yet") {
  // As in HeCBench's stddev: the only launch, in a template that nothing instantiates.
  const Inferred inferred = infer("__global__ void stddev(float *x, int n) { x[blockIdx.x] = n; }\n"
                                  "template <class T> void run(float *x, T n) {\n"
                                  "  dim3 grid(n);\n"
                                  "  stddev<<<grid, 256>>>(x, n);\n}\n",
                                  "stddev");
  CHECK(!inferred.task.inferred);
  CHECK(!inferred.task.missing.empty());
}

} // namespace
} // namespace warpwright::analysis
