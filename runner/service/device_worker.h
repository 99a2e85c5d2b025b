// One device's worker process and its queue: jobs run one after the other and never overlap on a
// device.
//
// A worker that dies costs the job that ran on it, which gets a verdict that says what it was
// doing; the next job starts a new worker. A job that outlives its time, or is cancelled while it
// runs, costs the worker. Verdicts with a large speedup are measured again in a fresh worker before
// they are reported. Thread: the service's strand.
#pragma once

#include "support/model/verdict.h"
#include "support/model/verify_options.h"
#include "support/process.h"
#include "support/rpc/connection.h"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>

namespace warpwright::runner {

struct QueuedJob {
  std::int64_t id = 0;
  rpc::Json request; ///< validated {task, plan, options}, as the worker takes it
  std::string task_hash, plan_hash;
  model::VerifyOptions options;
  std::function<void(const std::string &stage, const std::string &activity)> on_stage;
  std::function<void(rpc::Outcome)> done; ///< once, with a verdict's JSON
  std::optional<model::Verdict> first; ///< of the run before, when this is the second measurement
};

struct WorkerSettings {
  std::vector<std::string> command;
  std::vector<std::string> environment;
  std::chrono::milliseconds start_limit{60'000};
  std::chrono::milliseconds grace{
      2'000}; ///< beyond a job's timeout, for the worker to report it itself
  double large_speedup = 3;
};

class DeviceWorker : public std::enable_shared_from_this<DeviceWorker> {
public:
  DeviceWorker(boost::asio::any_io_executor executor, model::DeviceInfo device,
               WorkerSettings settings);

  void submit(QueuedJob job);
  /// The job ends with RequestCancelled; unknown ids are ignored.
  void cancel(std::int64_t id);
  /// Ends the worker and all jobs.
  void stop();
  const model::DeviceInfo &device() const { return device_; }
  std::size_t waiting() const { return queue_.size(); }

private:
  enum class State { Down, Starting, Idle, Busy };
  enum class Ended { ByItself, TimedOut, Cancelled, StartTimedOut };

  void pump();
  void start();
  void on_ready(const rpc::Outcome &info);
  void send(QueuedJob job);
  void on_reply(rpc::Outcome outcome);
  void on_stage(const rpc::Json &params);
  void read_errors();
  void arm(std::chrono::milliseconds limit, Ended reason);
  /// Ends the process; on_lost() follows when it has gone.
  void end_process(Ended reason);
  void on_closed(std::uint64_t generation, const std::string &reason);
  void reap(std::uint64_t generation, const std::string &reason, int tries);
  void on_lost(const ExitStatus &status, const std::string &reason);
  void finish(model::Verdict verdict);
  bool measures_again(const model::Verdict &verdict);
  model::Verdict lost_verdict(const std::string &how) const;

  boost::asio::any_io_executor executor_;
  model::DeviceInfo device_;
  WorkerSettings settings_;
  State state_ = State::Down;
  Ended ended_ = Ended::ByItself;
  std::uint64_t generation_ = 0; ///< of the process: late events of an old one are ignored
  std::optional<Process> process_;
  std::shared_ptr<rpc::Connection> connection_;
  std::unique_ptr<boost::asio::posix::stream_descriptor> errors_;
  std::array<char, 4096> error_block_{};
  std::string error_tail_; ///< the end of what the worker wrote to stderr
  boost::asio::steady_timer timer_, reap_timer_;
  std::deque<QueuedJob> queue_;
  std::optional<QueuedJob> running_;
  std::string activity_ = "starting", side_; ///< last reported
};

/// "signal 11 (Segmentation fault)", "exit code 2"
std::string describe_exit(const ExitStatus &status);

} // namespace warpwright::runner
