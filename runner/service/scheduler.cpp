#include "runner/service/scheduler.h"

#include "runner/service/operator_code.h"
#include "runner/service/record.h"
#include "runner/worker/lost_worker.h"
#include "support/log.h"
#include "support/model/json.h"

#include <algorithm>
#include <cctype>
#include <thread>

namespace warpwright::runner {
namespace {

using rpc::Json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxQueue = 10'000;
/// Time before a worker that did not start is tried again.
constexpr std::chrono::seconds kBroken{5};
/// Maximum number of consecutive jobs of one task while an older job of another task waits.
constexpr int kMostInARow = 16;
/// A worker of another kind takes 1 to 15 s to start. kPatience: how long a job waits while the
/// device's worker has jobs of its own kind. kLinger: how long one of several workers stays up
/// without jobs of its kind while another worker serves the waiting job's kind.
constexpr std::chrono::seconds kPatience{5}, kLinger{10};

/// Maximum number of concurrent tracing processes, each of which uses a core for seconds.
std::size_t most_traces() {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency() / 3, 2, 16);
}

bool only_call_operators(const Json &modules) {
  return modules.is_array() && std::ranges::all_of(modules, [](const Json &one) {
           const auto module = model::torch_module_from_json(one);
           return module && only_calls_operators(*module);
         });
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

rpc::RpcError error_of(int code, std::string message) { return {code, std::move(message), {}}; }

std::string outcome_of(const rpc::Outcome &outcome) {
  if (outcome)
    return outcome->value("outcome", "error");
  return outcome.error().code == rpc::kRequestCancelled ? "cancelled" : "error";
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

} // namespace

Scheduler::Scheduler(boost::asio::any_io_executor executor, FoundDevices found,
                     std::unique_ptr<CompileAhead> compile_ahead, Observer *observer)
    : executor_(executor), trace_command_(std::move(found.trace_command)),
      notes_(std::move(found.notes)), compile_ahead_(std::move(compile_ahead)),
      observer_(observer ? observer : &nobody_) {
  for (FoundDevice &device : found.devices) {
    const std::size_t index = devices_.size();
    WorkerHooks hooks{.on_free = [this] { dispatch(); },
                      .on_start_failed =
                          [this, index](QueuedJob job, const std::string &why) {
                            on_start_failed(index, std::move(job), why);
                          },
                      .observer = observer_};
    device.worker.name = device.name;
    devices_.push_back(
        {device.name,
         device.info,
         std::make_shared<DeviceWorker>(executor, device.info, device.worker, std::move(hooks)),
         device.worker.turn,
         {},
         {}});
  }
  count();
}

Scheduler::~Scheduler() { stop(); }

Json Scheduler::describe() const {
  Json devices = Json::array(), names = Json::array(), isolation = Json::array();
  for (const Entry &entry : devices_) {
    if (std::ranges::find(names, Json(entry.name)) != names.end())
      continue; // another worker of the same GPU
    devices.push_back(model::to_json(entry.worker->device()));
    names.push_back(entry.name);
    isolation.push_back({{"device", entry.name}, {"layers", entry.worker->isolation()}});
  }
  return {{"devices", devices}, {"names", names}, {"notes", notes_}, {"isolation", isolation}};
}

Json Scheduler::isolation() {
  Json devices = Json::array();
  for (const Entry &entry : devices_) {
    const WorkerKind kind = entry.found.kind == "cuda" ? WorkerKind::Cuda : WorkerKind::Cpu;
    Json layers = entry.worker->isolation();
    if (layers.is_null()) {
      Json &examined = examined_layers_[kind];
      if (examined.is_null())
        if (const auto found = layers_here(kind))
          examined = to_json(*found);
      layers = examined;
    }
    devices.push_back({{"device", entry.name}, {"layers", layers.is_null() ? Json::array() : layers}});
  }
  return devices;
}

const DeviceWorker *Scheduler::find(const std::string &device) const {
  const auto found = std::ranges::find(devices_, device, &Entry::name);
  return found == devices_.end() ? nullptr : found->worker.get();
}

// ---- Choosing devices

std::vector<std::size_t> Scheduler::matching(const std::string &selector) const {
  const bool any_gpu =
      std::ranges::any_of(devices_, [](const Entry &entry) { return entry.found.kind == "cuda"; });
  std::vector<std::size_t> exact, suited;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const Entry &entry = devices_[i];
    const bool is_gpu = entry.found.kind == "cuda";
    if (entry.name == selector)
      exact.push_back(i);
    else if (selector.empty() ? is_gpu || !any_gpu
                              : entry.found.kind == selector ||
                                    (is_gpu && lower(entry.found.name).contains(lower(selector))))
      suited.push_back(i);
  }
  return exact.empty() ? suited : exact;
}

Error Scheduler::no_device(const std::string &selector) const {
  if (!devices_.empty()) {
    std::string known;
    for (const Entry &entry : devices_)
      known += (known.empty() ? "" : ", ") + entry.name + " (" + entry.found.name + ")";
    return {"this runner has no device " + selector, "It has " + known};
  }
  std::string why;
  for (const std::string &note : notes_)
    why += " " + note;
  return {"this runner has no device to verify on." + why, "Run `warpwright-runner doctor`"};
}

bool Scheduler::is_broken(std::size_t device) const {
  return Clock::now() < devices_[device].broken_until;
}

std::size_t Scheduler::least_loaded(const std::vector<std::size_t> &devices) const {
  const auto load = [&](std::size_t device) {
    return std::pair(is_broken(device), !devices_[device].worker->is_free());
  };
  return *std::ranges::min_element(devices, {}, load);
}

// ---- Coming and going

Result<void> Scheduler::submit(QueuedJob job) {
  const std::vector<std::size_t> devices = matching(job.options.device);
  if (devices.empty())
    return std::unexpected(no_device(job.options.device));
  if (std::ranges::all_of(devices, [&](std::size_t device) { return is_broken(device); }))
    return fail(devices_[devices.front()].why_broken);
  if (pending_.size() >= kMaxQueue)
    return fail("the queue is full: " + std::to_string(pending_.size()) + " jobs wait",
                "Try again later");
  job.accepted = Clock::now();
  carry_record(job);
  job.done = [this, id = job.id, client = job.client, accepted = job.accepted,
              done = std::move(job.done)](rpc::Outcome outcome) {
    on_done(id, client, accepted, outcome);
    done(std::move(outcome));
  };
  observer_->job_accepted();
  log::info("job accepted", {{"job", job.id},
                             {"client", job.client},
                             {"key", job.options.job},
                             {"selector", job.options.device}});
  const std::size_t device = least_loaded(devices);
  Pending pending{std::move(job), devices};
  if (compile_ahead_ && model::capability_of(devices_[device].found) > 0)
    pending.compiled = Compiled::NotYet;
  tell_position(pending);
  if (!is_broken(device))
    // The worker starts while the job is compiled.
    devices_[device].worker->warm_up_for(pending.job);
  enqueue(std::move(pending), false);
  dispatch();
  return {};
}

void Scheduler::tell_position(const Pending &pending) const {
  std::size_t before = 0;
  for (const std::size_t device : pending.devices) {
    if (devices_[device].worker->is_free())
      return;
    ++before;
  }
  for (const auto &[id, other] : pending_)
    before += std::ranges::find_first_of(other.devices, pending.devices) != other.devices.end();
  pending.job.on_stage("queued", "waiting for " + std::to_string(before) + " jobs before it");
}

void Scheduler::enqueue(Pending pending, bool in_front) {
  auto turn = std::ranges::find(turns_, pending.job.client, &Turn::client);
  if (turn == turns_.end())
    turn = turns_.insert(in_front ? turns_.begin() : turns_.end(), Turn{pending.job.client, {}});
  const std::int64_t id = pending.job.id;
  turn->jobs.insert(in_front ? turn->jobs.begin() : turn->jobs.end(), id);
  pending_.emplace(id, std::move(pending));
}

std::optional<Scheduler::Pending> Scheduler::take(std::int64_t id) {
  const auto found = pending_.find(id);
  if (found == pending_.end())
    return std::nullopt;
  Pending pending = std::move(found->second);
  pending_.erase(found);
  const auto turn = std::ranges::find(turns_, pending.job.client, &Turn::client);
  std::erase(turn->jobs, id);
  if (turn->jobs.empty())
    turns_.erase(turn);
  return pending;
}

void Scheduler::end(std::int64_t id, rpc::Outcome outcome) {
  if (auto pending = take(id))
    pending->job.done(std::move(outcome));
}

void Scheduler::on_done(std::int64_t id, const std::string &client, Clock::time_point accepted,
                        const rpc::Outcome &outcome) {
  std::string device;
  if (const auto found = on_device_.find(id); found != on_device_.end()) {
    device = devices_[found->second.device].name;
    devices_[found->second.device].last_done = Clock::now();
    if (found->second.used_device)
      found->second.used_device(seconds_since(found->second.since));
    on_device_.erase(found);
  }
  const double seconds = seconds_since(accepted);
  observer_->job_finished(device, outcome_of(outcome), seconds);
  log::info("job finished", {{"job", id},
                             {"client", client},
                             {"device", device},
                             {"outcome", outcome_of(outcome)},
                             {"seconds", seconds}});
  count();
}

void Scheduler::cancel(std::int64_t id) {
  const auto running = on_device_.find(id);
  if (running != on_device_.end()) {
    const std::shared_ptr<DeviceWorker> worker = devices_[running->second.device].worker;
    return worker->cancel(id);
  }
  end(id, std::unexpected(error_of(rpc::kRequestCancelled, "the job was cancelled")));
}

// ---- Tracing

void Scheduler::trace(const Json &modules, std::function<void(rpc::Outcome)> done) {
  if (trace_command_.empty())
    return done(std::unexpected(error_of(
        rpc::kInternalError,
        "this runner was set up without a program that traces modules. Start it by `serve`")));
  if (waiting_traces_.size() >= kMaxQueue)
    return done(
        std::unexpected(error_of(rpc::kInternalError, "too many modules wait to be traced")));
  waiting_traces_.push_back({modules, std::move(done)});
  start_traces();
}

std::shared_ptr<TraceProcess> Scheduler::make_trace() {
  return std::make_shared<TraceProcess>(
      executor_, TraceSettings{.command = trace_command_, .environment = {}});
}

void Scheduler::start_traces() {
  while (traces_.size() < most_traces() && !waiting_traces_.empty()) {
    WaitingTrace next = std::move(waiting_traces_.front());
    waiting_traces_.pop_front();
    const bool may_share = only_call_operators(next.modules);
    std::shared_ptr<TraceProcess> process;
    if (may_share && !operator_traces_.empty()) {
      process = std::move(operator_traces_.back());
      operator_traces_.pop_back();
    } else if (!(process = std::exchange(prepared_trace_, nullptr))) {
      process = make_trace();
    }
    traces_.insert(process);
    const auto on_done = [this, process, may_share, done = next.done](rpc::Outcome outcome) {
      traces_.erase(process);
      if (may_share && process->is_ready())
        operator_traces_.push_back(process);
      done(std::move(outcome));
      start_traces();
      if (prepared_trace_ || dispatching_ || !traces_.empty())
        return;
      prepared_trace_ = make_trace();
      prepared_trace_->prepare();
    };
    process->start(next.modules, on_done, may_share);
    // A traced module will be verified next, so a worker imports torch meanwhile, which takes as
    // long.
    for (const Entry &entry : devices_)
      if (entry.worker->warm_up_torch())
        break;
  }
}

void Scheduler::stop() {
  waiting_traces_.clear();
  for (const auto &process : std::exchange(traces_, {}))
    process->stop();
  if (const auto prepared = std::exchange(prepared_trace_, nullptr))
    prepared->stop();
  for (const auto &process : std::exchange(operator_traces_, {}))
    process->stop();
  if (compile_ahead_)
    compile_ahead_->stop();
  dispatching_ = true; // nothing is dispatched any more
  while (!pending_.empty())
    end(pending_.begin()->first,
        std::unexpected(error_of(rpc::kRequestCancelled, "the job was cancelled")));
  for (Entry &entry : devices_)
    entry.worker->stop();
}

// ---- Compiling ahead

void Scheduler::feed_compilers() {
  while (compile_ahead_ && compile_ahead_->has_free_process()) {
    const auto id = next_to_compile();
    if (!id)
      return;
    Pending &pending = pending_.at(*id);
    pending.compiled = Compiled::Now;
    pending.job.on_stage("compiling", "compiling on a CPU core");
    compile_ahead_->compile(
        pending.job, model::capability_of(devices_[least_loaded(pending.devices)].found),
        [this, id = *id](CompileAhead::Answer answer) { on_compiled(id, std::move(answer)); });
  }
}

std::optional<std::int64_t> Scheduler::next_to_compile() const {
  std::size_t deepest = 1;
  for (std::size_t depth = 0; depth < deepest; ++depth)
    for (const Turn &turn : turns_) {
      deepest = std::max(deepest, turn.jobs.size());
      if (depth < turn.jobs.size() && pending_.at(turn.jobs[depth]).compiled == Compiled::NotYet)
        return turn.jobs[depth];
    }
  return std::nullopt;
}

void Scheduler::on_compiled(std::int64_t id, CompileAhead::Answer answer) {
  const auto found = pending_.find(id);
  if (found == pending_.end())
    return dispatch(); // the job was cancelled, and its process is free
  Pending &pending = found->second;
  pending.compiled = Compiled::Ended;
  pending.compiled_ahead = answer.in_cache;
  const DeviceWorker &worker = *devices_[least_loaded(pending.devices)].worker;
  if (answer.refused && worker.is_described()) {
    answer.refused->device = worker.device();
    observer_->compiled_ahead(CompiledAhead::Refused);
    end(id, model::to_json(*answer.refused));
  } else if (!answer.in_cache && !answer.refused) {
    observer_->compiled_ahead(CompiledAhead::Lost);
  }
  dispatch();
}

// ---- Handing jobs to devices

void Scheduler::dispatch() {
  // A job that ends at once frees its device while the loop below is still running.
  if (std::exchange(dispatch_again_, true) || dispatching_)
    return;
  dispatching_ = true;
  while (std::exchange(dispatch_again_, false)) {
    feed_compilers();
    for (std::size_t device = 0; device < devices_.size(); ++device)
      if (devices_[device].worker->is_free() && !is_broken(device))
        if (const auto id = next_for(device))
          hand_over(*id, device);
  }
  dispatching_ = false;
  count();
}

bool Scheduler::may_run(const Pending &pending, std::size_t device) const {
  return std::ranges::find(pending.devices, device) != pending.devices.end();
}

bool Scheduler::belongs_to_another(const Pending &pending, std::size_t device) const {
  const Entry &entry = devices_[device];
  return entry.turn && !pending.job.task_hash.empty() &&
         std::ranges::any_of(devices_, [&](const Entry &other) {
           return &other != &entry && other.turn == entry.turn && !other.worker->is_free() &&
                  other.task_hash == pending.job.task_hash;
         });
}

bool Scheduler::has_own_kind(std::size_t device) const {
  return std::ranges::any_of(pending_, [&](const auto &item) {
    const Pending &pending = item.second;
    return may_run(pending, device) && !devices_[device].worker->would_switch_for(pending.job) &&
           !belongs_to_another(pending, device);
  });
}

bool Scheduler::may_switch(const Pending &pending, std::size_t device, bool has_own_kind) const {
  const Entry &entry = devices_[device];
  const auto now = Clock::now();
  const bool is_served = entry.turn && std::ranges::any_of(devices_, [&](const Entry &other) {
                           return &other != &entry && other.turn == entry.turn &&
                                  other.worker->is_of_kind(pending.job);
                         });
  if (is_served) // the end of the other worker's job dispatches again, so this wait needs no timer
    return !has_own_kind && now - entry.last_done >= kLinger;
  return !has_own_kind || now - pending.job.accepted >= kPatience;
}

std::optional<std::int64_t> Scheduler::next_for(std::size_t device) const {
  const Entry &entry = devices_[device];
  std::optional<bool> own_kind; // computed when first needed
  std::optional<std::int64_t> uncompiled;
  for (const Turn &turn : turns_) {
    std::optional<std::int64_t> compiled;
    for (const std::int64_t id : turn.jobs) {
      const Pending &pending = pending_.at(id);
      if (!may_run(pending, device) || belongs_to_another(pending, device))
        continue;
      if (entry.worker->would_switch_for(pending.job)) {
        if (!own_kind)
          own_kind = has_own_kind(device);
        if (!may_switch(pending, device, *own_kind))
          continue;
      }
      if (pending.compiled == Compiled::Ended) {
        if (pending.job.task_hash == entry.task_hash && entry.in_a_row < kMostInARow)
          return id;
        compiled = compiled.value_or(id);
      }
      if (pending.compiled == Compiled::NotYet && !uncompiled)
        uncompiled = id;
    }
    if (compiled)
      return compiled;
  }
  return uncompiled; // all compile processes are busy, and an idle device would be worse
}

void Scheduler::hand_over(std::int64_t id, std::size_t device) {
  Pending pending = *take(id);
  // The client's next job comes after the first job of every other client.
  if (const auto turn = std::ranges::find(turns_, pending.job.client, &Turn::client);
      turn != turns_.end())
    turns_.splice(turns_.end(), turns_, turn);
  if (compile_ahead_ && model::capability_of(devices_[device].found) > 0)
    observer_->compiled_ahead(pending.compiled_ahead ? CompiledAhead::Hit : CompiledAhead::Miss);
  observer_->stage_ended(devices_[device].name, "queued", seconds_since(pending.job.accepted));
  on_device_[id] = {device, Clock::now(), pending.job.used_device};
  Entry &entry = devices_[device];
  entry.in_a_row = entry.task_hash == pending.job.task_hash ? entry.in_a_row + 1 : 1;
  entry.task_hash = pending.job.task_hash;
  entry.worker->submit(std::move(pending.job));
}

void Scheduler::on_start_failed(std::size_t device, QueuedJob job, const std::string &why) {
  devices_[device].broken_until = Clock::now() + kBroken;
  devices_[device].why_broken = why;
  on_device_.erase(job.id);
  std::vector<std::size_t> devices = matching(job.options.device);
  enqueue({std::move(job), std::move(devices)}, true);
  std::vector<std::int64_t> lost; // jobs that no other device can take
  for (const auto &[id, pending] : pending_)
    if (std::ranges::all_of(pending.devices, [&](std::size_t other) { return is_broken(other); }))
      lost.push_back(id);
  for (const std::int64_t id : lost)
    end(id, std::unexpected(not_started(why)));
}

void Scheduler::count() {
  for (std::size_t device = 0; device < devices_.size(); ++device)
    observer_->queue_changed(devices_[device].name, static_cast<std::size_t>(std::ranges::count_if(
                                                        pending_, [&](const auto &entry) {
                                                          return may_run(entry.second, device);
                                                        })));
}

} // namespace warpwright::runner
