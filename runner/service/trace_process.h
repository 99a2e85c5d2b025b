// A process that traces torch modules: it reads a request with them, and answers with their op
// graphs. Tracing measures nothing and needs no GPU, so it waits for no device. Importing torch takes
// most of the time and can be done before a request arrives. A process serves only one request,
// because modules are the user's code, except for modules that only call operators. Thread: the
// service's strand.
#pragma once

#include "runner/isolation/private_directory.h"
#include "support/process.h"
#include "support/rpc/connection.h"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

namespace warpwright::runner {

struct TraceSettings {
  std::vector<std::string> command; ///< the program speaks JSON-RPC on stdin and stdout
  std::vector<std::string> environment;
  std::chrono::milliseconds limit{120'000}; ///< for an answer
  std::chrono::milliseconds idle{600'000};  ///< for a prepared process without a request
};

class TraceProcess : public std::enable_shared_from_this<TraceProcess> {
public:
  TraceProcess(boost::asio::any_io_executor executor, TraceSettings settings)
      : executor_(executor), settings_(std::move(settings)), timer_(executor) {}

  /// Starts the process ahead of start(). Without a request, it ends after `idle`.
  void prepare();
  /// @param modules [{language, source, model, inputs, init_inputs, mode}]
  /// @param done called once, unless stop() comes first, with {traces: [{graph, buffers, call, torch} or {refusal}]}
  /// or an error
  /// @param stays whether the process may serve another request after this one; it then ends after `idle` without one
  void start(const rpc::Json &modules, std::function<void(rpc::Outcome)> done, bool stays = false);
  /// True while the process waits for a request.
  bool is_ready() const { return connection_ && !ended_ && !done_; }
  void stop();

private:
  Result<void> spawn();
  void end_when_idle();
  void on_closed();
  void read_errors();
  void finish(rpc::Outcome outcome);
  void fail_with(const std::string &why);

  boost::asio::any_io_executor executor_;
  TraceSettings settings_;
  boost::asio::steady_timer timer_;
  std::optional<PrivateDirectory> directory_;
  std::optional<Process> process_;
  std::shared_ptr<rpc::Connection> connection_;
  std::unique_ptr<boost::asio::posix::stream_descriptor> errors_;
  std::array<char, 4096> block_{};
  std::string last_words_;
  std::function<void(rpc::Outcome)> done_;
  bool stays_ = false;
  bool ended_ = false; ///< before it got a request
};

} // namespace warpwright::runner
