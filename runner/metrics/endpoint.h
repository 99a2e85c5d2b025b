// Endpoint of `serve --metrics HOST:PORT`: Prometheus's text under /metrics, "ok" under /healthz,
// plain HTTP.
//
// It is meant for a network that only operators can reach. It reveals no secret, accepts no input
// except the path, and asks for no password. Slow peers, and those beyond a limit, are dropped.
// Thread: the executor's.
#pragma once

#include "support/error.h"

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <string>

namespace warpwright::runner::metrics {

/// Called when connections cannot be accepted, and when they can again.
using Log = std::function<void(const std::string &line)>;

class Endpoint {
public:
  virtual ~Endpoint() = default;
  /// "127.0.0.1:9464", with the actual port if port 0 was requested.
  virtual std::string address() const = 0;
};

/// @param where "HOST:PORT", "[::1]:9464"
/// @param text returns the text of /metrics for each request
/// Errors: an address that is not understood, or cannot be bound.
Result<std::unique_ptr<Endpoint>> open_endpoint(boost::asio::any_io_executor executor,
                                                const std::string &where,
                                                std::function<std::string()> text, Log log = {});

} // namespace warpwright::runner::metrics
