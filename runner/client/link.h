// How a client reaches its runner: a stream, and the child process behind it where there is one.
// Thread: the client's strand.
#pragma once

#include "support/process.h"
#include "support/rpc/connection.h"

#include <memory>
#include <optional>

namespace warpwright::runner {

struct Link {
  std::unique_ptr<rpc::Stream> stream;
  std::optional<Process> process;
};

/// Opens a new link each time it is called. Errors: it cannot be reached, with what to do.
using LinkFactory = std::function<Result<Link>()>;

/// The forms of Client's connect(). Errors: an URL that is not understood; an executable that is
/// not there.
Result<LinkFactory> parse_runner_url(const std::string &url, boost::asio::any_io_executor executor);

} // namespace warpwright::runner
