// Optimisations that the user asked for: one at a time on a thread of their own, because a runner
// has one queue.
//
// The connection to the runner is made when it is first needed, lives on that thread and is kept.
// One kernel has at most one optimisation. Thread: the strand.
#pragma once

#include "server/engine.h"
#include "server/kernel_status.h"

namespace warpwright::server {

class Optimizer {
public:
  using Connect =
      std::function<Result<std::unique_ptr<runner::BlockingClient>>(const std::string &url)>;
  using Run = std::function<Result<OptimizeSummary>(
      const OptimizeRequest &, runner::BlockingClient &, const OptimizeEvents &, std::stop_token)>;
  using Done = std::function<void(Result<OptimizeSummary>)>;

  struct Events {
    std::function<void(runner::LedgerEntry)> on_entry;
    std::function<void(const std::string &path, const std::string &kernel)> on_status;
    std::function<void(const std::string &message)> on_runner_lost; ///< once until it works again
    std::function<void(const std::string &path, const std::string &kernel, ModuleProblem)>
        on_problem;
    /// Of request_info(), and of each connection that is made for a job: who the runner is, or why
    /// it cannot be asked.
    std::function<void(const std::string &url, const Result<runner::RunnerInfo> &)> on_info;
  };

  Optimizer(boost::asio::any_io_executor strand, Connect connect, Run run, Events events);

  /// Asks the runner who it is; starts it where it is a child.
  void request_info(const std::string &url);
  /// Errors: this kernel is being optimised already. `done` is called once on the strand when it
  /// ends.
  Result<void> start(OptimizeRequest request, Done done);
  /// @return whether there was one
  bool cancel(const std::string &path, const std::string &kernel);
  std::optional<JobStatus> status(const std::string &path, const std::string &kernel) const;
  /// Tells everything to stop; the thread ends soon after.
  void stop();
  /// Waits for the thread.
  void join() { pool_.join(); }

private:
  using Key = std::pair<std::string, std::string>;
  struct Job {
    JobStatus status;
    std::stop_source stop;
    Done done;
  };
  struct Worker; ///< what lives on the thread
  /// The connection to `url`, and to a new one the question who it is. On the thread.
  Result<runner::BlockingClient *> get_announced(const std::string &url);
  void run_job(const OptimizeRequest &request, const Key &key, std::stop_token stop);
  OptimizeEvents events_for(const Key &key);
  template <class Work>
  void post(Work work);
  void finish(const Key &key, Result<OptimizeSummary> result);

  boost::asio::any_io_executor strand_;
  Run run_;
  Events events_;
  std::shared_ptr<Worker> worker_;
  std::map<Key, Job> jobs_;
  bool runner_lost_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  Pool pool_{1};
};

} // namespace warpwright::server
