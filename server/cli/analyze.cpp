// `warpwright analyze`: the facts of files, without running anything, as JSON or as a table for
// people.
#include "server/cli/commands.h"

#include "server/cli/analyze_json.h"
#include "server/cli/files.h"
#include "server/cli/sources.h"

#include <iomanip>
#include <iostream>
#include <map>

namespace warpwright::cli {
namespace {

namespace fs = std::filesystem;

/// "2 coalesced, 1 strided" over the global accesses.
std::string access_summary(const analysis::Kernel &kernel) {
  std::map<std::string, int> counts;
  for (const analysis::Access &access : kernel.accesses)
    if (access.space == analysis::MemorySpace::Global)
      ++counts[name(access.pattern)];
  std::string text;
  for (const auto &[pattern, count] : counts)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + pattern;
  return text.empty() ? "none" : text;
}

std::string task_summary(const analysis::Kernel &kernel) {
  if (kernel.task.inferred)
    return "known";
  std::string names;
  for (const analysis::MissingFact &fact : kernel.task.missing)
    names += (names.empty() ? "" : ", ") + fact.name;
  return names.empty() ? "not known" : "asks for " + names;
}

void print_heading(const analysis::Kernel &kernel) {
  std::cout << "  " << kernel.name << "  line " << kernel.line << ", ";
  if (const auto &module = kernel.task.task.module) {
    const bool is_function = module->language == "cpp" && !kernel.forward;
    std::cout << (is_function ? "a torch function\n" : "a torch module\n");
    if (kernel.pattern)
      std::cout << "    computes         " << *kernel.pattern << '\n';
    if (kernel.task.inferred)
      std::cout << "    called with      " << module->inputs << '\n';
    if (kernel.task.inferred && !is_function)
      std::cout << "    made with        " << module->init_inputs << '\n';
    return;
  }
  std::cout << kernel.launches.size() << (kernel.launches.size() == 1 ? " launch" : " launches")
            << '\n';
  if (kernel.pattern)
    std::cout << "    looks like       " << *kernel.pattern << '\n';
  std::cout << "    global accesses  " << access_summary(kernel) << '\n';
}

void print(const analysis::FileFacts &facts) {
  std::cout << facts.path << '\n';
  for (const analysis::Kernel &kernel : facts.kernels) {
    print_heading(kernel);
    std::cout << "    task             " << task_summary(kernel) << '\n';
    for (const std::string &assumption : kernel.task.assumptions)
      std::cout << "      assumed: " << assumption << '\n';
    for (const analysis::MissingFact &fact : kernel.task.missing)
      std::cout << "      " << fact.name << ": " << fact.question << '\n';
    if (!kernel.slice_error.empty())
      std::cout << "    cannot be cut out: " << kernel.slice_error << '\n';
  }
  for (const analysis::Diagnostic &diagnostic : facts.diagnostics)
    std::cout << "  " << diagnostic.line << ':' << diagnostic.column << ": "
              << name(diagnostic.severity) << ": " << diagnostic.message << " [" << diagnostic.rule
              << "]\n";
  if (facts.kernels.empty())
    std::cout << "  no kernel\n";
  std::cout << '\n';
}

/// One file a kernel, "saxpy.saxpy.cu": stem of the source, name of the kernel.
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

} // namespace

int run_analyze(const AnalyzeOptions &options) {
  const auto files = find_sources(options.paths);
  nlohmann::json document = {{"version", WARPWRIGHT_VERSION}, {"files", nlohmann::json::array()}};
  int code = files ? kOk : kUsage;
  auto report = [&](const Error &error) {
    std::cerr << "warpwright: " << describe(error) << '\n';
    document["failures"].push_back({{"message", error.message}, {"remedy", error.remedy}});
  };
  if (!files)
    report(files.error());
  InputReader reader;
  for (const fs::path &path : files ? *files : std::vector<fs::path>{}) {
    Result<Input> input = reader.read(path);
    if (!input) {
      report(input.error());
      code = kFailed;
      continue;
    }
    for (const Error &problem : input->settings.problems)
      report(problem);
    input->facts.path = path.string();
    if (!options.slices.empty())
      if (const Result<void> written = write_slices(input->facts, options.slices); !written) {
        report(written.error());
        code = kFailed;
      }
    if (options.json)
      document["files"].push_back(to_json(input->facts));
    else
      print(input->facts);
  }
  if (options.json)
    std::cout << document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
              << std::endl;
  return code;
}

} // namespace warpwright::cli
