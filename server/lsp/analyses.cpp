// Analyses of the server: project settings, the stub pass, and one full parser per file.
//
// If the headers are compiled already and the last full parse was fast, the first answer comes from
// the full pass, so that diagnostics do not flicker between passes. Slices and tasks come from the
// stub pass if it has them: the generator parses with the stub pass, and the hash of the slice
// identifies the code of a measurement. The full pass takes them from the stub pass of the same
// text. Each pass runs in a guard (analysis/guard). A file that fails there gets the facts of the
// token scan and a diagnostic. After several failures in a row a pass is not tried again until the
// file is reopened.
#include "server/engine.h"

#include "analysis/config/file_settings.h"
#include "analysis/config/project_disk.h"
#include "analysis/parse/full_parser.h"
#include "analysis/guard/guard.h"
#include "analysis/python/module_facts.h"
#include "analysis/torch_cpp/kernels.h"
#include "server/optimize/project.h"
#include "support/exclusive.h"

#include <algorithm>
#include <deque>
#include <map>

namespace warpwright::server {

namespace {

using Clock = std::chrono::steady_clock;

/// Full parses below this time answer an edit directly, because two answers would make errors
/// flicker.
constexpr std::chrono::milliseconds kQuickParse{150};

/// Number of stub passes kept for the full pass of the same text; more than run at once.
constexpr std::size_t kMostStubs = 8;

/// Failures in a row after which a pass of a file is not tried again. A crash leaks memory, and
/// endless work keeps a thread.
constexpr int kMostFailures = 5;

/// Failures of one pass of a file since it was opened, or since the pass last succeeded.
struct Failed {
  int count = 0;
  std::string text; ///< text of the last failure
  Error reason;
};

struct FileParser {
  explicit FileParser(std::shared_ptr<const analysis::ResourceHeaders> headers)
      : parser(std::move(headers)) {}
  analysis::FullParser parser;
  std::optional<Clock::duration> last_parse; ///< absent if the last parse made its preamble
};

void report_problems(const std::vector<Error> &problems, analysis::FileFacts &facts) {
  for (const Error &problem : problems)
    facts.diagnostics.push_back({.rule = "configuration",
                                 .severity = analysis::Severity::Warning,
                                 .message = describe(problem),
                                 .line = 1,
                                 .column = 1});
}

/// Replaces the full pass's slices, tasks and patterns by the stub pass's, for generator and
/// runner.
/// @return whether the stub pass has every kernel of the full pass
bool adopt_tasks(const analysis::FileFacts &stub, analysis::FileFacts &full) {
  bool all = true;
  for (analysis::Kernel &kernel : full.kernels) {
    const auto known = std::ranges::find_if(stub.kernels, [&](const analysis::Kernel &candidate) {
      return candidate.name == kernel.name && !candidate.slice.empty();
    });
    all = all && known != stub.kernels.end();
    if (known == stub.kernels.end())
      continue;
    kernel.slice = known->slice;
    kernel.slice_error = known->slice_error;
    kernel.task = known->task;
    kernel.pattern = known->pattern;
  }
  return all;
}

class ProjectAnalyses : public std::enable_shared_from_this<ProjectAnalyses> {
public:
  AnalysisResult first(const std::string &path, const std::string &text) {
    forget_stub(path); // included files may have changed
    const config::FileSettings settings = project_settings_.read(path);
    if (analysis::is_python(path))
      return result(analysis::module_facts(path, text, config::real_disk()), settings);
    if (auto quick = quick_facts(path, text, settings))
      return result(std::move(*quick), settings);
    auto facts = held_stub(path, text, settings);
    return result(facts ? std::move(*facts) : analysis::scanned_facts({path, text}, facts.error()),
                  settings);
  }

  std::optional<AnalysisResult> full(const std::string &path, const std::string &text,
                                     std::stop_token stop) {
    if (analysis::is_python(path) || analysis::is_host_cpp(path))
      return std::nullopt; // the first pass has all facts
    const config::FileSettings settings = project_settings_.read(path);
    if (settings.parse.cuda_path.empty() || stop.stop_requested() ||
        has_failed(path, text, analysis::Pass::Stub))
      return std::nullopt;
    const auto parser = make(path);
    if (!parser)
      return std::nullopt;
    auto facts = held(path, text, analysis::Pass::Full, analysis::kFullLimits,
                      [self = shared_from_this(), parser, path, text, settings] {
                        return parser->with([&](FileParser &file) {
                          return self->parse(file, path, text, settings);
                        });
                      });
    if (!facts)
      facts = without_headers(path, text, settings, facts.error());
    if (!facts || !*facts || stop.stop_requested())
      return std::nullopt;
    return result(std::move(**facts), settings);
  }

