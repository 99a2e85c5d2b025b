// Values at a launch: from the arguments of the run command, and from the imagined run of `main`.
#include "support/model/json.h"
#include "task_support.h"

#include <algorithm>

namespace warpwright::analysis {
namespace {

TEST_CASE("sizes come from the arguments with which the project runs the program") {
  const std::string source = R"(
__global__ void scale(float *x, int n, float by, int mode) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = mode == 0 ? x[i] * by : x[i] + by;
}
static int count(char **words, int which) { return atoi(words[which]); }
int main(int argc, char **argv) {
  if (argc != 3)
    return 1;
  const int n = count(argv, 1);
  const float by = atof(argv[2]);
  float *x;
  cudaMalloc(&x, n * sizeof(float));
  for (int mode = 0; mode < 2; ++mode)
    scale<<<(n + 255) / 256, 256>>>(x, n, by, mode);
}
)";
  ParseSettings settings;
  CHECK(!infer(source, "scale", {}, settings).task.inferred);
  settings.run = {{"5000", "0.5"}, "the target run of Makefile"};
  const Inferred inferred = infer(source, "scale", {}, settings);
  REQUIRE_MESSAGE(inferred.task.inferred, questions(inferred.task));
  CHECK(inferred.task.task.sizes.at("n") == 5000);
  CHECK(!inferred.task.task.sizes.contains("mode"));
  CHECK(std::ranges::find(inferred.task.assumptions,
                          "argv[1] is 5000, from the target run of Makefile") !=
        inferred.task.assumptions.end());
  settings.run.arguments = {"few"};
  CHECK(!infer(source, "scale", {}, settings).task.inferred);
}

TEST_CASE("a size that is zero is a number of the task, and asks for nothing") {
  const Inferred inferred = infer(R"(
__global__ void shift(float *x, int n, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] += by;
}
int main() {
  const int n = 4096, by = 0;
  float *x;
  cudaMalloc(&x, n * sizeof(float));
  shift<<<(n + 255) / 256, 256>>>(x, n, by);
}
)",
                                  "shift");
  REQUIRE_MESSAGE(inferred.task.inferred, questions(inferred.task));
  CHECK(inferred.task.task.sizes == symbolic::Sizes{{"n", 4096}});
}

TEST_CASE(
    "fields of an object have the values with which its class or its constructor begins them") {
  const Inferred inferred = infer(R"(
__global__ void fill(float *x, int rows, int columns, int depth) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * columns * depth)
    x[i] = i;
}
struct Options {
  int rows, columns, depth = 4;
  bool verbose;
  Options(int argc, char **argv) : rows(30) {
    columns = 20;
    verbose = argc > 1;
    for (int i = 1; i < argc; ++i)
      if (argv[i][0] == 'r')
        rows = atoi(argv[i] + 1);
  }
};
int main(int argc, char **argv) {
  const Options p(argc, argv);
  float *x;
  cudaMalloc(&x, p.rows * p.columns * p.depth * sizeof(float));
  fill<<<(p.rows * p.columns * p.depth + 255) / 256, 256>>>(x, p.rows, p.columns, p.depth);
}
)",
                                  "fill");
  REQUIRE_MESSAGE(inferred.task.inferred, questions(inferred.task));
  CHECK(inferred.task.task.sizes ==
        symbolic::Sizes{{"p_rows", 30}, {"p_columns", 20}, {"p_depth", 4}});
}

const std::string kFill = R"(
__global__ void fill(float *x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = i;
}
)";

/// The size of the task of `fill`, launched over `n` by `main`; 0: the task is not known.
std::int64_t size_of(const std::string &before_main, const std::string &body,
                     std::vector<std::string> arguments = {}) {
  const Inferred inferred =
      infer_run(kFill + before_main + "int main(int argc, char **argv) {\n" + body +
                    "\nfloat *x; cudaMalloc(&x, n * sizeof(float));\n"
                    "fill<<<(n + 255) / 256, 256>>>(x, n); }",
                "fill", std::move(arguments));
  if (!inferred.task.inferred)
    return 0;
  const auto &step = std::get<model::LaunchStep>(inferred.task.task.reference.steps.back());
  const auto value =
      std::get<model::SizeArgument>(step.arguments.at(1)).value.evaluate(inferred.task.task.sizes);
  return value ? *value : 0;
}

TEST_CASE("loops, branches and compound assignments are run") {
  CHECK(size_of("", "int n = 1; while (n < 1000) n *= 2;") == 1024);
  CHECK(size_of("", "int n = 0; for (int i = 1; i <= 100; ++i) n += i;") == 5050);
  CHECK(size_of("", "int n = 5; do n <<= 1; while (n < 100); if (n > 150) n--; else n++;") == 159);
  CHECK(size_of("",
                "int n, mode = 2; switch (mode) { case 1: n = 10; break; case 2: n = 20; break; "
                "default: n = 30; }") == 20);
}

