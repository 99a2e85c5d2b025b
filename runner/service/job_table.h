// The jobs of all clients: who waits for them, and what happens to them when a connection is lost.
//
// A job with a key (VerifyOptions::job) belongs to its owner, not to a connection. When the
// client's connection is lost, the job runs on. When the client sends the same key again, it is
// attached to the running job or gets the stored verdict, so a job runs once however often it is
// sent. The same key of another owner is another job, so a guessed key reaches no verdict. A job
// without a key ends with its connection. Nothing is kept on disk: jobs that must survive the
// runner belong to a fleet.
// Thread: the service's strand.
#pragma once

#include "runner/service/job_runner.h"
#include "runner/service/quotas.h"

#include <map>

namespace warpwright::runner {

struct JobTableLimits {
  std::size_t max_unfinished = 1'000; ///< waiting and running jobs
  std::size_t max_unfinished_bytes = 512u << 20;
  /// Verdicts without an acknowledgement; the oldest are dropped first.
  std::size_t max_stored_bytes = 64u << 20;
  /// How long a job without clients runs on, and how long a verdict is kept.
  std::chrono::milliseconds linger{600'000};
  QuotaLimits of_owner;
};

/// One client that waits for a job.
struct JobListener {
  std::function<void(const std::string &stage, const std::string &activity)> on_stage;
  std::function<void(rpc::Outcome)> done; ///< called once, unless the listener leaves before
};

class JobTable {
public:
  /// A listener's registration at a job.
  struct Ticket {
    std::int64_t job = 0, listener = 0;
  };

  JobTable(boost::asio::any_io_executor executor, JobRunner &runner, JobTableLimits limits);
  ~JobTable();

  /// Runs the job, or attaches the listener to the job that the owner already sent with this key.
  /// The listener's `done` may be called before this returns.
  /// Errors: the queue is full, the key belongs to another task or plan, no such device.
  std::expected<Ticket, rpc::RpcError> take(const std::string &owner, QueuedJob job,
                                            JobListener listener);
  /// Ends the job for all who wait for it.
  void cancel(Ticket ticket);
  void cancel(const std::string &owner, const std::string &key);
  /// Ends all jobs of an owner, and forgets the verdicts kept for it.
  void cancel_all_of(const std::string &owner);
  /// The client has received the verdict, which is no longer kept.
  void received(const std::string &owner, const std::string &key);
  /// Removes a listener.
  /// @param lingers whether its client may come back
  void leave(Ticket ticket, bool lingers);

  std::size_t unfinished() const { return unfinished_; }
  std::size_t stored_bytes() const { return stored_bytes_; }

private:
  using Key = std::pair<std::string, std::string>; ///< owner, key
  using Clock = std::chrono::steady_clock;
  struct Job {
    Key key;
    std::string task_hash, plan_hash;
    std::map<std::int64_t, JobListener> listeners;
    std::string stage, activity; ///< last reported
    std::optional<rpc::Outcome> outcome;
    std::size_t size_bytes = 0; ///< of the request; of the outcome, once there is one
    /// when the job ends or its verdict is dropped, unless a client asks for it
    std::optional<Clock::time_point> expires;
    bool is_keyed() const { return !key.second.empty(); }
  };
  using Jobs = std::map<std::int64_t, Job>;

  std::expected<Ticket, rpc::RpcError> attach(Jobs::iterator found, const QueuedJob &job,
                                              JobListener listener);
  std::optional<rpc::RpcError> no_room(const std::string &owner, std::size_t size_bytes) const;
  /// Removes the job from the counts and quotas of unfinished jobs.
  void count_out(const Job &job);
  void on_stage(std::int64_t id, const std::string &stage, const std::string &activity);
  void on_done(std::int64_t id, rpc::Outcome outcome);
  void store(std::int64_t id, Job &job, const rpc::Outcome &outcome);
  void erase(Jobs::iterator found);
  void expire_at(Job &job, Clock::time_point time);
  void arm();
  void sweep();

  JobRunner &runner_;
  JobTableLimits limits_;
  Quotas quotas_;
  boost::asio::steady_timer timer_;
  /// expires with this object, so that later callbacks do nothing
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  Jobs jobs_; ///< by id, which is the order of arrival
  std::map<Key, std::int64_t> keys_;
  std::size_t unfinished_ = 0, unfinished_bytes_ = 0, stored_bytes_ = 0;
  std::int64_t next_job_ = 1, next_listener_ = 1;
};

} // namespace warpwright::runner
