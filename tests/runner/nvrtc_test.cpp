// NVRTC for real, without a GPU: cubins, lowered names, resource reports, errors, the cache on
// disk. Reported as passed without NVRTC, where the message says that there was none to try.
#include "runner/cuda/compiler.h"
#include "runner/cuda/kernel_parts.h"
#include "runner/cuda/tensor_kernels.h"
#include "runner/verify/checker.h"
#include "tests/runner/tasks.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace warpwright::runner::cuda {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Compiler> compiler(std::shared_ptr<CompileCache> cache = nullptr,
                                   int capability = 90) {
  auto made = Compiler::make({capability, std::move(cache)});
  if (!made)
    MESSAGE(describe(made.error()));
  return made ? std::move(*made) : nullptr;
}

TEST_CASE("a template is compiled for Hopper, with its lowered name and its resources") {
  const auto nvrtc = compiler();
  if (!nvrtc)
    return;
  const auto output = nvrtc->compile({R"(
template <class T, int N> __global__ void reduce(const T *x, T *y) {
  __shared__ T block[N];
  block[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = block[N - 1 - threadIdx.x];
}
__global__ void plain(float *y) { y[0] = 1; })",
                                      {},
                                      {"reduce<float, 256>", "plain"}});
  REQUIRE_MESSAGE(output.has_value(), (output ? "" : output.error().log));
  CHECK(output->code.cubin.substr(1, 3) == "ELF");
  CHECK(output->code.lowered_names[0].starts_with("_Z"));
  REQUIRE(output->reports.size() == 2);
  CHECK(output->reports[0].kernel == "reduce<float, 256>");
  CHECK(output->reports[0].static_shared_bytes == 1024);
  CHECK(output->reports[0].registers.value_or(0) > 0);
  CHECK(output->reports[0].spill_store_bytes == 0);
  CHECK(output->reports[1].static_shared_bytes == 0);
  CHECK(output->reports[0].compile_ms > 0);
  CHECK(output->reports[0].log == "");
}

TEST_CASE("the storage class register of old sources compiles, as with nvcc") {
  const auto nvrtc = compiler();
  if (!nvrtc)
    return;
  const auto output = nvrtc->compile(
      {"__global__ void twice(float *x) { register float a = x[0]; x[0] = a + a; }", {}, {"twice"}});
  CHECK_MESSAGE(output.has_value(), (output ? "" : output.error().log));
}

TEST_CASE(
    "the runner's own kernels compile, and so do the toolkit's headers and Hopper's instructions") {
  const auto nvrtc = compiler();
  if (!nvrtc)
    return;
  const auto own = nvrtc->compile({kDeviceKernels,
                                   {"-std=c++17", "--fmad=false"},
                                   {"ww_generate", "ww_count_changed", "ww_survey", "ww_compare",
                                    "ww_check_guards", "ww_check_copies"}});
  CHECK_MESSAGE(own.has_value(), (own ? "" : own.error().log));
  if (nvrtc->toolkit().include_dirs.empty())
    return;
  const auto half = nvrtc->compile({"#include <cuda_fp16.h>\n#include <mma.h>\nextern \"C\" "
                                    "__global__ void k(__half *x) { x[0] = __hadd(x[1], x[2]); "
                                    "asm volatile(\"wgmma.fence.sync.aligned;\"); }",
                                    {},
                                    {"k"}});
  CHECK_MESSAGE(half.has_value(), (half ? "" : half.error().log));
}

