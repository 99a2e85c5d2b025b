// Kernels in included files, and in sources without `main`: the program is more than one file.
#include "analysis/config/program_place.h"
#include "task_support.h"

namespace warpwright::analysis {
namespace {

const std::string kKernel = R"(
__global__ void twice(number *x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= 2;
}
)";

const std::string kMain = R"(
typedef double number;
#include "kernel.cuh"
int main(int argc, char **argv) {
  const int n = atoi(argv[1]);
  number *x;
  cudaMalloc(&x, n * sizeof(number));
  twice<<<(n + 255) / 256, 256>>>(x, n);
}
)";

TEST_CASE("an included file is analyzed as part of the source that includes it") {
  const auto files = files_in_memory(
      {{"/p/Makefile", "run:\n\t./main 700\n"}, {"/p/main.cu", kMain}, {"/p/kernel.cuh", kKernel}});
  const config::ProgramPlace place = config::ProgramFinder(files).place_of("/p/kernel.cuh");
  CHECK(place.included_by == "/p/main.cu");
  CHECK(place.sources.empty());
  ParseSettings settings;
  settings.included_by = place.included_by;
  settings.run = {{"700"}, "the target run of Makefile"};
  // The text of an editor may be newer than the file.
  const std::string newer = "// warpwright\n" + kKernel;
  auto unit = parse_stub({"/p/kernel.cuh", newer}, settings, files);
  REQUIRE(unit);
  const Inferred inferred = infer_in(**unit, "twice");
  REQUIRE_MESSAGE(inferred.task.inferred, questions(inferred.task));
  CHECK(inferred.task.task.file == "/p/kernel.cuh");
  CHECK(inferred.task.task.sizes.at("n") == 700);
  CHECK(inferred.task.task.buffers.at(0).dtype == model::Dtype::Float64);
  CHECK((*unit)->launches().empty()); // it is in the other file
  CHECK((*unit)->all_launches().size() == 1);
  const FileFacts facts = collect_facts(**unit);
  REQUIRE(facts.kernels.size() == 1);
  CHECK(newer.substr(facts.kernels[0].name_range.begin, 5) == "twice");
}

TEST_CASE("a constant of a header is no size, because the kernel's text fixes it") {
  const auto files = files_in_memory({{"/p/shape.h", "namespace shape { constexpr int width = 64; }\nusing namespace shape;\nint rows = 100;\n"}});
  const std::string source = R"(#include "shape.h"
__global__ void scale(float *x) { x[blockIdx.x * width + threadIdx.x] *= 2; }
int main() {
  float *x;
  cudaMalloc(&x, rows * width * sizeof(float));
  scale<<<rows, width>>>(x);
}
)";
  auto unit = parse_stub({"/p/main.cu", source}, {}, files);
  REQUIRE(unit);
  const Inferred inferred = infer_in(**unit, "scale");
  REQUIRE_MESSAGE(inferred.task.inferred, questions(inferred.task));
  CHECK(inferred.task.task.sizes == symbolic::Sizes{{"rows", 100}});
}

TEST_CASE("a file that the including source does not reach is parsed by itself") {
  const auto files = files_in_memory(
      {{"/p/main.cu", "#if 0\n#include \"kernel.cuh\"\n#endif\n"}, {"/p/kernel.cuh", kKernel}});
  ParseSettings settings;
  settings.included_by = "/p/main.cu";
  auto unit = parse_stub({"/p/kernel.cuh", "typedef int number;\n" + kKernel}, settings, files);
  REQUIRE(unit);
  CHECK((*unit)->kernels().size() == 1);
  CHECK(!infer_in(**unit, "twice").task.inferred);
}

TEST_CASE("the sizes of a source without main come from the source with main") {
  const std::string launcher = "typedef float number;\n" + kKernel + R"(
extern int block_size;
void run(number *x, int count) { twice<<<(count + block_size - 1) / block_size, block_size>>>(x, count); }
)";
  const std::string main = R"(
