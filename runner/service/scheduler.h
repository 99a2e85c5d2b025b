// Scheduler of jobs on all devices of this machine, one job at a time on each.
//
// A job names one device ("cuda:1"), a kind ("cuda"), a part of a GPU's name ("H200") or nothing
// (the best kind there is). It waits in its client's queue until a device that suits it is free;
// clients take turns, so one with a thousand jobs does not keep the others waiting. Among one
// client's, jobs of the task that the device's worker has ready go first, for a while. Jobs for GPUs
// are compiled on CPU cores meanwhile (compile_ahead.h), and those that do not compile never reach
// the GPU. A device whose worker does not start leaves its jobs to the others that suit them.
// Thread: the service's strand.
#pragma once

#include "runner/service/compile_ahead.h"
#include "runner/service/devices.h"
#include "runner/service/job_runner.h"
#include "runner/service/trace_process.h"

#include <deque>
#include <list>
#include <map>
#include <set>

namespace warpwright::runner {

class Scheduler final : public JobRunner {
public:
  /// @param compile_ahead null: devices compile for themselves
  /// @param observer null, or outlives this
  Scheduler(boost::asio::any_io_executor executor, FoundDevices found,
            std::unique_ptr<CompileAhead> compile_ahead = nullptr, Observer *observer = nullptr);
  ~Scheduler() override;

  rpc::Json describe() const override;
  rpc::Json isolation() override;
  Result<void> submit(QueuedJob job) override;
  void cancel(std::int64_t id) override;
  void trace(const rpc::Json &modules, std::function<void(rpc::Outcome)> done) override;
  void stop() override;

  /// Jobs that no device has taken yet.
  std::size_t waiting() const { return pending_.size(); }
  /// Null: no device has this name.
  const DeviceWorker *find(const std::string &device) const;

private:
  struct Entry {
    std::string name;
    model::DeviceInfo found; ///< as discovered; selectors are matched with this
    std::shared_ptr<DeviceWorker> worker;
    std::shared_ptr<DeviceTurn> turn; ///< turns, where several workers share the device
    /// its worker did not start; not used before this time
    std::chrono::steady_clock::time_point broken_until{};
    std::string why_broken;
    std::string task_hash;                             ///< of the last job handed over
    int in_a_row = 0;                                  ///< consecutive jobs of that task
    std::chrono::steady_clock::time_point last_done{}; ///< when its last job ended
  };
  enum class Compiled { NotYet, Now, Ended };
  struct Pending {
    QueuedJob job;
    std::vector<std::size_t> devices; ///< indexes of suitable devices
    Compiled compiled = Compiled::Ended;
    bool compiled_ahead = false; ///< its code is on the shelves
  };
  struct Turn {
    std::string client;
    std::deque<std::int64_t> jobs;
  };

  std::vector<std::size_t> matching(const std::string &selector) const;
  Error no_device(const std::string &selector) const;
  bool is_broken(std::size_t device) const;
  std::size_t least_loaded(const std::vector<std::size_t> &devices) const;
  void tell_position(const Pending &pending) const;
  void enqueue(Pending pending, bool in_front);
  std::optional<Pending> take(std::int64_t id);
  /// Takes the job from its queue and ends it.
  void end(std::int64_t id, rpc::Outcome outcome);
  void feed_compilers();
  /// The first job that is not being compiled, with clients taking turns; nullopt: none.
  std::optional<std::int64_t> next_to_compile() const;
  void on_compiled(std::int64_t id, CompileAhead::Answer answer);
  void dispatch();
  /// The job to run next on this device; nullopt: none for now.
  std::optional<std::int64_t> next_for(std::size_t device) const;
  bool may_run(const Pending &pending, std::size_t device) const;
  /// Whether the job should wait for another worker of the same device, which is busy with the same
  /// task and so has it loaded.
  bool belongs_to_another(const Pending &pending, std::size_t device) const;
  /// Whether a job waits that the device's worker can run without being replaced by one of another
  /// kind.
  bool has_own_kind(std::size_t device) const;
  /// Whether the device's worker may end for a worker of the job's kind. If another worker of the
  /// device is of the job's kind: only when no job of its own kind waits and it has been idle for
  /// kLinger. Otherwise: when no job of its own kind waits, or the job has waited for kPatience.
  bool may_switch(const Pending &pending, std::size_t device, bool has_own_kind) const;
  void hand_over(std::int64_t id, std::size_t device);
  void on_start_failed(std::size_t device, QueuedJob job, const std::string &why);
  void on_done(std::int64_t id, const std::string &client,
               std::chrono::steady_clock::time_point accepted, const rpc::Outcome &outcome);
  void count();

  struct WaitingTrace {
    rpc::Json modules;
    std::function<void(rpc::Outcome)> done;
  };
  std::shared_ptr<TraceProcess> make_trace();
  void start_traces();

  boost::asio::any_io_executor executor_;
  std::vector<std::string> trace_command_; ///< empty: modules are not traced
  std::deque<WaitingTrace> waiting_traces_;
  std::set<std::shared_ptr<TraceProcess>> traces_; ///< running processes
  std::shared_ptr<TraceProcess> prepared_trace_;   ///< imports torch for the next one
  std::vector<std::shared_ptr<TraceProcess>> operator_traces_; ///< wait for modules that only call operators
  std::vector<std::string> notes_;
  std::vector<Entry> devices_;
  std::map<WorkerKind, rpc::Json> examined_layers_; ///< of kinds whose workers had not started
  std::unique_ptr<CompileAhead> compile_ahead_;
  Observer nobody_, *observer_;
  std::map<std::int64_t, Pending> pending_; ///< by id
  std::list<Turn> turns_; ///< clients with waiting jobs; the next in turn is first
  struct Placed {
    std::size_t device = 0;
    std::chrono::steady_clock::time_point since;
    std::function<void(double seconds)> used_device;
  };
  std::map<std::int64_t, Placed> on_device_; ///< by job
  bool dispatching_ = false, dispatch_again_ = false;
};

} // namespace warpwright::runner
