// The adversary suite: its table, its judgement, and the whole of it on the CPU backend through the
// real programs. NVRTC, where it is there, shows that the sources for GPUs say what they mean.
#include "runner/adversary/judge.h"
#include "runner/adversary/tasks.h"
#include "runner/cuda/compiler.h"
#include "tests/runner/adversary_report.h"

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sys/resource.h>

namespace warpwright::runner {
namespace {

using namespace adversary;

const std::vector<Case> &table() {
  static const std::vector<Case> cases = all_cases();
  return cases;
}

const Case &case_named(const std::string &name) {
  for (const Case &subject : table())
    if (subject.name == name)
      return subject;
  FAIL(name);
  return table().front();
}

bool accepts(const OnDevice &where, const Expectation &wanted) {
  return std::any_of(where.accepted.begin(), where.accepted.end(), [&](const Expectation &one) {
    return one.outcome == wanted.outcome && one.check == wanted.check;
  });
}

model::Verdict verdict_of(model::Outcome outcome, const std::string &failed_check) {
  model::Verdict verdict;
  verdict.outcome = outcome;
  verdict.checks = {{"compiles", true, ""}};
  if (!failed_check.empty())
    verdict.checks.push_back({failed_check, false, ""});
  return verdict;
}

TEST_CASE("every way to cheat that a plan leaves open has a case") {
  std::set<std::string> families, names;
  for (const Case &subject : table()) {
    families.insert(subject.family);
    CHECK_MESSAGE(names.insert(subject.name).second, subject.name);
    CHECK_FALSE(subject.cheat.empty());
    for (const OnDevice *where : {&subject.cpu, &subject.gpu})
      CHECK_MESSAGE(where->accepted.empty() != where->why_not.empty(), subject.name);
    CHECK_MESSAGE((!subject.cpu.accepted.empty() || !subject.gpu.accepted.empty()), subject.name);
  }
  for (const char *family :
       {"device globals that cache", "reading stale expected output",
        "skipping work when inputs repeat", "mutated inputs", "unwritten outputs",
        "out-of-bounds accesses", "races that pass once", "constants for degenerate tasks",
        "silent precision loss", "NaN and infinity swallowed", "shape-sniffing",
        "work left running", "persisting L2 lines", "clock throttling and clock reading",
        "faster than the roofline", "a plan step that never ran", "honest"})
    CHECK_MESSAGE(families.contains(family), family);
}

TEST_CASE("the documentation has the number of cases of every family") {
  std::ifstream file(WARPWRIGHT_SOURCE_DIR "/docs/internals/adversary.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  std::map<std::string, int> families;
  int cheats = 0, honest = 0, off_gpu = 0, off_cpu = 0;
  for (const Case &subject : table()) {
    ++families[subject.family];
    ++(is_honest(subject) ? honest : cheats);
    off_gpu += subject.gpu.accepted.empty();
    off_cpu += subject.cpu.accepted.empty();
  }
  const auto number = [](int count) { return std::to_string(count); };
  for (const auto &[family, cases] : families)
    CHECK_MESSAGE(page.contains("| " + family + " | " + number(cases) + " |"), family);
  CHECK(page.contains("There are " + number(cheats) + " cheating or broken candidates and " +
                      number(honest) + " honest ones. On a GPU, " + number(off_gpu) + " of"));
  CHECK(page.contains("On the CPU backend, " + number(off_cpu) + " are"));
}

TEST_CASE("a cheat that is refused for another reason is not as expected") {
  const Case &subject = case_named("writes-nothing");
  const auto judged = [&](const Result<model::Verdict> &verdict) {
    return judge(subject, subject.cpu.accepted, verdict);
  };
  const auto right =
      judged(verdict_of(model::Outcome::WrongResult, "every output element written"));
  CHECK(right.as_expected);
  CHECK(right.refused);
  const auto other = judged(verdict_of(model::Outcome::WrongResult, "matches the reference"));
  CHECK_FALSE(other.as_expected);
  CHECK(other.refused);
  const auto passed = judged(verdict_of(model::Outcome::Verified, ""));
  CHECK_FALSE(passed.as_expected);
  CHECK_FALSE(passed.refused);
  const auto lost = judged(fail("the runner ended while it had a job"));
  CHECK_FALSE(lost.as_expected);
  CHECK(lost.outcome == "lost");
}

TEST_CASE("a cheat whose results are right is refused only while it is credited no speedup") {
  const Case &subject = case_named("cache-by-checksum");
  model::Verdict verdict = verdict_of(model::Outcome::Verified, "");
  verdict.speedup = model::Speedup{1.01, 0.99, 1.03, 50, "a GPU"};
  CHECK(judge(subject, subject.gpu.accepted, verdict).refused);
  CHECK(judge(subject, subject.gpu.accepted, verdict).as_expected);
  verdict.speedup = model::Speedup{9.5, 9.1, 9.9, 50, "a GPU"};
  CHECK_FALSE(judge(subject, subject.gpu.accepted, verdict).refused);
  CHECK_FALSE(judge(subject, subject.gpu.accepted, verdict).as_expected);
}

TEST_CASE("a candidate that fails as a degenerate task's does is told from one that is credited") {
  const Case &subject = case_named("constant-for-a-constant-task");
  model::Verdict verdict = verdict_of(model::Outcome::Verified, "the task is not degenerate");
  CHECK(judge(subject, subject.cpu.accepted, verdict).refused);
  verdict.checks.pop_back();
  CHECK_FALSE(judge(subject, subject.cpu.accepted, verdict).as_expected);
}

TEST_CASE("the sources for GPUs compile with NVRTC, and those that must not do not") {
  auto compiler = cuda::Compiler::make({.compute_capability = 90});
  if (!compiler) {
    MESSAGE("no NVRTC: " << describe(compiler.error()));
    return;
  }
  const auto compiles = [&](const Plan &plan) {
    CompileRequest request{plan.source, plan.options, {}};
    for (const model::Step &step : plan.steps)
      if (const auto *one = std::get_if<model::LaunchStep>(&step))
        request.kernels.push_back(one->kernel);
    const auto output = (*compiler)->compile(request);
    return output ? std::string() : "refused: " + output.error().message;
  };
  for (const Case &subject : table()) {
    const OnDevice &gpu = subject.gpu;
    const bool is_bomb = accepts(gpu, kTimeout) && accepts(gpu, kNoCompile);
    const bool never_compiled = accepts(gpu, kUnfit) || accepts(gpu, kRejected);
    if (gpu.accepted.empty() || is_bomb || never_compiled)
      continue;
    INFO(subject.name);
    CHECK(compiles(subject.task.reference) == "");
    const std::string error = compiles(subject.candidate);
    INFO(error);
    if (accepts(gpu, kNoCompile) && gpu.accepted.size() == 1)
      CHECK_FALSE(error.empty());
    else if (!accepts(gpu, kNoCompile))
      CHECK(error == "");
  }
}

TEST_CASE("a name that is no case's, and a device that is not there, are told") {
  const CapturedRun unknown = testing::run_adversary_command({"--case", "no-such-cheat", "--json"});
  CHECK(unknown.status.code == 2);
  CHECK(unknown.output.find("there is no case no-such-cheat") != std::string::npos);
  const CapturedRun absent = testing::run_adversary_command({"--device", "cuda:99", "--json"});
  CHECK(absent.status.code == 2);
  const CapturedRun listed = testing::run_adversary_command({"--list", "--json"});
  CHECK(listed.status.code == 0);
  CHECK(nlohmann::json::parse(listed.output).size() == table().size());
}

TEST_CASE("every cheat is refused for its reason on the CPU, and every honest candidate verified") {
  if (!std::filesystem::exists(WARPWRIGHT_BINARY_DIR "/warpwright-worker-cpu")) {
    MESSAGE("no CPU worker was built");
    return;
  }
  rlimit stack{}; // as in a shell that has no limit of it
  getrlimit(RLIMIT_STACK, &stack);
  stack.rlim_cur = stack.rlim_max;
  setrlimit(RLIMIT_STACK, &stack);
  testing::check_adversary_report("cpu");
}

} // namespace
} // namespace warpwright::runner