TEST_CASE("errors name the line, an unknown kernel its name") {
  const auto nvrtc = compiler();
  if (!nvrtc)
    return;
  const auto broken =
      nvrtc->compile({"__global__ void k(float *x) {\n  x[0] = nothing;\n}", {}, {"k"}});
  REQUIRE(!broken.has_value());
  CHECK(broken.error().kind == Fault::Kind::CompileFailed);
  CHECK(broken.error().message.find("line 2") != std::string::npos);
  CHECK(broken.error().message.find("nothing") != std::string::npos);
  CHECK(broken.error().log.find("identifier") != std::string::npos);
  const auto unknown = nvrtc->compile({"__global__ void k(float *x) {}", {}, {"other"}});
  REQUIRE(!unknown.has_value());
  CHECK(unknown.error().message.find("other") != std::string::npos);
  const auto directive = nvrtc->compile(
      {"#line 40 \"user.cu\"\n__global__ void k(float *x) { x[0] = nothing; }", {}, {"k"}});
  REQUIRE(!directive.has_value());
  CHECK(directive.error().message.find("user.cu(40)") != std::string::npos);
}

/// A folder with a file of secrets above and beside the working directory, which it is meanwhile.
struct FolderWithSecrets {
  fs::path before = fs::current_path(), root;
  FolderWithSecrets() {
    char name[] = "/tmp/warpwright-test-XXXXXX";
    root = mkdtemp(name);
    fs::create_directories(root / "below" / "work");
    for (const char *place : {"token", "below/token", "below/work/token"})
      std::ofstream(root / place) << "sesame_open_up 1\n";
    fs::current_path(root / "below" / "work");
  }
  ~FolderWithSecrets() {
    fs::current_path(before);
    fs::remove_all(root);
  }
};

TEST_CASE("a source reads no file of the runner's, and no log quotes one") {
  const FolderWithSecrets folder;
  const auto nvrtc = compiler();
  if (!nvrtc)
    return;
  const std::string kernel = "\nextern \"C\" __global__ void k() {}\n";
  const std::string absolute = (folder.root / "token").string();
  // Absolute and climbing names are refused with the plan (check_includes()); should one pass, nothing of it is told.
  for (const std::string &source : {
           "#include \"token\"" + kernel,
           "#include \"../token\"" + kernel,
           "#include \"../../token\"" + kernel,
           "#line 1 \"" + (fs::current_path() / "kernel.cu").string() + "\"\n#include \"token\"" +
               kernel,
           "#include \"" + absolute + "\"" + kernel,
           "#include <" + absolute + ">" + kernel,
           "#define FILE \"" + absolute + "\"\n#include FILE" + kernel,
           "#pragma GCC dependency \"token\"\n#embed \"token\"" + kernel,
           "#if __has_include(\"token\")\n#error sesame_open_up is there\n#endif\n#error" + kernel,
           "extern \"C\" __global__ void k() { asm volatile(\".include \\\"" + absolute +
               "\\\"\"); }",
           "extern \"C\" __global__ void k() { asm volatile(\".incbin \\\"" + absolute +
               "\\\"\"); }",
       }) {
    CAPTURE(source);
    const auto output = nvrtc->compile({source, {}, {"k"}});
    REQUIRE(!output.has_value());
    CHECK(output.error().log.find("open_up 1") == std::string::npos);
    CHECK(output.error().log.find("sesame_open_up\"") == std::string::npos);
    CHECK(output.error().log.find("error") != std::string::npos);
    CHECK(output.error().message.find("sesame") == std::string::npos);
  }
}

TEST_CASE("diagnostics of the source and of the toolkit stay in the log, those of other files go") {
  const std::string source = "#line 7 \"user.cu\"\n  code\n";
  const std::string log = "kernel.cu(1): error: one\n  code\n  ^\n\n"
                          "user.cu(7): warning #12-D: two\n  more\n  ^\n\n"
                          "/toolkit/include/a.h(3): error: three\n  public\n  ^\n\n"
                          "/toolkit/include/../b(1): error: four\n  secret\n  ^\n\n"
                          "/etc/x(1): error: five \"secret\"\n  secret\n  ^\n\n"
                          "a(b): error: in(2): error: six \"secret\"\n\n"
                          "2 errors detected.\n";
  const std::string kept = without_foreign_files(log, source, {"/toolkit/include"});
  for (const char *there : {"one\n  code", "two\n  more", "three\n  public", "2 errors detected.\n"})
    CHECK_MESSAGE(kept.find(there) != std::string::npos, there);
  for (const char *gone : {"secret", "/etc/x", "four", "five", "six"})
    CHECK_MESSAGE(kept.find(gone) == std::string::npos, gone);
}

