// Examination of a verdict: runs the tools one after the other, each of which adds its check to the
// verdict.
#include "runner/deep/examination.h"
#include "runner/deep/examined_sizes.h"
#include "runner/deep/launch_folder.h"
#include "runner/deep/profile_report.h"
#include "runner/deep/sanitizer_report.h"
#include "runner/deep/tool_run.h"
#include "runner/deep/tools.h"
#include "runner/verify/bound_plan.h"
#include "support/model/json.h"

#include <algorithm>

namespace warpwright::runner::deep {
namespace {

namespace fs = std::filesystem;
using model::Outcome;

constexpr const char *kCounters = "hardware counters";
/// Limit of elements in all buffers. Racecheck takes seconds for a simple kernel of this size.
constexpr std::int64_t kMaxCheckedElements = std::int64_t{1} << 24;
/// Limit for counters, which belong to the measured sizes. Above it, drawing the inputs on the host
/// takes too long.
constexpr std::int64_t kMaxProfiledElements = std::int64_t{1} << 30;
/// Unused memory after each allocation, so that a stray access does not hit another buffer.
constexpr const char *kPaddingBytes = "65536";
/// Limit of ncu's runs, because ncu may report missing metrics one at a time.
constexpr int kMaxTries = 8;

struct SanitizerTool {
  const char *name;
  Outcome outcome; ///< outcome for a candidate with a finding
};
constexpr SanitizerTool kSanitizerTools[] = {{"memcheck", Outcome::Crash},
                                             {"racecheck", Outcome::WrongResult},
                                             {"initcheck", Outcome::WrongResult},
                                             {"synccheck", Outcome::Crash}};

std::string last_line(const std::string &output) {
  const std::size_t end = output.find_last_not_of("\r\n ");
  if (end == std::string::npos)
    return "it printed nothing";
  const std::size_t start = output.find_last_of('\n', end);
  return output.substr(start == std::string::npos ? 0 : start + 1,
                       end - (start == std::string::npos ? 0 : start + 1) + 1);
}

/// Whether the source has barriers for parts of a block. They are legal, but synccheck does not
/// always recognize them.
bool has_named_barriers(const std::string &source) {
  for (const char *spelling : {"bar.sync", "bar.arrive", "barrier.sync", "barrier.cta", "mbarrier"})
    if (source.find(spelling) != std::string::npos)
      return true;
  return false;
}

class Examination {
public:
  Examination(const ExaminationRequest &request, std::chrono::steady_clock::time_point deadline,
              std::stop_token stop, const std::function<void(const std::string &)> &say,
              LaunchFolder folder)
      : request_(request), deadline_(deadline), stop_(stop), say_(say), folder_(std::move(folder)),
        verdict_(request.verdict) {
    task_file_ = folder_.write("task.json", model::to_json(request.task));
    candidate_file_ = folder_.write("candidate.json", model::to_json(request.plan));
    reference_file_ = folder_.write("reference.json", model::to_json(request.task.reference));
  }

  model::Verdict run() {
    if (request_.options.deep)
      sanitize();
    if (request_.options.profile && verdict_.outcome == Outcome::Verified)
      profile();
    return std::move(verdict_);
  }

private:
  void note(const std::string &check, const std::string &detail, bool passed = true) {
    verdict_.checks.push_back({check, passed, detail});
  }

  void sanitize() {
    const auto tool = find(Tool::ComputeSanitizer);
    if (!tool)
      return add_not_run({.deep = true}, describe(tool.error()), verdict_);
    sizes_ = examined_sizes(request_.task, kMaxCheckedElements);
    for (const SanitizerTool &check : kSanitizerTools) {
      say_("running " + std::string(check.name));
      const auto candidate = report_of(*tool, check.name, candidate_file_);
      if (!candidate)
        note(check.name, "not run: " + describe(candidate.error()));
      else if (candidate->errors == 0)
        note(check.name, passed_detail(*candidate));
      else
        judge(*tool, check, *candidate);
    }
  }

