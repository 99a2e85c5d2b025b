// Explanation of a shell that ended before the runner answered: one sentence for people, with what
// to do. The causes are read from the exit code and from stderr, because ssh, the loader and tar
// report them nowhere else. Thread: any.
#pragma once

#include "runner/net/tls.h"
#include "runner/shell/shell_url.h"
#include "support/process.h"

#include <optional>

namespace warpwright::runner {

/// Report of the target's machine: "have Linux x86_64 glibc 2.36".
struct ShellHello {
  std::string state;           ///< "have", "need", "absent"
  std::string system, machine; ///< "Linux", "x86_64"
  std::string glibc;           ///< "2.36"; empty: another C library
};

struct ShellEnd {
  ExitStatus status;
  std::string errors;              ///< end of what came on stderr
  std::optional<ShellHello> hello; ///< absent: the shell did not start
  std::string failed_folder;       ///< folder in which the runner could not be put; empty: none
};

/// Parses the words after the nonce. nullopt: not a report.
std::optional<ShellHello> parse_hello(const std::string &words);

/// Why this machine's runner cannot run at the target; empty: it can, as far as is known.
std::string why_unfit(const ShellTarget &target, const ShellHello &hello);

/// The failure is final unless the target could not be reached.
net::LinkFailure explain(const ShellTarget &target, const ShellEnd &end);

} // namespace warpwright::runner
