// `warpwright check` on real git repositories. Where only correctness counts, the CPU backend compiles
// and runs the kernels. Where times count, the fake worker of the runner's tests stands in its place:
// its times come from the words fake_ns=N in the kernel's source, so a commit can make a kernel slower.
#include "runner/ledger/ledger.h"
#include "support/files.h"
#include "support/process.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace warpwright;
namespace fs = std::filesystem;

namespace {

struct Ended {
  int code = 0;
  std::string output, errors;
};

/// y = x * x with a comment in the kernel, for the fake device and for the CPU backend.
std::string square_file(const std::string &body_comment, const std::string &factor = "x[i]") {
  return "__global__ void square(const float *x, float *y, int n) {\n"
         "  // " + body_comment + "\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (i < n)\n    y[i] = x[i] * " + factor + ";\n}\n\n"
         "int main() {\n  const int n = 4096;\n  float *x, *y;\n"
         "  cudaMalloc(&x, n * sizeof(float));\n  cudaMalloc(&y, n * sizeof(float));\n"
         "  square<<<(n + 255) / 256, 256>>>(x, y, n);\n  return cudaDeviceSynchronize();\n}\n";
}

struct GitFolder {
  fs::path path;
  GitFolder() {
    std::string name = (fs::temp_directory_path() / "warpwright-check-test-XXXXXX").string();
    path = fs::canonical(::mkdtemp(name.data()));
    git({"init", "-q", "-b", "main"});
  }
  ~GitFolder() {
    fs::remove_all(path);
    fs::remove_all(path.string() + ".state");
  }

  void add(const std::string &name, const std::string &text) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name) << text;
  }
  std::string git(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"git", "-c", "user.name=Test", "-c", "user.email=test@example.org", "-c",
                                         "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null"});
    const auto run = run_captured(arguments, "", std::chrono::seconds(60), {.working_directory = path.string()});
    REQUIRE_MESSAGE((run && run->status.code == 0), (run ? run->errors : describe(run.error())));
    return run->output;
  }
  void commit(const std::string &message) const {
    git({"add", "-A"});
    git({"commit", "-q", "-m", message});
  }
  Ended run(std::vector<std::string> arguments, std::vector<std::string> environment = {}) const {
    arguments.insert(arguments.begin(), WARPWRIGHT_BINARY_DIR "/warpwright");
    environment.insert(environment.end(), {"XDG_STATE_HOME=" + (path.string() + ".state"), "NO_COLOR=1"});
    const auto run = run_captured(arguments, "", std::chrono::seconds(240),
                                  {.environment = environment, .working_directory = path.string()});
    REQUIRE_MESSAGE(run, (run ? "" : describe(run.error())));
    REQUIRE(run->status.signal == 0);
    return {run->status.code, run->output, run->errors};
  }
  /// With the fake worker, whose times count.
  Ended fake_check(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"check", "--base", "main", "--device", "cpu"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments, {"WARPWRIGHT_CPU_WORKER=" WARPWRIGHT_TEST_DIR "/runner_fake_worker",
                           "WARPWRIGHT_FAKE_WORKER=measure"});
  }
  /// With the CPU backend.
  Ended check(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"check", "--base", "main", "--device", "cpu"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
};

/// A repository with square.cu on main, and a branch.
struct SquareRepository : GitFolder {
  explicit SquareRepository(const std::string &body_comment = "fake_ns=1000") {
    add("src/square.cu", square_file(body_comment));
    add("README.md", "Text\n");
    commit("Add square");
    git({"checkout", "-q", "-b", "work"});
  }
};

