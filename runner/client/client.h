// Talking to a runner: the same calls whether it is a child process, a unix socket or a remote host.
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

} // namespace warpwright::runner
