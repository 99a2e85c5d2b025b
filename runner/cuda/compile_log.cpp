// Parser of NVRTC's log. A diagnostic is a line "FILE(LINE): ..." and the lines after it up to an
// empty line. Lines of ptxas name no file.
#include "runner/cuda/compile_log.h"

#include <algorithm>
#include <array>
#include <regex>
#include <set>
#include <sstream>

namespace warpwright::runner::cuda {
namespace {

/// File names in the source's `#line` directives. They are parsed by hand, as in diagnosed_file(),
/// because std::regex needs stack space for each character.
std::set<std::string> names_in(const std::string &source) {
  // NVRTC reports errors in the requested kernel names under "__nv_name_map".
  std::set<std::string> names = {kSourceName, "__nv_name_map"};
  for (std::size_t at = source.find("line"); at != std::string::npos;
       at = source.find("line", at + 1)) {
    const std::size_t open = source.find_first_not_of(" \t0123456789", at + 4);
    const std::size_t close =
        open != std::string::npos && source[open] == '"' ? source.find_first_of("\"\n", open + 1)
                                                         : std::string::npos;
    if (close != std::string::npos)
      names.insert(source.substr(open + 1, close - open - 1));
  }
  return names;
}

/// FILE of a line "FILE(12): error: ..."; empty if the line does not start a diagnostic.
std::string diagnosed_file(const std::string &line) {
  for (std::size_t close = line.find("): "); close != std::string::npos;
       close = line.find("): ", close + 1)) {
    const std::string_view rest = std::string_view(line).substr(close + 3);
    const bool is_diagnostic = std::ranges::any_of(
        std::array{"catastrophic error", "error", "warning", "remark"},
        [&](const char *severity) { return rest.starts_with(severity); });
    const std::size_t open = line.find_last_not_of("0123456789", close - 1);
    if (is_diagnostic && open != std::string::npos && open > 0 && open + 1 < close &&
        line[open] == '(')
      return line.substr(0, open);
  }
  return "";
}

bool is_in(const std::string &file, const std::vector<std::filesystem::path> &folders) {
  return file.find("/../") == std::string::npos &&
         std::ranges::any_of(folders, [&](const std::filesystem::path &folder) {
           return file.starts_with(folder.string() + "/");
         });
}

} // namespace

std::string without_foreign_files(const std::string &log, const std::string &source,
                                  const std::vector<std::filesystem::path> &include_dirs) {
  const std::set<std::string> own = names_in(source);
  std::istringstream lines(log);
  std::string kept;
  bool foreign = false;
  for (std::string line; std::getline(lines, line);) {
    if (const std::string file = diagnosed_file(line); !file.empty()) {
      foreign = !own.contains(file) && !is_in(file, include_dirs);
      if (foreign)
        kept += "error or warning in a file that is neither the source nor the toolkit's\n";
    } else if (line.empty()) {
      foreign = false;
    }
    if (!foreign)
      kept += line + '\n';
  }
  if (!log.ends_with('\n') && kept.ends_with('\n'))
    kept.pop_back();
  return kept;
}

std::string first_error(const std::string &log, bool has_headers) {
  static const std::regex missing(R"(could not open source file "([^"]+)\")");
  std::smatch match;
  if (!has_headers && std::regex_search(log, match, missing))
    return "the source includes " + match[1].str() +
           ", and no CUDA headers were found; install the toolkit, or set CUDA_HOME to one";
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);)
    if (line.find("error") != std::string::npos)
      return line.starts_with(std::string(kSourceName) + "(")
                 ? "line " + line.substr(10, line.find(')') - 10) + line.substr(line.find(')') + 1)
                 : line;
  return "NVRTC refused the source";
}

std::string warnings(const std::string &log) {
  std::istringstream lines(log);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    const bool statistics = line.starts_with("ptxas info") || line.starts_with("    ") ||
                            line.find("bytes stack frame") != std::string::npos;
    if (!statistics && !line.empty())
      kept += line + '\n';
  }
  return kept;
}

void read_ptxas_report(const std::string &log, const std::string &lowered_name,
                       model::CompileReport &report) {
  std::istringstream lines(log);
  bool in_kernel = false, in_properties = false;
  static const std::regex stack(
      R"((\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads)");
  static const std::regex registers(R"(Used (\d+) registers)"), shared(R"((\d+) bytes smem)");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.find("Compiling entry function '") != std::string::npos)
      in_kernel = line.find('\'' + lowered_name + '\'') != std::string::npos;
    else if (const auto at = line.find("Function properties for "); at != std::string::npos)
      in_properties = line.substr(at + 24) == lowered_name;
    else if (in_properties && std::regex_search(line, match, stack)) {
      report.local_bytes = std::stoll(match[1]);
      report.spill_store_bytes = std::stoll(match[2]);
      report.spill_load_bytes = std::stoll(match[3]);
      in_properties = false;
    } else if (in_kernel && std::regex_search(line, match, registers)) {
      report.registers = std::stoi(match[1]);
      report.static_shared_bytes =
          std::regex_search(line, match, shared) ? std::stoll(match[1]) : 0;
    }
  }
}

} // namespace warpwright::runner::cuda
