// Decoding of requests, the choice of the device, and what happens when clients leave.
#include "runner/service/service.h"
#include "support/model/json.h"

#include <map>

namespace warpwright::runner {

using rpc::Json;

namespace {

rpc::Outcome refuse(int code, std::string message) {
  return std::unexpected(rpc::RpcError{code, std::move(message), {}});
}

/// Decodes and re-encodes a request, so that workers only ever see what the schemas allow.
Result<QueuedJob> decode_job(const Json &params) {
  if (!params.is_object() || !params.contains("task") || !params.contains("plan"))
    return fail("verify needs {task, plan, options}");
  auto task = model::task_from_json(params["task"]);
  if (!task)
    return std::unexpected(task.error());
  auto plan = model::plan_from_json(params["plan"]);
  if (!plan)
    return std::unexpected(plan.error());
  auto options = model::verify_options_from_json(params.value("options", Json::object()));
  if (!options)
    return std::unexpected(options.error());
  QueuedJob job;
  job.task_hash = model::hash(*task);
  job.plan_hash = model::hash(*plan);
  job.options = *options;
  job.request = {{"task", model::to_json(*task)},
                 {"plan", model::to_json(*plan)},
                 {"options", model::to_json(*options)}};
  return job;
}

} // namespace

struct Service::Client {
  std::shared_ptr<rpc::Connection> connection;
  std::map<std::string, std::int64_t> jobs; ///< by the request's id, dumped
};

Service::Service(boost::asio::any_io_executor executor, JobRunner &jobs)
    : executor_(executor), jobs_(jobs) {}

void Service::add_client(std::unique_ptr<rpc::Stream> stream, std::function<void()> on_end) {
  auto client = std::make_shared<Client>();
  rpc::Connection::Handlers handlers;
  handlers.on_request = [this, client](const std::string &method, Json params, const Json &id,
                                       rpc::Responder respond) {
    on_request(client, method, std::move(params), id, std::move(respond));
  };
  handlers.on_notification = [this, client](const std::string &method, const Json &params) {
    on_notification(client, method, params);
  };
  handlers.on_closed = [this, client, on_end = std::move(on_end)](const std::string &) {
    for (const auto &[id, job] : std::exchange(client->jobs, {}))
      jobs_.cancel(job);
    client->connection.reset();
    on_end();
  };
  client->connection = rpc::Connection::make(std::move(stream), std::move(handlers));
  client->connection->start();
}

void Service::on_request(const std::shared_ptr<Client> &client, const std::string &method,
                         Json params, const Json &id, rpc::Responder respond) {
  if (method == "info")
    return respond(info());
  if (method == "verify")
    return verify(client, params, id, std::move(respond));
  respond(refuse(rpc::kMethodNotFound,
                 "the runner does not know the method " + method + "; it knows info and verify"));
}

void Service::on_notification(const std::shared_ptr<Client> &client, const std::string &method,
                              const Json &params) {
  if (method != "$/cancelRequest" || !params.is_object() || !params.contains("id"))
    return;
  if (const auto found = client->jobs.find(params["id"].dump()); found != client->jobs.end())
    jobs_.cancel(found->second);
}

Json Service::info() const {
  Json info = jobs_.describe();
  info["version"] = WARPWRIGHT_VERSION;
  return info;
}

void Service::verify(const std::shared_ptr<Client> &client, const Json &params, const Json &id,
                     rpc::Responder respond) {
  auto job = decode_job(params);
  if (!job)
    return respond(refuse(rpc::kInvalidParams, describe(job.error())));
  job->id = next_job_++;
  const std::string key = id.dump();
  client->jobs[key] = job->id;
  job->on_stage = [client, id](const std::string &stage, const std::string &activity) {
    if (client->connection)
      client->connection->notify("stage", {{"id", id}, {"stage", stage}, {"activity", activity}});
  };
  job->done = [client, key, respond](rpc::Outcome outcome) {
    client->jobs.erase(key);
    respond(std::move(outcome));
  };
  if (auto taken = jobs_.submit(std::move(*job)); !taken) {
    client->jobs.erase(key);
    respond(refuse(rpc::kInvalidParams, describe(taken.error())));
  }
}

} // namespace warpwright::runner
