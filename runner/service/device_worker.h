// One device's worker process, and the one job that it has: the scheduler hands it the next when it
// is free, so measurements never overlap on a device. Several workers may share one: their processes then take turns
// (device_turn.h), and only what needs no device overlaps.
//
// A process serves one owner, and where it runs the files of a torch task, that one task: nothing that a client's code leaves in
// it meets another's job.
//
// A worker that dies costs the job that ran on it, which gets a verdict that says what it was
// doing; a new one is started at once, so that the next job does not wait for it. One that is killed
// from outside while it starts is started again. A job runs once
// more, before anything is said about it, when its worker was killed from outside, or when the
// reference itself failed at hidden sizes (then without them). A job that outlives its time, or is
// cancelled while it runs, costs the worker. Verdicts with a large speedup are measured again in a
// fresh worker before they are reported. Thread: the service's strand.
#pragma once

#include "runner/deep/examiner.h"
#include "runner/isolation/isolation.h"
#include "runner/isolation/private_directory.h"
#include "runner/metrics/observer.h"
#include "runner/service/code_shelves.h"
#include "runner/service/device_turn.h"
#include "runner/service/error_tail.h"
#include "runner/worker/lost_worker.h"
#include "runner/service/neighbours.h"
#include "runner/service/pausable_timer.h"
#include "runner/service/stage_clock.h"
#include "support/model/verify_options.h"
#include "support/rpc/connection.h"

#include <boost/asio/steady_timer.hpp>

