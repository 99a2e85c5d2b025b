// Talking to a runner: the same calls whether it is a child process, a unix socket or a remote host.
//
// Thread: methods and callbacks on the executor's strand; BlockingClient: any thread.
#pragma once

#include "support/error.h"
#include "support/model/graph.h"
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
  /// What its operator switched off for this client ("python", "host code", "tools"), and why, one sentence each.
  std::vector<std::pair<std::string, std::string>> off;
};

/// What a torch module computes at its inputs' shapes, and the buffers that a task of it has, in the task's order.
struct TracedModule {
  model::Graph graph;
  std::vector<model::Buffer> buffers;
  std::string torch; ///< the version that traced it
  /// Python literals with `...` for each tensor: the list of forward's arguments, and what it gives. Empty: not known.
  std::string input_pattern, output_pattern;
  /// Another: what forward was traced with besides tensors (runner/torch/python/call_guards.py). Empty: of a text, not traced.
  std::string guards;
};

class Client {
public:
  using VerdictCallback = std::function<void(Result<model::Verdict>)>;
  using StageCallback = std::function<void(
      const std::string
          &stage)>; ///< "queued", "compiling", "verifying", "measuring", "reconnecting"

  virtual ~Client() = default;
  /// Reaches the runner now; the other calls do so when they need it. Errors: why it cannot be
  /// reached, and what to do.
  virtual void open(std::function<void(Result<void>)> callback) { callback({}); }
  virtual void info(std::function<void(Result<RunnerInfo>)> callback) = 0;
  /// @return an id for cancel()
  virtual std::int64_t verify(const model::Task &task, const model::Plan &plan,
                              const VerifyOptions &options, StageCallback on_stage,
                              VerdictCallback callback) = 0;
  virtual void cancel(std::int64_t id) = 0;
  /// Errors: why the module has no graph, in one sentence; no Python with torch where the runner is.
  virtual void trace(const model::TorchModule & /*module*/,
                     std::function<void(Result<TracedModule>)> callback) {
    callback(fail("torch modules are not traced over this line", "Trace them on this machine"));
  }
};

/// A client of the runner at `url`; it is reached when it is first needed.
///   ""                     starts `warpwright-runner serve` from beside this executable, or
///                          $WARPWRIGHT_RUNNER
///   "local:PYTHON"         the same, with this Python interpreter for torch tasks
///   "local:PYTHON?workers=N"  and N workers that take turns on each GPU; PYTHON may be empty
///   "stdio:COMMAND ARGS"   starts that command
///   "unix:/path"           a listening runner of this machine
///   "amqps://..."          a fleet behind a broker (runner/fleet/address.h, docs/fleet.md)
///   "tls://HOST:PORT?..."  a remote one (runner/net/tls_url.h, docs/remote.md)
/// A child that dies is started again, at most 3 times in 60 s; jobs in flight then end with an
/// Error that says so. A line that is lost is opened again for 10 minutes, and jobs are resumed.
/// Errors: an URL that is not understood; an executable or a file that is not there.
Result<std::shared_ptr<Client>> connect(const std::string &url,
                                        boost::asio::any_io_executor executor);

/// The URL of a runner started on this machine whose torch tasks use this interpreter; "" for none.
inline std::string local_url(const std::string &python) {
  return python.empty() ? "" : "local:" + python;
}

/// For programs without an event loop of their own: runs one on its own thread.
class BlockingClient {
public:
  /// Waits until the runner is reached. Errors: as connect() and Client::open().
  static Result<std::unique_ptr<BlockingClient>> connect(const std::string &url);
  virtual ~BlockingClient() = default;
  virtual Result<RunnerInfo> info() = 0;
  /// Cancels the job when `stop` asks.
  virtual Result<model::Verdict> verify(const model::Task &task, const model::Plan &plan,
                                        const VerifyOptions &options, std::stop_token stop,
                                        Client::StageCallback on_stage = {}) = 0;
  /// As Client::trace().
  virtual Result<TracedModule> trace(const model::TorchModule &module) = 0;
};

} // namespace warpwright::runner
