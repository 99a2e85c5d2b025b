// What the tools of one server share: the project's folder, approvals, connections to runners, the
// ledger, the verdicts and the running searches. Thread: any.
#pragma once

#include "server/cli/files.h"
#include "server/engine.h"
#include "server/mcp/approval.h"
#include "server/mcp/searches.h"
#include "server/mcp/verdicts.h"
#include "server/optimize/policies.h"

namespace warpwright::mcp {

/// The user's choices. An agent can make none of them.
struct WorkbenchOptions {
  std::string root;             ///< folder of the project; empty: the working directory
  std::string runner;           ///< URL; empty: the approved project's, else one on this machine
  std::string device;           ///< "cuda:0", "cpu"; empty: the runner's best
  std::string policy;           ///< in the form of server/policy_choice.h; empty: the project's
  std::string base;             ///< revision of Git with the originals; empty: the agent's choice
  std::filesystem::path ledger; ///< empty: the default one
};

using ClientPtr = std::shared_ptr<runner::BlockingClient>;

class Workbench {
public:
  /// Errors: the root is no folder; the chosen ledger cannot be opened.
  static Result<std::unique_ptr<Workbench>> open(WorkbenchOptions options,
                                                 consent::ApprovalStore store = consent::ApprovalStore());

  const WorkbenchOptions &options() const { return options_; }
  const std::string &root() const { return options_.root; }

  /// The real path of a file that a call names. Errors: outside of the root, not a source file, not
  /// there.
  Result<std::string> path_of(const std::string &name) const;
  /// The path relative to the root, for results.
  std::string shown(const std::string &path) const;
  /// Reads and analyzes the file of a call, with its argument `text` instead of the disk's.
  Result<cli::Input> read(const ToolCall &call) const;
  /// As Approval::require(). Reads `input` again if the project's settings were just approved.
  Outcome<void> require_approval(const ToolCall &call, cli::Input &input);

  /// The runner for a file's project; connections are kept. Errors: as BlockingClient::connect().
  Result<ClientPtr> runner_for(const config::ProjectConfig &project);
  /// Forgets a connection that failed, so that the next use connects again.
  void forget(const ClientPtr &client);
  /// The device of a runner that verdicts come from. Errors: the runner does not answer; no such
  /// device.
  Result<model::DeviceInfo> device_of(runner::BlockingClient &client) const;

  /// Keeps a verdict in this session and in the ledger. Errors: the ledger cannot be written; the
  /// session has the verdict.
  Result<void> record(const runner::LedgerEntry &entry);
  /// State of a kernel from the ledger.
  server::KernelStatus status_of(const server::Snapshot &snapshot, const analysis::Kernel &kernel);

  Verdicts verdicts;
  Searches searches;

private:
  explicit Workbench(WorkbenchOptions options, consent::ApprovalStore store);

  WorkbenchOptions options_;
  Approval approval_;
  Exclusive<std::map<std::string, ClientPtr>> clients_; ///< by URL
  Exclusive<std::unique_ptr<runner::Ledger>> ledger_;   ///< null: it cannot be opened
};

/// A kernel or module of an input by its name. Errors: there is none, with the names that there
/// are.
Result<const analysis::Kernel *> kernel_of(const cli::Input &input, const std::string &name);
/// A snapshot of an input for functions of the server.
server::SnapshotPtr snapshot_of(const cli::Input &input);
/// The same for a kernel that a runner can only judge as a CUDA kernel.
Result<const analysis::Kernel *> cuda_kernel_of(const cli::Input &input, const std::string &name,
                                                const std::string &tool);

} // namespace warpwright::mcp
