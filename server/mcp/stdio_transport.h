// The stdio transport: one JSON message per line on stdin and stdout. Thread: the strand.
#pragma once

#include "server/mcp/mcp_server.h"

namespace warpwright::mcp {

class StdioTransport {
public:
  /// @param on_closed called once when the client has closed its side
  StdioTransport(McpServer &server, std::unique_ptr<rpc::Stream> stream,
                 std::function<void()> on_closed);

  /// Bytes that the client has not taken yet.
  std::size_t pending_bytes() const { return connection_->pending_bytes(); }

private:
  void begin(const std::string &method, const Json &params, const Json &id,
             const rpc::Responder &respond);
  /// Ends a call, which then gets no answer.
  void cancel(const Json &params);

  McpServer &server_;
  LegacySession session_;
  struct Open {
    ExchangePtr exchange;
    rpc::Responder respond;
  };
  std::map<Json, Open> open_; ///< requests in work by their ids
  std::shared_ptr<rpc::Connection> connection_;
};

} // namespace warpwright::mcp