int block_size = 64;
struct Options { int rows = 3; };
void run(float *x, int count);
int main(int argc, char **argv) {
  Options options;
  options.rows *= 100;
  float *x;
  cudaMalloc(&x, options.rows * 4 * sizeof(float));
  run(x, options.rows * 4);
}
)";
  const auto files = files_in_memory({{"/p/Makefile", ""},
                                      {"/p/main.cpp", main},
                                      {"/p/tools.cpp", "int helper() { return 1; }"},
                                      {"/p/launcher.cu", launcher}});
  const config::ProgramPlace place = config::ProgramFinder(files).place_of("/p/launcher.cu");
  CHECK(place.included_by.empty());
  CHECK(place.sources == std::vector<std::string>{"/p/main.cpp", "/p/tools.cpp"});
  ParseSettings settings;
  settings.program = place.sources;
  auto unit = parse_stub({"/p/launcher.cu", launcher}, settings, files);
  REQUIRE(unit);
  const Inferred inferred = infer_in(**unit, "twice");
  REQUIRE_MESSAGE(inferred.task.inferred, questions(inferred.task));
  const model::Task &task = inferred.task.task;
  CHECK(task.sizes == symbolic::Sizes{{"count", 1200}});
  CHECK(task.buffers.at(0).extent.evaluate(task.sizes).value_or(0) == 1200);
}

TEST_CASE("const and restrict of a parameter itself do not keep sources apart") {
  const auto files = files_in_memory({{"/p/main.cu", R"(#include <cstdlib>
void run(float *__restrict__ x, const int n);
int main(int argc, char **argv) { run((float *)malloc(4 * atoi(argv[1])), atoi(argv[1])); }
)"}});
  const std::string source = R"(
__global__ void twice(float *x, int n) { const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }
void run(float *x, int n) {
  float *d;
  cudaMalloc(&d, n * sizeof(float));
  twice<<<(n + 255) / 256, 256>>>(d, n);
}
)";
  ParseSettings settings;
  settings.program = {"/p/main.cu"};
  settings.run = {{"700"}, "the target run of Makefile"};
  auto unit = parse_stub({"/p/twice.cu", source}, settings, files);
  REQUIRE(unit);
  const Inferred inferred = infer_in(**unit, "twice");
  REQUIRE_MESSAGE(inferred.task.inferred, questions(inferred.task));
  CHECK(inferred.task.task.sizes == symbolic::Sizes{{"n", 700}});
}

TEST_CASE("a project's files are read again when one of them is new or has changed") {
  const auto files = files_in_memory({{"/p/Makefile", ""}, {"/p/a.cu", kKernel}});
  config::ProgramFinder programs(files);
  CHECK(programs.place_of("/p/a.cu").sources.empty());
  files->addFile("/p/b.cu", 1, llvm::MemoryBuffer::getMemBufferCopy("int main() {}", "/p/b.cu"));
  CHECK(programs.place_of("/p/a.cu").sources == std::vector<std::string>{"/p/b.cu"});
  CHECK(programs.place_of("/p/a.cu").sources == std::vector<std::string>{"/p/b.cu"});
}

TEST_CASE("which main belongs to a source must be certain") {
  const auto place = [](const std::map<std::string, std::string> &texts) {
    return config::ProgramFinder(files_in_memory(texts)).place_of("/p/src/a.cu");
  };
  const std::string main = "int main() {}";
  CHECK(
      place(
          {{"/p/Makefile", ""}, {"/p/src/a.cu", kKernel}, {"/p/src/b.cu", main}, {"/p/c.cu", main}})
          .sources == std::vector<std::string>{"/p/src/b.cu"});
  CHECK(place({{"/p/Makefile", ""}, {"/p/src/a.cu", kKernel}, {"/p/b.cu", main}, {"/p/c.cu", main}})
            .sources.empty());
  CHECK(place({{"/p/Makefile", ""}, {"/p/src/a.cu", kKernel + main}, {"/p/b.cu", main}})
            .sources.empty());
  // Of several sources that include the file, the one that names its kernels.
  CHECK(place({{"/p/Makefile", ""},
               {"/p/src/a.cu", kKernel},
               {"/p/b.cu", "#include \"src/a.cu\"\n"},
               {"/p/c.cu", "#include \"src/a.cu\"\nvoid f() { twice<<<1, 1>>>(0, 0); }"}})
            .included_by == "/p/c.cu");
}

} // namespace
} // namespace warpwright::analysis
