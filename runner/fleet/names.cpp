#include "runner/fleet/names.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

namespace warpwright::runner::fleet {
namespace {

const std::string kReplies = "warpwright.replies.", kProgress = "warpwright.progress.";

/// Splits text into words of letters and digits, in lower case.
std::vector<std::string> words_of(const std::string &text) {
  std::vector<std::string> words(1);
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)))
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!words.back().empty())
      words.emplace_back();
  if (words.back().empty())
    words.pop_back();
  return words;
}

/// Whether a word describes a GPU's variant and not its model: "80gb", "sxm4", "hbm3", "pcie".
bool is_variant(const std::string &word) {
  static const std::set<std::string> kWords = {"pcie",   "nvl",    "generation", "edition",
                                               "server", "laptop", "workstation"};
  if (word.starts_with("sxm") || word.starts_with("hbm") || kWords.contains(word))
    return true;
  const auto digits =
      std::find_if_not(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c); });
  return digits != word.begin() && std::string(digits, word.end()) == "gb";
}

} // namespace

std::string jobs_queue(const std::string &type) { return "warpwright.jobs." + type; }
std::string suspects_queue(const std::string &type) { return jobs_queue(type) + ".suspect"; }
std::string replies_queue(const std::string &client) { return kReplies + client; }
std::string progress_queue(const std::string &client) { return kProgress + client; }

std::string progress_queue_of(const std::string &replies) {
  return replies.starts_with(kReplies) ? progress_queue(replies.substr(kReplies.size())) : "";
}

std::string device_type(const std::string &gpu_name) {
  static const std::set<std::string> kMakers = {"nvidia", "tesla", "geforce", "quadro"};
  std::string type;
  for (const std::string &word : words_of(gpu_name)) {
    if (kMakers.contains(word))
      continue;
    if (!type.empty() && is_variant(word))
      break;
    type += (type.empty() ? "" : "-") + word;
  }
  return type;
}

std::string device_type(const model::DeviceInfo &device) {
  return device.kind == "cpu" ? kCpuType : device_type(device.name);
}

} // namespace warpwright::runner::fleet
