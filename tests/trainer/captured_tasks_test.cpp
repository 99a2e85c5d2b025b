// Tasks from a recorded run: kernels at the numbers that their launches passed.
#include "runner/capture/files/capture_files.h"
#include "tests/trainer/temporary_folder.h"
#include "trainer/tasks/captured_tasks.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::trainer;
using testing::TemporaryFolder;

namespace {

constexpr const char *kSource = R"cu(// a program
template <int K>
__global__ void scale_more(const float *x, int n);

__global__ void __launch_bounds__(256) scale(const float *__restrict__ x, float *y, const int n, float factor = 2.0f, std::size_t rows = 1) {
  if (blockIdx.x < n) y[0] = factor * x[0];
}
)cu";

template <class T>
std::string bytes(T value) {
  return {reinterpret_cast<const char *>(&value), sizeof value};
}

std::string launch_line(capture::Id id, const std::string &kernel, int n, double total_ns,
                        bool is_recorded = true) {
  capture::Launch launch{.kernel = kernel, .grid = {4, 1, 1}, .block = {256, 1, 1}};
  if (is_recorded)
    launch.parameters = {{bytes(0L), {}}, {bytes(0L), {}}, {bytes(n), {}}, {bytes(1.5f), {}}, {bytes(7UL), {}}};
  return to_line(id, launch, {.count = 1, .timed = 1, .total_ns = total_ns}) + "\n";
}

/// A capture of a program in `folder`/program.
std::filesystem::path written(const TemporaryFolder &folder, const std::string &launches) {
  folder.write("program/src/scale.cu", kSource);
  const auto capture = folder.path / "capture";
  folder.write("capture/77/capture.json", capture::to_text(capture::ProcessFacts{.pid = 77}));
  folder.write("capture/77/launches.jsonl", launches);
  folder.write("capture/77/copies.jsonl", "");
  folder.write("capture/77/graphs.jsonl", "");
  folder.write("capture/run.json",
               capture::to_text(capture::RunFacts{.command = {"./main"}, .folder = folder.path / "program"}));
  return capture;
}

} // namespace

TEST_CASE("a kernel's parameters are found by their declaration") {
  const auto found = declared_parameters(kSource, "scale");
  REQUIRE(found);
  REQUIRE(found->size() == 5);
  using Kind = DeclaredParameter::Kind;
  CHECK((*found)[0].kind == Kind::Other);
  CHECK((*found)[2].name == "n");
  CHECK((*found)[2].kind == Kind::Integer);
  CHECK((*found)[3].kind == Kind::Float);
  CHECK((*found)[4].name == "rows");
  CHECK((*found)[4].kind == Kind::Integer);
  CHECK_FALSE(declared_parameters(kSource, "cale"));
  CHECK(declared_parameters(kSource, "scale_more")->size() == 2);
}

TEST_CASE("a recorded launch is a task at its numbers, and equal launches are one task") {
  const TemporaryFolder folder;
  const auto capture = written(folder, launch_line(0, "_Z5scalePKfPfifm", 1000, 5) +
                                           launch_line(1, "_Z5scalePKfPfifm", 2000, 9) +
                                           launch_line(2, "_Z5scalePKfPfifm", 1000, 5) +
                                           launch_line(3, "_Z7missingv", 1, 1));
  CHECK(is_capture(capture));
  const auto chosen = choose_tasks({.sources = {capture}});
  REQUIRE_MESSAGE(chosen, (chosen ? "" : describe(chosen.error())));
  REQUIRE(chosen->tasks.size() == 2);
  const TrainingTask &task = chosen->tasks[0]; // the most GPU time first
  CHECK(task.id == "captured/src/scale.cu/scale/n=2000,factor:float=1.5,rows=7");
  CHECK(task.kernel == "scale");
  CHECK(task.text.find("\n// warpwright: n = 2000, factor: float = 1.5, rows = 7\n__global__ void __launch_bounds__") !=
        std::string::npos);
  REQUIRE(chosen->skipped.size() == 1);
  CHECK(chosen->skipped[0].find("missing: no .cu file") != std::string::npos);
  CHECK(choose_tasks({.sources = {capture}, .split = Split::HeldOut})->tasks.empty());
}

TEST_CASE("a capture without a usable launch is refused with what to do") {
  const TemporaryFolder folder;
  const auto capture = written(folder, launch_line(0, "_Z5scalePKfPfifm", 1000, 5, false));
  const auto chosen = choose_tasks({.sources = {capture}});
  REQUIRE_FALSE(chosen);
  CHECK(describe(chosen.error()).find("no kernel with a source") != std::string::npos);
}