TEST_CASE("functions that fill arrays do not use up the run") {
  const Inferred inferred = infer_run(R"(
#include <cstdlib>
__global__ void twice(float *x, int n) { const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }
float *filled(int n) {
  float *x = (float *)malloc(n * sizeof(float));
  for (int i = 0; i < n; i++)
    x[i] = i * 0.5f + 1;
  return x;
}
#define FOUR(call) call; call; call; call;
struct Size { int count; };
int main(int argc, char **argv) {
  Size size;
  FOUR(FOUR(FOUR(free(filled(1 << 20)))))
  for (int i = 1; i < argc; i++)
    size.count = atoi(argv[i]);
  float *x;
  cudaMalloc(&x, size.count * sizeof(float));
  twice<<<(size.count + 255) / 256, 256>>>(x, size.count);
}
)", "twice", {"700"});
  REQUIRE_MESSAGE(inferred.task.inferred, questions(inferred.task));
  CHECK(inferred.task.task.sizes == symbolic::Sizes{{"size_count", 700}});
}

TEST_CASE("functions, structs, containers and pointers are followed") {
  CHECK(size_of("int square(int v) { int r = v; r *= v; return r; }", "int n = square(30);") ==
        900);
  CHECK(size_of("struct Grid { int nx, ny; int cells() const { return nx * ny; } };\n"
                "void make(Grid &g, int nx) { g.nx = nx; g.ny = 2 * nx; }",
                "Grid g; make(g, 10); int n = g.cells();") == 200);
  CHECK(size_of("struct Options { int size; int *more; };\n"
                "void parse(Options *o) { o->size = 77; }",
                "Options o; parse(&o); int n = o.size;") == 77);
  CHECK(size_of("#include <vector>\n",
                "std::vector<int> v; for (int i = 0; i < 12; ++i) v.push_back(i * i); int n = "
                "v.size() * v[5];") == 300);
  CHECK(size_of("", "int table[] = {3, 5, 7}; int *p = table; p++; int n = *p + p[1];") == 12);
  CHECK(size_of("", "int n = 0; auto add = [&](int by) { n += by; }; add(40); add(2);") == 42);
}

TEST_CASE("structs by value are passed as the run has them, with memory behind their pointers") {
  const std::string source = R"(
struct Shape { int n; long long step; };
struct Vectors { Shape shape; const float *x; float *y; const float *weights; float w[2]; };
struct Twice { __device__ float operator()(float v) const { return 2 * v; } };
template <class Op> __global__ void apply(Vectors v, float alpha, Op op) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < v.shape.n)
    v.y[i] = alpha * op(v.x[i]) + v.w[1] + (v.weights ? v.weights[i] : 0);
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  Vectors v{};
  v.shape.n = n;
  v.shape.step = 3;
  v.w[1] = 0.25f;
  float *x;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&v.y, n * sizeof(float));
  v.x = x;
  v.weights = nullptr;
  apply<<<(n + 127) / 128, 128>>>(v, 1.5f, Twice());
}
)";
  const Inferred inferred = infer_run(source, "apply", {"1000"});
  REQUIRE_MESSAGE(inferred.task.inferred, questions(inferred.task));
  const model::Task &task = inferred.task.task;
  CHECK(model::check_plan(task.reference, task));
  CHECK(task.sizes.empty()); // nothing tells how the struct follows from n
  CHECK_FALSE(task.reference_fp64); // its fields would have other places
  const auto &step = std::get<model::LaunchStep>(task.reference.steps.back());
  REQUIRE(step.arguments.size() == 3);
  const auto &whole = std::get<model::StructArgument>(step.arguments[0]);
  CHECK(whole.size_bytes == 48);
  REQUIRE(whole.fields.size() == 7);
  CHECK(std::get<model::SizeArgument>(whole.fields[0].value).value.evaluate({}) == 1000);
  CHECK(std::get<model::SizeArgument>(whole.fields[1].value).dtype == model::Dtype::Int64);
  CHECK(std::get<model::BufferArgument>(whole.fields[2].value).buffer == "v_x");
  CHECK(whole.fields[2].offset == 16);
  CHECK(std::get<model::SizeArgument>(whole.fields[4].value).value.evaluate({}) == 0); // no weights
  CHECK(std::get<model::ScalarArgument>(whole.fields[6].value).scalar == "v_w_1");
  CHECK(std::get<model::StructArgument>(step.arguments[2]) == model::StructArgument{1, {}});
  REQUIRE(task.buffers.size() == 2);
  CHECK(task.buffers[0].direction == model::Direction::In);
  CHECK(task.buffers[1].direction == model::Direction::Out);
  CHECK(task.buffers[1].extent.evaluate({}) == 1000);
  REQUIRE(task.scalars.size() == 3);
  CHECK(std::get<double>(task.scalars[1].value) == 0.25);
}

