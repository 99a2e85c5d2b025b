#include "trainer/stages/run_log.h"

#include "support/words.h"

#include <filesystem>

namespace warpwright::trainer {
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
  fields["time"] = utc_now();
  file_ << fields.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n'
        << std::flush;
  if (!file_)
    return fail("cannot write to " + path_, "Is the disk full? Free some space and resume");
  return {};
}

} // namespace warpwright::trainer
