// The runner as a JSON-RPC service: any number of clients, on stdio, unix sockets and TLS.
//
// Methods: `info` -> {version, devices, names, notes, isolation, off}, `off` being what the operator switched off for this
// client; `verify` {task, plan, options} -> verdict, and
// while it runs `stage` {id, stage, activity}, id being that of the request; `trace` {module} -> {graph, buffers,
// torch}, or {refusal}, why a torch module has no op graph; `ping` -> {}.
// Notifications: `$/cancelRequest` {id} and `cancel` {job} end a job; `received` {job} says that the
// verdict of that key arrived. A remote client starts with `authenticate` {token, version} and gets
// nothing else before: small messages, a few seconds, one try. What happens to the jobs of a client
// whose line is lost is job_table.h's. Thread: one strand.
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
  std::size_t max_clients = 512;            ///< admitted, without the child's
  std::size_t max_jobs_of_client = 256;     ///< outstanding
  std::chrono::milliseconds max_job_time{3'600'000};
  std::chrono::milliseconds authentication_limit{5'000};
  std::chrono::milliseconds refusal_delay{1'000}; ///< before a wrong token is answered
  net::KeepaliveTimes keepalive;
  Permissions permissions;
};

/// How a client came, and so what it must prove and what it may expect.
struct Arrival {
  enum class Kind {
    Child,  ///< stdio: the client started this process, and its jobs end with it
    Local,  ///< a unix socket: whoever may open it is trusted
    Fleet,  ///< the broker's jobs: whoever may use the broker sent them
    Remote, ///< must authenticate
  };
  Kind kind = Kind::Child;
  std::string peer; ///< for the log: "10.0.0.7:51234"
  net::AdmissionSlot slot = nullptr;
};

class Service {
public:
  /// @param tokens for Remote arrivals; without any, all of them are refused
  Service(boost::asio::any_io_executor executor, JobRunner &jobs, ServiceLimits limits = {},
          net::TokenList tokens = {});
  /// Tells `observer`, which outlives this, how many clients are connected.
  void watch(Observer &observer) { observer_ = &observer; }
  /// Serves one client until its stream ends. @param on_end called once then
  void add_client(
      std::unique_ptr<rpc::Stream> stream, Arrival arrival, std::function<void()> on_end = [] {});
  /// Other tokens from now on: clients whose token is not among them are lost, and the jobs of owners without one end.
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
  std::map<std::string, std::weak_ptr<Client>> authenticated_; ///< by name; those with a token
};

} // namespace warpwright::runner
