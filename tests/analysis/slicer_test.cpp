// Slices of varied kernels: what must be in them, what must not, and that the real NVRTC compiles
// them.
#include "analysis/analyze.h"
#include "nvrtc_probe.h"

#include <doctest/doctest.h>

namespace warpwright::analysis {
namespace {

Result<std::string> slice(const std::string &source, const std::string &kernel,
                          ParseSettings settings = {}) {
  auto unit = parse_stub({"/test/sliced.cu", source}, settings);
  REQUIRE(unit);
  clang::FunctionDecl *found = (*unit)->find_kernel(kernel);
  REQUIRE_MESSAGE(found, "no kernel " << kernel);
  return slice_kernel(**unit, *found);
}

/// The slice holds every text of `expected`, none of `unexpected`, and compiles.
void check(const std::string &source, const std::string &kernel,
           const std::vector<std::string> &expected,
           const std::vector<std::string> &unexpected = {},
           const std::vector<std::string> &names = {}) {
  const Result<std::string> text = slice(source, kernel);
  REQUIRE_MESSAGE(text, (text ? "" : describe(text.error())));
  for (const std::string &part : expected)
    CHECK_MESSAGE(text->contains(part), "missing: " << part << "\n" << *text);
  for (const std::string &part : unexpected)
    CHECK_MESSAGE(!text->contains(part), "must not hold: " << part << "\n" << *text);
  if (const auto errors = tests::nvrtc_errors(*text, names))
    CHECK_MESSAGE(errors->empty(), *errors);
  else
    MESSAGE("NVRTC not found: compilation skipped");
}

constexpr const char *kMain = R"(
int main() { float *x; cudaMalloc(&x, 4); return 0; }
)";

TEST_CASE("a slice holds the kernel and its line, and no host code") {
  check(std::string("#include <cstdio>\n\n__global__ void k(float *x) { x[0] = 1.0f; }\n") + kMain,
        "k", {"#line 3 \"sliced.cu\"", "__global__ void k"}, {"main", "cstdio", "cudaMalloc"});
}

TEST_CASE("macros that are used come along, in order, with the condition around them") {
  check(R"(
#define UNUSED 7
#ifdef WIDE
#define TILE 32
#else
#define TILE 16
#endif
#define AREA(t) ((t) * TILE)
#define CHECK_CUDA(call) do { if ((call) != 0) exit(1); } while (0)
__global__ void k(float *x) { __shared__ float s[AREA(TILE)]; s[threadIdx.x] = x[threadIdx.x]; x[0] = s[1]; }
)",
        "k", {"#ifdef WIDE\n#define TILE 32\n#else\n#define TILE 16\n#endif", "#define AREA"},
        {"UNUSED", "CHECK_CUDA"});
}

TEST_CASE("device functions, overloads and forward declarations come along") {
  check(R"(
__device__ float twice(float v);
__device__ int twice(int v) { return 2 * v; }
float host(float v) { return v; }
__device__ float twice(float v) { return v + v; }
__global__ void k(float *x, int *i) { x[0] = twice(x[0]); i[0] = twice(i[0]); }
)",
        "k", {"__device__ float twice(float v);", "int twice(int v)", "return v + v"}, {"host"});
}

TEST_CASE("other kernels of the same name stay behind") {
  check(R"(
__global__ void add(int *x, int n);
__global__ void add(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 1.0f; }
__global__ void add(int *x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 2; }
)",
        "add", {"+= 1.0f"}, {"+= 2", "int *x"});
}

TEST_CASE("templates stay templates") {
  check(R"(
template <typename T> struct Sum { __device__ T operator()(T a, T b) const { return a + b; } };
template <typename T, int N, template <typename> class Op>
__device__ T fold(const T *v) { T r = v[0]; for (int i = 1; i < N; ++i) r = Op<T>()(r, v[i]); return r; }
template <typename T, int N>
__global__ void reduce(const T *x, T *y) { y[threadIdx.x] = fold<T, N, Sum>(x + threadIdx.x * N); }
void launch(const float *x, float *y) { reduce<float, 8><<<1, 32>>>(x, y); }
)",
        "reduce", {"template <typename T> struct Sum", "template <typename T, int N>\n__global__"},
        {"launch"}, {"reduce<float, 8>", "reduce<double, 3>"});
}

