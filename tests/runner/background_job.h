// A job of the fake device that runs while a test does something else.
#pragma once

#include "runner/connect/connect.h"
#include "tests/runner/tasks.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>

namespace warpwright::runner::testing {

/// A job that runs in the background, and tells its stages.
struct BackgroundJob {
  BackgroundJob(BlockingClient &client, const std::string &kernel, VerifyOptions options)
      : verdict(std::async(std::launch::async, [this, &client, kernel, options] {
          auto answer = client.verify(fake_task(), fake_plan(kernel), options, stop.get_token(),
                                      [this](const std::string &stage) { add(stage); });
          ++answers;
          return answer;
        })) {}

  void add(const std::string &stage) {
    const std::lock_guard lock(mutex);
    stages.push_back(stage);
  }
  bool had(const std::string &stage, std::size_t from = 0) {
    const std::lock_guard lock(mutex);
    return std::find(stages.begin() + static_cast<std::ptrdiff_t>(std::min(from, stages.size())),
                     stages.end(), stage) != stages.end();
  }
  std::size_t stage_count() {
    const std::lock_guard lock(mutex);
    return stages.size();
  }

  std::stop_source stop;
  std::mutex mutex;
  std::vector<std::string> stages;
  std::atomic<int> answers = 0;
  std::future<Result<model::Verdict>> verdict;
};

inline int count(const std::string &text, const std::string &part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

} // namespace warpwright::runner::testing