namespace warpwright::runner {

struct QueuedJob {
  std::int64_t id = 0;
  rpc::Json request; ///< validated {task, plan, options}, as the worker takes it
  std::string task_hash, plan_hash;
  model::VerifyOptions options;
  std::function<void(const std::string &stage, const std::string &activity)> on_stage;
  std::function<void(rpc::Outcome)> done; ///< once, with a verdict's JSON
  /// Told how long the job had a device, before `done`. Unset: nobody counts.
  std::function<void(double seconds)> used_device;
  /// Whose turn it is, among clients: the service gives each client a name.
  std::string client;
  std::string owner;    ///< whose job it is: a token's name, or who came without one
  std::string no_tools; ///< why tools do not examine it, though it asks for that; empty: they may
  std::chrono::steady_clock::time_point accepted = std::chrono::steady_clock::now();
  std::optional<model::Verdict> first; ///< of the run before, when this is the second measurement
  bool ran_again = false;              ///< after a worker that was lost through no fault of its own
  std::vector<model::Check> notes;     ///< for the verdict: why it ran again
  bool examined = false;               ///< by tools, where it asked for that
  bool alone = false;                  ///< its memory did not suffice beside other workers'
};

struct WorkerSettings {
  std::string name; ///< "cuda:0", for logs and metrics
  std::vector<std::string> command;
  /// For jobs whose task is a torch module, the worker inside the user's Python; nullopt: `command`
  /// serves them too.
  std::optional<std::vector<std::string>> python = std::nullopt;
  std::vector<std::string> environment;
  std::chrono::milliseconds start_limit{60'000};
  std::chrono::milliseconds grace{
      2'000}; ///< beyond a job's timeout, for the worker to report it itself
  double large_speedup = 3;
  /// Of the device, where other workers have it too: their processes then ask before they use it. Null: one of its own.
  std::shared_ptr<DeviceTurn> turn = nullptr;
  /// Whence the process gets compiled code. Null: from nowhere.
  std::shared_ptr<const CodeShelves> shelves = nullptr;
  /// False: it compiles, and runs no file of a client whatever the task is.
  bool runs_files = true;
  /// Who else computes on the device: nothing is measured meanwhile, unless `measures_beside_others`. Null: nobody looks.
  std::shared_ptr<const Neighbours> neighbours = nullptr;
  bool measures_beside_others = false;
};

struct WorkerHooks {
  /// A job can be submitted.
  std::function<void()> on_free = [] {};
  /// The worker could not be started for this job, and why.
  std::function<void(QueuedJob job, const std::string &why)> on_start_failed;
  Observer *observer = nullptr; ///< outlives the worker; null: nobody counts
};

class DeviceWorker : public std::enable_shared_from_this<DeviceWorker> {
public:
  DeviceWorker(boost::asio::any_io_executor executor, model::DeviceInfo device,
               WorkerSettings settings, WorkerHooks hooks);
  ~DeviceWorker();

  /// Only when is_free().
  void submit(QueuedJob job);
  /// Starts the process with torch where none is up: a job that wants it will come. @return whether it does
  bool warm_up_torch();
  /// Starts the process ahead of this job.
  void warm_up_for(const QueuedJob &job);
  /// The job ends with RequestCancelled; unknown ids are ignored.
  void cancel(std::int64_t id);
  /// Ends the worker and its job.
  void stop();

  const std::string &name() const { return settings_.name; }
  /// As the worker describes it, once one was ready; before, as the driver did.
  const model::DeviceInfo &device() const { return device_; }
  bool is_described() const { return described_; }
  /// What keeps the worker in: [{name, active, detail}]; null until one was ready.
  const rpc::Json &isolation() const { return isolation_; }
  bool is_free() const { return !waiting_ && !running_; }
  /// Whether the process that is up, or starts, serves this job.
  bool is_of_kind(const QueuedJob &job) const;
  /// Whether a process is up, or starts, that must end for this job.
  bool would_switch_for(const QueuedJob &job) const;
  /// Of the process that is up; for tests and logs.
  std::optional<pid_t> pid() const {
    return process_ ? std::optional(process_->pid()) : std::nullopt;
  }

private:
  enum class State { Down, Starting, Idle, Busy };

  /// Whether it wants the worker with torch. A device has one process at a time, so that two never measure at once and neither
  /// holds memory that the other needs: the worker with torch lives on until a job comes that does not want it.
  bool wants_python(const QueuedJob &job) const;
  /// Whom a process serves that has this job.
  Binding binding_for(const QueuedJob &job) const;
  void warm_up();
  void pump();
  void start();
  void on_ready(const rpc::Outcome &info);
  void tell_of_isolation();
  void send(QueuedJob job);
  void on_reply(rpc::Outcome outcome);
  void on_stage(const rpc::Json &params);
  void arm(std::chrono::milliseconds limit, Ended reason);
  /// The process asks for the device: the clock stands still while it waits for others.
  void take_turn(rpc::Responder respond);
  /// Ends the process; on_lost() follows when it has gone.
  void end_process(Ended reason);
  void on_closed(std::uint64_t generation, const std::string &reason);
  void reap(std::uint64_t generation, const std::string &reason, int tries);
  void on_lost(const ExitStatus &status, const std::string &reason);
  void on_start_lost(const LostWorker &lost);
  void finish(model::Verdict verdict);
  bool measures_again(const model::Verdict &verdict);
  /// Who else computed on the device from then on; empty: nobody, or nobody looked.
  std::string others_since(Neighbours::Clock::time_point since) const;
  /// Of the running job, which was not measured since these others compute on the device.
  model::Verdict not_measured(const std::string &others) const;
  /// The device, date and job that a verdict is of which no worker gave.
  void stamp(model::Verdict &verdict) const;
  /// The job runs once more; alone on its device.
  void run_alone();
  /// The job runs once more, in a fresh worker.
  void run_again(bool with_hidden_sizes, const std::string &why);
  LostWorker describe_loss() const;
  /// Ends the running job.
  void answer(rpc::Outcome outcome);
  /// Starts the examination that the running job asked for, on a GPU without a worker; its answer
  /// follows. False: there is none.
  bool examine(rpc::Outcome &outcome);
  void on_examined(const model::Verdict &verdict);
  void leave_stages();

  boost::asio::any_io_executor executor_;
  model::DeviceInfo device_;
  WorkerSettings settings_;
  WorkerHooks hooks_;
  Observer nobody_; ///< where no other is given
  bool described_ = false, started_before_ = false, stopped_ = false;
  rpc::Json isolation_;
  std::string told_missing_; ///< layers, in the log
  State state_ = State::Down;
  Ended ended_ = Ended::ByItself;
  int starts_killed_ = 0;        ///< processes in a row, from outside, before they were ready
  bool python_ = false;          ///< which process is up, or comes next
  std::optional<Binding> binding_; ///< of the process, from its first job on
  std::uint64_t generation_ = 0; ///< of the process: late events of an old one are ignored
  std::optional<Process> process_;
  std::shared_ptr<rpc::Connection> connection_;
  std::shared_ptr<ErrorTail> errors_; ///< of the process, or of the last one that was there
  PausableTimer timer_;               ///< ends a process that takes too long
  boost::asio::steady_timer reap_timer_;
  std::optional<PrivateDirectory> directory_;  ///< of the process
  std::optional<QueuedJob> waiting_, running_; ///< for the worker to be ready; on the worker
  std::string large_task_;                     ///< hash of one that needs the device alone
  std::shared_ptr<deep::Examiner> examiner_;   ///< of the running job
  std::string activity_ = "starting", side_;   ///< last reported
  StageClock clock_;
  Neighbours::Clock::time_point measuring_since_{}; ///< of the running job
};

} // namespace warpwright::runner