TEST_CASE("methods of a struct by value are called") {
  const std::string source = R"(
struct Interval { float low, high; __device__ float width() const { return high - low; } };
template <class T> struct Box { T x; __device__ T get() const { return x; } };
template <class T> __global__ void widths(Interval interval, Box<T> box, T *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = interval.width() * box.get();
}
int main() {
  Interval interval{1.0f, 3.0f};
  Box<float> box{2.0f};
  float *out;
  cudaMalloc(&out, 256 * sizeof(float));
  widths<<<1, 256>>>(interval, box, out, 256);
}
)";
  const Inferred inferred = infer_run(source, "widths", {});
  REQUIRE_MESSAGE(inferred.task.inferred, questions(inferred.task));
  CHECK(inferred.task.task.scalars.size() == 3);
}

TEST_CASE("an argument parser is run over the arguments of the run command") {
  const std::string parser = R"(
  int n = 128, verbose = 0;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "-n") == 0 && i + 1 < argc) n = atoi(argv[++i]);
    else if (!strcmp(argv[i], "-v")) verbose = 1;
    else { printf("usage\n"); exit(1); }
  })";
  CHECK(size_of("", parser, {"-v", "-n", "4096"}) == 4096);
  CHECK(size_of("", parser, {"-v"}) == 128);
  const std::string options = R"(
  int n = 128, c;
  while ((c = getopt(argc, argv, "vn:")) != -1)
    switch (c) { case 'n': n = atoi(optarg); break; case 'v': break; default: exit(1); })";
  CHECK(size_of("#include <unistd.h>\n", options, {"-vn", "640"}) == 640);
  CHECK(size_of("#include <unistd.h>\n", options, {"-v"}) == 128);
  const std::string named = R"(
  int n = 128, c;
  const option table[] = {{"size", required_argument, nullptr, 's'}, {nullptr, 0, nullptr, 0}};
  while ((c = getopt_long(argc, argv, "s:", table, nullptr)) != -1)
    if (c == 's') n = atoi(optarg);)";
  CHECK(size_of("#include <getopt.h>\n", named, {"--size=300"}) == 300);
  CHECK(size_of("#include <getopt.h>\n", named, {"--size", "301"}) == 301);
}

TEST_CASE("a value that the text does not decide stays unknown") {
  CHECK(size_of("int measure();", "int n = 1; if (measure()) n += 5; else n += 7;") == 0);
  CHECK(size_of("int measure();", "int n = 1; if (measure()) n += 5; else n += 5;") == 6);
  CHECK(size_of("int measure();", "int n = 1; while (measure()) n *= 2;") == 0);
  CHECK(size_of("int measure();", "int n = measure(); if (n < 0) n = -n;") == 0);
  CHECK(size_of("int ask(int *);", "int m = 3; ask(&m); int n = m + 0 * 2; n += 1;") == 0);
  CHECK(size_of("int total = 3; void change();", "change(); int n = 0; n += total;") == 0);
  // The program that goes on is one that did not leave.
  CHECK(size_of("int measure();", "int n = 8; n += 1; if (measure()) { n = 0; return 1; }") == 9);
}

TEST_CASE("the environment is that of a plain run, and the assumption is said") {
  const Inferred inferred = infer_run(
      kFill + "int main() { const char *s = getenv(\"FILL_SIZE\"); int n = s ? atoi(s) : 512;\n"
              "float *x; cudaMalloc(&x, n * sizeof(float)); n += 0; fill<<<4, 256>>>(x, n); }",
      "fill", {});
  REQUIRE_MESSAGE(inferred.task.inferred, questions(inferred.task));
  CHECK(std::ranges::count(inferred.task.assumptions,
                           "the environment has no variable FILL_SIZE") == 1);
}

TEST_CASE("a kernel that is launched through a variable is found by the run") {
  const std::string source = R"(
__global__ void up(float *x, int n) { const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += 1; }
__global__ void down(float *x, int n) { const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] -= 1; }
int main() {
  const int n = 1024;
  float *x;
  cudaMalloc(&x, n * sizeof(float));
  void (*kernel)(float *, int);
  for (int k = 0; k < 2; ++k) {
    switch (k) { case 0: kernel = &up; break; case 1: kernel = &down; break; }
    kernel<<<n / 256, 256>>>(x, n);
  }
}
)";
  for (const std::string name : {"up", "down"}) {
    const Inferred inferred = infer_run(source, name, {});
    REQUIRE_MESSAGE(inferred.task.inferred, questions(inferred.task));
    CHECK(inferred.task.task.sizes.at("n") == 1024);
  }
}

} // namespace
} // namespace warpwright::analysis