TEST_CASE("structs with unannotated members are made usable by the device") {
  check(R"(
struct Point { float x, y; Point() : x(0), y(0) {} Point(float a, float b) : x(a), y(b) {}
  float length() const { return x * x + y * y; } Point &operator+=(const Point &o) { x += o.x; return *this; } };
constexpr int square(int v) { return v * v; }
__global__ void k(Point *p, float *out) { Point q(1.0f, 2.0f); q += p[threadIdx.x]; out[threadIdx.x] = q.length() + square(3); }
)",
        "k", {"__host__ __device__ float length", "__host__ __device__ constexpr int square"});
}

TEST_CASE("constants, enums, typedefs and aliases come along") {
  check(R"(
#include <cstdint>
enum class Mode : int { Add, Multiply };
enum Flags { kFast = 1, kSlow = 2 };
typedef unsigned int index_t;
using value_t = float;
constexpr int kWidth = 8, kHeight = 4;
const float kScale = 0.5f;
static const int kUnused = 3;
std::vector<float> host_data;
__global__ void k(value_t *x, Mode mode, int flags, uint8_t *bytes) {
  index_t i = threadIdx.x; if (flags & kFast) x[i] = mode == Mode::Add ? x[i] + kScale : x[i] * kWidth * kHeight; bytes[i] = 255;
}
)",
        "k",
        {"enum class Mode", "kSlow", "typedef unsigned int index_t", "using value_t", "kHeight = 4",
         "kScale"},
        {"kUnused", "host_data"});
}

TEST_CASE("__constant__ arrays get contents and dynamic shared memory stays") {
  check(R"(
#define RADIUS 2
__constant__ float filter[2 * RADIUS + 1];
__constant__ float ready[2] = {1.0f, 2.0f};
__device__ int counter;
__global__ void k(const float *x, float *y) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = x[threadIdx.x]; __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x] * filter[RADIUS] + ready[1]; atomicAdd(&counter, 1);
}
)",
        "k",
        {"filter[2 * RADIUS + 1] = {", "ready[2] = {1.0f, 2.0f};",
         "extern __shared__ float tile[];", "__device__ int counter;"});
}

TEST_CASE("namespaces are kept, and using directives that matter") {
  check(R"(
namespace math { namespace detail { __device__ inline float half_of(float v) { return v * 0.5f; } }
__device__ float quarter(float v) { return detail::half_of(detail::half_of(v)); } void host(); }
namespace { __device__ float eighth(float v) { return math::quarter(v) * 0.5f; } }
using namespace math;
namespace app { __global__ void k(float *x) { x[0] = quarter(x[0]) + eighth(x[1]); } }
)",
        "app::k", {"namespace math {\nnamespace detail {", "using namespace math;"}, {"host"},
        {"app::k"});
}

TEST_CASE("device lambdas, loops over initialised arrays and nested types compile") {
  check(R"(
template <class F> __device__ float apply(F f, float v) { return f(v); }
struct Outer { struct Inner { float v; }; Inner inner[2]; };
__global__ void k(float *x, Outer o) {
  auto add = [=] (float v) { return v + o.inner[1].v; };
  const float weights[3] = {0.25f, 0.5f, 0.25f};
  float sum = 0; for (float w : weights) sum += w * apply(add, x[threadIdx.x]);
  x[threadIdx.x] = sum;
}
)",
        "k", {"struct Outer", "apply"});
}

TEST_CASE("half and bfloat16 bring their headers") {
  check(R"(
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cooperative_groups.h>
__global__ void k(const __half *x, __half *y, int n) { int i = threadIdx.x; if (i < n) y[i] = __hadd(x[i], __float2half(1.0f)); }
__global__ void b(const __nv_bfloat16 *x, float *y) { y[0] = __bfloat162float(x[0]); }
)",
        "k", {"#include <cuda_fp16.h>"}, {"cuda_bf16", "cooperative_groups"});
}

TEST_CASE("cooperative groups through an alias bring their header") {
  check(R"(
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float *x) { cg::thread_block block = cg::this_thread_block(); x[block.thread_rank()] = 1.0f; block.sync(); }
)",
        "k", {"#include <cooperative_groups.h>", "namespace cg ="});
}

TEST_CASE("extern C, launch bounds and operators on vector types compile") {
  check(R"(
__device__ inline float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__device__ inline float4 operator*(float4 a, float s) { return make_float4(a.x * s, a.y * s, a.z * s, a.w * s); }
extern "C" {
__global__ void __launch_bounds__(128) k(float4 *x, int n) { int i = blockIdx.x * 128 + threadIdx.x; if (i < n) x[i] = x[i] + x[i] * 2.0f; }
}
)",
        "k", {"extern \"C\" {", "operator+", "operator*", "__launch_bounds__(128)"}, {}, {"k"});
}

