// What kernels do wrong is found, and said so that one can act on it.
#include "tests/runner/cpu_fixture.h"

using namespace warpwright::runner;
using namespace warpwright::runner::cpu_test;
using Kind = Fault::Kind;

TEST_CASE("a missing barrier gives another result in one of the two thread orders") {
  const std::string source = R"(
__global__ void shift(int *out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = threadIdx.x > 0 ? s[threadIdx.x - 1] : 0;
})";
  Bench bench;
  DeviceArray<int> out(bench.device(), std::vector<int>(64));
  std::vector<std::vector<int>> results;
  for (ThreadOrder order : {ThreadOrder::Forward, ThreadOrder::Reverse}) {
    bench.device().set_thread_order(order);
    REQUIRE(message(bench.run(source, "shift", {{1}, {64}}, out)) == "");
    results.push_back(out.values());
  }
  CHECK(results[0] != results[1]);
}

TEST_CASE("shared memory is poisoned between blocks") {
  const std::string source = R"(
__global__ void stale(int *out) {
  __shared__ int s[32];
  if (blockIdx.x == 0) s[threadIdx.x] = 5;
  out[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
})";
  Bench bench;
  DeviceArray<int> out(bench.device(), std::vector<int>(64));
  CHECK(message(bench.run(source, "stale", {{2}, {32}}, out)) == "");
  CHECK(out.values()[0] == 5);
  CHECK(out.values()[40] == 0x7B7B7B7B);
}

TEST_CASE("reads and writes out of bounds are named") {
  Bench bench;
  const std::string write = "__global__ void k(float *x, int i) { x[i] = 1; }";
  const std::string read = "__global__ void k(float *x, int i) { x[0] = x[i]; }";
  DeviceArray<float> x(bench.device(), std::vector<float>(100));
  bench.device().set_name(x.address(), x.size_bytes(), "x");
  check_fault(bench.run(write, "k", {{3}}, x, 100), Kind::Crash,
              {"illegal write just past the end of 'x' (400 bytes)", "block (0,0,0)"});
  check_fault(bench.run(read, "k", {{3}}, x, 105), Kind::Crash,
              {"illegal read 20 bytes past the end of 'x'"});
  auto far = bench.run(read, "k", {{3}}, x, 4'000'000);
  check_fault(far, Kind::Crash, {"past the end of 'x'"});
  CHECK(far.error().device_lost);
  check_fault(bench.run("__global__ void k(float *x) { float *p = (float *)x[0]; }", "k", {}, x),
              Kind::CompileFailed, {"line 1"});
}

TEST_CASE("the thread of a fiber kernel is named too") {
  Bench bench;
  DeviceArray<float> x(bench.device(), std::vector<float>(64));
  check_fault(bench.run("__global__ void k(float *x) { __syncthreads(); x[threadIdx.x + 2] = 1; }",
                        "k", {{1}, {64}}, x),
              Kind::Crash, {"illegal write", "thread (62,0,0) in block (0,0,0)"});
}

TEST_CASE("misaligned vector accesses fail as on a GPU") {
  const std::string source = R"(
__global__ void k(float *x, int offset) {
  float4 v = *reinterpret_cast<float4 *>(x + offset);
  v.x += 1;
  *reinterpret_cast<float4 *>(x + offset) = v;
})";
  Bench bench;
  DeviceArray<float> x(bench.device(), std::vector<float>(64));
  CHECK(message(bench.run(source, "k", {}, x, 4)) == "");
  CHECK(x.values()[4] == 1);
  auto result = bench.run(source, "k", {}, x, 5);
  check_fault(result, Kind::Crash,
              {"misaligned address", "multiple of 16 bytes", "4 bytes past", "line 3"});
  CHECK_FALSE(result.error().device_lost);
  check_fault(bench.run("__global__ void k(float *x) { *reinterpret_cast<double *>(x + 1) = 1; }",
                        "k", {}, x),
              Kind::Crash, {"misaligned address", "double"});
}

TEST_CASE("static shared arrays are bounded") {
  const std::string source = R"(
__global__ void k(int *out, int i) {
  __shared__ int s[16];
  s[i] = 1;
  out[0] = s[0];
})";
  Bench bench;
  DeviceArray<int> out(bench.device(), {0});
  CHECK(message(bench.run(source, "k", {}, out, 15)) == "");
  check_fault(bench.run(source, "k", {}, out, 16), Kind::Crash,
              {"index 16 is out of bounds", "int[16]", "line 4"});
  check_fault(bench.run(source, "k", {}, out, -1), Kind::Crash, {"index -1 is out of bounds"});
}

TEST_CASE("dynamic shared memory is bounded") {
  const std::string source = R"(
__global__ void k(int *out, int i) {
  extern __shared__ int s[];
  s[i] = 1;
  out[0] = s[i];
})";
  Bench bench;
  DeviceArray<int> out(bench.device(), {0});
  CHECK(message(bench.run(source, "k", {{}, {}, 64}, out, 15)) == "");
  check_fault(bench.run(source, "k", {{}, {}, 64}, out, 16), Kind::Crash,
              {"past the end of dynamic shared memory (64 bytes)"});
}

TEST_CASE("deadlocks name who waits where for whom") {
  const std::string source = R"(
__global__ void k(int *out) {
  if (threadIdx.x < 16)
    out[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 0);
  else if (threadIdx.x < 20)
    return;
  else
    __syncthreads();
})";
  Bench bench;
  DeviceArray<int> out(bench.device(), std::vector<int>(32));
  check_fault(bench.run(source, "k", {{1}, {32}}, out), Kind::Crash,
              {"deadlock in block (0,0,0)",
               "thread (0,0,0) waits at __shfl_sync with mask 0xffffffff",
               "thread (20,0,0) of the same warp waits at __syncthreads (line 8)",
               "4 threads have exited"});
}

