// One HTTP request over TLS, answered whole or piece by piece: the endpoint's transport, behind an interface so that retries and limits
// are tested with a fake.
//
// All of Beast is in https.cpp, because it is slow to compile. TLS 1.2 or 1.3, certificates verified; plain HTTP to this machine only. It
// leaves out proxies, redirects (an endpoint that redirects is a wrong URL) and kept connections: an answer takes seconds, a handshake
// milliseconds. Thread: any; a call blocks its own.
#pragma once

#include "trainer/endpoint/endpoint_config.h"

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>

namespace warpwright::trainer {

struct HttpRequest {
  std::string path; ///< below the URL's own: "/chat/completions"
  std::string body; ///< JSON
  bool stream = false;
  std::chrono::milliseconds idle{120'000}, total{900'000};
};

struct HttpAnswer {
  int status = 0;
  std::string content_type, retry_after; ///< headers; empty when absent
  std::string body;                      ///< all of it
};

/// Pieces of a body with status 200, in order. @return false to hang up: the rest is not wanted
using OnPiece = std::function<bool(std::string_view)>;

class HttpTransport {
public:
  virtual ~HttpTransport() = default;
  /// Errors: no connection, a refused certificate, a line that is down or silent, an answer over 64 MiB; never the key.
  virtual Result<HttpAnswer> post(const HttpRequest &request, const OnPiece &on_piece,
                                  std::stop_token stop) = 0;
};

/// Errors: a file of authorities that cannot be read.
Result<std::unique_ptr<HttpTransport>> make_https(const EndpointConfig &config, Secret key);

} // namespace warpwright::trainer
