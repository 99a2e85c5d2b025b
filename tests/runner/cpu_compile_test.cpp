// Errors of a source in the user's lines, and constructs that only this backend lacks as
// Unsupported.
#include "tests/runner/cpu_fixture.h"

using namespace warpwright::runner;
using namespace warpwright::runner::cpu_test;
using Kind = Fault::Kind;

namespace {

void check_compile(const std::string &source, Kind kind, const std::vector<std::string> &parts) {
  Bench bench;
  auto program = bench.compile(source, "k");
  INFO(source);
  REQUIRE_FALSE(program.has_value());
  INFO(message(program));
  CHECK(program.error().kind == kind);
  for (const std::string &part : parts) {
    INFO("expected: ", part);
    CHECK(program.error().message.find(part) != std::string::npos);
  }
}

} // namespace

TEST_CASE("an error is reported where the user wrote it") {
  check_compile("#line 41 \"user.cu\"\n__global__ void k(int *x) {\n  x[0] = y;\n}",
                Kind::CompileFailed, {"user.cu:42", "undeclared identifier 'y'"});
  check_compile("__global__ void other() {}", Kind::CompileFailed, {"kernel name 'k'"});
  check_compile("__global__ void k(int *x) {", Kind::CompileFailed, {"expected '}'"});
  check_compile("void helper() {}\n__global__ void k(int *x) { helper(); }", Kind::CompileFailed,
                {"line 2", "__host__ function"});
}

TEST_CASE("warnings go to the log of the report") {
  Bench bench;
  auto program = bench.compile("#warning look here\n__global__ void k() {}", "k");
  REQUIRE(message(program) == "");
  CHECK((*program)->reports()[0].log.find("look here") != std::string::npos);
  CHECK((*program)->reports()[0].compile_ms > 0);
}

TEST_CASE("integer types that a slice writes out for NVRTC are those of this backend") {
  Bench bench;
  const auto program = bench.compile(R"(
#ifdef __CUDACC_RTC__
typedef signed char int8_t; typedef unsigned char uint8_t; typedef short int16_t; typedef unsigned short uint16_t;
typedef int int32_t; typedef unsigned int uint32_t; typedef long long int64_t; typedef unsigned long long uint64_t;
typedef long long intptr_t; typedef unsigned long long uintptr_t; typedef unsigned int uint; typedef unsigned char uchar;
typedef unsigned short ushort; typedef unsigned long ulong;
#endif
__global__ void k(float *x) { int64_t i = threadIdx.x; x[i] = (uintptr_t)x == 0; }
)",
                                     "k");
  CHECK(message(program) == "");
}

TEST_CASE("what a CPU cannot do is unsupported, with the construct and its line") {
  check_compile(
      "__global__ void k(int *x) {\n  asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(x[0]));\n}",
      Kind::Unsupported, {"inline PTX", "line 2"});
  check_compile("__global__ void k(float *x) {\n  asm(\"ex2.approx.f16 %0, %1;\" : \"=h\"(x[0]) : "
                "\"h\"(x[1]));\n}",
                Kind::Unsupported, {"inline PTX", "line 2"});
  check_compile(
      "__global__ void k(cudaTextureObject_t t, float *x) {\n  x[0] = tex2D<float>(t, 0, 0);\n}",
      Kind::Unsupported, {"textures", "line 2"});
  check_compile("#include <mma.h>\n__global__ void k() {}", Kind::Unsupported,
                {"tensor cores", "line 1"});
  check_compile("#include <cub/cub.cuh>\n__global__ void k() {}", Kind::Unsupported, {"CUB"});
  check_compile("\n#include <cuda/something_new>\n__global__ void k() {}", Kind::Unsupported,
                {"cuda/something_new", "line 2"});
  check_compile("__global__ void k(long long *x) {\n  x[0] = clock64();\n}", Kind::Unsupported,
                {"clock64()", "line 2"});
  check_compile("__global__ void k(int *x) {\n\n  x[0] = __vadd4(x[1], x[2]);\n}",
                Kind::Unsupported, {"__vadd4", "line 3"});
  check_compile("__global__ void child() {}\n__global__ void k() {\n  child<<<1, 1>>>();\n}",
                Kind::Unsupported, {"dynamic parallelism", "line 3"});
  check_compile("#include <cooperative_groups.h>\n__global__ void k() {\n  "
                "cooperative_groups::this_grid().sync();\n}",
                Kind::Unsupported, {"whole grid", "line 3"});
  check_compile("__global__ void k(int *x) { x[0] = *(int *)malloc(4); }", Kind::Unsupported,
                {"malloc"});
}

TEST_CASE("kernel code cannot call functions of this process") {
  check_compile("extern \"C\" __device__ int system(const char *);\n"
                "__global__ void k(int *x) { x[0] = system(\"true\"); }",
                Kind::Unsupported, {"'system'"});
}

TEST_CASE("files of the machine are not visible") {
  check_compile("#include \"/etc/passwd\"\n__global__ void k() {}", Kind::Unsupported,
                {"/etc/passwd"});
}

TEST_CASE("one program holds several kernels, loops and fibers, that share device functions and "
          "variables") {
  const std::string source = R"(
__device__ int total;
__device__ int index() { return blockIdx.x * blockDim.x + threadIdx.x; }
__global__ void count(int *x) { if (x[index()] > 0) atomicAdd(&total, 1); __syncthreads(); }
__global__ void publish(int *x) { x[index()] = total; })";
  Bench bench;
  auto program = bench.device().compile({source, {}, {"count", "publish"}});
  REQUIRE(message(program) == "");
  DeviceArray<int> x(bench.device(), std::vector<int>(64, 1));
  LaunchOperation operation{program->get(), 0, "count", {2, 1, 1}, {32, 1, 1}, 0, {argument(x)}};
  CHECK(message(bench.device().launch(operation)) == "");
  operation.kernel = 1;
  CHECK(message(bench.device().launch(operation)) == "");
  CHECK(x.values() == std::vector<int>(64, 64));
}
