// The client of one runner, over a link that is opened when it is needed and again after it broke.
//
// Where the runner outlives the link (unix sockets, TLS), every job carries a key of its own, and is
// sent again with it over the next link: the runner attaches it to the job that runs, or answers
// with the verdict it kept, so a job runs once and its callback is called once. Where the runner is
// a child, its end is the end of its jobs.
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
  void trace(const model::TorchModule &module,
             std::function<void(Result<TracedModule>)> callback) override;

private:
  using Clock = std::chrono::steady_clock;
  enum class State { Down, Waiting, Opening, Up };
  /// A request that is not answered yet, as it can be sent again.
  struct Call {
    std::string method;
    rpc::Json params;
    std::string job; ///< its key, when it is one
    StageCallback on_stage;
    std::function<void(Result<rpc::Json>)> reply;
    std::int64_t request = 0; ///< on the present link; 0: never sent
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
  int attempts_ = 0; ///< since it was last up for a while
  Clock::time_point up_since_, lost_since_;
  std::int64_t next_id_ = 1;
};

} // namespace warpwright::runner