TEST_CASE("a warp that waits at two barriers is divergent") {
  const std::string source = R"(
__global__ void k(int *out) {
  if (threadIdx.x % 2) {
    out[threadIdx.x] = 1;
    __syncthreads();
  } else {
    __syncthreads();
  }
})";
  Bench bench;
  DeviceArray<int> out(bench.device(), std::vector<int>(64));
  check_fault(bench.run(source, "k", {{1}, {64}}, out), Kind::Crash,
              {"barrier in divergent code", "line 7", "line 5"});
}

TEST_CASE("division by zero, failed assertions and traps have their line") {
  Bench bench;
  DeviceArray<int> out(bench.device(), {0});
  check_fault(
      bench.run("__global__ void k(int *out, int n) {\n  out[0] = 7 / n;\n}", "k", {}, out, 0),
      Kind::Crash, {"integer division by zero", "line 2"});
  check_fault(
      bench.run("#include <cassert>\n__global__ void k(int *out, int n) {\n  assert(n > 0);\n}",
                "k", {}, out, 0),
      Kind::Crash, {"assertion failed: n > 0", "line 3"});
  check_fault(
      bench.run("__global__ void k(int *out, int n) { if (!n) __trap(); }", "k", {}, out, 0),
      Kind::Crash, {"__trap()"});
}

TEST_CASE("a kernel that does not end meets the deadline, and the device goes on") {
  Bench bench;
  DeviceArray<int> out(bench.device(), {0});
  for (const char *source :
       {"__global__ void k(volatile int *out) { while (out[0] == 0) {} }",
        "__global__ void k(volatile int *out) { __syncthreads(); while (out[0] == 0) {} }"}) {
    bench.device().set_deadline(std::chrono::steady_clock::now() + std::chrono::milliseconds(300));
    auto result = bench.run(source, "k", {{1}, {64}}, out);
    check_fault(result, Kind::Timeout, {"did not end before the deadline"});
    CHECK_FALSE(result.error().device_lost);
  }
  bench.device().set_deadline(std::chrono::steady_clock::now()); // passed when the kernel starts
  check_fault(
      bench.run("__global__ void k(volatile int *out) { while (out[0] == 0) {} }", "k", {}, out),
      Kind::Timeout, {});
  bench.device().set_deadline(std::chrono::steady_clock::now() + std::chrono::seconds(20));
  CHECK(message(bench.run("__global__ void k(int *out) { out[0] = 3; }", "k", {}, out)) == "");
  CHECK(out.values()[0] == 3);
}

TEST_CASE("endless recursion is a stack overflow, not the end of the process") {
  Bench bench;
  DeviceArray<int> out(bench.device(), {0});
  const std::string source = R"(
__device__ __noinline__ int deep(volatile int *out, int n) { volatile int a[64]; a[n & 63] = n; return n < 0 ? 0 : deep(out, n + 1) + a[n & 63]; }
__global__ void k(int *out) { __syncthreads(); out[0] = deep(out, 1); })";
  check_fault(bench.run(source, "k", {}, out), Kind::Crash, {"below the thread's stack"});
}

TEST_CASE("no job gets all of the machine's memory") {
  Bench bench;
  const auto refused = bench.device().allocate(std::size_t{1} << 46);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().kind == Fault::Kind::OutOfMemory);
  INFO(refused.error().message);
  CHECK(refused.error().message.find("at most") != std::string::npos);
  const auto granted = bench.device().allocate(kAlignment);
  REQUIRE(granted.has_value());
  bench.device().free(*granted);
}

TEST_CASE("blocks that wait for each other are not run one after the other") {
  Bench bench;
  DeviceArray<int> out(bench.device(), {0});
  const std::string source = "__global__ void k(volatile int *out) { atomicAdd((int *)out, 1); "
                             "while (out[0] < gridDim.x) {} }";
  check_fault(bench.run(source, "k", {{2, 3}, {1}, 0, true}, out), Kind::Unsupported,
              {"'k' needs 6 resident blocks", "one block after the other"});
  CHECK(bench.run(source, "k", {{1}, {1}, 0, true}, out).has_value());
}

TEST_CASE("launches are refused as CUDA refuses them") {
  const std::string source =
      "__global__ void k(int *out, int n) { extern __shared__ int s[]; out[0] = n; }";
  Bench bench;
  DeviceArray<int> out(bench.device(), {0});
  check_fault(bench.run(source, "k", {{1}, {2048}}, out, 1), Kind::BadLaunch, {"block (2048,1,1)"});
  check_fault(bench.run(source, "k", {{0}, {32}}, out, 1), Kind::BadLaunch, {"no threads"});
  check_fault(bench.run(source, "k", {{1, 70'000}, {32}}, out, 1), Kind::BadLaunch,
              {"grid (1,70000,1)"});
  check_fault(bench.run(source, "k", {{1}, {32}, 300'000}, out, 1), Kind::BadLaunch,
              {"too many resources", "300000 bytes"});
  check_fault(bench.run(source, "k", {{1}, {32}}, out), Kind::BadLaunch,
              {"takes 2 arguments, the launch passes 1"});
  check_fault(bench.run(source, "k", {{1}, {32}}, out, out), Kind::BadLaunch,
              {"argument 2 has 8 bytes, the parameter 4"});
  check_fault(bench.run("__global__ void k(int *out, int n) { __shared__ int s[20000]; s[n] = n; "
                        "out[0] = s[n]; }",
                        "k", {{1}, {32}}, out, 1),
              Kind::CompileFailed, {"too much shared data: 80000 bytes"});
}
