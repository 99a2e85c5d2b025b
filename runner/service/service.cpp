// Admission of clients, decoding of requests, and disconnection of clients.
#include "runner/service/service.h"
#include "runner/service/code_hash.h"
#include "support/hash.h"
#include "support/log.h"
#include "support/model/json.h"
#include "support/version.h"

namespace warpwright::runner {

using rpc::Json;

namespace {

/// Maximum size of a message before authentication; a token fits.
constexpr std::size_t kFirstMessageBytes = 4 * 1024;
constexpr std::size_t kMostModules = 64; ///< of one request to trace

rpc::Outcome refusal(int code, std::string message) {
  return std::unexpected(rpc::RpcError{code, std::move(message), {}});
}

/// Decodes and re-encodes a request, so that workers only see what the schemas allow.
Result<QueuedJob> decode_job(const Json &params, const ServiceLimits &limits) {
  if (!params.is_object() || !params.contains("task") || !params.contains("plan"))
    return fail("verify needs {task, plan, options}");
  auto task = TRY(model::task_from_json(params["task"]));
  auto plan = TRY(model::plan_from_json(params["plan"]));
  auto options = TRY(model::verify_options_from_json(params.value("options", Json::object())));
  if (const std::string why = why_not_taken(limits.permissions, task, plan); !why.empty())
    return fail(why, "Ask its operator, or another runner");
  options.timeout = std::min(options.timeout, limits.max_job_time);
  QueuedJob job;
  job.task_hash = model::hash(task);
  job.code_hash = code_hash(task);
  job.plan_hash = model::hash(plan);
  job.options = options;
  job.request = {{"task", model::to_json(task)},
                 {"plan", model::to_json(plan)},
                 {"options", model::to_json(options)}};
  return job;
}

/// Owner of jobs from clients without a token. These names contain a blank, which no token's name
/// does.
std::string owner_without_token(Arrival::Kind kind) {
  return kind == Arrival::Kind::Local   ? "a local user"
         : kind == Arrival::Kind::Fleet ? "the fleet"
                                        : "the parent process";
}

/// A text member of a notification; empty if absent.
std::string text_of(const Json &params, const char *member) {
  const auto found = params.is_object() ? params.find(member) : params.end();
  return found != params.end() && found->is_string() ? found->get<std::string>() : "";
}

} // namespace

struct Service::Client {
  Client(boost::asio::any_io_executor executor, Arrival arrival)
      : arrival(std::move(arrival)), deadline(executor) {}

  bool lingers() const {
    return arrival.kind == Arrival::Kind::Local || arrival.kind == Arrival::Kind::Remote;
  }
  /// Whether the client is on another machine, or may be.
  bool is_remote() const {
    return arrival.kind == Arrival::Kind::Remote || arrival.kind == Arrival::Kind::Fleet;
  }

