// Route from a client to its runner: the target of a URL, and the links opened to it. A link is a
// stream, with the child process behind it if there is one.
// Thread: the client's strand.
#pragma once

#include "runner/net/tls.h"
#include "support/process.h"

#include <optional>

namespace warpwright::runner {

struct Link {
  std::unique_ptr<rpc::Stream> stream;
  std::optional<Process> process;
};

struct Route {
  using Opened = std::function<void(std::expected<Link, net::LinkFailure>)>;

  /// Opens a new link for each call; calls back once, perhaps before it returns.
  std::function<void(Opened)> open;
  /// Whether the runner outlives the link. If so, a lost link is opened again and jobs are resumed.
  bool resumes = false;
  std::chrono::seconds retry{600}; ///< how long a lost link is tried again
  std::string token;               ///< sent in the first message; empty: no authentication
  std::string url;                 ///< without secrets, for messages
};

/// Parses the URLs that connect() accepts, except those of fleets. Errors: a URL that is not
/// understood; an executable or a file that does not exist.
Result<Route> parse_runner_url(const std::string &url, boost::asio::any_io_executor executor);

/// Why a remote runner ended the connection or refused the first message, and what to do.
Error explain_refusal(const std::string &reason, const std::string &url);

} // namespace warpwright::runner
