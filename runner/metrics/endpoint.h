// `serve --metrics HOST:PORT`: Prometheus's text under /metrics, "ok" under /healthz, plain HTTP.
//
// For a network that operators alone reach: it shows no secret, takes no input but the path, and
// asks for no password. Slow or many peers are dropped. Thread: the executor's.
#pragma once

#include "support/error.h"

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <string>

namespace warpwright::runner::metrics {

/// Told that nobody can be accepted, and that it is over.
using Log = std::function<void(const std::string &line)>;

class Endpoint {
public:
  virtual ~Endpoint() = default;
  /// "127.0.0.1:9464", with the port that was chosen when 0 was asked for.
  virtual std::string address() const = 0;
};

/// @param where "HOST:PORT", "[::1]:9464"
/// @param text what /metrics shows, when it is asked for
/// Errors: an address that is not understood, or cannot be listened on.
Result<std::unique_ptr<Endpoint>> open_endpoint(boost::asio::any_io_executor executor,
                                                const std::string &where,
                                                std::function<std::string()> text, Log log = {});

} // namespace warpwright::runner::metrics
