// Client interface of a runner, the same for a child process, a unix socket and a remote host.
//
// Thread: methods and callbacks on the executor's strand.
#pragma once

#include "support/error.h"
#include "support/model/graph.h"
#include "support/model/task.h"
#include "support/model/verdict.h"
#include "support/model/verify_options.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace warpwright::runner {

using model::VerifyOptions;

struct RunnerInfo {
  std::string version;
  std::string url;
  std::vector<model::DeviceInfo> devices; ///< best first
  std::vector<std::string> notes;         ///< why a backend is missing, one sentence each
  /// What the runner's operator switched off for this client ("python", "host code", "tools"), and
  /// why, one sentence each.
  std::vector<std::pair<std::string, std::string>> off;
};

/// The op graph of a torch module at its inputs' shapes, and the buffers of its task, in the task's
/// order.
struct TracedModule {
  model::Graph graph;
  std::vector<model::Buffer> buffers;
  std::string torch; ///< version of torch that traced the module
  /// Python literals with `...` for each tensor: the list of forward's arguments, and its result.
  /// Empty: unknown.
  std::string input_pattern, output_pattern;
  /// Python literal of the non-tensor values that forward was traced with
  /// (runner/torch/python/call_guards.py). Empty: the graph comes from a text, not from tracing.
  std::string guards;
};

/// Layers of isolation of a device's worker process (docs/operate/isolation.md).
struct DeviceIsolation {
  std::string device;               ///< "cuda:0"
  std::vector<std::string> missing; ///< layers that are not active: "network: not permitted"
  std::size_t layers = 0;           ///< all of them; 0: the runner does not say
};

class Client {
public:
  using VerdictCallback = std::function<void(Result<model::Verdict>)>;
  using TracesCallback = std::function<void(Result<std::vector<Result<TracedModule>>>)>;
  using StageCallback = std::function<void(
      const std::string
          &stage)>; ///< "queued", "compiling", "verifying", "measuring", "reconnecting"

  virtual ~Client() = default;
  /// Connects now; the other calls connect when they need to. Errors: why the runner cannot be
  /// reached, and what to do.
  virtual void open(std::function<void(Result<void>)> callback) { callback({}); }
  virtual void info(std::function<void(Result<RunnerInfo>)> callback) = 0;
  /// @return an id for cancel()
  virtual std::int64_t verify(const model::Task &task, const model::Plan &plan,
                              const VerifyOptions &options, StageCallback on_stage,
                              VerdictCallback callback) = 0;
  virtual void cancel(std::int64_t id) = 0;
  virtual void isolation(std::function<void(Result<std::vector<DeviceIsolation>>)> callback) {
    callback(fail("the isolation of workers is not told over this line", "Ask the runner's operator"));
  }
  /// Traces modules one after the other in one process, so they should come from the same project.
  /// Errors: no Python with torch at the runner; of each module: why it has no graph, in one sentence.
  virtual void trace(const std::vector<model::TorchModule> & /*modules*/, TracesCallback callback) {
    callback(fail("torch modules are not traced over this line", "Trace them on this machine"));
  }
};

} // namespace warpwright::runner
