#include "server/kernelbench/export_run.h"

#include "support/process.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace warpwright::server {
namespace {

using nlohmann::json;

/// Includes g++'s compilation of the exports' shared part, once per machine.
constexpr std::chrono::milliseconds kTimeout{180'000};

std::string reasons(const json &fallbacks) {
  std::string text;
  for (const auto &[why, count] : fallbacks.items())
    text += (text.empty() ? "" : ", ") + why;
  return text;
}

/// JSON in the output's last line; the user's file may print other lines.
json last_line(const std::string &output) {
  const std::size_t end = output.find_last_not_of('\n');
  if (end == std::string::npos)
    return json();
  const std::size_t before = output.rfind('\n', end);
  const std::size_t start = before == std::string::npos ? 0 : before + 1;
  return json::parse(output.substr(start, end + 1 - start), nullptr, false);
}

} // namespace

ExportRun run_export(std::vector<std::string> command, const std::filesystem::path &file,
                     model::ModuleMode mode) {
  command.push_back(file.string());
  command.emplace_back(name(mode));
  const auto run = run_captured(command, "", kTimeout);
  if (!run)
    return {ExportRun::Kind::Unknown, run.error().message};
  const json counts = last_line(run->output);
  if (!counts.is_object())
    return {ExportRun::Kind::Idle, "it ended without an answer"};
  if (counts.contains("unknown"))
    return {ExportRun::Kind::Unknown, counts.value("unknown", "")};
  if (counts.contains("failed"))
    return {ExportRun::Kind::Idle, counts.value("failed", "")};
  if (counts.value("runs", 0) > 0)
    return {ExportRun::Kind::Ran, ""};
  return {ExportRun::Kind::Idle, reasons(counts.value("fallbacks", json::object()))};
}

std::vector<std::string> export_command() {
  const char *chosen = std::getenv("WARPWRIGHT_PYTHON");
  std::error_code error;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  return {chosen && *chosen ? chosen : "python3", "-B", (folder / "torch/run_export.py").string()};
}

} // namespace warpwright::server
