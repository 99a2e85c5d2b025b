// State of a job: unfinished, then either erased or, when it has a key and an outcome, stored.
#include "runner/service/job_table.h"

namespace warpwright::runner {
namespace {

std::unexpected<rpc::RpcError> refuse(int code, std::string message) {
  return std::unexpected(rpc::RpcError{code, std::move(message), {}});
}

std::size_t size_of(const rpc::Json &document) {
  return document.dump(-1, ' ', false, rpc::Json::error_handler_t::replace).size();
}

} // namespace

JobTable::JobTable(boost::asio::any_io_executor executor, JobRunner &runner, JobTableLimits limits)
    : runner_(runner), limits_(limits), quotas_(limits.of_owner), timer_(executor) {}

JobTable::~JobTable() = default;

std::expected<JobTable::Ticket, rpc::RpcError>
JobTable::take(const std::string &owner, QueuedJob queued, JobListener listener) {
  const Key key{owner, queued.options.job};
  if (const auto known = keys_.find(key); known != keys_.end())
    return attach(jobs_.find(known->second), queued, std::move(listener));
  const std::size_t size_bytes = size_of(queued.request);
  if (const auto full = no_room(owner, size_bytes))
    return std::unexpected(*full);
  const Ticket ticket{next_job_++, next_listener_++};
  Job &job = jobs_[ticket.job];
  job.key = key;
  job.task_hash = queued.task_hash;
  job.plan_hash = queued.plan_hash;
  job.size_bytes = size_bytes;
  job.listeners[ticket.listener] = std::move(listener);
  if (job.is_keyed())
    keys_[key] = ticket.job;
  ++unfinished_;
  unfinished_bytes_ += size_bytes;
  quotas_.begin(owner, size_bytes);
  queued.id = ticket.job;
  queued.on_stage = [this, alive = std::weak_ptr(alive_),
                     id = ticket.job](const std::string &stage, const std::string &activity) {
    if (!alive.expired())
      on_stage(id, stage, activity);
  };
  queued.done = [this, alive = std::weak_ptr(alive_), id = ticket.job](rpc::Outcome outcome) {
    if (!alive.expired())
      on_done(id, std::move(outcome));
  };
  queued.used_device = [this, alive = std::weak_ptr(alive_), owner](double seconds) {
    if (!alive.expired())
      quotas_.use_device(owner, seconds, Clock::now());
  };
  if (auto taken = runner_.submit(std::move(queued)); !taken) {
    if (const auto found = jobs_.find(ticket.job); found != jobs_.end())
      erase(found);
    return refuse(rpc::kInvalidParams, describe(taken.error()));
  }
  return ticket;
}

std::expected<JobTable::Ticket, rpc::RpcError>
JobTable::attach(Jobs::iterator found, const QueuedJob &queued, JobListener listener) {
  Job &job = found->second;
  if (job.task_hash != queued.task_hash || job.plan_hash != queued.plan_hash)
    return refuse(rpc::kInvalidParams, "the job key " + queued.options.job +
                                           " was used for another task or plan. Use a new key");
  const Ticket ticket{found->first, next_listener_++};
  if (job.outcome) {
    listener.done(*job.outcome);
    return ticket;
  }
  job.expires.reset();
  if (!job.stage.empty())
    listener.on_stage(job.stage, job.activity);
  job.listeners[ticket.listener] = std::move(listener);
  return ticket;
}

std::optional<rpc::RpcError> JobTable::no_room(const std::string &owner,
                                               std::size_t size_bytes) const {
  if (const std::string why = quotas_.why_not(owner, size_bytes, Clock::now()); !why.empty())
    return rpc::RpcError{rpc::kInternalError, why, {}};
  if (unfinished_ >= limits_.max_unfinished)
    return rpc::RpcError{rpc::kInternalError,
                         "the queue is full: " + std::to_string(unfinished_) +
                             " jobs wait or run. Try again later",
                         {}};
  if (unfinished_bytes_ + size_bytes > limits_.max_unfinished_bytes)
    return rpc::RpcError{rpc::kInternalError,
                         "the queue is full: the jobs in it hold " +
                             std::to_string(unfinished_bytes_) + " bytes. Try again later",
                         {}};
  return std::nullopt;
}

void JobTable::cancel(Ticket ticket) {
  if (const auto found = jobs_.find(ticket.job); found != jobs_.end() && !found->second.outcome)
    runner_.cancel(ticket.job);
}

void JobTable::cancel(const std::string &owner, const std::string &key) {
  const auto known = keys_.find({owner, key});
  if (known == keys_.end())
    return;
  const auto found = jobs_.find(known->second);
  found->second.outcome ? erase(found) : runner_.cancel(found->first);
}

void JobTable::cancel_all_of(const std::string &owner) {
  std::vector<std::int64_t> ids;
  for (const auto &[id, job] : jobs_)
    if (job.key.first == owner)
      ids.push_back(id);
  for (const std::int64_t id : ids)
    if (const auto found = jobs_.find(id); found != jobs_.end())
      found->second.outcome ? erase(found) : runner_.cancel(id);
}

void JobTable::received(const std::string &owner, const std::string &key) {
  const auto known = keys_.find({owner, key});
  if (known == keys_.end())
    return;
  if (const auto found = jobs_.find(known->second); found->second.outcome)
    erase(found);
}

void JobTable::leave(Ticket ticket, bool lingers) {
  const auto found = jobs_.find(ticket.job);
  if (found == jobs_.end())
    return;
  Job &job = found->second;
  job.listeners.erase(ticket.listener);
  if (!job.listeners.empty() || job.outcome)
    return;
  if (lingers && job.is_keyed())
    expire_at(job, Clock::now() + limits_.linger);
  else
    runner_.cancel(ticket.job);
}

void JobTable::on_stage(std::int64_t id, const std::string &stage, const std::string &activity) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end())
    return;
  found->second.stage = stage;
  found->second.activity = activity;
  // A copy, because a listener may leave or end the job during its callback.
  const auto listeners = found->second.listeners;
  for (const auto &[ticket, listener] : listeners)
    listener.on_stage(stage, activity);
}