  /// Errors: the tool did not finish.
  Result<SanitizerReport> report_of(const fs::path &tool, const std::string &check,
                                    const std::string &plan_file) {
    std::vector<std::string> command = {
        tool.string(), "--tool",           check, "--error-exitcode",
        "86",          "--print-limit",    "100", "--report-api-errors",
        "no",          "--show-backtrace", "no"};
    if (check == "memcheck")
      command.insert(command.end(), {"--padding", kPaddingBytes});
    auto run = TRY(run_launch(std::move(command), plan_file, sizes_));
    SanitizerReport report = read_sanitizer_report(run.output);
    if (report.errors > 0)
      return report;
    if (!report.launch_failure.empty())
      return fail("the launch failed: " + report.launch_failure);
    if (!report.complete)
      return fail(report.trouble.empty() ? last_line(run.output) : report.trouble);
    return report;
  }

  Result<ToolRun> run_launch(std::vector<std::string> command, const std::string &plan_file,
                             const std::vector<symbolic::Sizes> &sizes) {
    auto leash = TRY(Leash::make(folder_.file("leash-" + std::to_string(leashes_++))));
    command.insert(command.end(),
                   {request_.launcher, "launch", task_file_, plan_file, "--device", request_.device,
                    "--seed", std::to_string(std::max<std::uint64_t>(request_.options.seed, 1)),
                    "--leash", leash.path(), "--code-folder", folder_.path()});
    for (const symbolic::Sizes &binding : sizes)
      if (!binding.empty())
        command.insert(command.end(), {"--size", size_argument(binding)});
    auto run = run_tool(command, std::move(leash), deadline_, stop_);
    if (!run)
      return run;
    if (run->end == ToolRun::End::TimedOut)
      return fail("it did not end within the job's time",
                  "Give the job more (--timeout), or the task smaller check sizes");
    if (run->end == ToolRun::End::Stopped)
      return fail("the job was cancelled");
    return run;
  }

  std::string passed_detail(const SanitizerReport &report) const {
    std::string detail;
    for (const symbolic::Sizes &sizes : sizes_)
      detail += (detail.empty() ? "at " : "; at ") + symbolic::describe_sizes(sizes);
    if (sizes_.back() != request_.task.sizes)
      detail +=
          "; " + symbolic::describe_sizes(request_.task.sizes) + " is too much for this check";
    if (report.warnings > 0)
      detail += "; " + std::to_string(report.warnings) + " warnings, the first: " + report.first;
    return detail;
  }

  void judge(const fs::path &tool, const SanitizerTool &check, const SanitizerReport &candidate) {
    std::string found =
        candidate.first.empty() ? "it counts errors and describes none" : candidate.first;
    if (candidate.errors > 1)
      found += "; " + std::to_string(candidate.errors) + " errors in all";
    const auto reference = report_of(tool, check.name, reference_file_);
    if (reference && reference->errors > 0)
      return note(check.name,
                  found +
                      "; the reference is reported for the same, so it is not held against "
                      "the candidate: " +
                      reference->first,
                  false);
    if (std::string_view(check.name) == "synccheck" && has_named_barriers(request_.plan.source))
      return note(check.name,
                  found + "; the source has barriers of parts of a block, which this check does "
                          "not always know: not held against the candidate",
                  false);
    note(check.name, found, false);
    if (verdict_.outcome != Outcome::Verified)
      return;
    verdict_.outcome = check.outcome;
    verdict_.message = std::string(check.name) + ": " + found;
    verdict_.speedup.reset();
    verdict_.as_called.reset();
  }

