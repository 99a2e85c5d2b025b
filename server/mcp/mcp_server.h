// The Model Context Protocol without its transports: requests in, results, errors and progress out.
//
// Calls of tools run on a pool; everything else is answered at once. A cancelled call gets no
// answer. Thread: the strand; calls run on other threads and post back.
#pragma once

#include "server/mcp/revisions.h"
#include "server/mcp/workbench.h"
#include "server/pool.h"
#include "support/model/document_schema.h"

#include <boost/asio/any_io_executor.hpp>
#include <map>
#include <memory>

namespace warpwright::mcp {

/// One request in work, as its transport sees it. All functions are called on the strand.
struct Exchange {
  rpc::Connection::RequestId id;
  std::function<void(rpc::Outcome)> respond;
  /// Sends a notification that belongs to the request.
  std::function<void(const std::string &method, Json params)> notify;
  /// Sends a request to the client; empty: the transport has no way to do so.
  std::function<void(const std::string &method, Json params, rpc::Connection::Reply)> request = {};
  std::stop_source stop = {};
};
using ExchangePtr = std::shared_ptr<Exchange>;

/// What `initialize` agreed on with a client of the legacy era.
struct LegacySession {
  bool is_initialized = false;
  Json capabilities = Json::object();
};

class McpServer {
public:
  /// @param bench outlives the server's calls: see stop()
  McpServer(boost::asio::any_io_executor strand, Workbench &bench);

  /// Answers a request through the exchange, now or later.
  void handle(const std::string &method, const Json &params, LegacySession &session,
              const ExchangePtr &exchange);
  /// Ends all calls and searches, and waits for them.
  void stop();

private:
  rpc::Outcome initialize(const Json &params, LegacySession &session) const;
  rpc::Outcome discover() const;
  /// Reads a resource on the pool, and answers later.
  void read(const Json &params, bool modern, const ExchangePtr &exchange);
  /// Begins a call, which answers later. Errors: no such tool.
  rpc::Outcome call(const Json &params, const Json &capabilities, bool modern,
                    const ExchangePtr &exchange);
  void subscribe(const ExchangePtr &exchange) const;
  void answer_later(const ExchangePtr &exchange, rpc::Outcome outcome);
  Json answer_of(const Tool &tool, const ToolCall &call, bool modern);

  boost::asio::any_io_executor strand_;
  Workbench &bench_;
  std::map<std::string, std::unique_ptr<model::DocumentSchema>> inputs_; ///< by tool
  std::stop_source ending_;
  server::Pool pool_;
};

} // namespace warpwright::mcp