TEST_CASE("standard names with a device counterpart are declared") {
  check(R"(
#include <algorithm>
#include <cfloat>
#include <limits>
__global__ void k(float *x, int64_t n) {
  float best = -FLT_MAX; for (int64_t i = 0; i < n; ++i) best = std::max(best, x[i]);
  x[0] = std::sqrt(best) + INFINITY * 0 + std::numeric_limits<float>::max() + M_PI;
}
)",
        "k", {"FLT_MAX"}, {"<algorithm>"});
}

TEST_CASE("names that NVRTC lacks: nvcc's macro, constants of small types, std:: in macros") {
  check(R"(
#include <cstdint>
#define WORD std::uint16_t
#ifdef __NVCC__
inline __host__ __device__ void operator+=(float2 &a, const float2 &b) { a.x += b.x; a.y += b.y; }
#endif
static __device__ __const__ float kScale = 2;
__global__ void k(float2 *x, WORD *y) {
  x[0] += x[1];
  x[0].x *= kScale;
  y[0] = UINT8_C(7);
}
)",
        "k", {"using ::uint16_t;", "#ifdef __CUDACC__"}, {"__NVCC__"});
}

TEST_CASE("compound literals become braces behind the type") {
  check(R"(
__device__ float2 turned(float2 a) { return (float2){ -a.y, a.x }; }
__global__ void k(float2 *x) { x[0] = turned((float2) {x[1].x, 2.0f}); }
)",
        "k", {"return float2{ -a.y, a.x };", "turned(float2{x[1].x, 2.0f})"}, {"(float2)"});
}

TEST_CASE("other standard names come from libcu++") {
  check(R"(
template <class T> __device__ std::pair<T, std::make_unsigned_t<int>> both(T x) { return {x, 1u}; }
__global__ void k(float *x, short *y) {
  if constexpr (std::is_same_v<float, float> && !std::is_signed<unsigned>::value)
    x[0] = both(x[1]).first;
  y[0] = std::numeric_limits<short>::max();
}
)",
        "k", {"#include <cuda/std/utility>", "#include <cuda/std/type_traits>", "using ::cuda::std::pair;"});
}

TEST_CASE("of cub/cub.cuh come the headers of what is used") {
  check(R"(
#include <cub/cub.cuh>
using namespace cub;
template <int THREADS, BlockScanAlgorithm ALGORITHM> __global__ void k(int *x) {
  typedef BlockScan<int, THREADS, ALGORITHM> Scan;
  __shared__ typename Scan::TempStorage storage;
  int value = x[threadIdx.x];
  Scan(storage).ExclusiveSum(value, value);
  x[threadIdx.x] = value;
}
)",
        "k", {"#include <cub/block/block_scan.cuh>", "using namespace cub;"}, {"cub/cub.cuh", "block_reduce"},
        {"k<128, cub::BLOCK_SCAN_RAKING>"});
}

TEST_CASE("a declaration keeps the conditional group in its midst") {
  check(R"(
int unused;
#ifdef __CUDACC__
__host__ __device__
#endif
inline float half_of(float x);

template <class T>
#if defined(__CUDACC__) || defined(__HIPCC__)
__host__ __device__
#endif
T ceil_div(T a, T b) { return (a + b - 1) / b; }

#if 0
int never;
#endif
__host__ __device__ inline float half_of(float x) { return x / 2; }
__global__ void k(float *x, int n) { x[ceil_div(n, 2)] = half_of(x[0]); }
)",
        "k", {"#ifdef __CUDACC__\n__host__ __device__\n#endif\ninline float half_of", "template <class T>\n#if defined"},
        {"unused", "never"});
}

TEST_CASE("members for the host alone go, and constants that are templates get contents once") {
  check(R"(
template <class T> __constant__ T weights[4];
struct Table {
  float *values;
  __host__ explicit Table(int n) { cudaMalloc(&values, n); }
  __host__ ~Table() { cudaFree(values); }
public:
  __device__ float at(int i) const { return values[i]; }
};
__global__ void k(Table table, float *x, int *y) { x[0] = table.at(1) * weights<float>[2]; y[0] = weights<int>[1]; }
)",
        "k", {"float at(int i) const", "public:", "T weights[4] = {"}, {"cudaMalloc", "~Table", "} = {"});
}