void JobTable::on_done(std::int64_t id, rpc::Outcome outcome) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end())
    return;
  const auto listeners = std::exchange(found->second.listeners, {});
  if (found->second.is_keyed() && outcome)
    store(id, found->second, outcome);
  else
    erase(found);
  for (const auto &[ticket, listener] : listeners)
    listener.done(outcome);
}

void JobTable::store(std::int64_t id, Job &job, const rpc::Outcome &outcome) {
  count_out(job);
  job.outcome = outcome;
  job.size_bytes = size_of(*outcome);
  stored_bytes_ += job.size_bytes;
  expire_at(job, Clock::now() + limits_.linger);
  for (auto oldest = jobs_.begin();
       oldest != jobs_.end() && stored_bytes_ > limits_.max_stored_bytes;) {
    const auto next = std::next(oldest);
    if (oldest->second.outcome && oldest->first != id)
      erase(oldest);
    oldest = next;
  }
}

void JobTable::count_out(const Job &job) {
  --unfinished_;
  unfinished_bytes_ -= job.size_bytes;
  quotas_.end(job.key.first, job.size_bytes, Clock::now());
}

void JobTable::erase(Jobs::iterator found) {
  const Job &job = found->second;
  if (job.outcome) {
    stored_bytes_ -= job.size_bytes;
  } else {
    count_out(job);
  }
  if (job.is_keyed())
    keys_.erase(job.key);
  jobs_.erase(found);
}

void JobTable::expire_at(Job &job, Clock::time_point time) {
  job.expires = time;
  if (timer_.expiry() <= Clock::now() || time < timer_.expiry())
    arm();
}

void JobTable::arm() {
  std::optional<Clock::time_point> first;
  for (const auto &[id, job] : jobs_)
    if (job.expires && (!first || *job.expires < *first))
      first = job.expires;
  if (!first)
    return;
  timer_.expires_at(*first);
  timer_.async_wait([this, alive = std::weak_ptr(alive_)](boost::system::error_code error) {
    if (!error && !alive.expired())
      sweep();
  });
}

void JobTable::sweep() {
  std::vector<std::int64_t> expired;
  for (const auto &[id, job] : jobs_)
    if (job.expires && *job.expires <= Clock::now())
      expired.push_back(id);
  for (const std::int64_t id : expired) {
    const auto found = jobs_.find(id);
    if (found == jobs_.end())
      continue;
    found->second.expires.reset();
    found->second.outcome ? erase(found) : runner_.cancel(id);
  }
  arm();
}

} // namespace warpwright::runner
