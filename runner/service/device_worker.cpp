// States: Down -> Starting (process up, `info` asked) -> Idle <-> Busy; anything -> Down when the
// process goes.
#include "runner/service/device_worker.h"
#include "runner/isolation/supervised.h"
#include "runner/torch/python_programs.h"
#include "runner/judge/verifier.h"
#include "runner/worker/service_cache.h"
#include "runner/worker/worker.h"
#include "support/log.h"
#include "support/model/json.h"

#include <algorithm>
#include <csignal>

namespace warpwright::runner {
namespace {

using rpc::Json;

constexpr std::chrono::milliseconds kReapInterval{5};
constexpr int kReapTries = 400;
/// Factor for the start limit of a Python worker: it imports torch and compiles the code that calls
/// candidates, which takes longer than the start of a native worker.
constexpr int kPythonStarts = 2;
/// After this many consecutive processes killed during their start, the device counts as not
/// starting.
constexpr int kStartsKilled = 5;
/// Slightly longer than the interval of readings, so that a process that computes all the time
/// appears in at least one reading.
constexpr std::chrono::milliseconds kLately{2'500};

} // namespace

DeviceWorker::DeviceWorker(boost::asio::any_io_executor executor, model::DeviceInfo device,
                           WorkerSettings settings, WorkerHooks hooks)
    : executor_(executor), device_(std::move(device)), settings_(std::move(settings)),
      hooks_(std::move(hooks)), timer_(executor), reap_timer_(executor),
      clock_([this](const std::string &stage, double seconds) {
        hooks_.observer->stage_ended(name(), stage, seconds);
      }) {
  if (!hooks_.observer)
    hooks_.observer = &nobody_;
  if (!settings_.turn)
    settings_.turn = std::make_shared<DeviceTurn>();
  settings_.turn->join(this, [this] {
    if (state_ == State::Idle && !examiner_)
      end_process(Ended::ByItself);
  });
}

DeviceWorker::~DeviceWorker() { settings_.turn->part(this); }

void DeviceWorker::submit(QueuedJob job) {
  waiting_ = std::move(job);
  pump();
}

bool DeviceWorker::wants_python(const QueuedJob &job) const {
  const auto task = job.request.find("task");
  return settings_.python && task != job.request.end() && task->contains("module");
}

bool DeviceWorker::warm_up_torch() {
  if (state_ != State::Down || !settings_.python || examiner_ || stopped_)
    return false;
  python_ = true;
  start();
  return state_ == State::Starting;
}

Binding DeviceWorker::binding_for(const QueuedJob &job) const {
  const auto task = job.request.find("task");
  const bool runs_files =
      settings_.runs_files && task != job.request.end() && task->contains("module");
  return {job.owner, runs_files ? job.code_hash : ""};
}

bool DeviceWorker::is_of_kind(const QueuedJob &job) const {
  return state_ != State::Down && wants_python(job) == python_ &&
         (!binding_ || *binding_ == binding_for(job));
}

bool DeviceWorker::would_switch_for(const QueuedJob &job) const {
  return state_ != State::Down && !is_of_kind(job);
}

void DeviceWorker::warm_up_for(const QueuedJob &job) {
  if (state_ == State::Down)
    python_ = wants_python(job);
  warm_up();
}

void DeviceWorker::warm_up() {
  if (state_ == State::Down && !examiner_)
    start();
}

void DeviceWorker::cancel(std::int64_t id) {
  if (running_ && running_->id == id) {
    if (!examiner_)
      return end_process(Ended::Cancelled);
    ended_ = Ended::Cancelled;
    if (!settings_.turn->is_of(this))
      return on_examined({}); // the examination did not begin
    return examiner_->cancel();
  }
  if (!waiting_ || waiting_->id != id)
    return;
  const QueuedJob job = std::move(*std::exchange(waiting_, std::nullopt));
  job.done(std::unexpected(job_cancelled()));
  pump();
}

void DeviceWorker::stop() {
  stopped_ = true;
  ++generation_;
  timer_.stop();
  reap_timer_.cancel();
  if (connection_)
    std::exchange(connection_, nullptr)->close();
  errors_.reset();
  end_supervised(process_);
  examiner_.reset();
  directory_.reset();
  settings_.turn->leave(this);
  state_ = State::Down;
  for (auto *slot : {&running_, &waiting_})
    if (*slot)
      std::exchange(*slot, std::nullopt)->done(std::unexpected(job_cancelled()));
}

void DeviceWorker::pump() {
  if (is_free())
    return hooks_.on_free();
  if (!waiting_ || examiner_)
    return;
  const bool python = wants_python(*waiting_);
  if (state_ == State::Idle && !is_of_kind(*waiting_)) {
    log::info("worker ended for another kind, owner or task",
              {{"device", name()}, {"python", python}});
    end_process(Ended::ByItself);
  }
  if (state_ == State::Down) {
    python_ = python;
    return start();
  }
  if (state_ == State::Idle)
    send(std::move(*std::exchange(waiting_, std::nullopt)));
}

void DeviceWorker::start() {
  if (stopped_)
    return;
  state_ = State::Starting;
  ended_ = Ended::ByItself;
  errors_.reset();
  binding_.reset();
  const std::uint64_t generation = ++generation_;
  std::vector<std::string> environment = settings_.environment;
  directory_ = PrivateDirectory::make();
  if (directory_)
    environment.push_back(std::string(kPrivateDirectoryVariable) + "=" +
                          directory_->path().string());
  if (settings_.turn->is_shared())
    environment.push_back(std::string(kSharedVariable) + "=1");
  auto process = Process::spawn(
      python_ ? *settings_.python : settings_.command,
      {.environment = environment, .inherited = inherited_variables(), .pipe_stderr = true});
  if (!process) {
    process_.reset();
    return on_lost({127, 0}, describe(process.error()));
  }
  process_ = std::move(*process);
  hooks_.observer->worker_started(name(), std::exchange(started_before_, true));
  log::info("worker started", {{"device", name()}, {"pid", process_->pid()}});
  rpc::Connection::Handlers handlers;
  handlers.on_notification = [weak = weak_from_this(), generation](const std::string &method,
                                                                   const Json &params) {
    const auto self = weak.lock();
    if (!self || self->generation_ != generation)
      return;
    if (method == "stage")
      self->on_stage(params);
    if (method == kTurnOver)
      self->settings_.turn->give(self.get());
    if (method == kKeepCode && self->settings_.shelves && params.is_object())
      self->settings_.shelves->keep(self->binding_, params.value("key", ""),
                                    params.value("code", Json()));
  };
  handlers.on_request = [weak = weak_from_this(), generation](const std::string &method,
                                                              const Json &params, const Json &,
                                                              rpc::Responder respond) {
    const auto self = weak.lock();
    if (self && self->generation_ == generation && method == kTakeTurn)
      return self->take_turn(std::move(respond));
    if (self && self->generation_ == generation && method == kFindCode && params.is_object())
      return respond(self->settings_.shelves
                         ? self->settings_.shelves->find(self->binding_, params.value("key", ""))
                         : Json());
    respond(std::unexpected(rpc::RpcError{rpc::kMethodNotFound,
                                          "the service answers workers nothing but " +
                                              std::string(kTakeTurn) + " and " + kFindCode,
                                          {}}));
  };
  handlers.on_closed = [weak = weak_from_this(), generation](const std::string &reason) {
    if (const auto self = weak.lock())
      self->on_closed(generation, reason);
  };
  const int out = process_->release_stdout(), in = process_->release_stdin();
  connection_ =
      rpc::Connection::make(rpc::make_descriptor_stream(executor_, out, in), std::move(handlers));
  connection_->start();
  errors_ = ErrorTail::start(executor_, process_->release_stderr());
  arm(python_ ? kPythonStarts * settings_.start_limit : settings_.start_limit,
      Ended::StartTimedOut);
  connection_->request("info", nullptr,
                       [weak = weak_from_this(), generation](const rpc::Outcome &info) {
                         if (const auto self = weak.lock(); self && self->generation_ == generation)
                           self->on_ready(info);
                       });
}

void DeviceWorker::on_ready(const rpc::Outcome &info) {
  if (!info || state_ != State::Starting)
    return; // on_closed reports the end of the process
  Json document = *info;
  if (document.is_object() && document.contains("isolation")) {
    isolation_ = document["isolation"];
    document.erase("isolation");
    tell_of_isolation();
  }
  if (auto device = model::device_from_json(document)) {
    device_ = *device;
    described_ = true;
  }
  timer_.stop();
  settings_.turn->leave(this);
  starts_killed_ = 0;
  state_ = State::Idle;
  pump();
}

void DeviceWorker::tell_of_isolation() {
  std::string missing;
  for (const IsolationLayer &layer : layers_from_json(isolation_)) {
    hooks_.observer->layer_entered(name(), layer.name, layer.active);
    if (!layer.active)
      missing += (missing.empty() ? "" : "; ") + layer.name + ": " + layer.detail;
  }
  if (!missing.empty() && std::exchange(told_missing_, missing) != missing)
    log::warning("a worker's isolation is not whole", {{"device", name()}, {"missing", missing}});
}

void DeviceWorker::send(QueuedJob job) {
  state_ = State::Busy;
  activity_ = "starting the job";
  side_.clear();
  running_ = std::move(job);
  binding_ = binding_for(*running_);
  running_->alone |= !large_task_.empty() && running_->task_hash == large_task_;
  measuring_since_ = Neighbours::Clock::time_point::max();
  if (const std::string others = others_since(Neighbours::Clock::now() - kLately);
      !others.empty() && running_->options.measure && !settings_.measures_beside_others) {
    state_ = State::Idle;
    return answer(model::to_json(not_measured(others)));
  }
  arm(running_->options.timeout + settings_.grace, Ended::TimedOut);
  connection_->request("verify", running_->request,
                       [weak = weak_from_this(), generation = generation_](rpc::Outcome outcome) {
                         if (const auto self = weak.lock(); self && self->generation_ == generation)
                           self->on_reply(std::move(outcome));
                       });
}

void DeviceWorker::on_stage(const Json &params) {
  if (!running_)
    return;
  activity_ = params.value("activity", "");
  side_ = params.value("running", "");
  if (params.value("stage", "") == "measuring" && clock_.stage() != "measuring")
    measuring_since_ = Neighbours::Clock::now();
  clock_.enter(params.value("stage", ""), activity_);
  running_->on_stage(clock_.stage(), activity_);
}

void DeviceWorker::leave_stages() {
  const std::string spent = clock_.leave();
  if (running_ && log::is_on(log::Level::Debug))
    log::debug("job's time", {{"job", running_->id}, {"device", name()}, {"seconds", spent}});
}

void DeviceWorker::on_reply(rpc::Outcome outcome) {
  if (state_ != State::Busy || (!outcome && !connection_))
    return;
  if (!outcome && outcome.error().message.starts_with("the connection closed"))
    return; // on_closed reports the loss with its cause
  timer_.stop();
  settings_.turn->leave(this);
  state_ = State::Idle;
  leave_stages();
  if (!outcome)
    return answer(std::move(outcome));
  const bool lost = outcome->value("device_lost", false);
  auto verdict = model::verdict_from_json(outcome->value("verdict", Json()));
  const LostWorker loss = describe_loss();
  if (lost) {
    hooks_.observer->worker_lost(name());
    log::write(side_ == "candidate" ? log::Level::Info : log::Level::Warning, "device lost",
               {{"device", name()}, {"activity", activity_}});
    end_process(Ended::ByItself);
  }
  if (!verdict)
    return answer(std::unexpected(rpc::RpcError{
        rpc::kInternalError, "the worker's answer: " + describe(verdict.error()), {}}));
  if (outcome->value("out_of_memory", false) && settings_.turn->is_shared() && !running_->alone)
    return run_alone();
  if (lost && failed_at_hidden_sizes(loss) && running_->options.hidden_sizes)
    return run_again(false, "without hidden sizes: " + verdict->message);
  finish(std::move(*verdict));
  if (lost)
    warm_up();
}

void DeviceWorker::answer(rpc::Outcome outcome) {
  if (examine(outcome))
    return;
  const QueuedJob job = std::move(*std::exchange(running_, std::nullopt));
  job.done(std::move(outcome));
  pump();
}

void DeviceWorker::arm(std::chrono::milliseconds limit, Ended reason) {
  timer_.start(limit, [weak = weak_from_this(), generation = generation_, reason] {
    if (const auto self = weak.lock(); self && self->generation_ == generation)
      self->end_process(reason);
  });
}

void DeviceWorker::take_turn(rpc::Responder respond) {
  timer_.pause();
  clock_.wait(true);
  const bool told = running_ && settings_.turn->is_shared();
  if (told)
    running_->on_stage("queued", running_->alone ? "waiting for the device, to have it alone"
                                                 : "waiting for its turn on the device");
  settings_.turn->ask(this, running_ && running_->alone,
                      [this, respond, told, generation = generation_] {
                        if (generation != generation_)
                          return;
                        timer_.resume();
                        clock_.wait(false);
                        if (told && running_)
                          running_->on_stage(clock_.stage().empty() ? "compiling" : clock_.stage(),
                                             "has the device");
                        respond(Json());
                      });
}

void DeviceWorker::end_process(Ended reason) {
  ended_ = reason;
  if ((running_ && state_ == State::Busy) || state_ == State::Starting) {
    if (process_) // its reply is awaited: on_closed reports the end
      process_->kill(SIGTERM);
    return;
  }
  ++generation_; // later events of this process are ignored
  timer_.stop();
  if (connection_)
    std::exchange(connection_, nullptr)->close();
  errors_.reset();
  end_supervised(process_);
  directory_.reset();
  settings_.turn->leave(this);
  state_ = State::Down;
}

void DeviceWorker::on_closed(std::uint64_t generation, const std::string &reason) {
  if (generation != generation_)
    return;
  timer_.stop();
  reap(generation, reason, 0);
}

void DeviceWorker::reap(std::uint64_t generation, const std::string &reason, int tries) {
  if (generation != generation_)
    return;
  const auto status = process_->poll();
  if (status)
    return on_lost(*status, reason);
  std::string why = reason;
  if (tries >= kReapTries && why.empty())
    why = "it closed its output and lived on";
  if (!why.empty()) // also kill a supervisor that was asked to end and did not
    process_->kill(tries >= 2 * kReapTries ? SIGKILL : SIGTERM);
  reap_timer_.expires_after(kReapInterval);
  reap_timer_.async_wait(
      [weak = weak_from_this(), generation, why, tries](boost::system::error_code error) {
        if (const auto self = weak.lock(); !error && self)
          self->reap(generation, why, tries + 1);
      });
}

LostWorker DeviceWorker::describe_loss() const {
  LostWorker lost;
  lost.ended = ended_;
  lost.last_words = errors_ ? errors_->last_line() : "";
  lost.side = side_;
  lost.activity = activity_;
  if (running_)
    lost.timeout = running_->options.timeout;
  return lost;
}

void DeviceWorker::on_lost(const ExitStatus &status, const std::string &reason) {
  ++generation_;
  const State before = std::exchange(state_, State::Down);
  if (errors_)
    errors_->drain();
  LostWorker lost = describe_loss();
  lost.status = status;
  lost.protocol_error = reason;
  connection_.reset();
  errors_.reset();
  process_.reset();
  directory_.reset();
  settings_.turn->leave(this);
  leave_stages();
  if (before == State::Starting)
    return on_start_lost(lost);
  if (ended_ != Ended::Cancelled) {
    hooks_.observer->worker_lost(name());
    // A fault of a candidate is a result that its verdict reports, so it is only logged as
    // information.
    log::write(side_ == "candidate" ? log::Level::Info : log::Level::Warning, "worker lost",
               {{"device", name()},
                {"reason", lost.ended == Ended::TimedOut ? "timeout" : describe_exit(lost.status)},
                {"activity", activity_},
                {"running", side_}});
  }
  if (!running_)
    return pump();
  if (ended_ == Ended::Cancelled)
    answer(std::unexpected(job_cancelled()));
  else if (failed_at_hidden_sizes(lost) && running_->options.hidden_sizes)
    run_again(false, "without hidden sizes: " + verdict_of(lost).message);
  else if (was_killed_from_outside(lost) && !running_->ran_again)
    run_again(true, "its worker was killed from outside: " + verdict_of(lost).message);
  else {
    model::Verdict verdict = verdict_of(lost);
    stamp(verdict);
    answer(model::to_json(verdict));
  }
  warm_up();
}

void DeviceWorker::on_start_lost(const LostWorker &lost) {
  const std::string why = lost.ended == Ended::StartTimedOut ? "it was not ready in time"
                          : !lost.last_words.empty()         ? lost.last_words
                          : !lost.protocol_error.empty()     ? lost.protocol_error
                                                             : describe_exit(lost.status);
  const std::string message =
      python_ ? "the worker with torch of " + device_.name +
                    " does not start: " + python_interpreter() + " said: " + why +
                    ". Name a Python that has torch by --python or WARPWRIGHT_PYTHON"
              : "the worker of " + device_.name + " does not start: " + why;
  log::error("worker does not start", {{"device", name()}, {"reason", why}});
  if (!waiting_)
    return pump();
  // One such kill says nothing about the next start. Repeated kills mean that memory does not
  // suffice.
  if (was_killed_from_outside(lost) && ++starts_killed_ < kStartsKilled)
    return pump();
  QueuedJob job = std::move(*std::exchange(waiting_, std::nullopt));
  if (ended_ == Ended::Cancelled)
    job.done(std::unexpected(job_cancelled()));
  else if (hooks_.on_start_failed && !python_) // without torch the device serves all other jobs
    hooks_.on_start_failed(std::move(job), message);
  else
    job.done(std::unexpected(not_started(message)));
  pump();
}

} // namespace warpwright::runner
