#include "trainer/serve/trajectory.h"

#include "support/words.h"
#include "support/version.h"
#include "trainer/records/unpacked.h"
#include "trainer/serve/message.h"

#include <filesystem>

namespace warpwright::trainer {
namespace {

constexpr int kFormat = 1;
constexpr const char *kFormatMember = "warpwright_trajectory";

} // namespace

Result<void> TrajectoryLog::open(const std::string &folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  path_ = folder + "/trajectories.jsonl";
  return file_.with([&](std::ofstream &file) -> Result<void> {
    file.open(path_, std::ios::binary | std::ios::app);
    if (!file)
      return fail("cannot append to " + path_, "Name another folder with --out");
    return {};
  });
}

Result<void> TrajectoryLog::write(nlohmann::json line) {
  line[kFormatMember] = kFormat;
  line["time"] = utc_now();
  line["version"] = version();
  const std::string text = message_text(line) + "\n";
  return file_.with([&](std::ofstream &file) -> Result<void> {
    file << text << std::flush;
    if (!file)
      return fail("cannot write to " + path_, "Is the disk full?");
    return {};
  });
}

Result<void> read_trajectories(const std::string &path,
                               const std::function<void(const nlohmann::json &)> &take) {
  const std::string text = TRY(unpacked_text(path));
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos)
      break; // its writer was killed
    ++number;
    const auto line = nlohmann::json::parse(text.begin() + std::ptrdiff_t(at),
                                            text.begin() + std::ptrdiff_t(end), nullptr, false);
    if (!line.is_object() || line.value(kFormatMember, 0) != kFormat)
      return fail(path + ", line " + std::to_string(number) + " is no trajectory",
                  "Name a file trajectories.jsonl that `serve` wrote");
    take(line);
    at = end + 1;
  }
  return {};
}

} // namespace warpwright::trainer
