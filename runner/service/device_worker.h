// Worker process of one device, with at most one job at a time. The scheduler hands over the next
// job when the worker is free, so measurements never overlap on a device. Several workers may share
// one device: their processes then take turns (device_turn.h), and only work without the device
// overlaps.
//
// A process serves one owner. A process that runs the files of a torch task serves only that code
// (code_hash.h), so state that a client's code leaves in it cannot affect another task's job.
//
// When a worker dies, its job gets a verdict that names the activity at that moment, and a new
// worker starts at once, so that the next job does not wait for it. A worker that is killed from
// outside while it starts is started again. A job runs a second time, before any verdict, when its
// worker was killed from outside, or when the reference itself failed at hidden sizes (then without
// hidden sizes). A job that exceeds its time limit, or is cancelled while it runs, ends the worker.
// Verdicts with a large speedup are measured again in a fresh worker before they are reported.
// Thread: the service's strand.
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
  std::string task_hash, plan_hash, code_hash; ///< see model::hash(), code_hash.h
  model::VerifyOptions options;
  std::function<void(const std::string &stage, const std::string &activity)> on_stage;
  std::function<void(rpc::Outcome)> done; ///< called once, with a verdict's JSON
  /// Called before `done` with the time that the job had a device. Unset: not counted.
  std::function<void(double seconds)> used_device;
  /// Clients take turns by this name, which the service assigns.
  std::string client;
  std::string owner;    ///< a token's name, or the kind of client without a token
  std::string no_tools; ///< why requested tools do not examine the job; empty: they may
  std::chrono::steady_clock::time_point accepted = std::chrono::steady_clock::now();
  /// Verdict of the first run, when this is the second measurement.
  std::optional<model::Verdict> first;
  bool ran_again = false;          ///< after the loss of a worker that the candidate did not cause
  std::vector<model::Check> notes; ///< checks to add to the verdict, such as why the job ran again
  bool examined = false;           ///< the examination by tools was started or ruled out
  bool alone = false;              ///< its memory did not suffice beside other workers
};

