// Client of one runner, over a link that is opened on demand and opened again after it was lost.
//
// If the runner outlives the link (unix sockets, TLS), every job has a unique key and is sent again
// with this key over the next link. The runner attaches it to the running job or answers with the
// stored verdict, so a job runs once and its callback is called once. If the runner is a child
// process, its jobs end with it.
// Thread: the executor's strand.
#pragma once

#include "runner/client/client.h"
#include "runner/client/link.h"
#include "runner/net/keepalive.h"

#include <boost/asio/steady_timer.hpp>
#include <map>
#include <set>

namespace warpwright::runner {

class RpcClient final : public Client, public std::enable_shared_from_this<RpcClient> {
public:
  RpcClient(Route route, boost::asio::any_io_executor executor);
  ~RpcClient() override;

  void open(std::function<void(Result<void>)> callback) override;
  void info(std::function<void(Result<RunnerInfo>)> callback) override;
  std::int64_t verify(const model::Task &task, const model::Plan &plan,
                      const VerifyOptions &options, StageCallback on_stage,
                      VerdictCallback callback) override;
  void cancel(std::int64_t id) override;
  void isolation(std::function<void(Result<std::vector<DeviceIsolation>>)> callback) override;
  void trace(const std::vector<model::TorchModule> &modules, TracesCallback callback) override;

private:
  using Clock = std::chrono::steady_clock;
  enum class State { Down, Waiting, Opening, Up };
  /// A request without an answer, with everything needed to send it again.
  struct Call {
    std::string method;
    rpc::Json params;
    std::string job; ///< key of the job; empty: not a job
    StageCallback on_stage;
    std::function<void(Result<rpc::Json>)> reply;
    std::int64_t request = 0; ///< id on the current link; 0: never sent
    bool cancelled = false;
  };

  std::int64_t call(Call call);
  void open_link();
  void on_opened(std::expected<Link, net::LinkFailure> link);
  rpc::Connection::Handlers handlers();
  void authenticate();
  void on_up();
  void send(std::int64_t id);
  void on_reply(std::int64_t id, const rpc::Outcome &outcome);
  void on_stage(const rpc::Json &params);
  void on_closed(const std::string &reason);
  void on_lost(const Error &error);
  void retry();
  void end_cancelled_calls();
  void fail_all(const Error &error);

  Route route_;
  boost::asio::any_io_executor executor_;
  boost::asio::steady_timer timer_; ///< until the next attempt
  State state_ = State::Down;
  std::optional<Process> process_;
  std::shared_ptr<rpc::Connection> connection_;
  std::unique_ptr<net::Keepalive> keepalive_;
  std::map<std::int64_t, Call> calls_;
  std::set<std::string> cancelled_; ///< keys of jobs whose cancel has not reached the runner
  std::vector<std::function<void(Result<void>)>> opening_;
  bool was_up_ = false;
  int attempts_ = 0; ///< since the last link that lasted
  Clock::time_point up_since_, lost_since_;
  std::int64_t next_id_ = 1;
};

} // namespace warpwright::runner