  void close(const std::string &path) {
    forget_parser(path);
    forget_stub(path);
    failed_.with([&](auto &failed) {
      failed.erase({path, analysis::Pass::Stub});
      failed.erase({path, analysis::Pass::Full});
    });
  }

private:
  using SharedParser = std::shared_ptr<Exclusive<FileParser>>;
  /// Result of a pass; nullopt: no facts, without a failure.
  using Facts = Result<std::optional<analysis::FileFacts>>;

  /// Runs one pass in a guard, unless the pass has failed too often.
  /// @param work owns all that it uses, because it may run on after an error
  Facts held(const std::string &path, const std::string &text, analysis::Pass pass,
             const Limits &limits, std::function<Facts()> work) {
    const Failed before = failed_.with([&](auto &failed) { return failed[{path, pass}]; });
    if (before.count >= kMostFailures)
      return fail(before.reason.message + ", " + std::to_string(before.count) +
                      " times in a row, so it is not tried again",
                  "Close the file and open it to have it tried again");
    Facts facts = analysis::guarded(limits, std::move(work));
    failed_.with([&](auto &failed) {
      failed[{path, pass}] =
          facts ? Failed{} : Failed{before.count + 1, text, facts.error()};
    });
    if (!facts && pass == analysis::Pass::Full)
      forget_parser(path); // the parser was interrupted
    return facts;
  }

  bool has_failed(const std::string &path, const std::string &text, analysis::Pass pass) {
    return failed_.with([&](auto &failed) {
      const Failed &known = failed[{path, pass}];
      return known.count > 0 && known.text == text;
    });
  }

  /// Facts of the full pass if it is expected to be fast; else nullopt.
  std::optional<analysis::FileFacts> quick_facts(const std::string &path, const std::string &text,
                                                 const config::FileSettings &settings) {
    const auto parser = find(path);
    if (!parser)
      return std::nullopt;
    auto facts = held(path, text, analysis::Pass::Full, analysis::kFullLimits,
                      [self = shared_from_this(), parser, path, text, settings] {
                        Facts found;
                        parser->try_with([&](FileParser &file) {
                          if (file.last_parse && *file.last_parse < kQuickParse &&
                              file.parser.is_preamble_current({path, text}, settings.parse))
                            found = self->parse(file, path, text, settings);
                        });
                        return found;
                      });
    return facts ? std::move(*facts) : std::nullopt;
  }

  Result<analysis::FileFacts> held_stub(const std::string &path, const std::string &text,
                                        const config::FileSettings &settings) {
    auto facts = held(path, text, analysis::Pass::Stub, analysis::kEditorLimits,
                      [self = shared_from_this(), path, text, settings]() -> Facts {
                        return self->completed(self->stub_facts(path, text, settings.parse)->facts,
                                               text, settings);
                      });
    if (!facts)
      return std::unexpected(facts.error());
    return std::move(**facts);
  }

  /// Facts of the stub pass, with a diagnostic that says why the full pass failed.
  Facts without_headers(const std::string &path, const std::string &text,
                        const config::FileSettings &settings, const Error &reason) {
    auto facts = held_stub(path, text, settings);
    if (!facts)
      return std::unexpected(facts.error());
    facts->diagnostics.push_back({.rule = analysis::kNotAnalysedRule,
                                  .severity = analysis::Severity::Warning,
                                  .message = "Warpwright could not analyze this file with its real "
                                             "headers, and took built-in declarations instead: " +
                                             describe(reason),
                                  .line = 1,
                                  .column = 1});
    return std::move(*facts);
  }

  /// Result of the stub pass, which parses a text with built-in declarations.
  struct StubFacts {
    std::string path, text;
    analysis::ParseSettings settings;
    analysis::FileFacts facts;
    analysis::FileFacts torch; ///< functions over tensors and modules
  };

  void forget_stub(const std::string &path) {
    stubs_.with([&](auto &stubs) {
      std::erase_if(stubs, [&](const auto &known) { return known->path == path; });
    });
  }

  /// Runs the stub pass once for the first answer and for the full pass of the same text.
  std::shared_ptr<const StubFacts> stub_facts(const std::string &path, const std::string &text,
                                              const analysis::ParseSettings &settings) {
    auto known = stubs_.with([&](auto &stubs) {
      const auto found = std::ranges::find_if(stubs, [&](const auto &one) {
        return one->path == path && one->text == text && one->settings == settings;
      });
      return found == stubs.end() ? nullptr : *found;
    });
    if (known)
      return known;
    auto made = std::make_shared<StubFacts>(StubFacts{path, text, settings, {}, {}});
    if (analysis::is_host_cpp(path)) // such files have torch functions, but no kernels
      made->facts = {.path = path, .pass = analysis::Pass::Stub};
    else
      made->facts = analysis::analyze({path, text}, settings);
    analysis::add_torch_functions({path, text}, settings, made->torch);
    stubs_.with([&](auto &stubs) {
      stubs.push_front(made);
      if (stubs.size() > kMostStubs)
        stubs.pop_back();
    });
    return made;
  }