struct WorkerSettings {
  std::string name; ///< "cuda:0", for logs and metrics
  std::vector<std::string> command;
  /// Command of the worker inside the user's Python, for jobs whose task is a torch module.
  /// nullopt: `command` serves them too.
  std::optional<std::vector<std::string>> python = std::nullopt;
  std::vector<std::string> environment;
  std::chrono::milliseconds start_limit{60'000};
  std::chrono::milliseconds grace{
      2'000}; ///< beyond a job's timeout, for the worker to report it itself
  double large_speedup = 3;
  /// Turns on a device that several workers share: each process asks before it uses the device.
  /// Null: the worker has the device to itself.
  std::shared_ptr<DeviceTurn> turn = nullptr;
  /// Source and destination of compiled code. Null: none.
  std::shared_ptr<const CodeShelves> shelves = nullptr;
  /// False: the process only compiles and runs no client files, whatever the task is.
  bool runs_files = true;
  /// Other processes that compute on the device. Nothing is measured meanwhile, unless
  /// `measures_beside_others`. Null: not checked.
  std::shared_ptr<const Neighbours> neighbours = nullptr;
  bool measures_beside_others = false;
};

struct WorkerHooks {
  /// Called when a job can be submitted.
  std::function<void()> on_free = [] {};
  /// Called when the worker could not be started for this job, with the reason.
  std::function<void(QueuedJob job, const std::string &why)> on_start_failed;
  Observer *observer = nullptr; ///< outlives the worker; null: no observer
};

class DeviceWorker : public std::enable_shared_from_this<DeviceWorker> {
public:
  DeviceWorker(boost::asio::any_io_executor executor, model::DeviceInfo device,
               WorkerSettings settings, WorkerHooks hooks);
  ~DeviceWorker();

  /// Call only when is_free().
  void submit(QueuedJob job);
  /// Starts the process with torch for an expected job, if no process is up.
  /// @return whether the process is starting
  bool warm_up_torch();
  /// Starts the process ahead of this job.
  void warm_up_for(const QueuedJob &job);
  /// The job ends with RequestCancelled; unknown ids are ignored.
  void cancel(std::int64_t id);
  /// Ends the worker and its job.
  void stop();

  const std::string &name() const { return settings_.name; }
  /// The device as its worker described it; before a worker was ready, as the driver did.
  const model::DeviceInfo &device() const { return device_; }
  bool is_described() const { return described_; }
  /// Isolation layers of the worker: [{name, active, detail}]; null until a worker was ready.
  const rpc::Json &isolation() const { return isolation_; }
  bool is_free() const { return !waiting_ && !running_; }
  /// Whether the current process, which is up or starting, serves this job.
  bool is_of_kind(const QueuedJob &job) const;
  /// Whether the current process, which is up or starting, must end for this job.
  bool would_switch_for(const QueuedJob &job) const;
  /// Process id of the current process; for tests and logs.
  std::optional<pid_t> pid() const {
    return process_ ? std::optional(process_->pid()) : std::nullopt;
  }

private:
  enum class State { Down, Starting, Idle, Busy };

  /// Whether the job wants the worker with torch. A device has one process at a time, so that two
  /// never measure at once and neither holds memory that the other needs. The worker with torch
  /// stays up until a job comes that does not want it.
  bool wants_python(const QueuedJob &job) const;
  /// The owner and task that a process with this job serves.
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
  /// Answers the process's request for the device. The job's clock stands still while it waits.
  void take_turn(rpc::Responder respond);
  /// Ends the process. on_lost() follows if the process was starting or had a job; an idle process
  /// is gone when this returns.
  void end_process(Ended reason);
  void on_closed(std::uint64_t generation, const std::string &reason);
  void reap(std::uint64_t generation, const std::string &reason, int tries);
  void on_lost(const ExitStatus &status, const std::string &reason);
  void on_start_lost(const LostWorker &lost);
  void finish(model::Verdict verdict);
  bool measures_again(const model::Verdict &verdict);
  /// Other processes that computed on the device since then; empty: none, or not checked.
  std::string others_since(Neighbours::Clock::time_point since) const;
  /// Verdict for the running job, which was not measured because these other processes compute on
  /// the device.
  model::Verdict not_measured(const std::string &others) const;
  /// Sets device, date, hashes and notes of a verdict that no worker made.
  void stamp(model::Verdict &verdict) const;
  /// Runs the job once more, alone on its device.
  void run_alone();
  /// Runs the job once more, in a fresh worker.
  void run_again(bool with_hidden_sizes, const std::string &why);
  LostWorker describe_loss() const;
  /// Answers the running job, after its examination by tools if it asked for one.
  void answer(rpc::Outcome outcome);
  /// Starts the examination that the running job asked for, on a GPU without a worker; the answer
  /// follows later. False: no examination.
  bool examine(rpc::Outcome &outcome);
  void on_examined(const model::Verdict &verdict);
  void leave_stages();

  boost::asio::any_io_executor executor_;
  model::DeviceInfo device_;
  WorkerSettings settings_;
  WorkerHooks hooks_;
  Observer nobody_; ///< used when no observer is given
  bool described_ = false, started_before_ = false, stopped_ = false;
  rpc::Json isolation_;
  std::string told_missing_; ///< missing layers that were logged last
  State state_ = State::Down;
  Ended ended_ = Ended::ByItself;
  int starts_killed_ = 0;          ///< consecutive processes killed from outside while they started
  bool python_ = false;            ///< whether the current or next process is the one with torch
  std::optional<Binding> binding_; ///< of the current process, from its first job on
  std::uint64_t generation_ = 0;   ///< of the process: late events of an older one are ignored
  std::optional<Process> process_;
  std::shared_ptr<rpc::Connection> connection_;
  std::shared_ptr<ErrorTail> errors_; ///< stderr of the current process or of the last one
  PausableTimer timer_;               ///< ends a process that takes too long
  boost::asio::steady_timer reap_timer_;
  std::optional<PrivateDirectory> directory_; ///< of the current process
  /// Waiting for the worker to be ready; running on the worker.
  std::optional<QueuedJob> waiting_, running_;
  std::string large_task_;                   ///< hash of a task that needs the device alone
  std::shared_ptr<deep::Examiner> examiner_; ///< of the running job
  std::string activity_ = "starting", side_; ///< as last reported
  StageClock clock_;
  Neighbours::Clock::time_point measuring_since_{}; ///< of the running job
};

} // namespace warpwright::runner
