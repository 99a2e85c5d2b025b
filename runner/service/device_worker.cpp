// States: Down -> Starting (process up, `info` asked) -> Idle <-> Busy; anything -> Down when the
// process goes.
#include "runner/service/device_worker.h"
#include "runner/verify/verifier.h"
#include "support/model/json.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <cmath>
#include <csignal>
#include <cstring>
#include <iostream>

namespace warpwright::runner {
namespace {

using rpc::Json;

constexpr std::size_t kErrorTailBytes = 2000;
constexpr std::chrono::milliseconds kReapInterval{5};
constexpr int kReapTries = 400;
/// Two measurements of one thing in two processes agree when their ratios do within this.
constexpr double kAgreement = 0.2;

std::string last_line(const std::string &text) {
  std::string trimmed = text;
  while (!trimmed.empty() && (trimmed.back() == '\n' || trimmed.back() == '\r'))
    trimmed.pop_back();
  const auto at = trimmed.rfind('\n');
  return at == std::string::npos ? trimmed : trimmed.substr(at + 1);
}

rpc::RpcError cancelled() { return {rpc::kRequestCancelled, "the job was cancelled", {}}; }

} // namespace

std::string describe_exit(const ExitStatus &status) {
  if (status.signal)
    return "signal " + std::to_string(status.signal) + " (" + strsignal(status.signal) + ")";
  return "exit code " + std::to_string(status.code);
}

DeviceWorker::DeviceWorker(boost::asio::any_io_executor executor, model::DeviceInfo device,
                           WorkerSettings settings)
    : executor_(executor), device_(std::move(device)), settings_(std::move(settings)),
      timer_(executor), reap_timer_(executor) {}

void DeviceWorker::submit(QueuedJob job) {
  queue_.push_back(std::move(job));
  if (running_ || queue_.size() > 1)
    queue_.back().on_stage("queued", "waiting for " +
                                         std::to_string(queue_.size() - (running_ ? 0 : 1)) +
                                         " jobs before it");
  pump();
}

void DeviceWorker::cancel(std::int64_t id) {
  if (running_ && running_->id == id)
    return end_process(Ended::Cancelled);
  const auto found = std::find_if(queue_.begin(), queue_.end(),
                                  [&](const QueuedJob &job) { return job.id == id; });
  if (found == queue_.end())
    return;
  const QueuedJob job = std::move(*found);
  queue_.erase(found);
  job.done(std::unexpected(cancelled()));
}

void DeviceWorker::stop() {
  ++generation_;
  timer_.cancel();
  reap_timer_.cancel();
  if (connection_)
    std::exchange(connection_, nullptr)->close();
  errors_.reset();
  process_.reset(); // kills and reaps
  state_ = State::Down;
  if (running_)
    std::exchange(running_, std::nullopt)->done(std::unexpected(cancelled()));
  for (const QueuedJob &job : std::exchange(queue_, {}))
    job.done(std::unexpected(cancelled()));
}

void DeviceWorker::pump() {
  if (queue_.empty())
    return;
  if (state_ == State::Down)
    return start();
  if (state_ != State::Idle)
    return;
  QueuedJob job = std::move(queue_.front());
  queue_.pop_front();
  send(std::move(job));
}

void DeviceWorker::start() {
  state_ = State::Starting;
  ended_ = Ended::ByItself;
  error_tail_.clear();
  const std::uint64_t generation = ++generation_;
  auto process = Process::spawn(settings_.command,
                                {.environment = settings_.environment, .pipe_stderr = true});
  if (!process) {
    process_.reset();
    return on_lost({127, 0}, describe(process.error()));
  }
  process_ = std::move(*process);
  rpc::Connection::Handlers handlers;
  handlers.on_notification = [weak = weak_from_this(), generation](const std::string &method,
                                                                   const Json &params) {
    if (const auto self = weak.lock(); self && self->generation_ == generation && method == "stage")
      self->on_stage(params);
  };
  handlers.on_closed = [weak = weak_from_this(), generation](const std::string &reason) {
    if (const auto self = weak.lock())
      self->on_closed(generation, reason);
  };
  const int out = process_->release_stdout(), in = process_->release_stdin();
  connection_ =
      rpc::Connection::make(rpc::make_descriptor_stream(executor_, out, in), std::move(handlers));
  connection_->start();
  errors_ = std::make_unique<boost::asio::posix::stream_descriptor>(executor_,
                                                                    process_->release_stderr());
  read_errors();
  arm(settings_.start_limit, Ended::StartTimedOut);
  connection_->request("info", nullptr,
                       [weak = weak_from_this(), generation](const rpc::Outcome &info) {
                         if (const auto self = weak.lock(); self && self->generation_ == generation)
                           self->on_ready(info);
                       });
}

void DeviceWorker::on_ready(const rpc::Outcome &info) {
  if (!info || state_ != State::Starting)
    return; // its end is reported by on_closed
  if (auto device = model::device_from_json(*info))
    device_ = *device;
  timer_.cancel();
  state_ = State::Idle;
  pump();
}

void DeviceWorker::send(QueuedJob job) {
  state_ = State::Busy;
  activity_ = "starting the job";
  side_.clear();
  running_ = std::move(job);
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
  running_->on_stage(params.value("stage", ""), activity_);
}

void DeviceWorker::on_reply(rpc::Outcome outcome) {
  if (state_ != State::Busy || (!outcome && !connection_))
    return;
  if (!outcome && outcome.error().message.starts_with("the connection closed"))
    return; // on_closed tells the whole story
  timer_.cancel();
  state_ = State::Idle;
  if (!outcome) {
    std::exchange(running_, std::nullopt)->done(std::move(outcome));
    return pump();
  }
  const bool lost = outcome->value("device_lost", false);
  auto verdict = model::verdict_from_json(outcome->value("verdict", Json()));
  if (lost)
    end_process(Ended::ByItself);
  if (!verdict) {
    std::exchange(running_, std::nullopt)
        ->done(std::unexpected(rpc::RpcError{
            rpc::kInternalError, "the worker's answer: " + describe(verdict.error()), {}}));
    return pump();
  }
  finish(std::move(*verdict));
}

void DeviceWorker::finish(model::Verdict verdict) {
  if (measures_again(verdict)) {
    running_->on_stage("measuring", "measuring again in a fresh worker");
    running_->first = std::move(verdict);
    queue_.push_front(std::move(*std::exchange(running_, std::nullopt)));
    end_process(Ended::ByItself);
    return pump();
  }
  if (running_->first) {
    const model::Verdict &first = *running_->first;
    const double before = first.speedup->ratio, now = verdict.speedup ? verdict.speedup->ratio : 0;
    const bool agrees = now > 0 && std::abs(now - before) <= kAgreement * std::min(now, before);
    const std::string detail =
        std::to_string(before) + ", then " + (now > 0 ? std::to_string(now) : verdict.message);
    if (verdict.outcome == model::Outcome::Verified && now > before)
      verdict = first; // the smaller of the two
    verdict.checks.push_back({"measured again in a fresh worker", agrees, detail});
  }
  const QueuedJob job = std::move(*std::exchange(running_, std::nullopt));
  job.done(model::to_json(verdict));
  pump();
}

bool DeviceWorker::measures_again(const model::Verdict &verdict) {
  return verdict.outcome == model::Outcome::Verified && verdict.speedup &&
         verdict.speedup->ratio > settings_.large_speedup && !running_->first;
}

void DeviceWorker::arm(std::chrono::milliseconds limit, Ended reason) {
  timer_.expires_after(limit);
  timer_.async_wait(
      [weak = weak_from_this(), generation = generation_, reason](boost::system::error_code error) {
        if (const auto self = weak.lock(); !error && self && self->generation_ == generation)
          self->end_process(reason);
      });
}

void DeviceWorker::end_process(Ended reason) {
  ended_ = reason;
  if (running_ && state_ == State::Busy) { // its reply is awaited: the end is reported by on_closed
    if (process_)
      process_->kill(SIGKILL);
    return;
  }
  if (state_ == State::Starting) {
    if (process_)
      process_->kill(SIGKILL);
    return;
  }
  ++generation_; // nobody waits for this one any more
  timer_.cancel();
  if (connection_)
    std::exchange(connection_, nullptr)->close();
  errors_.reset();
  process_.reset();
  state_ = State::Down;
}

void DeviceWorker::on_closed(std::uint64_t generation, const std::string &reason) {
  if (generation != generation_)
    return;
  timer_.cancel();
  reap(generation, reason, 0);
}

void DeviceWorker::reap(std::uint64_t generation, const std::string &reason, int tries) {
  if (generation != generation_)
    return;
  const auto status = process_->poll();
  if (status)
    return on_lost(*status, reason);
  if (!reason.empty() ||
      tries >= kReapTries) // it spoke no protocol, or closed its stdout and lives on
    process_->kill(SIGKILL);
  reap_timer_.expires_after(kReapInterval);
  reap_timer_.async_wait(
      [weak = weak_from_this(), generation, reason, tries](boost::system::error_code error) {
        if (const auto self = weak.lock(); !error && self)
          self->reap(generation, reason, tries + 1);
      });
}

void DeviceWorker::on_lost(const ExitStatus &status, const std::string &reason) {
  ++generation_;
  const State before = std::exchange(state_, State::Down);
  connection_.reset();
  errors_.reset();
  process_.reset();
  if (before == State::Starting) {
    const std::string why = ended_ == Ended::StartTimedOut ? "it was not ready in time"
                            : !error_tail_.empty()         ? last_line(error_tail_)
                            : !reason.empty()              ? reason
                                                           : describe_exit(status);
    for (const QueuedJob &job : std::exchange(queue_, {}))
      job.done(std::unexpected(rpc::RpcError{rpc::kInternalError,
                                             "the worker of " + device_.name + " does not start: " +
                                                 why + ". Run `warpwright-runner doctor`",
                                             {}}));
    return;
  }
  if (!running_)
    return pump();
  if (ended_ == Ended::Cancelled) {
    std::exchange(running_, std::nullopt)->done(std::unexpected(cancelled()));
    return pump();
  }
  model::Verdict verdict;
  if (ended_ == Ended::TimedOut) {
    verdict =
        lost_verdict("did not end within " + std::to_string(running_->options.timeout.count()) + " ms");
    verdict.outcome = side_ == "reference" ? model::Outcome::Unsupported : model::Outcome::Timeout;
  } else {
    std::string how = "ended the worker process, " + describe_exit(status);
    if (!reason.empty())
      how = "the worker's output was no protocol: " + reason;
    if (!error_tail_.empty())
      how += "; its last words: " + last_line(error_tail_);
    verdict = lost_verdict(how);
    verdict.outcome = side_ == "candidate" ? model::Outcome::Crash : model::Outcome::Unsupported;
    if (side_.empty() && !reason.empty())
      verdict.outcome = model::Outcome::Crash;
  }
  const QueuedJob job = std::move(*std::exchange(running_, std::nullopt));
  job.done(model::to_json(verdict));
  pump();
}

model::Verdict DeviceWorker::lost_verdict(const std::string &how) const {
  model::Verdict verdict;
  verdict.message =
      (side_.empty() ? "the runner" : "the " + side_) + ": " + how + ", while " + activity_;
  verdict.device = device_;
  verdict.date = utc_now();
  verdict.task_hash = running_->task_hash;
  verdict.plan_hash = running_->plan_hash;
  verdict.checks.push_back({"runs", false, verdict.message});
  return verdict;
}

void DeviceWorker::read_errors() {
  errors_->async_read_some(
      boost::asio::buffer(error_block_), [weak = weak_from_this(), generation = generation_](
                                             boost::system::error_code error, std::size_t size) {
        const auto self = weak.lock();
        if (error || !self || self->generation_ != generation)
          return;
        const std::string text(self->error_block_.data(), size);
        std::cerr << text;
        self->error_tail_ += text;
        if (self->error_tail_.size() > kErrorTailBytes)
          self->error_tail_.erase(0, self->error_tail_.size() - kErrorTailBytes);
        self->read_errors();
      });
}

} // namespace warpwright::runner
