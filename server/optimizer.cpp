// Implementation of the optimizer. The strand keeps the jobs; one thread runs them and posts
// results.
#include "server/optimizer.h"

namespace warpwright::server {

struct Optimizer::Worker {
  Connect connect;
  std::string url;
  std::unique_ptr<runner::BlockingClient> client;

  Result<runner::BlockingClient *> get(const std::string &wanted) {
    if (client && url == wanted)
      return client.get();
    client.reset();
    auto connected = connect(wanted);
    if (!connected)
      return std::unexpected(connected.error());
    url = wanted;
    client = std::move(*connected);
    return client.get();
  }
};

Optimizer::Optimizer(boost::asio::any_io_executor strand, Connect connect, Run run, Events events)
    : strand_(std::move(strand)), run_(std::move(run)), events_(std::move(events)),
      worker_(std::make_shared<Worker>()) {
  worker_->connect = std::move(connect);
}

template <class Work>
void Optimizer::post(Work work) {
  boost::asio::post(strand_, [work = std::move(work), alive = std::weak_ptr(alive_)]() mutable {
    if (!alive.expired())
      work();
  });
}

void Optimizer::request_info(const std::string &url) {
  pool_.post([this, url, worker = worker_] {
    const auto client = worker->get(url);
    const Result<runner::RunnerInfo> info =
        client ? (*client)->info() : std::unexpected(client.error());
    if (client && !info)
      worker->client.reset(); // the next request connects again
    post([this, url, info] { events_.on_info(url, info); });
  });
}

Result<runner::BlockingClient *> Optimizer::get_announced(const std::string &url) {
  const runner::BlockingClient *before = worker_->client.get();
  const auto client = worker_->get(url);
  if (client && *client == before)
    return client;
  const Result<runner::RunnerInfo> info =
      client ? (*client)->info() : std::unexpected(client.error());
  post([this, url, info] { events_.on_info(url, info); });
  return client;
}

Result<void> Optimizer::start(OptimizeRequest request, Done done) {
  const Key key{request.snapshot->facts.path, request.kernel};
  if (jobs_.contains(key))
    return fail("'" + request.kernel + "' is being optimized already", "wait, or cancel it");
  Job &job = jobs_[key];
  job.status = {.queued = true,
                .max_variants = static_cast<std::size_t>(request.settings.max_variants)};
  job.done = std::move(done);
  pool_.post([this, request = std::move(request), key, stop = job.stop.get_token()] {
    run_job(request, key, stop);
  });
  events_.on_status(key.first, key.second);
  return {};
}

void Optimizer::run_job(const OptimizeRequest &request, const Key &key, std::stop_token stop) {
  Result<OptimizeSummary> result = OptimizeSummary{};
  try {
    if (!stop.stop_requested()) {
      post([this, key] {
        if (const auto job = jobs_.find(key); job != jobs_.end())
          job->second.status.queued = false;
        events_.on_status(key.first, key.second);
      });
      const auto client = get_announced(request.settings.runner);
      result =
          client ? run_(request, **client, events_for(key), stop) : std::unexpected(client.error());
    }
  } catch (const std::exception &error) {
    result = fail("optimizing '" + request.kernel + "' failed: " + error.what());
  }
  if (!result)
    worker_->client.reset(); // the next optimization connects again
  post([this, key, result = std::move(result)] { finish(key, result); });
}

OptimizeEvents Optimizer::events_for(const Key &key) {
  OptimizeEvents events;
  events.on_entry = [this, key](runner::LedgerEntry entry) {
    post([this, key, entry = std::move(entry)]() mutable {
      runner_lost_ = false;
      if (const auto job = jobs_.find(key); job != jobs_.end())
        ++job->second.status.tried;
      events_.on_entry(std::move(entry));
      events_.on_status(key.first, key.second);
    });
  };
  events.on_stage = [this, key](const std::string &stage) {
    post([this, key, stage] {
      const auto job = jobs_.find(key);
      if (job == jobs_.end() || std::exchange(job->second.status.stage, stage) == stage)
        return; // runners repeat the stage for each check
      events_.on_status(key.first, key.second);
    });
  };
  events.on_problem = [this, key](const ModuleProblem &problem) {
    post([this, key, problem] {
      if (events_.on_problem)
        events_.on_problem(key.first, key.second, problem);
    });
  };
  events.on_runner_error = [this](const Error &error) {
    post([this, error] {
      if (!std::exchange(runner_lost_, true))
        events_.on_runner_lost(describe(error));
    });
  };
  return events;
}

void Optimizer::finish(const Key &key, Result<OptimizeSummary> result) {
  const auto found = jobs_.find(key);
  if (found == jobs_.end())
    return;
  const Done done = std::move(found->second.done);
  jobs_.erase(found);
  if (done)
    done(std::move(result));
  events_.on_status(key.first, key.second);
}

bool Optimizer::cancel(const std::string &path, const std::string &kernel) {
  const auto found = jobs_.find({path, kernel});
  return found != jobs_.end() && found->second.stop.request_stop();
}

std::optional<JobStatus> Optimizer::status(const std::string &path,
                                           const std::string &kernel) const {
  const auto found = jobs_.find({path, kernel});
  return found == jobs_.end() ? std::nullopt : std::optional(found->second.status);
}

std::vector<std::pair<std::string, JobStatus>> Optimizer::jobs() const {
  std::vector<std::pair<std::string, JobStatus>> list;
  for (const auto &[key, job] : jobs_)
    list.emplace_back(key.second, job.status);
  return list;
}

void Optimizer::stop() {
  for (auto &[key, job] : jobs_)
    job.stop.request_stop();
}

} // namespace warpwright::server