TEST_CASE("the cache gives the same code back, and is keyed by options") {
  const auto cache = std::make_shared<MemoryCache>();
  const auto nvrtc = compiler(cache);
  if (!nvrtc)
    return;
  const CompileRequest request{
      "extern \"C\" __global__ void k(float *x) { x[threadIdx.x] = VALUE; }", {"-DVALUE=1"}, {"k"}};
  const auto first = nvrtc->compile(request), second = nvrtc->compile(request);
  REQUIRE((first.has_value() && second.has_value()));
  CHECK(first->code.cubin == second->code.cubin);
  CHECK(first->code.compile_ms == second->code.compile_ms); // it was not compiled again
  CHECK(first->reports == second->reports);
  CompileRequest other = request;
  other.options = {"-DVALUE=2"};
  REQUIRE(nvrtc->compile(other).has_value());
  CHECK(cache->entries.size() == 2);
}

/// Two kernels with their own numbers, as the plan builder writes them.
CompileRequest two_kernels(const std::string &first, const std::string &second) {
  return {"#ifndef WARPWRIGHT_SCALE\n#define WARPWRIGHT_SCALE\n"
          "template <class T> struct Scale { T by; __device__ T of(T x) const { return x * by; } };\n#endif\n"
          "#define TWICE(x) " + first + "_double(x)\n"
          "__device__ float " + first + "_double(float x) { return x + x; } // of the first\n"
          "extern \"C\" __global__ void " + first + "(float *x) { x[threadIdx.x] = TWICE(x[threadIdx.x]); }\n"
          "__device__ float " + second + "_half(float x) { return Scale<float>{0.5f}.of(x); }\n"
          "extern \"C\" __global__ void __launch_bounds__(256) " + second +
              "(float *x) {\n#pragma unroll\n  for (int i = 0; i < 2; ++i)\n    x[i] = " + second + "_half(x[i]);\n}\n",
          {}, {first, second}, true};
}

TEST_CASE("kernels are divided with what they name, and count their numbers anew") {
  const CompileRequest request = two_kernels("k3_map", "k11_map");
  const auto parts = kernel_parts(request.source, request.kernels);
  REQUIRE(parts.has_value());
  REQUIRE(parts->size() == 2);
  CHECK((*parts)[0].kernel == "k0_map");
  CHECK((*parts)[0].source ==
        "#define TWICE(x) k0_map_double(x)\n"
        "__device__ float k0_map_double(float x) { return x + x; }\n"
        "extern \"C\" __global__ void k0_map(float *x) { x[threadIdx.x] = TWICE(x[threadIdx.x]); }\n");
  CHECK((*parts)[1].source.starts_with("template <class T> struct Scale"));
  CHECK((*parts)[1].source.contains("k0_map_half"));
  CHECK(!(*parts)[1].source.contains("double"));
  const CompileRequest renumbered = two_kernels("k5_map", "k4_map");
  CHECK(kernel_parts(renumbered.source, renumbered.kernels)->front().source == (*parts)[0].source);
}

TEST_CASE("a source whose kernels share a variable, or that the scanner cannot follow, is not divided") {
  const std::string kernel = "extern \"C\" __global__ void k(int *x) { x[0] = 1; }\n";
  REQUIRE(kernel_parts(kernel, {"k"}).has_value());
  CHECK(kernel_parts("__constant__ int table[] = {1, 2};\n" + kernel, {"k"})->front().source == kernel);
  CHECK(!kernel_parts(kernel, {"other"}).has_value());
  for (const std::string shared : {"__device__ int count;", "__device__ int count = 3;", "static __device__ float table[4];",
                                   "template <int N> __device__ int slots[N];", "__managed__ int *place{};"})
    CHECK_MESSAGE(!kernel_parts(shared + "\n" + kernel, {"k"}).has_value(), shared);
  for (const std::string unclear : {"const char *text = R\"(})\";", "int f() { return 1;", "} int x;"})
    CHECK_MESSAGE(!kernel_parts(unclear + "\n" + kernel, {"k"}).has_value(), unclear);
}

