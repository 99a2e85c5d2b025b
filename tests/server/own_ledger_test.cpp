// What the verdicts of a project teach the cost model: those of the same project and GPU, on a real ledger.
#include "server/optimize/own_ledger.h"

#include "analysis/analyze.h"
#include "tests/trainer/simple_ranker.h"
#include "tests/trainer/temporary_folder.h"

#include <cmath>
#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::server;

namespace {

namespace fs = std::filesystem;

/// Kernels whose sources differ by more than names and numbers.
model::Task task_of(const std::string &expression) {
  const std::string source = "__global__ void fill(float *y, int n) {\n"
                             "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "  if (i < n)\n"
                             "    y[i] = " +
                             expression +
                             ";\n"
                             "}\n"
                             "int main() {\n"
                             "  const int n = 4096;\n"
                             "  float *y;\n"
                             "  cudaMalloc(&y, n * sizeof(float));\n"
                             "  fill<<<(n + 255) / 256, 256>>>(y, n);\n"
                             "}\n";
  const analysis::FileFacts facts = analysis::analyze({"fill.cu", source});
  REQUIRE(facts.kernels.size() == 1);
  REQUIRE(facts.kernels[0].task.inferred);
  return facts.kernels[0].task.task;
}

const model::DeviceInfo kGpu{
    .kind = "cuda", .name = "GPU", .identifier = "GPU-1", .driver = "13.0"};

runner::LedgerEntry entry_of(const fs::path &file, const model::Task &task, const std::string &move,
                             double ratio) {
  runner::LedgerEntry entry;
  entry.file = file;
  entry.kernel = "fill";
  entry.task = task;
  entry.plan = task.reference;
  entry.plan.source += "\n// " + move;
  entry.plan.moves = {move};
  entry.verdict.outcome = ratio > 0 ? model::Outcome::Verified : model::Outcome::WrongResult;
  entry.verdict.device = kGpu;
  if (ratio > 0)
    entry.verdict.speedup = model::Speedup{ratio, ratio * 0.99, ratio * 1.01, 30, "GPU"};
  return entry;
}

const std::vector<std::string> kExpressions{"i", "i + 1", "i * 2", "i / 2", "i % 3", "-i", "i - 5"};

struct Project {
  trainer::testing::TemporaryFolder folder;
  fs::path database = folder.path / "ledger.sqlite";
  std::unique_ptr<runner::Ledger> ledger = std::move(*runner::Ledger::open(database));
  trainer::Ranker ranker = [] {
    auto weights = trainer::testing::simple_weights();
    weights.devices = {"GPU"};
    return trainer::Ranker(weights);
  }();

  /// Verdicts by which unroll is what helps, on all kernels but the last one.
  void record_all(const std::string &file) {
    for (std::size_t i = 0; i + 1 < kExpressions.size(); ++i)
      for (const auto &[move, ratio] :
           {std::pair("unroll(factor=2)", 2.0), std::pair("unroll(factor=4)", 2.0),
            std::pair("vectorize(width=4)", 0.9), std::pair("vectorize(width=2)", 0.8)})
        REQUIRE(
            ledger->record(entry_of(folder.path / file, task_of(kExpressions[i]), move, ratio)));
  }
  OwnLessons lessons(const std::string &file, const model::Task &task,
                     const model::DeviceInfo &device = kGpu) {
    OwnLedger own([this] { return runner::Ledger::open(database); });
    return own.lessons(ranker, folder.path / file, task, device);
  }
};

} // namespace

TEST_CASE("a project is the nearest folder with .git or .warpwright.toml") {
  const trainer::testing::TemporaryFolder folder;
  folder.write("one/.git/HEAD", "");
  folder.write("one/two/a.cu", "");
  folder.write("one/three/.warpwright.toml", "");
  CHECK(project_of(folder.path / "one/two/a.cu") == folder.path / "one");
  CHECK(project_of(folder.path / "one/three/four/a.cu") == folder.path / "one/three");
  CHECK(project_of(folder.path / "alone/a.cu") == folder.path / "alone");
}

TEST_CASE("the verdicts of a project move the model for a kernel that was never measured") {
  Project project;
  project.folder.write("mine/.git/HEAD", "");
  project.record_all("mine/kernels/a.cu");
  const model::Task task = task_of(kExpressions.back());
  const OwnLessons lessons = project.lessons("mine/other/b.cu", task);
  CHECK(lessons.problem.empty());
  CHECK(lessons.known.empty());
  CHECK(lessons.learned.records == 24);
  CHECK(lessons.learned.sources == 6);
  REQUIRE_FALSE(lessons.learned.correction.empty());
  CHECK(lessons.learned.correction.moves.at("unroll") > 0.3);
  CHECK(lessons.learned.correction.moves.at("vectorize") < -0.3);
}

TEST_CASE("verdicts of another project, or of another GPU, teach nothing") {
  Project project;
  project.folder.write("mine/.git/HEAD", "");
  project.folder.write("theirs/.git/HEAD", "");
  project.record_all("theirs/a.cu");
  const model::Task task = task_of(kExpressions.back());
  CHECK(project.lessons("mine/b.cu", task).learned.records == 0);
  model::DeviceInfo other = kGpu;
  other.name = "another GPU";
  CHECK(project.lessons("theirs/b.cu", task, other).learned.records == 0);
  CHECK(project.lessons("theirs/b.cu", task).learned.records == 24);
}

TEST_CASE("what was measured of the same task is known, failures too") {
  Project project;
  const model::Task task = task_of("i");
  REQUIRE(project.ledger->record(
      entry_of(project.folder.path / "a.cu", task, "unroll(factor=2)", 1.5)));
  REQUIRE(project.ledger->record(
      entry_of(project.folder.path / "a.cu", task, "vectorize(width=2)", 0)));
  const OwnLessons lessons = project.lessons("a.cu", task);
  REQUIRE(lessons.known.size() == 2);
  for (const auto &one : lessons.known)
    CHECK(one.log_speedup.has_value() == (one.moves.front() == "unroll(factor=2)"));
  CHECK(lessons.learned.correction.empty());
}

TEST_CASE("a ledger that cannot be opened is said, and costs only its lessons") {
  Project project;
  OwnLedger own([]() -> Result<std::unique_ptr<runner::Ledger>> { return fail("it is locked"); });
  const OwnLessons lessons = own.lessons(project.ranker, "/a.cu", task_of("i"), kGpu);
  CHECK(lessons.problem == "it is locked");
  CHECK(lessons.learned.correction.empty());
}
