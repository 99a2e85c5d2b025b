// `warpwright analyze`: prints the facts of files as JSON or as a table, without running kernels.
//
// Each file is analyzed in its own process, which answers with one JSON document. If that process
// dies, another process runs the token scan, and the command ends with an error.
#include "server/cli/commands.h"

#include "analysis/guard/guard.h"
#include "server/cli/analyze_json.h"
#include "server/cli/files.h"
#include "server/cli/own_process.h"
#include "server/cli/program_time.h"
#include "server/cli/sources.h"
#include "server/measured_text.h"
#include "support/version.h"
#include "support/words.h"

#include <iomanip>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

namespace warpwright::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Limits of a file's process. They are above the limits of the guard inside it (analysis/guard),
/// which ends most runaway analyses first.
constexpr ProcessLimits kProcessLimits{8 * analysis::kCommandLimits.cpu_time,
                                       3 * analysis::kCommandLimits.memory_bytes};

/// "2 coalesced, 1 strided" over the global accesses.
std::string access_summary(const analysis::Kernel &kernel) {
  std::map<std::string, int> counts;
  for (const analysis::Access &access : kernel.accesses)
    if (access.space == analysis::MemorySpace::Global)
      ++counts[name(access.pattern)];
  return counts.empty() ? "none" : joined(counts, ", ", [](const auto &one) {
    return std::to_string(one.second) + " " + one.first;
  });
}

std::string task_summary(const analysis::Kernel &kernel) {
  if (kernel.task.inferred)
    return "known";
  const std::string names = joined(kernel.task.missing, ", ", &analysis::MissingFact::name);
  return names.empty() ? "not known" : "asks for " + names;
}

void print_heading(std::ostream &out, const analysis::Kernel &kernel) {
  out << "  " << kernel.name << "  line " << kernel.line << ", ";
  if (const auto &module = kernel.task.task.module) {
    const bool is_function = module->language == "cpp" && !kernel.forward;
    out << (is_function ? "a torch function\n" : "a torch module\n");
    if (kernel.pattern)
      out << "    computes         " << *kernel.pattern << '\n';
    if (kernel.task.inferred)
      out << "    called with      " << module->inputs << '\n';
    if (kernel.task.inferred && !is_function)
      out << "    made with        " << module->init_inputs << '\n';
    return;
  }
  out << kernel.launches.size() << (kernel.launches.size() == 1 ? " launch" : " launches")
            << '\n';
  if (kernel.pattern)
    out << "    looks like       " << *kernel.pattern << '\n';
  out << "    global accesses  " << access_summary(kernel) << '\n';
}

void print(std::ostream &out, const analysis::FileFacts &facts) {
  out << facts.path << '\n';
  for (const analysis::Kernel &kernel : facts.kernels) {
    print_heading(out, kernel);
    out << "    task             " << task_summary(kernel) << '\n';
    for (const std::string &assumption : kernel.task.assumptions)
      out << "      assumed: " << assumption << '\n';
    if (kernel.captured)
      out << "    run              " << server::captured_text(*kernel.captured) << '\n';
    for (const analysis::MissingFact &fact : kernel.task.missing)
      out << "      " << fact.name << ": " << fact.question << '\n';
    if (!kernel.slice_error.empty())
      out << "    cannot be cut out: " << kernel.slice_error << '\n';
  }
  for (const analysis::Diagnostic &diagnostic : facts.diagnostics)
    out << "  " << diagnostic.line << ':' << diagnostic.column << ": "
              << name(diagnostic.severity) << ": " << diagnostic.message << " [" << diagnostic.rule
              << "]\n";
  if (facts.kernels.empty())
    out << "  no kernel\n";
  out << '\n';
}

/// Writes one file per kernel: "saxpy.saxpy.cu" is the stem of the source and the kernel's name.
Result<void> write_slices(const analysis::FileFacts &facts, const fs::path &directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error)
    return fail("cannot make " + directory.string() + ": " + error.message());
  for (const analysis::Kernel &kernel : facts.kernels) {
    if (kernel.slice.empty())
      continue;
    const fs::path path =
        directory / (fs::path(facts.path).stem().string() + "." + kernel.name + ".cu");
    if (const Result<void> written = write_atomically(path, kernel.slice); !written)
      return written;
  }
  return {};
}

Json failure_json(const Error &error) {
  return {{"message", error.message}, {"remedy", error.remedy}};
}

