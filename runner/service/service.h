// The runner as a JSON-RPC service for any number of clients, on stdio, unix sockets and TLS.
//
// Methods:
//   `info` -> {version, devices, names, notes, isolation, off}; `off` lists what the operator
//     switched off for this client.
//   `verify` {task, plan, options} -> verdict; while it runs, notifications `stage` {id, stage,
//     activity}, with the request's id.
//   `trace` {module} -> {graph, buffers, torch}, or {refusal}: why a torch module has no op graph.
//   `isolation` -> {devices: [{device, layers: [{name, active, detail}]}]}.
//   `ping` -> {}.
// Notifications:
//   `$/cancelRequest` {id} and `cancel` {job} end a job.
//   `received` {job} says that the verdict of that key arrived.
//
// A remote client must start with `authenticate` {token, version}. Before that, it may send only
// small messages, for a few seconds, with one try. job_table.h describes what happens to jobs when
// a client's connection is lost. Thread: one strand.
#pragma once

#include "runner/net/keepalive.h"
#include "runner/net/tls.h"
#include "runner/net/token.h"
#include "runner/service/job_table.h"
#include "runner/service/permissions.h"

namespace warpwright::runner {

struct ServiceLimits {
  JobTableLimits jobs;
  std::size_t max_message_bytes = 16u << 20;
  std::size_t max_unsent_bytes = 64u << 20; ///< for a client that does not read
  std::size_t max_clients = 512;            ///< admitted local and remote clients
  std::size_t max_jobs_of_client = 256;     ///< outstanding jobs
  std::chrono::milliseconds max_job_time{3'600'000};
  std::chrono::milliseconds authentication_limit{5'000};
  std::chrono::milliseconds refusal_delay{1'000}; ///< before a wrong token is answered
  net::KeepaliveTimes keepalive;
  Permissions permissions;
};

/// How a client arrived, which decides whether it must authenticate.
struct Arrival {
  enum class Kind {
    Child,  ///< stdio: the client started this process, and its jobs end with it
    Local,  ///< a unix socket: any client that may open it is trusted
    Fleet,  ///< jobs from a broker: any user of the broker may have sent them
    Remote, ///< must authenticate
  };
  Kind kind = Kind::Child;
  std::string peer; ///< for the log: "10.0.0.7:51234"
  net::AdmissionSlot slot = nullptr;
};

class Service {
public:
  /// @param tokens for Remote arrivals, which are all refused without tokens
  Service(boost::asio::any_io_executor executor, JobRunner &jobs, ServiceLimits limits = {},
          net::TokenList tokens = {});
  /// Reports the number of connected clients to `observer`, which must outlive this object.
  void watch(Observer &observer) { observer_ = &observer; }
  /// Serves one client until its stream ends.
  /// @param on_end called once, at the end of the stream
  void add_client(
      std::unique_ptr<rpc::Stream> stream, Arrival arrival, std::function<void()> on_end = [] {});
  /// Replaces the tokens. Clients whose token is gone are disconnected, and the jobs of owners
  /// without a token end.
  void use_tokens(net::TokenList tokens);
  std::size_t clients() const { return admitted_; }
  const JobTable &jobs() const { return jobs_; }

private:
  struct Client;
  using ClientPtr = std::shared_ptr<Client>;

  rpc::Connection::Handlers handlers_for(const ClientPtr &client, std::function<void()> on_end);
  void await_authentication(const ClientPtr &client);
  void authenticate(const ClientPtr &client, const std::string &method, const rpc::Json &params,
                    const rpc::Responder &respond);
  void admit(const ClientPtr &client, const std::string &owner);
  void refuse(const ClientPtr &client, const std::string &reason, const rpc::Responder &respond);
  void on_closed(const ClientPtr &client, const std::string &reason);

  void on_request(const ClientPtr &client, const std::string &method, const rpc::Json &params,
                  const rpc::Json &id, const rpc::Responder &respond);
  void on_notification(const ClientPtr &client, const std::string &method, const rpc::Json &params);
  rpc::Json info(const ClientPtr &client) const;
  void trace(const ClientPtr &client, const rpc::Json &params, const rpc::Responder &respond);
  void verify(const ClientPtr &client, const rpc::Json &params, const rpc::Json &id,
              const rpc::Responder &respond);

  boost::asio::any_io_executor executor_;
  JobRunner &runner_;
  ServiceLimits limits_;
  net::TokenList tokens_;
  JobTable jobs_;
  std::size_t admitted_ = 0;
  Observer *observer_ = nullptr;
  std::uint64_t arrivals_ = 0;
  /// Authenticated with a token; by name.
  std::map<std::string, std::weak_ptr<Client>> authenticated_;
};

} // namespace warpwright::runner
