// Searches that outlive the call that began them: clients wait a minute for an answer, and a search
// may take ten. They run one at a time on one thread, because a runner has one queue and policies
// belong to one thread. Thread: any.
#pragma once

#include "server/cli/kernel_search.h"
#include "server/optimize/policies.h"
#include "server/pool.h"
#include "support/exclusive.h"

#include <future>
#include <map>
#include <memory>

namespace warpwright::mcp {

enum class SearchState { Running, Done, Failed, Cancelled };

class SearchJob {
public:
  explicit SearchJob(std::string id) : id_(std::move(id)), finished_(done_.get_future().share()) {}

  struct View {
    SearchState state = SearchState::Running;
    cli::ProgressState progress;
    std::optional<Error> error;
    std::shared_ptr<const cli::KernelOutcome> outcome; ///< null while it runs, or if it failed
  };

  const std::string &id() const { return id_; }
  View view() const {
    return view_.with([](const View &view) { return view; });
  }
  /// Ends the search after the candidate in work; the variants found so far remain.
  void cancel() { stop_.request_stop(); }
  /// Waits until the search ends, the time is over, or `stop` is requested.
  void wait(std::chrono::milliseconds time, std::stop_token stop,
            const std::function<void(const cli::ProgressState &)> &on_progress) const;

private:
  friend class Searches;
  std::string id_;
  std::stop_source stop_;
  mutable Exclusive<View> view_;
  std::promise<void> done_;
  std::shared_future<void> finished_;
};

using SearchJobPtr = std::shared_ptr<SearchJob>;

class Searches {
public:
  /// A search. Errors: no runner.
  using Run = std::function<Result<cli::KernelOutcome>(
      server::Policies &policies, std::stop_token stop,
      const std::function<void(const cli::ProgressState &)> &on_progress)>;

  ~Searches() { stop(); }
  SearchJobPtr start(Run run);
  /// Errors: there is no such search.
  Result<SearchJobPtr> find(const std::string &id) const;
  /// Ends all searches and waits for them.
  void stop();

private:
  static constexpr std::size_t kMost = 100; ///< that are remembered
  struct Jobs {
    std::map<std::size_t, SearchJobPtr> by_number;
    std::size_t last = 0;
  };
  void run(const SearchJobPtr &job, const Run &run);

  mutable Exclusive<Jobs> jobs_;
  server::Policies policies_; ///< of the pool's thread
  server::Pool pool_{1};
};

} // namespace warpwright::mcp