TEST_CASE("device functions of the program's other sources come along") {
  const auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  const auto add = [&](const char *path, const char *text) { memory->addFile(path, 0, llvm::MemoryBuffer::getMemBuffer(text)); };
  add("/p/shape.h", "#ifndef SHAPE_H\n#define SHAPE_H\nstruct Shape { float a, b; };\n__device__ float area(Shape shape);\n#endif\n");
  add("/p/area.cu", "#include \"shape.h\"\n__device__ float twice(float x);\n__device__ float area(Shape shape) { return twice(shape.a * shape.b); }\n");
  add("/p/twice.cu", "#define TWO 2\n__device__ float twice(float x) { return TWO * x; }\nvoid host() {}\n");
  ParseSettings settings;
  settings.program = {"/p/area.cu", "/p/twice.cu"};
  auto unit = parse_stub({"/p/main.cu", "#include \"shape.h\"\n__global__ void k(float *x) { x[0] = area(Shape{x[1], x[2]}); }\n"},
                         settings, memory);
  REQUIRE(unit);
  const Result<std::string> text = slice_kernel(**unit, *(*unit)->find_kernel("k"));
  REQUIRE_MESSAGE(text, (text ? "" : describe(text.error())));
  CHECK(text->contains("return TWO * x"));
  CHECK(text->find("struct Shape {") == text->rfind("struct Shape {"));
  CHECK_FALSE(text->contains("host()"));
  if (const auto errors = tests::nvrtc_errors(*text, {}))
    CHECK_MESSAGE(errors->empty(), *errors);
}

TEST_CASE("statics of several sources keep apart") {
  const auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  const auto add = [&](const char *path, const char *text) { memory->addFile(path, 0, llvm::MemoryBuffer::getMemBuffer(text)); };
  add("/p/half.cu", "__device__ static float part(float x);\n__device__ float half_of(float x) { return part(x); }\n"
                    "static const float scale = 0.5f;\n__device__ static float part(float x) { return scale * x; }\n");
  add("/p/third.cu", "static const float scale = 0.33f;\n__device__ static float part(float x) { return scale * x; }\n"
                     "__device__ float third_of(float x) { return part(x); }\n__device__ float ninth_of(float x) { return part(part(x)); }\n");
  ParseSettings settings;
  settings.program = {"/p/half.cu", "/p/third.cu"};
  auto unit = parse_stub({"/p/main.cu", "__device__ float half_of(float x);\n__device__ float third_of(float x);\n"
                                        "__device__ float ninth_of(float x);\n__device__ static float part(float x) { return x; }\n"
                                        "__global__ void k(float *x) { x[0] = half_of(part(x[1])) + third_of(x[2]) + ninth_of(x[3]); }\n"},
                         settings, memory);
  REQUIRE(unit);
  const Result<std::string> text = slice_kernel(**unit, *(*unit)->find_kernel("k"));
  REQUIRE_MESSAGE(text, (text ? "" : describe(text.error())));
  CHECK(text->contains("#define part part_of_half_cu"));
  CHECK(text->contains("#define part part_of_third_cu"));
  CHECK(text->contains("#define scale scale_of_third_cu"));
  CHECK_FALSE(text->contains("#define scale scale_of_half_cu"));
  CHECK(text->find("static const float scale = 0.33f") == text->rfind("static const float scale = 0.33f"));
  if (const auto errors = tests::nvrtc_errors(*text, {}))
    CHECK_MESSAGE(errors->empty(), *errors);
}

TEST_CASE("types that only a launch names as template arguments come along") {
  check(R"(
#include <iostream>
#define CHECK_CUDA(call) do { if ((call) != 0) exit(1); } while (0)
template <class T> int allocate(T *&to, int count) { return cudaMalloc(&to, count * sizeof(T)); }
struct Pool {
  Pool() {}
  Pool(int count) : used(nullptr) { init(count); }
  void init(int count) { CHECK_CUDA(allocate(cells, count)); }
  void print() const { std::cout << "pool" << std::endl; }
  void print(std::ostream &to) const { to << 1; }
  void read();
  friend std::ostream &operator<<(std::ostream &to, const Pool &pool) { pool.print(to); return to; }
  float *pick(int i) const { return cells + i; }
  float *cells;
  int *used;
};
void Pool::read() { CHECK_CUDA(cudaMemcpy(used, cells, 4, cudaMemcpyDeviceToHost)); }
enum class Mode { Add };
template <class P> struct Wrapped { P inner; };
template <class P, Mode m> __global__ void k(P pool, float *x) { x[0] = 1.0f; }
template <class P, Mode m> __global__ void other(P pool, float *x) { *pool.inner.pick(0) = x[0]; }
int main() { Pool pool; float *x; k<Pool, Mode::Add><<<1, 1>>>(pool, x); other<Wrapped<Pool>, Mode::Add><<<1, 1>>>({pool}, x); }
)",
        "other", {"struct Pool", "enum class Mode", "struct Wrapped", "float *pick", "void init(int count) ;"},
        {"ostream", "cout", "cudaMemcpy", "CHECK_CUDA"}, {"other<Wrapped<Pool>, (Mode)0>"});
}

