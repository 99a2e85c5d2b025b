// Talking to a runner: the same calls whether it is a child process, a unix socket or (later) a
// remote host.
//
// Thread: methods and callbacks on the executor's strand, except verify_blocking, which any other
// thread may call.
#pragma once

#include "support/error.h"
#include "support/model/task.h"
#include "support/model/verdict.h"
#include "support/model/verify_options.h"

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace warpwright::runner {

using model::VerifyOptions;

struct RunnerInfo {
  std::string version;
  std::string url;
  std::vector<model::DeviceInfo> devices; ///< best first
  std::vector<std::string> notes;         ///< why a backend is missing, one sentence each
};

class Client {
public:
  using VerdictCallback = std::function<void(Result<model::Verdict>)>;
  using StageCallback =
      std::function<void(const std::string &stage)>; ///< "compiling", "verifying", "measuring"

  virtual ~Client() = default;
  virtual void info(std::function<void(Result<RunnerInfo>)> callback) = 0;
  /// @return an id for cancel()
  virtual std::int64_t verify(const model::Task &task, const model::Plan &plan,
                              const VerifyOptions &options, StageCallback on_stage,
                              VerdictCallback callback) = 0;
  virtual void cancel(std::int64_t id) = 0;
};

/// Connects to `url`:
///  ""                     starts `warpwright-runner serve` from beside this executable (or
///  $WARPWRIGHT_RUNNER) "stdio:COMMAND ARGS"   starts that command "unix:/path"           a
///  listening runner
/// A child that dies is started again, at most 3 times in 60 s; jobs in flight then end with an
/// Error that says so. Errors: an URL that is not understood; an executable that is not there.
Result<std::shared_ptr<Client>> connect(const std::string &url,
                                        boost::asio::any_io_executor executor);

/// For programs without an event loop of their own: runs one on its own thread.
class BlockingClient {
public:
  static Result<std::unique_ptr<BlockingClient>> connect(const std::string &url);
  virtual ~BlockingClient() = default;
  virtual Result<RunnerInfo> info() = 0;
  /// Cancels the job when `stop` asks.
  virtual Result<model::Verdict> verify(const model::Task &task, const model::Plan &plan,
                                        const VerifyOptions &options, std::stop_token stop,
                                        Client::StageCallback on_stage = {}) = 0;
};

} // namespace warpwright::runner