  Arrival arrival;
  boost::asio::steady_timer deadline; ///< for authentication; delay of the answer to a wrong token
  std::shared_ptr<rpc::Connection> connection; ///< null once the connection has ended
  std::string owner, name; ///< owner of the client's jobs; unique name of this client
  std::string token_hash;  ///< SHA-256 of the client's token; empty: none was needed
  bool admitted = false, refused = false;
  std::size_t traces = 0; ///< outstanding requests
  /// Outstanding; the key is the request's id as JSON text.
  std::map<std::string, JobTable::Ticket> requests;
  std::unique_ptr<net::Keepalive> keepalive;
};

Service::Service(boost::asio::any_io_executor executor, JobRunner &runner, ServiceLimits limits,
                 net::TokenList tokens)
    : executor_(executor), runner_(runner), limits_(limits), tokens_(std::move(tokens)),
      jobs_(executor, runner, limits.jobs) {}

void Service::add_client(std::unique_ptr<rpc::Stream> stream, Arrival arrival,
                         std::function<void()> on_end) {
  const auto client = std::make_shared<Client>(executor_, std::move(arrival));
  client->name = std::to_string(++arrivals_);
  client->connection =
      rpc::Connection::make(std::move(stream), handlers_for(client, std::move(on_end)));
  if (client->arrival.kind == Arrival::Kind::Remote)
    await_authentication(client);
  else
    admit(client, owner_without_token(client->arrival.kind));
  client->connection->start();
}

rpc::Connection::Handlers Service::handlers_for(const ClientPtr &client,
                                                std::function<void()> on_end) {
  rpc::Connection::Handlers handlers;
  handlers.on_request = [this, client](const std::string &method, const Json &params,
                                       const Json &id, const rpc::Responder &respond) {
    client->admitted ? on_request(client, method, params, id, respond)
                     : authenticate(client, method, params, respond);
  };
  handlers.on_notification = [this, client](const std::string &method, const Json &params) {
    client->admitted ? on_notification(client, method, params) : client->connection->close();
  };
  handlers.on_closed = [this, client, on_end = std::move(on_end)](const std::string &reason) {
    on_closed(client, reason);
    on_end();
  };
  return handlers;
}

void Service::await_authentication(const ClientPtr &client) {
  client->connection->set_limits({kFirstMessageBytes, 2 * kFirstMessageBytes, /*strict=*/true});
  client->deadline.expires_after(limits_.authentication_limit);
  client->deadline.async_wait([client](boost::system::error_code error) {
    if (!error && client->connection && !client->admitted && !client->refused)
      client->connection->abort("it did not authenticate in time");
  });
}

void Service::authenticate(const ClientPtr &client, const std::string &method, const Json &params,
                           const rpc::Responder &respond) {
  if (client->refused)
    return client->connection->close();
  const auto owner = net::check_authentication(tokens_, method, params);
  if (!owner)
    return refuse(client, describe(owner.error()), respond);
  if (admitted_ >= limits_.max_clients)
    return refuse(client,
                  "this runner serves its " + std::to_string(admitted_) +
                      " clients already. Try again later",
                  respond);
  admit(client, *owner);
  client->token_hash = sha256_hex(params["token"].get<std::string>());
  authenticated_[client->name] = client;
  log::info("client authenticated", {{"peer", client->arrival.peer}, {"owner", *owner}});
  respond(Json{{"version", version()}, {"protocol", net::kProtocolVersion}});
}

void Service::use_tokens(net::TokenList tokens) {
  tokens_ = std::move(tokens);
  const auto known = authenticated_; // a copy, because on_closed erases entries
  for (const auto &[name, weak] : known) {
    const ClientPtr client = weak.lock();
    if (!client || !client->connection || tokens_.owner_of_hash(client->token_hash) == client->owner)
      continue;
    client->connection->abort("its token was withdrawn");
    if (!tokens_.has_owner(client->owner))
      jobs_.cancel_all_of(client->owner);
  }
}

void Service::admit(const ClientPtr &client, const std::string &owner) {
  client->owner = owner;
  client->admitted = true;
  client->deadline.cancel();
  client->arrival.slot.reset();
  if (!client->lingers())
    return;
  ++admitted_;
  if (observer_)
    observer_->clients_changed(admitted_);
  client->connection->set_limits({limits_.max_message_bytes, limits_.max_unsent_bytes, false});
  client->keepalive =
      std::make_unique<net::Keepalive>(executor_, client->connection, limits_.keepalive);
}

void Service::refuse(const ClientPtr &client, const std::string &reason,
                     const rpc::Responder &respond) {
  client->refused = true;
  client->deadline.expires_after(limits_.refusal_delay);
  client->deadline.async_wait([client, reason, respond](boost::system::error_code error) {
    if (error || !client->connection)
      return;
    log::warning("client refused", {{"peer", client->arrival.peer}, {"reason", reason}});
    respond(refusal(rpc::kInvalidRequest, reason));
    client->connection->close();
  });
}

void Service::on_closed(const ClientPtr &client, const std::string &reason) {
  client->deadline.cancel();
  client->keepalive.reset();
  client->arrival.slot.reset();
  client->connection.reset();
  authenticated_.erase(client->name);
  if (client->admitted && client->lingers()) {
    --admitted_;
    if (observer_)
      observer_->clients_changed(admitted_);
  }
  if (!reason.empty() && client->lingers())
    log::warning("client lost", {{"peer", client->arrival.peer}, {"reason", reason}});
  for (const auto &[id, ticket] : std::exchange(client->requests, {}))
    jobs_.leave(ticket, client->lingers());
}

void Service::on_request(const ClientPtr &client, const std::string &method, const Json &params,
                         const Json &id, const rpc::Responder &respond) {
  if (method == "verify")
    return verify(client, params, id, respond);
  if (method == "info")
    return respond(info(client));
  if (method == "trace")
    return trace(client, params, respond);
  if (method == "isolation")
    return respond(Json{{"devices", runner_.isolation()}});
  if (method == "ping")
    return respond(Json::object());
  respond(refusal(rpc::kMethodNotFound, "the runner does not know the method " + method +
                                            "; it knows info, verify, trace, isolation and ping"));
}

void Service::on_notification(const ClientPtr &client, const std::string &method,
                              const Json &params) {
  if (method == "cancel")
    return jobs_.cancel(client->owner, text_of(params, "job"));
  if (method == "received")
    return jobs_.received(client->owner, text_of(params, "job"));
  if (method != "$/cancelRequest" || !params.is_object() || !params.contains("id"))
    return;
  if (const auto found = client->requests.find(params["id"].dump());
      found != client->requests.end())
    jobs_.cancel(found->second);
}

Json Service::info(const ClientPtr &client) const {
  Json info = runner_.describe();
  info["off"] = switched_off(limits_.permissions, client->is_remote());
  info["version"] = version();
  return info;
}

void Service::trace(const ClientPtr &client, const Json &params, const rpc::Responder &respond) {
  if (client->traces >= limits_.max_jobs_of_client)
    return respond(refusal(rpc::kInternalError, "this client has " +
                                                    std::to_string(client->traces) +
                                                    " modules here already. Wait for one of them"));
  if (const std::string why = why_no_tracing(limits_.permissions); !why.empty())
    return respond(refusal(rpc::kInvalidRequest, why));
  const Json wanted = params.is_object() ? params.value("modules", Json::array()) : Json::array();
  if (!wanted.is_array() || wanted.empty() || wanted.size() > kMostModules)
    return respond(
        refusal(rpc::kInvalidParams,
                "modules is a list of 1 to " + std::to_string(kMostModules) + " torch modules"));
  Json modules = Json::array();
  for (const Json &one : wanted) {
    const auto module = model::torch_module_from_json(one);
    if (!module)
      return respond(refusal(rpc::kInvalidParams, describe(module.error())));
    modules.push_back(model::to_json(*module));
  }
  ++client->traces;
  runner_.trace(modules, [client, respond](rpc::Outcome outcome) {
    --client->traces;
    if (client->connection)
      respond(std::move(outcome));
  });
}

void Service::verify(const ClientPtr &client, const Json &params, const Json &id,
                     const rpc::Responder &respond) {
  if (client->requests.size() >= limits_.max_jobs_of_client)
    return respond(refusal(rpc::kInternalError, "this client has " +
                                                    std::to_string(client->requests.size()) +
                                                    " jobs here already. Wait for one of them"));
  auto job = decode_job(params, limits_);
  if (!job)
    return respond(refusal(rpc::kInvalidParams, describe(job.error())));
  job->client = client->name;
  job->owner = client->owner;
  job->no_tools = why_no_tools(limits_.permissions, client->is_remote());
  const std::string request = id.dump();
  if (!client->requests.try_emplace(request).second)
    return respond(refusal(rpc::kInvalidRequest, "the id " + request + " is in use"));
  JobListener listener;
  listener.on_stage = [client, id](const std::string &stage, const std::string &activity) {
    if (client->connection)
      client->connection->notify("stage", {{"id", id}, {"stage", stage}, {"activity", activity}});
  };
  listener.done = [client, request, respond](rpc::Outcome outcome) {
    client->requests.erase(request);
    respond(std::move(outcome));
  };
  const auto ticket = jobs_.take(client->owner, std::move(*job), std::move(listener));
  if (!ticket) {
    client->requests.erase(request);
    return respond(std::unexpected(ticket.error()));
  }
  // The job may have been answered already.
  if (const auto found = client->requests.find(request); found != client->requests.end())
    found->second = *ticket;
}

} // namespace warpwright::runner
