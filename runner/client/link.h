// How a client reaches its runner: where a URL leads, and the stream (with the child process behind
// it, where there is one) that is opened each time one is needed.
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

  /// Opens a new link each time; calls back once, perhaps before it returns.
  std::function<void(Opened)> open;
  /// The runner outlives the link: a link that is lost is opened again, and jobs are resumed.
  bool resumes = false;
  std::chrono::seconds retry{600}; ///< how long that is tried
  std::string token;               ///< sent first; empty: none is asked for
  std::string url;                 ///< as it may be shown
};

/// The forms of Client's connect(). Errors: an URL that is not understood; an executable or a file
/// that is not there.
Result<Route> parse_runner_url(const std::string &url, boost::asio::any_io_executor executor);

/// Why a remote runner ended the connection or refused the first message, and what to do.
Error explain_refusal(const std::string &reason, const std::string &url);

} // namespace warpwright::runner
