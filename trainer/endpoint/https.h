// HTTP transport of an endpoint: one request over TLS, with the answer whole or piece by piece.
//
// The transport is an interface, so that tests of retries and limits use a fake. Only https.cpp includes Beast, which
// is slow to compile. TLS is 1.2 or 1.3 with verified certificates; plain HTTP goes only to this machine. Proxies and
// redirects are not supported (an endpoint that redirects has a wrong URL). Connections are not kept alive: an answer
// takes seconds, a handshake milliseconds. Thread: any; a call blocks its own thread.
#pragma once

#include "trainer/endpoint/endpoint_config.h"

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>

namespace warpwright::trainer {

struct HttpRequest {
  std::string path; ///< appended to the path of the URL: "/chat/completions"
  std::string body; ///< JSON
  bool stream = false;
  std::chrono::milliseconds idle{120'000}, total{900'000};
};

struct HttpAnswer {
  int status = 0;
  std::string content_type, retry_after; ///< headers; empty when absent
  std::string body;                      ///< complete
};

/// Receives the pieces of a body with status 200, in order. @return false to hang up
using OnPiece = std::function<bool(std::string_view)>;

class HttpTransport {
public:
  virtual ~HttpTransport() = default;
  /// Errors: no connection, a refused certificate, a broken or silent connection, an answer over 64 MiB. Messages never
  /// contain the key.
  virtual Result<HttpAnswer> post(const HttpRequest &request, const OnPiece &on_piece,
                                  std::stop_token stop) = 0;
};

/// Errors: an invalid URL; with TLS, an unreadable file of certificate authorities.
Result<std::unique_ptr<HttpTransport>> make_https(const EndpointConfig &config, Secret key);

} // namespace warpwright::trainer
