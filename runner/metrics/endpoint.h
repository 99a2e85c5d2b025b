// Endpoint of `serve --metrics HOST:PORT`: Prometheus's text under /metrics, "ok" under /healthz,
// plain HTTP.
//
// It is meant for a network that only operators can reach. It reveals no secret, accepts no input
// except the path, and asks for no password. Thread: the executor's.
#pragma once

#include "support/http/http_server.h"

namespace warpwright::runner::metrics {

/// @param where "HOST:PORT", "[::1]:9464"
/// @param text returns the text of /metrics for each request
/// @param log called when connections cannot be accepted, and when they can again
/// Errors: an address that is not understood, or cannot be bound.
Result<std::unique_ptr<http::Server>> open_endpoint(boost::asio::any_io_executor executor,
                                                    const std::string &where,
                                                    std::function<std::string()> text,
                                                    std::function<void(const std::string &)> log = {});

} // namespace warpwright::runner::metrics
