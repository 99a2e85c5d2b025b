#include "trainer/stages/run_log.h"

#include <chrono>
#include <ctime>
#include <filesystem>

namespace warpwright::trainer {
namespace {

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

} // namespace

Result<RunLog> RunLog::open(const std::string &folder, const std::string &stage) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    return fail("cannot make the folder " + folder + ": " + failed.message(),
                "Name another one with run.out");
  RunLog log;
  log.path_ = folder + "/log.jsonl";
  log.stage_ = stage;
  log.file_.open(log.path_, std::ios::binary | std::ios::app);
  if (!log.file_)
    return fail("cannot append to " + log.path_, "Name another folder with run.out");
  return log;
}

Result<void> RunLog::write(const std::string &event, nlohmann::json fields) {
  fields["event"] = event;
  fields["stage"] = stage_;
  fields["time"] = now_text();
  file_ << fields.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n'
        << std::flush;
  if (!file_)
    return fail("cannot write to " + path_, "Is the disk full? Free some space and resume");
  return {};
}

} // namespace warpwright::trainer
