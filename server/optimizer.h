// Optimizations requested by the user. They run one at a time on one thread, because a runner has
// one queue.
//
// That thread connects to the runner at the first need and keeps the connection. A kernel has at
// most one optimization at a time. Thread: the strand.
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
    std::function<void(const std::string &message)> on_runner_lost; ///< once until a runner works again
    std::function<void(const std::string &path, const std::string &kernel, ModuleProblem)>
        on_problem;
    /// Result of request_info() and of each new connection for a job: the runner's information, or
    /// the reason why it cannot be asked.
    std::function<void(const std::string &url, const Result<runner::RunnerInfo> &)> on_info;
  };

  Optimizer(boost::asio::any_io_executor strand, Connect connect, Run run, Events events);

  /// Asks a runner for its information, and starts it if it is a child process.
  void request_info(const std::string &url);
  /// Starts an optimization. `done` is called once on the strand when it ends. Errors: this kernel
  /// is being optimized already.
  Result<void> start(OptimizeRequest request, Done done);
  /// @return whether an optimization was told to stop
  bool cancel(const std::string &path, const std::string &kernel);
  std::optional<JobStatus> status(const std::string &path, const std::string &kernel) const;
  /// Waiting and running jobs: the kernel and its status, in no order.
  std::vector<std::pair<std::string, JobStatus>> jobs() const;
  /// Requests a stop of all jobs.
  void stop();
  /// Drops jobs that have not begun, and waits for the thread.
  void join() { pool_.join(); }

private:
  using Key = std::pair<std::string, std::string>;
  struct Job {
    JobStatus status;
    std::stop_source stop;
    Done done;
  };
  struct Worker; ///< state of the thread
  /// Connection to `url`. A new connection is asked for its information, for on_info. Thread: the
  /// job thread.
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
