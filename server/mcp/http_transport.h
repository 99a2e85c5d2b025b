// The streamable HTTP transport: a POST per message, answered as JSON, or as a stream of events
// once there is progress. A client that disconnects cancels its call.
//
// Each request needs the bearer token of the user's token file, a Host and an Origin of this
// machine, and, since 2026-07-28, headers that agree with its body. There are no sessions, so
// clients of the legacy era cannot be asked. Thread: the strand.
#pragma once

#include "server/mcp/mcp_server.h"
#include "support/http/http_server.h"

namespace warpwright::mcp {

class HttpTransport {
public:
  /// Opens the server. @param where "127.0.0.1:8765"; addresses of other machines are refused
  /// Errors: an address that cannot be used.
  static Result<std::unique_ptr<HttpTransport>> open(McpServer &server,
                                                     boost::asio::any_io_executor strand,
                                                     const std::string &where, std::string token);

  /// "http://127.0.0.1:8765/mcp"
  std::string url() const { return "http://" + listener_->address() + "/mcp"; }

private:
  HttpTransport(McpServer &server, std::string token) : server_(server), token_(std::move(token)) {}
  void handle(const http::Request &request, const http::AnswerPtr &answer);
  void take(const http::Request &request, const Json &message, const http::AnswerPtr &answer);
  /// Ends the call that a client of the legacy era names, unless several clients have one of this
  /// id.
  void cancel(const Json &params);

  McpServer &server_;
  std::string token_;
  std::map<ExchangePtr, bool> open_; ///< requests in work; whether they are of the modern era
  std::unique_ptr<http::Server> listener_;
};

/// The token in a file of the user's, which is made where it is missing.
/// @param path empty: mcp-token in the user's state folder
/// Errors: a file that others may read, that holds no token, or that cannot be written.
Result<std::string> http_token(std::string path);

} // namespace warpwright::mcp
