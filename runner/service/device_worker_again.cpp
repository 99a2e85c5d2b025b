// Continuation of a job after its first verdict or without one: measured again in a fresh worker,
// run again alone or without hidden sizes, or examined by NVIDIA's tools.
#include "runner/service/device_worker.h"
#include "runner/service/second_measurement.h"
#include "support/log.h"
#include "support/model/json.h"
#include "support/words.h"

namespace warpwright::runner {
namespace {

using rpc::Json;

/// A speedup above this multiple of the best known speedup of the task is measured again.
constexpr double kSurprise = 2;

} // namespace

void DeviceWorker::finish(model::Verdict verdict) {
  if (const std::string others = others_since(measuring_since_);
      !others.empty() && (verdict.speedup || verdict.as_called)) {
    if (!settings_.measures_beside_others)
      return answer(model::to_json(not_measured(others)));
    running_->notes.push_back({kAloneCheck, false, "measured beside " + others + ", as it was allowed"});
  }
  if (measures_again(verdict)) {
    running_->on_stage("measuring", "measuring again in a fresh worker");
    running_->first = std::move(verdict);
    running_->request["options"]["baselines"] = Json::array(); // known from the first measurement
    waiting_ = std::move(*std::exchange(running_, std::nullopt));
    end_process(Ended::ByItself);
    return pump();
  }
  if (running_->first)
    verdict = compared(*running_->first, std::move(verdict));
  verdict.checks.insert(verdict.checks.end(), running_->notes.begin(), running_->notes.end());
  answer(model::to_json(verdict));
}

std::string DeviceWorker::others_since(Neighbours::Clock::time_point since) const {
  return settings_.neighbours ? settings_.neighbours->after(name(), since) : "";
}

model::Verdict DeviceWorker::not_measured(const std::string &others) const {
  model::Verdict verdict;
  verdict.outcome = model::Outcome::Unsupported;
  verdict.message = "not measured, since others compute on " + name() + ": " + others +
                    ". Let them end, name another device, or start the runner with --allow-busy-gpu";
  verdict.checks.push_back({kAloneCheck, false, others});
  stamp(verdict);
  return verdict;
}

void DeviceWorker::stamp(model::Verdict &verdict) const {
  verdict.device = device_;
  verdict.date = utc_now();
  verdict.task_hash = running_->task_hash;
  verdict.plan_hash = running_->plan_hash;
  verdict.checks.insert(verdict.checks.end(), running_->notes.begin(), running_->notes.end());
}

bool DeviceWorker::measures_again(const model::Verdict &verdict) {
  if (verdict.outcome != model::Outcome::Verified || !verdict.speedup || running_->first ||
      !running_->options.confirm_large)
    return false;
  const auto &confirmed = running_->options.confirmed_speedup;
  if (confirmed && verdict.speedup->ratio <= model::kAsConfirmed * *confirmed)
    return false;
  const auto &known = running_->options.best_known_speedup;
  return verdict.speedup->ratio > settings_.large_speedup ||
         (known && verdict.speedup->ratio > kSurprise * *known);
}

bool DeviceWorker::examine(rpc::Outcome &outcome) {
  if (stopped_ || !outcome || std::exchange(running_->examined, true) || wants_python(*running_))
    return false; // tools use plain launches, without torch
  auto job = deep::examiner_job(running_->request, running_->options, name(), running_->no_tools, *outcome);
  if (!job)
    return false;
  end_process(Ended::ByItself);
  job->on_activity = [on_stage = running_->on_stage](const std::string &activity) {
    on_stage("examining", activity);
  };
  job->done = [weak = weak_from_this()](const model::Verdict &verdict) {
    if (const auto self = weak.lock())
      self->on_examined(verdict);
  };
  examiner_ = std::make_shared<deep::Examiner>(executor_, std::move(*job));
  settings_.turn->ask(this, false, [this] { examiner_->start(); });
  return true;
}

void DeviceWorker::on_examined(const model::Verdict &verdict) {
  // Keeps the examiner alive during its callback.
  const auto keep = std::exchange(examiner_, nullptr);
  settings_.turn->leave(this);
  if (ended_ == Ended::Cancelled)
    answer(std::unexpected(job_cancelled()));
  else
    answer(model::to_json(verdict));
}

void DeviceWorker::run_alone() {
  log::info("job runs again alone", {{"job", running_->id}, {"device", name()}});
  running_->alone = true;
  large_task_ = running_->task_hash;
  running_->on_stage("queued", "waiting for the device's memory");
  waiting_ = std::move(*std::exchange(running_, std::nullopt));
  pump();
}

void DeviceWorker::run_again(bool with_hidden_sizes, const std::string &why) {
  log::warning(
      "job runs again",
      {{"job", running_->id}, {"client", running_->client}, {"device", name()}, {"reason", why}});
  running_->ran_again = true;
  running_->notes.push_back({"ran again", true, why});
  if (!with_hidden_sizes) {
    running_->options.hidden_sizes = false;
    running_->request["options"]["hidden_sizes"] = false;
  }
  running_->on_stage("queued", "running again: " + why);
  waiting_ = std::move(*std::exchange(running_, std::nullopt));
  pump();
}

} // namespace warpwright::runner
