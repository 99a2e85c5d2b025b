// URLs of runners that are started through a shell, and the command line that reaches the shell.
//
//   ssh://[USER@]HOST[:PORT]     by the user's own ssh program, with its configuration and agent
//   slurm://[PARTITION]          in an allocation, by srun; ?host=[USER@]HOST[:PORT]: on that host
//   docker://IMAGE               in a new container, by docker; ?program=podman
//   kubectl://[NAMESPACE/]POD    in a running pod
//
// Options of all: python=PATH, cpu=yes, runner=PATH, retry-s=SECONDS (docs/use/runners.md). Names are
// checked against an alphabet without blanks, quotes and leading dashes, so no part of a URL can
// become an option or a second command. Thread: any.
#pragma once

#include "support/error.h"

#include <chrono>
#include <string>
#include <vector>

namespace warpwright::runner {

struct ShellTarget {
  std::string url;                ///< without options, for messages
  std::string label;              ///< "gpu-box", "the Slurm partition gpu"
  std::string attempt;            ///< command with which the user can try the way alone
  std::vector<std::string> outer; ///< ssh with its options; empty: the command runs here
  std::vector<std::string> inner; ///< srun, docker or kubectl with their options; empty: none
  std::string python;             ///< interpreter there; empty: the runner's default
  std::string runner;             ///< program there; empty: a copy of the local one
  bool copies_cpu_worker = false; ///< the copy includes the CPU backend
  bool may_queue = false;         ///< the start may wait for resources, without a limit
  std::chrono::seconds retry{600};

  /// Program that is started on this machine: "ssh", "srun".
  const std::string &program() const { return outer.empty() ? inner.front() : outer.front(); }
  /// Command that runs a line of POSIX shell at the target. The line has no single quote.
  std::vector<std::string> command(const std::string &line) const;
};

bool is_shell_url(const std::string &url);

/// @param may_ask whether ssh may ask the user on the terminal, as for a passphrase
/// Errors: a part that is not understood.
Result<ShellTarget> parse_shell_url(const std::string &url, bool may_ask);

} // namespace warpwright::runner
