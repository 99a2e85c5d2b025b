#include "server/mcp/stdio_transport.h"

namespace warpwright::mcp {
namespace {

/// Of one message: a source file and its edit are far smaller.
constexpr std::size_t kMostBytes = 64 << 20;

} // namespace

StdioTransport::StdioTransport(McpServer &server, std::unique_ptr<rpc::Stream> stream,
                               std::function<void()> on_closed)
    : server_(server) {
  connection_ = rpc::Connection::make(
      std::move(stream),
      {.on_request = [this](const std::string &method, const Json &params, const Json &id,
                            const rpc::Responder &respond) { begin(method, params, id, respond); },
       .on_notification =
           [this](const std::string &method, const Json &params) {
             if (method == "notifications/cancelled")
               cancel(params);
           },
       .on_closed =
           [this, on_closed = std::move(on_closed)](const std::string &) {
             for (auto &[id, open] : open_)
               open.exchange->stop.request_stop();
             open_.clear();
             on_closed();
           }},
      kMostBytes, rpc::Framing::Lines);
  connection_->start();
}

void StdioTransport::begin(const std::string &method, const Json &params, const Json &id,
                           const rpc::Responder &respond) {
  if (open_.contains(id))
    return respond(std::unexpected(rpc::RpcError{
        rpc::kInvalidRequest, "a request with this id is in work already", nullptr}));
  const auto exchange = std::make_shared<Exchange>();
  exchange->id = id;
  exchange->respond = [this, id, respond](rpc::Outcome outcome) {
    open_.erase(id);
    respond(std::move(outcome));
  };
  exchange->notify = [weak = std::weak_ptr(connection_)](const std::string &name, Json content) {
    if (const auto connection = weak.lock())
      connection->notify(name, std::move(content));
  };
  exchange->request = [weak = std::weak_ptr(connection_)](const std::string &name, Json content,
                                                          rpc::Connection::Reply reply) {
    if (const auto connection = weak.lock())
      connection->request(name, std::move(content), std::move(reply));
    else
      reply(std::unexpected(rpc::RpcError{rpc::kInternalError, "the client has gone", nullptr}));
  };
  open_.emplace(id, Open{exchange, respond});
  try {
    server_.handle(method, params, session_, exchange);
  } catch (const std::exception &) {
    open_.erase(id);
    throw; // the connection answers it
  }
}

void StdioTransport::cancel(const Json &params) {
  const auto open = open_.find(params.value("requestId", Json()));
  if (open == open_.end())
    return;
  open->second.exchange->stop.request_stop();
  open->second.respond.drop();
  open_.erase(open);
}

} // namespace warpwright::mcp