  void profile() {
    const auto tool = find(Tool::Ncu);
    if (!tool)
      return add_not_run({.profile = true}, describe(tool.error()), verdict_);
    const std::vector<symbolic::Sizes> sizes = {
        profiled_sizes(request_.task, kMaxProfiledElements)};
    model::Counters counters;
    counters.sizes = symbolic::describe_sizes(sizes[0]);
    for (const auto &[side, file, member] :
         {std::tuple{"reference", &reference_file_, &model::Counters::reference},
          std::tuple{"candidate", &candidate_file_, &model::Counters::candidate}}) {
      say_(std::string("reading hardware counters of the ") + side);
      auto read = counters_of(*tool, *file, sizes);
      if (!read)
        return note(kCounters, "not run: " + describe(read.error()));
      counters.*member = std::move(*read);
    }
    counters.tool = "ncu" + version_of(*tool);
    verdict_.counters = std::move(counters);
  }

  Result<model::PlanCounters> counters_of(const fs::path &tool, const std::string &plan_file,
                                          const std::vector<symbolic::Sizes> &sizes) {
    for (int tries = 1;; ++tries) {
      std::string list;
      for (const std::string &metric : metrics_)
        list += (list.empty() ? "" : ",") + metric;
      auto run =
          TRY(run_launch({tool.string(), "--csv", "--page", "raw", "--print-units", "base",
                          "--metrics", list, "--cache-control", "all", "--clock-control", "none"},
                         plan_file, sizes));
      auto counters = read_profile(run.output);
      const std::vector<std::string> refused = refused_metrics(run.output);
      if (counters || refused.empty() || tries == kMaxTries)
        return counters;
      std::erase_if(metrics_, [&](const std::string &metric) {
        return std::find(refused.begin(), refused.end(), metric) != refused.end();
      });
    }
  }

  const ExaminationRequest &request_;
  std::chrono::steady_clock::time_point deadline_;
  std::stop_token stop_;
  const std::function<void(const std::string &)> &say_;
  LaunchFolder folder_;
  model::Verdict verdict_;
  std::string task_file_, candidate_file_, reference_file_;
  std::vector<symbolic::Sizes> sizes_;
  std::vector<std::string> metrics_ = profile_metrics();
  int leashes_ = 0;
};

} // namespace

bool wants_examination(const model::VerifyOptions &options, const model::Verdict &verdict) {
  if (verdict.outcome == Outcome::Verified)
    return options.deep || options.profile;
  const bool ran =
      std::none_of(verdict.checks.begin(), verdict.checks.end(), [&](const model::Check &check) {
        return !check.passed && (check.name == "fits the task" || check.name == "compiles" ||
                                 (check.name == "runs" && verdict.outcome != Outcome::Crash));
      });
  // Tools also run on wrong results, because they may find the cause, with source lines.
  return options.deep && ran &&
         (verdict.outcome == Outcome::WrongResult || verdict.outcome == Outcome::Crash ||
          verdict.outcome == Outcome::SuspectedCheat);
}

void add_not_run(const model::VerifyOptions &options, const std::string &reason,
                 model::Verdict &verdict) {
  const auto add = [&](const char *name) {
    const bool known = std::any_of(verdict.checks.begin(), verdict.checks.end(),
                                   [&](const model::Check &check) { return check.name == name; });
    if (!known)
      verdict.checks.push_back({name, true, "not run: " + reason});
  };
  if (options.deep)
    for (const SanitizerTool &tool : kSanitizerTools)
      add(tool.name);
  if (options.profile && !verdict.counters && verdict.outcome == Outcome::Verified)
    add(kCounters);
}

model::Verdict examine(const ExaminationRequest &request,
                       std::chrono::steady_clock::time_point deadline, std::stop_token stop,
                       const std::function<void(const std::string &)> &say) {
  auto folder = LaunchFolder::make();
  if (!folder) {
    model::Verdict verdict = request.verdict;
    add_not_run(request.options, describe(folder.error()), verdict);
    return verdict;
  }
  return Examination(request, deadline, stop, say, std::move(*folder)).run();
}

} // namespace warpwright::runner::deep
