// A client of the runner at a URL, with callbacks or blocking.
//
// Thread: BlockingClient: any thread; the rest: the executor's.
#pragma once

#include "runner/client/client.h"

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <stop_token>

namespace warpwright::runner {

/// Makes a client of the runner at `url`; it connects on first use.
///   ""                     starts `warpwright-runner serve` from beside this executable, or
///                          $WARPWRIGHT_RUNNER
///   "local:PYTHON"         the same, with this Python interpreter for torch tasks
///   "local:PYTHON?workers=N"  and N workers that take turns on each GPU; PYTHON may be empty
///   "stdio:COMMAND ARGS"   starts that command
///   "unix:/path"           a listening runner of this machine
///   "amqps://..."          a fleet behind a broker (runner/fleet/address.h, docs/operate/fleet.md)
///   "tls://HOST:PORT?..."  a remote one (runner/net/tls_url.h, docs/operate/remote.md)
///   "ssh://HOST", "slurm://PARTITION", "docker://IMAGE", "kubectl://POD"
///                          one that is copied there and started (runner/shell/shell_url.h)
/// A child that dies is started again, at most 3 times in 60 s; its jobs in flight end with an
/// Error that says so. A lost connection is opened again for 10 minutes, and jobs are resumed.
/// Errors: a URL that is not understood; an executable or a file that does not exist.
Result<std::shared_ptr<Client>> connect(const std::string &url,
                                        boost::asio::any_io_executor executor);

/// The URL of a runner on this machine that uses this interpreter for torch tasks; "" for none.
inline std::string local_url(const std::string &python) {
  return python.empty() ? "" : "local:" + python;
}

/// Client for programs without an event loop: runs one on its own thread.
class BlockingClient {
public:
  /// Waits for the connection. Errors: those of connect() and Client::open().
  static Result<std::unique_ptr<BlockingClient>> connect(const std::string &url);
  virtual ~BlockingClient() = default;
  virtual Result<RunnerInfo> info() = 0;
  virtual Result<std::vector<DeviceIsolation>> isolation() = 0;
  /// Cancels the job when `stop` is requested.
  virtual Result<model::Verdict> verify(const model::Task &task, const model::Plan &plan,
                                        const VerifyOptions &options, std::stop_token stop,
                                        Client::StageCallback on_stage = {}) = 0;
  /// Same as Client::trace().
  virtual Result<std::vector<Result<TracedModule>>> trace(const std::vector<model::TorchModule> &modules) = 0;
  /// The one trace. Errors: also those of the module.
  Result<TracedModule> trace(const model::TorchModule &module);
};

} // namespace warpwright::runner
