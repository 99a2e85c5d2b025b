#include "server/cli/capture/contents_run.h"

#include "server/cli/capture/store.h"

#include <algorithm>
#include <functional>
#include <random>

namespace warpwright::cli {
namespace {

constexpr double kShareOfTime = 0.95;
constexpr std::size_t kMostLaunches = 64;

struct Group {
  capture::WantedLaunch launch;
  std::uint64_t count = 0;
  double total_ns = 0;
};

} // namespace

std::vector<capture::WantedLaunch> launches_to_look_at(const std::vector<capture::ProcessFolder> &processes) {
  std::map<std::tuple<std::string, capture::Dimensions, capture::Dimensions>, Group> groups;
  double all_ns = 0;
  for (const capture::ProcessFolder &process : processes)
    for (const auto &[id, launch, statistics] : process.launches) {
      Group &group = groups[{launch.kernel, launch.grid, launch.block}];
      group.launch = {launch.kernel, launch.grid, launch.block, 0};
      group.count = std::max(group.count, statistics.count); // processes run the same launches
      group.total_ns += statistics.total_ns;
      all_ns += statistics.total_ns;
    }
  std::vector<Group> sorted;
  for (auto &[key, group] : groups)
    sorted.push_back(std::move(group));
  std::ranges::stable_sort(sorted, std::ranges::greater(), &Group::total_ns);
  std::vector<capture::WantedLaunch> wanted;
  std::random_device random;
  double seen_ns = 0;
  for (Group &group : sorted) {
    if (seen_ns >= kShareOfTime * all_ns || wanted.size() == kMostLaunches)
      break;
    seen_ns += group.total_ns;
    if (group.count == 0)
      continue;
    group.launch.run = std::uniform_int_distribution<std::uint64_t>(0, group.count - 1)(random);
    wanted.push_back(std::move(group.launch));
  }
  return wanted;
}

Result<std::vector<std::string>> start_contents_run(const std::filesystem::path &capture,
                                                    const std::vector<capture::WantedLaunch> &wanted) {
  const std::filesystem::path folder = capture / capture::kContentsFolder, file = capture / capture::kWantedFile;
  TRY(make_private_folder(folder));
  std::string lines;
  for (const capture::WantedLaunch &launch : wanted)
    lines += to_line(launch) + "\n";
  TRY(capture::write_private(file, lines));
  auto environment = TRY(capture_environment(folder));
  environment.push_back(std::string(capture::kWantedVariable) + "=" + file.string());
  return environment;
}

} // namespace warpwright::cli