TEST_CASE("kernels generated by a macro are sliced as the invocation") {
  check(R"(
#define DEFINE_MAP(name, expression) __global__ void name(float *x, int n) { int i = threadIdx.x; if (i < n) { float v = x[i]; x[i] = expression; } }
DEFINE_MAP(square, v * v)
DEFINE_MAP(cube, v * v * v)
)",
        "square", {"#define DEFINE_MAP", "DEFINE_MAP(square, v * v)"}, {"cube"});
}

TEST_CASE("branches for another architecture stay beside the one that was parsed") {
  check(R"(
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 600
__device__ float pick(float v) { return v * 3.0f; }
#else
__device__ float pick(float v) { return v * 2.0f; }
#endif
__global__ void k(float *x) {
#pragma unroll
  for (int i = 0; i < 4; ++i) x[i] = pick(x[i]);
}
)",
        "k", {"v * 3.0f", "v * 2.0f", "#pragma unroll"});
}

TEST_CASE("macros of the command line are defined in the slice") {
  const Result<std::string> text = slice("__global__ void k(float *x) { x[0] = TILE; }\n", "k",
                                         {.flags = {"-DTILE=16", "-DOTHER=1"}});
  REQUIRE(text);
  CHECK(text->contains("#define TILE 16"));
  CHECK(!text->contains("OTHER"));
}

TEST_CASE("a host function or variable used by the kernel is an error that names it, its line and "
          "the way out") {
  const Result<std::string> text = slice("float scale(float v) { return 2 * v; }\n\n__global__ "
                                         "void k(float *x) {\n  x[0] = scale(x[0]);\n}\n",
                                         "k");
  REQUIRE(!text);
  CHECK(text.error().message.contains("scale"));
  CHECK(text.error().message.contains("line 4"));
  CHECK(text.error().remedy.contains("__device__"));
  const Result<std::string> unknown =
      slice("__global__ void k(float *x) {\n  x[0] = std::accumulate(x, x + 3, 0);\n}\n", "k");
  REQUIRE(!unknown);
  CHECK(unknown.error().message.contains("std::accumulate (sliced.cu line 2)"));
}

TEST_CASE("user headers are read and toolkit headers are not") {
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  const auto add = [&](const char *path, const char *text) {
    files->addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(text));
  };
  add("/test/config.h", "#ifndef CONFIG_H\n#define CONFIG_H\n#define TILE 4\n#endif\n");
  add("/test/ops.cuh", "#pragma once\n#include \"config.h\"\n#include <vector>\n__device__ inline "
                       "float op(float v) { return v * TILE; }\nvoid host_op();\n");
  auto unit =
      parse_stub({"/test/sliced.cu", "#include \"ops.cuh\"\n#include \"config.h\"\n__global__ void "
                                     "k(float *x) { x[0] = op(x[0]); }\n"},
                 {}, files);
  REQUIRE(unit);
  const Result<std::string> text = slice_kernel(**unit, *(*unit)->find_kernel("k"));
  REQUIRE_MESSAGE(text, (text ? "" : describe(text.error())));
  CHECK(text->contains("#define TILE 4"));
  CHECK(text->contains("#line 4 \"ops.cuh\""));
  CHECK(!text->contains("host_op"));
  if (const auto errors = tests::nvrtc_errors(*text))
    CHECK_MESSAGE(errors->empty(), *errors);
}

TEST_CASE("broken code gives a slice or an error, never a crash") {
  for (const char *source :
       {"__global__ void k(float *x) { x[0] = ; }", "#if X\n__global__ void k(float *x) {}",
        "#endif\n__global__ void k(float *x) {}\n#else", "__global__ void k(float *x) {} }}}",
        "template <class T __global__ void k(T *x) {}",
        "__global__ void k(Unknown<int> x, float *y) { y[0] = x; }"}) {
    auto unit = parse_stub({"/test/sliced.cu", source});
    REQUIRE(unit);
    for (clang::FunctionDecl *kernel : (*unit)->kernels())
      if (const Result<std::string> text = slice_kernel(**unit, *kernel); !text)
        CHECK(!text.error().message.empty());
  }
}

} // namespace
} // namespace warpwright::analysis