bool has(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("a slower commit is worse, with the times, in all reports") {
  const SquareRepository repository;
  repository.add("src/square.cu", square_file("fake_ns=1500"));
  repository.commit("Make it slower");
  const Ended ended = repository.fake_check({"--sarif", "o.sarif", "--junit", "o.xml", "--markdown", "o.md"});
  INFO(ended.output, ended.errors);
  CHECK(ended.code == 1);
  CHECK(has(ended.output, "src/square.cu:1 square  SLOWER  1.00 us -> 1.50 us, 1.50x slower [1.50, 1.50]"));
  CHECK(has(ended.output, "1 kernel or module changed since "));
  const auto sarif = nlohmann::json::parse(read_file(repository.path / "o.sarif").value());
  REQUIRE(sarif["runs"][0]["results"].size() == 1);
  CHECK(sarif["runs"][0]["results"][0]["ruleId"] == "slower");
  CHECK(sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "src/square.cu");
  CHECK(has(read_file(repository.path / "o.xml").value(), "failures=\"1\""));
  CHECK(has(read_file(repository.path / "o.md").value(), "| :x: | src/square.cu **square** |"));
  CHECK(repository.fake_check({"--fail-slower", "60%"}).code == 0);
  CHECK(repository.git({"status", "--porcelain"}).find("src") == std::string::npos);
}

TEST_CASE("a faster commit, an unchanged one and comments elsewhere are fine") {
  const SquareRepository repository;
  const Ended nothing = repository.fake_check();
  CHECK(nothing.code == 0);
  CHECK(has(nothing.output, "No kernel or module changed since "));
  repository.add("src/square.cu", "// A comment above moves lines only.\n\n" + square_file("fake_ns=1000"));
  repository.commit("Comment");
  const Ended moved = repository.fake_check();
  INFO(moved.output, moved.errors);
  CHECK(moved.code == 0);
  CHECK(has(moved.output, "1 unchanged in 1 examined file"));
  repository.add("src/square.cu", square_file("fake_ns=500"));
  const Ended faster = repository.fake_check(); // in the working tree, not committed
  INFO(faster.output, faster.errors);
  CHECK(faster.code == 0);
  CHECK(has(faster.output, "FASTER  1.00 us -> 50"));
  CHECK(has(faster.output, " ns, 2.00x faster [2.00, 2.00]"));
}

TEST_CASE("a wrong commit is worse, unless results may change") {
  const SquareRepository repository;
  repository.add("src/square.cu", square_file("fake_ns=1000 fake_wrong"));
  repository.commit("Break it");
  const Ended ended = repository.fake_check();
  INFO(ended.output, ended.errors);
  CHECK(ended.code == 1);
  CHECK(has(ended.output, "WRONG RESULT"));
  CHECK(repository.fake_check({"--results-may-change"}).code == 3);
  CHECK(repository.fake_check({"--results-may-change", "--allow-unknown"}).code == 0);
}

TEST_CASE("on the CPU backend the results are compared and the speed is unknown") {
  const SquareRepository repository("plain");
  repository.add("src/square.cu", square_file("plain", "(x[i] + 0.0f)"));
  repository.commit("Rewrite it");
  const Ended ended = repository.check();
  INFO(ended.output, ended.errors);
  CHECK(ended.code == 3);
  CHECK(has(ended.output, "UNKNOWN  the results are right; the CPU backend measures no speed"));
  CHECK(repository.check({"--allow-unknown"}).code == 0);
  repository.add("src/square.cu", square_file("plain", "(x[i] + 0.5f)"));
  repository.commit("Break it");
  const Ended wrong = repository.check({"--allow-unknown"});
  INFO(wrong.output, wrong.errors);
  CHECK(wrong.code == 1);
  CHECK(has(wrong.output, "WRONG RESULT"));
}

TEST_CASE("a changed interface is unknown, and new kernels are told") {
  const SquareRepository repository("plain");
  std::string text = square_file("plain");
  text.replace(text.find("float *y, int n"), 15, "float *y, float *bins, int n");
  text.replace(text.find("(x, y, n)"), 9, "(x, y, x, n)");
  text.replace(text.find("y[i] ="), 6, "bins[i] = 1;\n    y[i] =");
  repository.add("src/square.cu", text);
  repository.add("src/new.cu", "__global__ void fill(float *x) { x[threadIdx.x] = 1; }\n");
  repository.commit("Change the interface");
  const Ended ended = repository.check();
  INFO(ended.output, ended.errors);
  CHECK(ended.code == 3);
  CHECK(has(ended.output, "src/new.cu:1 fill"));
  CHECK(has(ended.output, "NEW"));
  CHECK(has(ended.output, "UNKNOWN"));
}

TEST_CASE("a changed header counts for the files that include it, at both states") {
  const GitFolder repository;
  repository.add("include/factor.cuh", "#pragma once\n#include \"value.cuh\"\n");
  repository.add("include/value.cuh", "__device__ inline float value(float x) { return x; }\n");
  std::string text = square_file("plain", "value(x[i])");
  repository.add("src/square.cu", "#include \"../include/factor.cuh\"\n" + text);
  repository.add("src/other.cu", square_file("plain"));
  repository.commit("Add");
  repository.git({"checkout", "-q", "-b", "work"});
  repository.add("include/value.cuh", "__device__ inline float value(float x) { return x + 1; }\n");
  repository.commit("Change the header");
  const Ended ended = repository.check();
  INFO(ended.output, ended.errors);
  CHECK(ended.code == 1);
  CHECK(has(ended.output, "src/square.cu:2 square  WRONG RESULT"));
  CHECK_FALSE(has(ended.output, "src/other.cu"));
}

TEST_CASE("new diagnostics fail from the given severity on, and old ones do not count") {
  const std::string strided = "__global__ void scale(float *x, int n) {\n"
                              "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n)\n    x[i * 32] = 2.0 * x[i * 32];\n}\n";
  const GitFolder repository;
  repository.add("a.cu", "// nothing here yet\n");
  repository.add("old.cu", strided);
  repository.commit("Add");
  repository.git({"checkout", "-q", "-b", "work"});
  repository.add("a.cu", strided);
  repository.add("old.cu", "// moved\n" + strided);
  repository.commit("Add a strided kernel");
  const Ended told = repository.check();
  INFO(told.output, told.errors);
  CHECK(told.code == 0);
  CHECK(has(told.output, "a.cu:4  new warning [uncoalesced-access]"));
  CHECK_FALSE(has(told.output, "old.cu:5  new"));
  CHECK(repository.check({"--fail-diagnostics", "warning"}).code == 1);
  CHECK(repository.check({"--fail-diagnostics", "error"}).code == 0);
  CHECK(repository.check({"old.cu", "--fail-diagnostics", "hint"}).code == 0);
}

TEST_CASE("a changed kernel that was an applied variant is also compared with its original") {
  const GitFolder repository;
  repository.add("square.cu", square_file("fake_ns=1000"));
  const std::string ledger_path = repository.path.string() + ".ledger";
  const Ended optimized = repository.run(
      {"optimize", "square.cu", "--device", "cpu", "--max-variants", "6", "--budget", "60s", "--ledger", ledger_path},
      {"WARPWRIGHT_CPU_WORKER=" WARPWRIGHT_TEST_DIR "/runner_fake_worker", "WARPWRIGHT_FAKE_WORKER=measure"});
  INFO(optimized.output, optimized.errors);
  const auto ledger = runner::Ledger::open(ledger_path);
  REQUIRE(ledger.has_value());
  const auto history = (*ledger)->of_kernel((repository.path / "square.cu").string(), "square");
  REQUIRE(history.has_value());
  std::string applied;
  for (const runner::LedgerEntry &entry : history->entries)
    if (entry.verdict.speedup && entry.variant_text.find("fake_ns=1000") != std::string::npos &&
        entry.variant_text != square_file("fake_ns=1000"))
      applied = entry.variant_text;
  REQUIRE_MESSAGE(!applied.empty(), optimized.output);
  repository.add("square.cu", applied);
  repository.commit("Apply a variant");
  repository.git({"checkout", "-q", "-b", "work"});
  repository.add("square.cu", applied.replace(applied.find("fake_ns=1000"), 12, "fake_ns=1500"));
  const Ended ended = repository.fake_check({"--ledger", ledger_path});
  fs::remove(ledger_path);
  INFO(ended.output, ended.errors);
  CHECK(ended.code == 1);
  CHECK(has(ended.output, "1.00x over the original before, now 0.67x"));
}

TEST_CASE("a renamed file is compared with its old name") {
  const SquareRepository repository;
  repository.git({"mv", "src/square.cu", "src/renamed.cu"});
  repository.add("src/renamed.cu", square_file("fake_ns=1300"));
  repository.commit("Rename and slow down");
  const Ended ended = repository.fake_check();
  INFO(ended.output, ended.errors);
  CHECK(ended.code == 1);
  CHECK(has(ended.output, "src/renamed.cu:1 square  SLOWER"));
}

TEST_CASE("the base is where the branch left the revision") {
  const SquareRepository repository;
  repository.add("src/square.cu", square_file("fake_ns=900"));
  repository.commit("A little faster");
  repository.git({"checkout", "-q", "main"});
  repository.add("src/square.cu", square_file("fake_ns=100"));
  repository.commit("Much faster on main");
  repository.git({"checkout", "-q", "work"});
  const Ended ended = repository.fake_check();
  INFO(ended.output, ended.errors);
  CHECK(ended.code == 0); // 900 against 1000, not against 100
  CHECK(has(ended.output, "FASTER"));
}

TEST_CASE("what cannot be checked is told: no repository, no revision, no runner") {
  const SquareRepository repository;
  const Ended revision = repository.run({"check", "--base", "--upload-pack=x"});
  CHECK(revision.code == 2);
  const Ended missing = repository.run({"check", "--base", "nowhere"});
  CHECK(missing.code == 2);
  CHECK(has(missing.errors, "there is no revision nowhere in " + repository.path.string()));
  CHECK(has(missing.errors, "fetch-depth: 0"));
  CHECK(repository.run({"check"}).code == 2);
  CHECK(repository.run({"check", "--base", "main", "--fail-slower", "much"}).code == 2);
  CHECK(repository.run({"check", "--base", "main", "none.cu"}).code == 2);
  repository.add("src/square.cu", square_file("fake_ns=1500"));
  const Ended alone = repository.run({"check", "--base", "main", "--runner", "unix:/nonexistent/socket"});
  INFO(alone.output, alone.errors);
  CHECK(alone.code == 3);
  CHECK(has(alone.output, "UNKNOWN  cannot reach a runner at /nonexistent/socket"));
  const fs::path outside = repository.path.string() + ".outside";
  fs::create_directories(outside);
  const auto none = run_captured({WARPWRIGHT_BINARY_DIR "/warpwright", "check", "--base", "main"}, "",
                                 std::chrono::seconds(60),
                                 {.environment = {"GIT_CEILING_DIRECTORIES=" + outside.parent_path().string()},
                                  .working_directory = outside.string()});
  fs::remove_all(outside);
  REQUIRE(none.has_value());
  CHECK(none->status.code == 2);
  CHECK(has(none->errors, "run it inside a git repository"));
}

TEST_CASE("a project's file cannot name the runner of a check without approval") {
  const SquareRepository repository;
  repository.add(".warpwright.toml", "runner = \"unix:/nonexistent/of-the-project\"\n");
  repository.add("src/square.cu", square_file("fake_ns=1500"));
  repository.commit("Name a runner");
  const Ended ended = repository.fake_check();
  INFO(ended.output, ended.errors);
  CHECK(ended.code == 1); // by the runner that is started here
  CHECK(has(ended.errors, "warpwright trust"));
  CHECK_FALSE(has(ended.output, "of-the-project"));
}
