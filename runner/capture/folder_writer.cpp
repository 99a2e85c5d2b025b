// Implementation of FolderWriter. The order is taken before the operations and written after them,
// so that a kill between two files leaves no id in the order without its operation.
#include "runner/capture/folder_writer.h"

#include "support/words.h"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace warpwright::capture {

Result<FolderWriter> FolderWriter::make(const std::filesystem::path &capture) {
  constexpr int kMostFolders = 1000;
  for (int i = 1; i < kMostFolders; ++i) {
    const std::string name = std::to_string(::getpid()) + (i == 1 ? "" : "-" + std::to_string(i));
    if (::mkdir((capture / name).c_str(), 0700) == 0)
      return FolderWriter(capture / name);
    if (errno != EEXIST)
      break;
  }
  return fail("cannot make a folder in " + capture.string() + ": " + std::strerror(errno));
}

Result<void> FolderWriter::replace(const char *name, std::string text) {
  std::string &written = written_[name];
  if (written == text)
    return {};
  TRY(write_private(folder_ / name, text));
  written = std::move(text);
  return {};
}

Result<void> FolderWriter::write(Recording &recording, ModuleStore &modules, ProcessFacts process) {
  TRY(modules.write(folder_ / kModulesFolder));
  const std::string order = recording.take_order();
  std::string launches, copies, graphs;
  for (const Snapshot &one : recording.snapshot())
    if (const auto *launch = std::get_if<Launch>(one.operation))
      launches += to_line(one.id, *launch, one.statistics) + "\n";
    else if (const auto *copy = std::get_if<Copy>(one.operation))
      copies += to_line(one.id, *copy, one.statistics) + "\n";
    else
      graphs += to_line(one.id, one.graph, one.statistics) + "\n";
  TRY(replace(kLaunchesFile, std::move(launches)));
  TRY(replace(kCopiesFile, std::move(copies)));
  TRY(replace(kGraphsFile, std::move(graphs)));
  if (!order.empty())
    TRY(append_private(folder_ / kOrderFile, order));
  process.updated = utc_now();
  process.totals = recording.totals();
  for (Skipped &skipped : recording.skipped())
    process.skipped.push_back(std::move(skipped));
  return replace(kCaptureFile, to_text(process));
}

} // namespace warpwright::capture