TEST_CASE("conditionals stay where something in them does, with overloads, specialisations and static assertions") {
  const std::string source = R"(#if defined(FAST)
__device__ float f(float x) { return x; }
#else
__device__ float f(float x) { return x + 1'000; }
#endif
__device__ int f(int x) { return x; }
template <class T> struct Kind { static constexpr int value = 0; };
template <> struct Kind<float> { static constexpr int value = 1; };
struct alignas(16) Four { float v[4]; };
__device__ Four operator+(Four a, Four) { return a; }
static_assert(sizeof(int) == 4, "ints; of four bytes");
#if 0
__device__ void unused() {}
#endif
extern "C" __global__ void k(float *x) { x[0] = f(x[0]) + Kind<float>::value; }
)";
  const auto parts = kernel_parts(source, {"k"});
  REQUIRE(parts.has_value());
  std::string wanted = source;
  wanted.erase(wanted.find("#if 0"), wanted.find("extern") - wanted.find("#if 0"));
  CHECK(parts->front().source == wanted);
}

TEST_CASE("separable kernels are compiled one by one, and another plan takes them from the cache") {
  const auto cache = std::make_shared<MemoryCache>();
  const auto nvrtc = compiler(cache);
  if (!nvrtc)
    return;
  const auto first = nvrtc->compile_kernels(two_kernels("k3_map", "k11_map"));
  REQUIRE_MESSAGE(first.has_value(), (first ? "" : first.error().log));
  CHECK(first->modules.size() == 2);
  CHECK(first->module_of == std::vector<std::size_t>{0, 1});
  CHECK(first->symbols == std::vector<std::string>{"k0_map", "k0_map"});
  CHECK(first->reports[1].kernel == "k11_map");
  CHECK(first->reports[1].registers.value_or(0) > 0);
  const auto second = nvrtc->compile_kernels(two_kernels("k5_map", "k4_map"));
  REQUIRE(second.has_value());
  CHECK(cache->entries.size() == 2);
  CHECK(second->modules[1].cubin == first->modules[1].cubin);
  CompileRequest whole = two_kernels("k3_map", "k11_map");
  whole.separable = false;
  CHECK(nvrtc->compile_kernels(whole)->modules.size() == 1);
  CHECK(cache->entries.size() == 3);
  // An error names the line of the whole source, not of a part.
  CompileRequest wrong = two_kernels("k3_map", "k11_map");
  wrong.source += "extern \"C\" __global__ void k12_map(float *x) { missing(x); }\n";
  wrong.kernels.push_back("k12_map");
  const auto refused = nvrtc->compile_kernels(wrong);
  REQUIRE(!refused.has_value());
  CHECK(refused.error().message.contains("line 14"));
}

TEST_CASE("compiled code survives the way to the service and back, and what is none is refused") {
  for (const std::string &cubin : {std::string(), std::string("\0\xff" "a", 3), std::string(1000, '\x7f')}) {
    const CompiledCode code{cubin, {"_Z1k"}, "log\n", 1.5};
    const auto back = compiled_code_from_json(nlohmann::json::parse(to_json(code).dump()));
    REQUIRE(back.has_value());
    CHECK(back->cubin == cubin);
    CHECK(back->lowered_names == code.lowered_names);
    CHECK(back->log == code.log);
    CHECK(back->compile_ms == code.compile_ms);
  }
  for (const char *bad : {"null", "{}", R"({"cubin":"*","lowered_names":[],"log":"","compile_ms":1})",
                          R"({"cubin":"","lowered_names":[1],"log":"","compile_ms":1})"})
    CHECK_MESSAGE(!compiled_code_from_json(nlohmann::json::parse(bad)).has_value(), bad);
}