/// Answer of a file's process: "facts" (JSON or text, by the options), "times" and "failures".
Json answer_of(const analysis::FileFacts &facts, const AnalyzeOptions &options) {
  Json answer = {{"failures", Json::array()}, {"times", program_time(facts)}};
  if (options.json) {
    answer["facts"] = to_json(facts);
  } else {
    std::ostringstream text;
    print(text, facts);
    answer["facts"] = text.str();
  }
  if (const analysis::Diagnostic *reason = analysis::why_not_analysed(facts))
    answer["failures"].push_back(failure_json(Error{facts.path + ": " + reason->message, ""}));
  return answer;
}

Json analyze_file(InputReader &reader, const fs::path &path, const AnalyzeOptions &options) {
  Result<Input> input = reader.read(path);
  if (!input)
    return {{"failures", Json::array({failure_json(input.error())})}};
  input->facts.path = path.string();
  Json answer = answer_of(input->facts, options);
  for (const Error &problem : input->settings.problems)
    answer["problems"].push_back(failure_json(problem));
  if (!options.slices.empty())
    if (const Result<void> written = write_slices(input->facts, options.slices); !written)
      answer["failures"].push_back(failure_json(written.error()));
  return answer;
}

/// The token scan of a file whose process ended without an answer.
Json scan_file(const fs::path &path, const Error &reason, const AnalyzeOptions &options) {
  const Result<std::string> text = read_file(path);
  return text ? answer_of(analysis::scanned_facts({path.string(), *text}, reason), options)
              : Json{{"failures", Json::array({failure_json(text.error())})}};
}

Result<Json> in_own_process(const std::function<Json()> &work) {
  const Result<std::string> text = in_own_process(kProcessLimits, [&] {
    return work().dump(-1, ' ', false, Json::error_handler_t::replace);
  });
  if (!text)
    return std::unexpected(text.error());
  Json answer = Json::parse(*text, nullptr, false);
  if (answer.is_discarded())
    return fail("its process answered in part", "Please report it with the file");
  return answer;
}

Json answer_for(InputReader &reader, const fs::path &path, const AnalyzeOptions &options) {
  Result<Json> answer = in_own_process([&] { return analyze_file(reader, path, options); });
  if (answer)
    return std::move(*answer);
  const Error reason = answer.error();
  answer = in_own_process([&] { return scan_file(path, reason, options); });
  if (answer)
    return std::move(*answer);
  return {{"failures", Json::array({failure_json(Error{path.string() + ": " + reason.message, reason.remedy})})}};
}

} // namespace

int run_analyze(const AnalyzeOptions &options) {
  const auto files = find_sources(options.paths);
  Json document = {{"version", version()}, {"files", Json::array()}};
  int code = files ? kOk : kUsage;
  const auto report = [&](const Json &error) {
    std::cerr << "warpwright: "
              << describe(Error{error.at("message").get<std::string>(),
                                error.at("remedy").get<std::string>()})
              << '\n';
    document["failures"].push_back(error);
  };
  if (!files)
    report(failure_json(files.error()));
  InputReader reader;
  Json times = Json::array();
  std::set<std::string> noticed; // a project's file is reported once, not for each source
  for (const fs::path &path : files ? *files : std::vector<fs::path>{}) {
    // Reading the settings in this process fills the reader's cache for the child processes.
    const consent::ProjectFile project = reader.settings_of(path).project.file;
    if (const auto notice = consent::withheld_notice(project);
        notice && noticed.insert(project.path).second)
      std::cerr << "warpwright: " << describe(*notice) << '\n';
    const Json answer = answer_for(reader, path, options);
    for (const Json &problem : answer.value("problems", Json::array()))
      report(problem);
    for (const Json &failure : answer.value("failures", Json::array())) {
      report(failure);
      code = kFailed;
    }
    for (const Json &kernel : answer.value("times", Json::array()))
      times.push_back(kernel);
    if (const auto facts = answer.find("facts"); facts != answer.end()) {
      if (options.json)
        document["files"].push_back(*facts);
      else
        std::cout << facts->get<std::string>();
    }
  }
  sort_by_saving(times);
  if (!options.json) {
    std::cout << render_program_time(times);
    return code;
  }
  document["program_time"] = times;
  std::cout << document.dump(2, ' ', false, Json::error_handler_t::replace) << std::endl;
  return code;
}

} // namespace warpwright::cli