  static void add_torch(const analysis::FileFacts &torch, analysis::FileFacts &facts) {
    facts.kernels.insert(facts.kernels.end(), torch.kernels.begin(), torch.kernels.end());
    facts.diagnostics.insert(facts.diagnostics.end(), torch.diagnostics.begin(),
                             torch.diagnostics.end());
    std::ranges::stable_sort(facts.kernels, {},
                             [](const analysis::Kernel &kernel) { return kernel.range.begin; });
  }

  Facts parse(FileParser &file, const std::string &path,
                                           const std::string &text,
                                           const config::FileSettings &settings) {
    const bool had_preamble = file.parser.is_preamble_current({path, text}, settings.parse);
    const auto start = Clock::now();
    const auto unit = file.parser.parse({path, text}, settings.parse);
    if (!unit)
      return std::optional<analysis::FileFacts>(); // the stub pass has answered, and doctor
                                                   // reports problems of the toolkit
    analysis::FileFacts facts = analysis::collect_facts(**unit, {.tasks = false, .rules = true});
    const auto stub = stub_facts(path, text, settings.parse);
    if (!adopt_tasks(stub->facts, facts)) {
      facts = analysis::collect_facts(**unit);
      adopt_tasks(stub->facts, facts);
    }
    file.last_parse = had_preamble ? std::optional(Clock::now() - start) : std::nullopt;
    return completed(std::move(facts), text, settings);
  }

  /// Completes facts with the project's settings and with torch functions, for which it may parse
  /// the file.
  analysis::FileFacts completed(analysis::FileFacts facts, const std::string &text,
                                const config::FileSettings &settings) {
    complete_tasks(facts, text, settings, project_settings_.captured(facts.path));
    add_torch(stub_facts(facts.path, text, settings.parse)->torch, facts);
    return facts;
  }

  AnalysisResult result(analysis::FileFacts facts, const config::FileSettings &settings) {
    std::erase_if(facts.diagnostics, [&](const analysis::Diagnostic &diagnostic) {
      return std::ranges::find(settings.project.disabled_rules, diagnostic.rule) !=
             settings.project.disabled_rules.end();
    });
    report_problems(settings.problems, facts);
    if (const auto notice = consent::withheld_notice(settings.project.file))
      report_problems({*notice}, facts);
    ProjectDefaults project{.runner = settings.project.runner_url,
                            .python = settings.project.python,
                            .budget = {},
                            .policy = settings.project.policy,
                            .learn = settings.project.learn,
                            .runner_error = settings.project.runner_error,
                            .file = settings.project.file};
    if (settings.project.budget_ms)
      project.budget = std::chrono::milliseconds(*settings.project.budget_ms);
    return {std::move(facts), std::move(project)};
  }

  void forget_parser(const std::string &path) {
    parsers_.with([&](auto &parsers) { parsers.erase(path); });
  }

  SharedParser find(const std::string &path) {
    return parsers_.with([&](auto &parsers) {
      const auto found = parsers.find(path);
      return found == parsers.end() ? nullptr : found->second;
    });
  }

  SharedParser make(const std::string &path) {
    return parsers_.with([&](auto &parsers) -> SharedParser {
      SharedParser &parser = parsers[path];
      if (!parser && (headers_ || unpack()))
        parser = std::make_shared<Exclusive<FileParser>>(headers_);
      return parser;
    });
  }

  bool unpack() {
    if (auto headers = analysis::ResourceHeaders::unpack())
      headers_ = *headers;
    return headers_ != nullptr;
  }

  ProjectSettings project_settings_;
  std::shared_ptr<const analysis::ResourceHeaders> headers_; ///< guarded by the lock of parsers_
  Exclusive<std::map<std::string, SharedParser>> parsers_;
  Exclusive<std::deque<std::shared_ptr<const StubFacts>>> stubs_; ///< newest first
  Exclusive<std::map<std::pair<std::string, analysis::Pass>, Failed>> failed_;
};

} // namespace

Analyses make_analyses() {
  const auto state = std::make_shared<ProjectAnalyses>();
  return {
      .stub = [state](const std::string &path,
                      const std::string &text) { return state->first(path, text); },
      .full = [state](const std::string &path, const std::string &text,
                      std::stop_token stop) { return state->full(path, text, std::move(stop)); },
      .closed = [state](const std::string &path) { state->close(path); }};
}

} // namespace warpwright::server