TEST_CASE("the tensor kernels compile without a spill for every GPU that has one") {
  for (int capability : {80, 86, 89, 90, 120})
    for (TensorType type : {TensorType::Tf32, TensorType::Bf16}) {
      CAPTURE(capability);
      const auto kernel = tensor_kernel(capability, type);
      REQUIRE(kernel);
      const auto nvrtc = compiler(nullptr, capability);
      if (!nvrtc)
        return;
      const auto output = nvrtc->compile({kernel->source, {}, {kernel->name}});
      REQUIRE_MESSAGE(output.has_value(), (output ? "" : output.error().log));
      CHECK(output->reports[0].spill_store_bytes == 0);
      // wgmma without waits between: ptxas warns where it has to serialise them.
      CHECK(output->code.log.find("serializ") == std::string::npos);
      CHECK(output->reports[0].registers.value_or(0) > 32);
    }
  CHECK(!tensor_kernel(75, TensorType::Bf16));
  CHECK(!tensor_kernel(100, TensorType::Bf16)); // tcgen05 alone reaches its tensor cores
}

TEST_CASE("device code cannot start kernels of its own, so nothing outlives the last event") {
  const auto nvrtc = compiler();
  if (!nvrtc)
    return;
  const std::string child = "__global__ void child(float *x) { x[0] = 1; }\n";
  const auto launch =
      nvrtc->compile({child + "__global__ void k(float *x) { child<<<1, 1>>>(x); }", {}, {"k"}});
  REQUIRE(!launch.has_value());
  CHECK(launch.error().kind == Fault::Kind::CompileFailed);
  MESSAGE(launch.error().message);
  if (!nvrtc->toolkit()
           .include_dirs.empty()) { // with the declarations it would have to be relocatable
    const auto declared = nvrtc->compile({"#include <cuda_device_runtime_api.h>\n" + child +
                                              "__global__ void k(float *x) { child<<<1, 1>>>(x); }",
                                          {},
                                          {"k"}});
    REQUIRE(!declared.has_value());
    MESSAGE(declared.error().message);
  }
  // Nor by the functions that the syntax stands for, which live in a library that is never linked.
  const auto by_hand = nvrtc->compile(
      {child + "extern \"C\" __device__ void *cudaGetParameterBufferV2(void *, dim3, dim3, "
               "unsigned);\nextern \"C\" __device__ int cudaLaunchDeviceV2(void *, void *);\n"
               "__global__ void k(float *x) { void *p = cudaGetParameterBufferV2((void *)child, "
               "dim3(1), dim3(1), 0); *(float **)p = x; cudaLaunchDeviceV2(p, nullptr); }",
       {},
       {"k"}});
  REQUIRE(!by_hand.has_value());
  MESSAGE(by_hand.error().log);
}

TEST_CASE("ptxas's report is read kernel by kernel") {
  const std::string log = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z1aPf' for 'sm_90a'
ptxas info    : Function properties for _Z1aPf
    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 16 bytes cumulative stack size, 4096 bytes smem
ptxas info    : Compiling entry function '_Z2aaPf' for 'sm_90a'
ptxas info    : Function properties for _Z2aaPf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 0 barriers
)";
  model::CompileReport a, aa, none;
  read_ptxas_report(log, "_Z1aPf", a);
  read_ptxas_report(log, "_Z2aaPf", aa);
  read_ptxas_report(log, "_Z3aaaPf", none);
  CHECK((a.registers == 40 && a.local_bytes == 16 && a.spill_store_bytes == 8 &&
         a.spill_load_bytes == 12 && a.static_shared_bytes == 4096));
  CHECK((aa.registers == 10 && aa.spill_store_bytes == 0 && aa.static_shared_bytes == 0));
  CHECK(!none.registers);
}

} // namespace
} // namespace warpwright::runner::cuda
