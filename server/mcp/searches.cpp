#include "server/mcp/searches.h"

#include <algorithm>

namespace warpwright::mcp {
namespace {

/// Between two looks at a search that a call waits for.
constexpr std::chrono::milliseconds kTick{100};

} // namespace

void SearchJob::wait(std::chrono::milliseconds time, std::stop_token stop,
                     const std::function<void(const cli::ProgressState &)> &on_progress) const {
  const auto deadline = std::chrono::steady_clock::now() + time;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (finished_.wait_for(std::clamp(left, std::chrono::milliseconds(0), kTick)) ==
            std::future_status::ready ||
        left.count() <= 0 || stop.stop_requested())
      return;
    on_progress(view().progress);
  }
}

SearchJobPtr Searches::start(Run run) {
  auto job = jobs_.with([](Jobs &jobs) {
    const std::size_t number = ++jobs.last;
    auto made = std::make_shared<SearchJob>("j" + std::to_string(number));
    jobs.by_number.emplace(number, made);
    if (jobs.by_number.size() > kMost &&
        jobs.by_number.begin()->second->view().state != SearchState::Running)
      jobs.by_number.erase(jobs.by_number.begin());
    return made;
  });
  pool_.post([this, job, run = std::move(run)] { this->run(job, run); });
  return job;
}

void Searches::run(const SearchJobPtr &job, const Run &run) {
  const std::stop_token stop = job->stop_.get_token();
  Result<cli::KernelOutcome> outcome = fail("the search was cancelled before it began");
  try {
    if (!stop.stop_requested())
      outcome = run(policies_, stop, [&](const cli::ProgressState &progress) {
        job->view_.with([&](SearchJob::View &view) { view.progress = progress; });
      });
  } catch (const std::exception &error) {
    outcome = fail(std::string("the search failed: ") + error.what());
  }
  job->view_.with([&](SearchJob::View &view) {
    if (outcome)
      view.outcome = std::make_shared<const cli::KernelOutcome>(std::move(*outcome));
    view.error = view.outcome ? view.outcome->report.error : std::optional(outcome.error());
    view.state = stop.stop_requested() ? SearchState::Cancelled
                 : view.error          ? SearchState::Failed
                                       : SearchState::Done;
  });
  job->done_.set_value();
}

Result<SearchJobPtr> Searches::find(const std::string &id) const {
  return jobs_.with([&](const Jobs &jobs) -> Result<SearchJobPtr> {
    for (const auto &[number, job] : jobs.by_number)
      if (job->id() == id)
        return job;
    return fail("there is no search " + id, "Begin one with optimize");
  });
}

void Searches::stop() {
  jobs_.with([](const Jobs &jobs) {
    for (const auto &[number, job] : jobs.by_number)
      job->cancel();
  });
  pool_.join();
}

} // namespace warpwright::mcp
