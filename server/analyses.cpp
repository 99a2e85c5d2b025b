// The real analyses of the server: project settings, the stub pass, and one full parser a file.
//
// Where headers are compiled already and the last full parse was quick, the first answer is the
// full one, so that diagnostics do not flicker between passes. Slices and tasks always come from
// the stub pass when it has them: the generator parses with it, and measurements are compared by
// the hash of the slice. The full pass behind a stub pass of the same text takes what that found.
#include "server/engine.h"

#include "analysis/analyze.h"
#include "analysis/config/file_settings.h"
#include "analysis/config/project_disk.h"
#include "analysis/full_parser.h"
#include "analysis/python/module_facts.h"
#include "generator/torch_cpp/kernels.h"
#include "server/project.h"
#include "support/exclusive.h"

#include <algorithm>
#include <deque>
#include <map>

namespace warpwright::server {

namespace {

using Clock = std::chrono::steady_clock;

/// Below this a full parse answers an edit directly: two answers would make errors blink.
constexpr std::chrono::milliseconds kQuickParse{150};

/// Stub passes that are remembered until the full pass of the same text has come: more than are under way at once.
constexpr std::size_t kMostStubs = 8;

struct FileParser {
  explicit FileParser(std::shared_ptr<const analysis::ResourceHeaders> headers)
      : parser(std::move(headers)) {}
  analysis::FullParser parser;
  std::optional<Clock::duration> last_parse; ///< with a preamble that was there
};

void report_problems(const std::vector<Error> &problems, analysis::FileFacts &facts) {
  for (const Error &problem : problems)
    facts.diagnostics.push_back({.rule = "configuration",
                                 .severity = analysis::Severity::Warning,
                                 .message = describe(problem),
                                 .line = 1,
                                 .column = 1});
}

/// What the stub pass found to hand to generator and runner replaces what the full pass found.
/// @return whether every kernel of the full pass was there
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

class ProjectAnalyses {
public:
  AnalysisResult first(const std::string &path, const std::string &text) {
    forget_stub(path); // what it includes may have changed
    const config::FileSettings settings = project_settings_.read(path);
    if (analysis::is_python(path))
      return result(analysis::module_facts(path, text, config::real_disk()), text, settings);
    std::optional<analysis::FileFacts> facts;
    if (const auto parser = find(path))
      parser->try_with([&](FileParser &file) {
        if (file.last_parse && *file.last_parse < kQuickParse &&
            file.parser.is_preamble_current({path, text}, settings.parse))
          facts = parse(file, path, text, settings);
      });
    if (!facts)
      facts = stub_facts(path, text, settings.parse)->facts;
    return result(std::move(*facts), text, settings);
  }

  std::optional<AnalysisResult> full(const std::string &path, const std::string &text,
                                     std::stop_token stop) {
    if (analysis::is_python(path) || generator::is_host_cpp(path))
      return std::nullopt; // the first pass says all
    const config::FileSettings settings = project_settings_.read(path);
    const auto parser =
        settings.parse.cuda_path.empty() || stop.stop_requested() ? nullptr : make(path);
    if (!parser)
      return std::nullopt;
    auto facts = parser->with([&](FileParser &file) { return parse(file, path, text, settings); });
    if (!facts || stop.stop_requested())
      return std::nullopt;
    return result(std::move(*facts), text, settings);
  }

  void close(const std::string &path) {
    parsers_.with([&](auto &parsers) { parsers.erase(path); });
    forget_stub(path);
  }

private:
  using SharedParser = std::shared_ptr<Exclusive<FileParser>>;

  /// What the built-in declarations say of a text.
  struct StubFacts {
    std::string path, text;
    std::vector<std::string> flags;
    analysis::FileFacts facts;
    analysis::FileFacts torch; ///< functions over tensors and modules
  };

  void forget_stub(const std::string &path) {
    stubs_.with([&](auto &stubs) {
      std::erase_if(stubs, [&](const auto &known) { return known->path == path; });
    });
  }

  /// Once for the first answer and the full pass behind it.
  std::shared_ptr<const StubFacts> stub_facts(const std::string &path, const std::string &text,
                                              const analysis::ParseSettings &settings) {
    auto known = stubs_.with([&](auto &stubs) {
      const auto found = std::ranges::find_if(stubs, [&](const auto &one) {
        return one->path == path && one->text == text && one->flags == settings.flags;
      });
      return found == stubs.end() ? nullptr : *found;
    });
    if (known)
      return known;
    auto made = std::make_shared<StubFacts>(StubFacts{path, text, settings.flags, {}, {}});
    if (generator::is_host_cpp(path)) // nothing else of it is of interest
      made->facts = {.path = path, .pass = analysis::Pass::Stub};
    else
      made->facts = analysis::analyze({path, text}, settings);
    generator::add_torch_functions({path, text}, settings, made->torch);
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

  std::optional<analysis::FileFacts> parse(FileParser &file, const std::string &path,
                                           const std::string &text,
                                           const config::FileSettings &settings) {
    const bool had_preamble = file.parser.is_preamble_current({path, text}, settings.parse);
    const auto start = Clock::now();
    const auto unit = file.parser.parse({path, text}, settings.parse);
    if (!unit)
      return std::nullopt; // the stub pass has answered, and doctor names what is wrong with the
                           // toolkit
    analysis::FileFacts facts = analysis::collect_facts(**unit, {.tasks = false, .rules = true});
    const auto stub = stub_facts(path, text, settings.parse);
    if (!adopt_tasks(stub->facts, facts)) {
      facts = analysis::collect_facts(**unit);
      adopt_tasks(stub->facts, facts);
    }
    file.last_parse = had_preamble ? std::optional(Clock::now() - start) : std::nullopt;
    return facts;
  }

  AnalysisResult result(analysis::FileFacts facts, const std::string &text,
                        const config::FileSettings &settings) {
    use_project_sizes(facts, text, settings);
    if (!analysis::is_python(facts.path))
      add_torch(stub_facts(facts.path, text, settings.parse)->torch, facts);
    std::erase_if(facts.diagnostics, [&](const analysis::Diagnostic &diagnostic) {
      return std::ranges::find(settings.project.disabled_rules, diagnostic.rule) !=
             settings.project.disabled_rules.end();
    });
    report_problems(settings.problems, facts);
    ProjectDefaults project{settings.project.runner_url, settings.project.python, {},
                            settings.project.policy};
    if (settings.project.budget_ms)
      project.budget = std::chrono::milliseconds(*settings.project.budget_ms);
    return {std::move(facts), std::move(project)};
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
  std::shared_ptr<const analysis::ResourceHeaders> headers_; ///< under the lock of parsers_
  Exclusive<std::map<std::string, SharedParser>> parsers_;
  Exclusive<std::deque<std::shared_ptr<const StubFacts>>> stubs_; ///< newest first
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
