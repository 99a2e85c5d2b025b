#include "trainer/report/report_command.h"

#include "support/files.h"
#include "trainer/report/event_file.h"
#include "trainer/report/page.h"

#include <ctime>
#include <filesystem>
#include <iostream>

namespace warpwright::trainer {
namespace {

namespace fs = std::filesystem;

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

} // namespace

Result<void> run_report(const ReportOptions &options) {
  const auto log = TRY(read_training_logs(options.runs));
  std::string command = "warpwright-train report";
  for (const std::string &run : options.runs)
    command += " " + run;
  const PageFacts facts{options.title, today(), command};
  TRY(write_atomically(options.page, render_training_page(facts, log)));
  const fs::path events = options.tensorboard.empty()
                              ? fs::path(options.page).parent_path() / "tensorboard"
                              : fs::path(options.tensorboard);
  const auto files = TRY(write_event_files(log, events.string()));
  if (!options.quiet)
    std::cout << "wrote " << options.page << " and " << files << " TensorBoard event files below "
              << events.string() << "\n";
  return {};
}

} // namespace warpwright::trainer
