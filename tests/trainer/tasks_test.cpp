// Task suites: what is read, what is refused, how shapes are drawn and split, what is imported.
#include "tests/trainer/temporary_folder.h"
#include "trainer/tasks/declared_sizes.h"
#include "trainer/tasks/tasks_command.h"

#include <doctest/doctest.h>
#include <map>
#include <set>

using namespace warpwright;
using namespace warpwright::trainer;
using testing::TemporaryFolder;

namespace {

constexpr const char *kKernel =
    R"cu(// warpwright: rows = 4096, cols = 100, check rows = 3 cols = 17
__global__ void twice(float *x, int rows, int cols) {}
)cu";
constexpr const char *kFamily = R"toml(split = "training"
[task.twice]
source = "twice.cu"
points = [1000, 100000]
sizes.rows = [2, 16, 1024, 4]
sizes.cols = [3, 16, 1024, 1]
)toml";

/// The error of a suite whose family file is this.
std::string refusal(const std::string &family) {
  const TemporaryFolder folder;
  folder.write("family/twice.cu", kKernel);
  folder.write("family/family.toml", family);
  const auto suite = load_suite(folder.path);
  return suite ? "" : describe(suite.error());
}

std::string with(std::string text, const std::string &from, const std::string &to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("sizes are written where a source declares them and nowhere else") {
  CHECK(with_sizes(kKernel, {{"cols", 7}, {"rows", 12345}}) ==
        with(with(kKernel, "4096", "12345"), "cols = 100", "cols = 7"));
  CHECK(with_sizes("const int n = 5;\nint m = 5;\n", {{"n", 60}}) ==
        "const int n = 60;\nint m = 5;\n");
  CHECK(with_sizes("#define N 1024\n#define NN 2\n", {{"N", 3}}) == "#define N 3\n#define NN 2\n");
  CHECK(with_sizes("rows = 4\n\ndef f(rows = 4):\n  rows = 5\n", {{"rows", 9}}) ==
        "rows = 9\n\ndef f(rows = 4):\n  rows = 5\n");
}

TEST_CASE("a size that is declared twice, not at all or as no plain number is refused") {
  CHECK_FALSE(declared_size("n = 4\nn = 5\n", "n"));
  CHECK_FALSE(declared_size("m = 4\n", "n"));
  CHECK_FALSE(declared_size("n = m\n", "n"));
  CHECK_FALSE(declared_size("n = 4.5\n", "n"));
  CHECK_FALSE(declared_size("// warpwright: check n = 4\n", "n"));
  const auto refused = with_sizes("m = 4\n", {{"n", 8}});
  REQUIRE_FALSE(refused);
  CHECK(has(refused.error().message, "size n "));
}

TEST_CASE("a family file that is wrong is refused with its line") {
  CHECK(refusal(kFamily) == "");
  CHECK(
      has(refusal(with(kFamily, "\"training\"", "\"practice\"")), "family.toml:1: split must be"));
  CHECK(has(refusal(with(kFamily, "[2, 16, 1024, 4]", "[2, 16, 1024]")),
            "family.toml:5: sizes.rows"));
  CHECK(has(refusal(with(kFamily, "16, 1024, 4", "16, 1023, 4")), "multiples of step"));
  CHECK(has(refusal(with(kFamily, "sizes.cols", "sizes.columns")),
            "does not declare the size columns"));
  CHECK(has(refusal(with(kFamily, "points", "area")), "unknown key area"));
  CHECK(has(refusal(with(kFamily, "twice.cu", "absent.cu")), "absent.cu"));
  CHECK(has(refusal("split = "), "family.toml:1: this is not TOML"));
  CHECK(has(describe(load_suite(TemporaryFolder().path).error()), "no family.toml"));
}

TEST_CASE("variations are repeatable, differ, stay in their ranges and belong to their split") {
  const TemporaryFolder folder;
  folder.write("family/twice.cu", kKernel);
  folder.write("family/family.toml", kFamily);
  const auto suite = load_suite(folder.path);
  REQUIRE(suite);
  const SuiteTask &task = suite->front();
  CHECK(task.kernel == "twice");
  for (const Split split : {Split::Training, Split::Validation, Split::HeldOut}) {
    ShapeRandom random(7);
    for (int i = 0; i < 50; ++i) {
      const auto sizes = draw_shape(task.space, split, random);
      REQUIRE(sizes);
      const auto rows = sizes->at("rows"), cols = sizes->at("cols");
      CHECK((rows >= 16 && rows <= 1024 && rows % 4 == 0 && cols >= 16 && cols <= 1024));
      CHECK((rows * cols >= 1000 && rows * cols <= 100000));
      CHECK(split_of_shape(*sizes) == split);
    }
    const auto first = draw_variations(task, split, 6, 1),
               again = draw_variations(task, split, 6, 1);
    REQUIRE(first.size() == 6);
    std::set<std::string> ids;
    for (std::size_t i = 0; i < first.size(); ++i) {
      ids.insert(first[i].id);
      CHECK(first[i].text == again[i].text);
      CHECK(first[i].split == split);
    }
    CHECK(ids.size() == 6);
    CHECK(draw_variations(task, split, 6, 2).front().id != first.front().id);
  }
}

TEST_CASE("a family that is held out gives nothing to training, and all its shapes to the held-out "
          "split") {
  const TemporaryFolder folder;
  folder.write("family/twice.cu", kKernel);
  folder.write("family/family.toml", with(kFamily, "training", "held-out"));
  const auto suite = load_suite(folder.path);
  REQUIRE(suite);
  CHECK(draw_variations(suite->front(), Split::Training, 4, 1).empty());
  CHECK(draw_variations(suite->front(), Split::Validation, 4, 1).empty());
  CHECK(draw_variations(suite->front(), Split::HeldOut, 4, 1).size() == 4);
}

TEST_CASE("shapes that differ by a thousandth are in one split, and an octave holds all three") {
  CHECK(split_of_shape({{"n", 1 << 20}}) == split_of_shape({{"n", (1 << 20) + 1000}}));
  std::set<Split> seen;
  for (int n = 1024; n < 4096; n += 64)
    seen.insert(split_of_shape({{"n", n}}));
  CHECK(seen.size() == 3);
}

TEST_CASE(
    "a benchmark is held out unless its name says otherwise; a folder of sources is for training") {
  const TemporaryFolder folder;
  const std::string module = "class Model: pass\ndef get_inputs(): return []\n";
  folder.write("bench/level1/3_Softmax.py", module);
  folder.write("bench/level2/1_Other.py", module);
  folder.write("bench/scripts/tool.py", "print()\n");
  folder.write("lines.jsonl",
               "{\"level_id\": \"1\", \"task_id\": 7, \"ref_code\": \"x\"}\nno json\n");
  folder.write("mine/a.cu",
               std::string(kKernel) + "__global__ __launch_bounds__(64) void other() {}\n");
  folder.write("mine/b.cu", "int main() {}\n");
  folder.write("mine/c.py", module);
  const std::string bench = folder.path / "bench", mine = folder.path / "mine";

  auto chosen = choose_tasks({.sources = {bench}, .split = Split::HeldOut});
  REQUIRE(chosen);
  REQUIRE(chosen->tasks.size() == 2);
  CHECK(chosen->tasks[0].id == "kernelbench/1/3_Softmax");
  CHECK(chosen->tasks[0].language == "torch-python");
  CHECK(choose_tasks({.sources = {bench}, .split = Split::Training})->tasks.empty());
  CHECK(choose_tasks({.sources = {bench + "@training"}, .split = Split::Training})->tasks.size() ==
        2);

  const std::string lines = folder.path / "lines.jsonl";
  chosen = choose_tasks({.sources = {lines}, .split = Split::HeldOut});
  REQUIRE(chosen->tasks.size() == 1);
  CHECK(chosen->tasks[0].id == "kernelbench/1/7");
  REQUIRE(chosen->skipped.size() == 1);
  CHECK(has(chosen->skipped[0], "line 2"));

  chosen = choose_tasks({.sources = {mine}});
  REQUIRE(chosen->tasks.size() == 3);
  CHECK(chosen->tasks[0].kernel == "twice");
  CHECK(chosen->tasks[1].kernel == "other");
  CHECK(chosen->tasks[2].kernel == "Model");
  REQUIRE(chosen->skipped.size() == 1);
  CHECK(chosen->skipped[0] == "b.cu: no kernel");
  CHECK_FALSE(choose_tasks({.sources = {folder.path / "absent"}}));
}

TEST_CASE("tasks writes each source at its shape, for other tools") {
  const TemporaryFolder folder;
  folder.write("suite/family/twice.cu", kKernel);
  folder.write("suite/family/family.toml", kFamily);
  TasksOptions options{.choice = {.sources = {folder.path / "suite"}, .variations = 3},
                       .write = folder.path / "out"};
  REQUIRE(run_tasks(options));
  std::set<std::string> texts;
  for (const auto &entry : std::filesystem::directory_iterator(folder.path / "out")) {
    std::ifstream file(entry.path());
    texts.insert(std::string(std::istreambuf_iterator<char>(file), {}));
    CHECK(entry.path().extension() == ".cu");
  }
  CHECK(texts.size() == 3);
  CHECK_FALSE(texts.contains(kKernel));
}

TEST_CASE("the shipped suite holds its promises") {
  const auto suite = load_suite(WARPWRIGHT_SOURCE_DIR "/trainer/tasks/suite");
  REQUIRE_MESSAGE(suite, (suite ? "" : describe(suite.error())));
  CHECK(suite->size() >= 190);
  std::map<Split, std::set<std::string>> families;
  std::map<std::string, int> languages;
  std::set<std::string> names;
  for (const SuiteTask &task : *suite) {
    families[task.split].insert(task.family);
    ++languages[task.language];
    CHECK_MESSAGE(names.insert(task.name).second, task.name);
    if (task.split == Split::Training)
      for (const Split split : {Split::Training, Split::Validation, Split::HeldOut})
        CHECK_MESSAGE(draw_variations(task, split, 4, 1).size() == 4, task.name);
    else
      CHECK_MESSAGE(draw_variations(task, task.split, 4, 1).size() == 4, task.name);
  }
  CHECK(families[Split::Training].size() >= 8);
  CHECK(families[Split::Validation].size() >= 1);
  CHECK(families[Split::HeldOut].size() >= 2);
  CHECK(languages["cuda"] >= 130);
  CHECK(languages["torch-python"] >= 40);

  const auto few =
      choose_tasks({.sources = {WARPWRIGHT_SOURCE_DIR "/trainer/tasks/suite"}, .at_most = 20});
  REQUIRE(few);
  std::set<std::string> kept, tasks;
  for (const TrainingTask &task : few->tasks) {
    kept.insert(task.family);
    tasks.insert(task.id.substr(0, task.id.rfind('/')));
  }
  CHECK(few->tasks.size() == 20);
  CHECK(kept == families[Split::Training]);
  CHECK(tasks.size() == 20);
}
