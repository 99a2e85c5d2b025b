// Examination process with two threads: the main one reads and writes JSON-RPC, the other runs the
// tools and blocks.
#include "runner/deep/examine_process.h"
#include "runner/deep/examination.h"
#include "support/model/json.h"
#include "support/rpc/connection.h"

#include <boost/asio/post.hpp>
#include <csignal>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

namespace warpwright::runner::deep {
namespace {

using rpc::Json;

Result<ExaminationRequest> decode(const Json &params, const std::string &launcher) {
  const auto record = TRY(model::record_from_json(params));
  auto verdict = TRY(model::verdict_from_json(params.value("verdict", Json())));
  return ExaminationRequest{
      record.task, record.plan, record.options, std::move(verdict), params.value("device", ""),
      launcher};
}

class ExamineProcess {
public:
  explicit ExamineProcess(std::string launcher) : launcher_(std::move(launcher)) {}

  int run(int protocol_in, int protocol_out) {
    rpc::Connection::Handlers handlers;
    handlers.on_request = [this](const std::string &method, Json params, const Json &,
                                 rpc::Responder respond) {
      on_request(method, params, std::move(respond));
    };
    handlers.on_closed = [this](const std::string &) { tools_.request_stop(); };
    connection_ = rpc::Connection::make(
        rpc::make_descriptor_stream(loop_.get_executor(), protocol_in, protocol_out),
        std::move(handlers));
    connection_->start();
    loop_.run(); // returns when the connection has closed and the tools have ended
    return 0;
  }

private:
  void on_request(const std::string &method, const Json &params, rpc::Responder respond) {
    if (method != "examine" || tools_.joinable())
      return respond(std::unexpected(rpc::RpcError{
          rpc::kMethodNotFound, "an examiner examines once, and knows nothing else", {}}));
    auto request = decode(params, launcher_);
    if (!request)
      return respond(
          std::unexpected(rpc::RpcError{rpc::kInvalidParams, describe(request.error()), {}}));
    const auto deadline = std::chrono::steady_clock::now() + request->options.timeout;
    tools_ =
        std::jthread([this, request = std::move(*request), deadline, respond = std::move(respond),
                      working = boost::asio::make_work_guard(loop_)](std::stop_token stop) {
          const model::Verdict verdict =
              examine(request, deadline, stop, [this](const std::string &activity) {
                boost::asio::post(loop_, [this, activity] {
                  connection_->notify("stage", {{"stage", "examining"}, {"activity", activity}});
                });
              });
          boost::asio::post(loop_, [respond, verdict] { respond(model::to_json(verdict)); });
        });
  }

  std::string launcher_;
  boost::asio::io_context loop_;
  std::shared_ptr<rpc::Connection> connection_;
  std::jthread tools_;
};

} // namespace

int run_examine_process(const std::string &launcher) {
  const int protocol_in = fcntl(0, F_DUPFD_CLOEXEC, 3), protocol_out = fcntl(1, F_DUPFD_CLOEXEC, 3);
  dup2(2, 1);
  if (const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC); nothing >= 0)
    dup2(nothing, 0);
  std::signal(SIGPIPE, SIG_IGN);
  return ExamineProcess(launcher).run(protocol_in, protocol_out);
}

} // namespace warpwright::runner::deep
