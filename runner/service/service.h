// The runner as a JSON-RPC service: any number of clients, one queue a device.
//
// Methods: `info` -> {version, devices, notes}; `verify` {task, plan, options {device, timeout_ms,
// measure_budget_ms, measure}} -> verdict. While a job runs its client gets `stage` {id, stage,
// activity}, id being that of its request. `$/cancelRequest` {id} ends a job; so does the end of
// the client's connection. Thread: one strand.
#pragma once

#include "runner/service/job_runner.h"

namespace warpwright::runner {

class Service {
public:
  Service(boost::asio::any_io_executor executor, JobRunner &jobs);
  /// Serves one client until its stream ends. @param on_end called once then
  void add_client(std::unique_ptr<rpc::Stream> stream, std::function<void()> on_end);

private:
  struct Client;

  void on_request(const std::shared_ptr<Client> &client, const std::string &method,
                  rpc::Json params, const rpc::Json &id, rpc::Responder respond);
  void on_notification(const std::shared_ptr<Client> &client, const std::string &method,
                       const rpc::Json &params);
  rpc::Json info() const;
  void verify(const std::shared_ptr<Client> &client, const rpc::Json &params, const rpc::Json &id,
              rpc::Responder respond);

  boost::asio::any_io_executor executor_;
  JobRunner &jobs_;
  std::int64_t next_job_ = 1;
};

} // namespace warpwright::runner
